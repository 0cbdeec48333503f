//! The second phase: Kubernetes and the operating system, one row at a time.

use super::{kubernetes_move, moves_row, rows};
use crate::{
    check::{Case, Finding, Findings, Named},
    policy::{
        matrix::{self, Row},
        shared,
    },
    state::newest,
};

/// Every rule of this phase speaks of rows: without one, nothing can be said.
pub(in crate::policy) fn known_row(case: Case<'_>, findings: &mut Findings) {
    let Some(after) = case.after.filter(|_| moves_row(case)) else {
        return;
    };
    let says = match after.distribution.row.as_deref() {
        Some(name) if matrix::row_named(name).is_some() => return,
        Some(name) => format!("row {name} is not in the matrix: what belongs to it is not known"),
        None => "the row of the matrix that the hop takes is not given".to_owned(),
    };
    let finding = Finding::unknown("A-08", "distribution.row")
        .says(says)
        .fact("known", matrix::ROWS.map(|row| row.name).to_vec())
        .remedy("Name a row of the matrix in distribution.row of the state after.");
    findings.push(finding);
}

/// The distribution's own part comes first.
pub(in crate::policy) fn first_phase(case: Case<'_>, findings: &mut Findings) {
    let Some(after) = case.after.filter(|_| moves_row(case)) else {
        return;
    };
    let row = after.distribution.row.as_deref().and_then(matrix::row_named);
    let needed = row.and_then(|row| Row::version(row.name));
    let core = &case.before.distribution.version;
    let is_behind = matches!((core, &needed), (Some(core), Some(needed)) if core.precedence(needed).is_lt());
    let finding = match case.before.distribution.is_core_complete {
        Some(false) => Finding::violation(Named::new("A-01", "Phase1Incomplete"), "controlPlane")
            .says("the first phase, core and aligned extensions, is not complete"),
        _ if is_behind => Finding::violation(Named::new("A-01", "Phase1Incomplete"), "controlPlane")
            .says("the row is of a later version of the distribution than the cluster has"),
        Some(true) => return,
        None if core.is_some() && needed.is_some() => return,
        None => Finding::unknown("A-01", "distribution").says("whether the first phase is complete is not given"),
    };
    let finding = finding
        .shows("core", core.as_ref().map_or("not given", |core| core.as_str()))
        .shows("row", after.distribution.row.as_deref().unwrap_or("not given"))
        .remedy("Bring the distribution to its version first, and say so: distribution.version, or coreComplete.");
    findings.push(finding);
}

pub(in crate::policy) fn one_minor(case: Case<'_>, findings: &mut Findings) {
    if let Some((from, to)) = kubernetes_move(case) {
        shared::no_skip(
            Named::new("A-08", "SkipMinor"),
            "controlPlane.kubeApiServers",
            from,
            to,
            findings,
        );
    }
}

/// The last row of each minor, unless it takes a component down or ends there.
pub(in crate::policy) fn latest_row(case: Case<'_>, findings: &mut Findings) {
    // Who goes back has a reason not to take the last one.
    let Some((from, to)) = rows(case).filter(|(from, to)| moves_row(case) && !matrix::is_after(from, to)) else {
        return;
    };
    let Some(last) = matrix::last_good_of_minor(from, to).filter(|last| matrix::is_after(last, to)) else {
        return;
    };
    let finding = Finding::warning(Named::new("A-09", "NotLatestRow"), "controlPlane")
        .says(format!(
            "row {} is not the last of its minor: {} is, and can be reached and left again",
            to.name, last.name
        ))
        .shows("row", to.name)
        .shows("latest", last.name)
        .remedy(format!("Use row {}.", last.name));
    findings.push(finding);
}

/// A row from which no further hop can be made.
pub(in crate::policy) fn dead_end(case: Case<'_>, findings: &mut Findings) {
    let Some(after) = case.after else { return };
    let Some(row) = after.distribution.row.as_deref().and_then(matrix::row_named) else {
        return;
    };
    if matrix::next_rows(row).is_some_and(|next| next.is_empty()) {
        let finding = Finding::warning(Named::new("A-09b", "DeadEnd"), "controlPlane")
            .says(format!(
                "no row of the next minor can be reached from {}: each takes {} down",
                row.name,
                matrix::blocking(row).join(" or ")
            ))
            .shows("row", row.name)
            .shows("coredns", row.coredns)
            .shows("etcd", row.etcd)
            .fact("blocks", matrix::blocking(row))
            .remedy(
                "Choose an earlier row of this minor, let the check of CoreDNS be skipped by its annotation, or wait for \
                 a row with newer components.",
            );
        findings.push(finding);
    }
}

/// The network's extension, under which names it is installed.
pub(super) const CHARTS: [&str; 3] = ["kube-ovn", "chart-kube-ovn", "chart-cpaas-kube-ovn"];

/// The network's chart is at the row before the control plane moves.
pub(in crate::policy) fn chart_first(case: Case<'_>, findings: &mut Findings) {
    let Some(after) = case.after.filter(|_| moves_row(case)) else {
        return;
    };
    let Some(row) = after.distribution.row.as_deref().and_then(matrix::row_named) else {
        return;
    };
    let mut extensions = case.before.extensions.iter().flatten();
    let Some(chart) = extensions.find(|extension| CHARTS.contains(&&*extension.name)) else {
        return;
    };
    let bare = |version: &str| version.trim_start_matches('v').to_owned();
    let is_at_row = chart
        .version
        .as_deref()
        .is_none_or(|version| bare(version) == bare(row.chart));
    let is_done = chart.phase.as_deref().is_none_or(|phase| phase == "Success");
    if !is_at_row || !is_done {
        let finding = Finding::violation(
            Named::new("A-10", "NotYetSuccess"),
            format!("extensions/{}", chart.name),
        )
        .says(if is_at_row {
            format!(
                "{} is at {}, and its phase is {} and not Success",
                chart.name,
                row.chart,
                chart.phase.as_deref().unwrap_or("not given")
            )
        } else {
            format!(
                "{} is not at {}, which row {} wants before the control plane moves",
                chart.name, row.chart, row.name
            )
        })
        .shows("installed", chart.version.as_deref().unwrap_or("not given"))
        .shows("wanted", row.chart)
        .remedy(format!(
            "Bring {} to {} and wait until its phase is Success and it is healthy.",
            chart.name, row.chart
        ));
        findings.push(finding);
    }
}

/// Everything comes from one row.
pub(in crate::policy) fn one_row(case: Case<'_>, findings: &mut Findings) {
    let Some(after) = case.after.filter(|_| moves_row(case)) else {
        return;
    };
    let Some(row) = after.distribution.row.as_deref().and_then(matrix::row_named) else {
        return;
    };
    let parts = [
        (
            "kubernetes",
            newest(&after.control_plane.kube_api_servers),
            row.kubernetes,
        ),
        ("etcd", newest(&after.control_plane.etcd), row.etcd),
    ];
    for (name, version, wanted) in parts {
        let Some(version) = version else { continue };
        let is_of_row = Row::version(wanted).is_some_and(|wanted| wanted.precedence(version).is_eq());
        if !is_of_row {
            let finding = Finding::violation(Named::new("A-11", "MixedRow"), format!("components/{name}"))
                .says(format!("{name} {version} is not of row {}: {wanted} is", row.name))
                .shows("version", version)
                .shows("wanted", wanted)
                .shows("row", row.name)
                .remedy(format!(
                    "Take Kubernetes, CoreDNS, etcd and the image of row {} in one edit.",
                    row.name
                ));
            findings.push(finding);
        }
    }
}

pub(in crate::policy) fn no_component_down(case: Case<'_>, findings: &mut Findings) {
    let Some((from, to)) = rows(case) else { return };
    matrix::no_component_down(
        Named::with("A-20", "EtcdDowngrade", &["E-03"]),
        from,
        to,
        "etcd",
        findings,
    );
    matrix::no_component_down(
        Named::with("A-09", "CoreDnsDowngrade", &["C-13"]),
        from,
        to,
        "coredns",
        findings,
    );
}

/// Once an instance of the target's minor has joined, there is no way back but a backup.
pub(in crate::policy) fn no_way_back(case: Case<'_>, findings: &mut Findings) {
    let Some(after) = case.after else { return };
    let joined = newest(&case.before.control_plane.kube_api_servers);
    let wanted = newest(&after.control_plane.kube_api_servers);
    if let (Some(joined), Some(wanted)) = (joined, wanted)
        && joined.generation() > wanted.generation()
    {
        let finding = Finding::violation(Named::new("A-27", "PastPointOfNoReturn"), "controlPlane.kubeApiServers")
            .says(format!(
                "an instance at {joined} has joined: going back to {wanted} is not possible"
            ))
            .shows("joined", joined)
            .shows("wanted", wanted)
            .remedy("Repair forward, or restore etcd from the backup that was made before.");
        findings.push(finding);
    }
}
