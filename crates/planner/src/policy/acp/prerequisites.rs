//! What has to be ready before the second phase. What is not known is said to be so.

use super::{hop::CHARTS, kubernetes_move, moves_row};
use crate::{
    check::{Case, Finding, Findings, Named},
    policy::{
        matrix::{self, Row},
        shared,
    },
    state::newest,
    version::{Scheme, Version},
};

/// The row that is asked for.
fn target_row(case: Case<'_>) -> Option<&'static Row> {
    matrix::row_named(case.after?.distribution.row.as_deref()?)
}

pub(super) fn missing(rule: &'static str, field: &'static str) -> Finding {
    Finding::unknown(rule, field)
        .says(format!("{field} is not given"))
        .remedy(format!("Add {field} to the state file."))
}

/// The provider of machines that nobody can make.
pub(super) const BARE_METAL: &str = "baremetal";

/// Images of every row are where nodes can reach them.
pub(in crate::policy) fn artifacts(case: Case<'_>, findings: &mut Findings) {
    let Some(row) = target_row(case).filter(|_| moves_row(case)) else {
        return;
    };
    let Some(artifacts) = case
        .after
        .and_then(|after| after.artifacts.as_ref())
        .or(case.before.artifacts.as_ref())
    else {
        findings.push(missing("A-13", "artifacts"));
        return;
    };
    let has = |name: &str| {
        artifacts
            .iter()
            .any(|artifact| artifact.trim_start_matches('v') == name.trim_start_matches('v'))
    };
    if !has(row.name) && !has(row.kubernetes) {
        let finding = Finding::violation(Named::new("A-13", "ArtifactMissing"), format!("artifacts/{}", row.name))
            .says(format!("images of row {} are not staged", row.name))
            .shows("row", row.name)
            .remedy(format!(
                "Sync the images of row {0} and stage its operating system first, then list {0} in artifacts.",
                row.name
            ));
        findings.push(finding);
    }
    if case.before.providers.contains_key(BARE_METAL) && !has(row.kubernetes) {
        let finding = Finding::violation(
            Named::new("A-14", "ImageCatalogMiss"),
            format!("artifacts/{}", row.kubernetes),
        )
        .says(format!(
            "the catalogue of images for bare metal has no {}",
            row.kubernetes
        ))
        .shows("wanted", row.kubernetes)
        .remedy(format!(
            "Add {} to the ConfigMap elemental-image-catalog.",
            row.kubernetes
        ));
        findings.push(finding);
    }
}

/// A version in a table here.
fn version(text: &str) -> Option<Version> {
    Version::parse(Scheme::Kubernetes, text).ok()
}

fn is_at_least(version_of: &Version, floor: &str) -> bool {
    version(floor).is_some_and(|floor| version_of.precedence(&floor).is_ge())
}

/// The provider that belongs to rows from here on, and to none before.
const PAIRED: (&str, &str, &str) = ("dcs", "1.0.21", "v4.3.2");
/// Providers that charts from v4.4 on need.
const FLOORS: [(&str, &str); 4] = [
    ("dcs", "1.0.22"),
    ("hcs", "1.0.4"),
    ("vsphere", "1.0.16"),
    (BARE_METAL, "0.0.1"),
];
const FLOORS_FROM: &str = "v4.4.0";

/// Whether a version of the matrix is at least another.
fn is_from(version: &'static str, floor: &'static str) -> bool {
    let versions = (Row::version(version), Row::version(floor));
    matches!(versions, (Some(version), Some(floor)) if version.precedence(&floor).is_ge())
}

/// Providers and rows that belong together.
pub(in crate::policy) fn providers(case: Case<'_>, findings: &mut Findings) {
    let Some(row) = target_row(case).filter(|_| moves_row(case)) else {
        return;
    };
    let (_, paired, paired_row) = PAIRED;
    if case.before.providers.is_empty() && is_from(row.name, paired_row) {
        findings.push(missing("A-15", "providers"));
    }
    for (name, provider) in &case.before.providers {
        let is_late = is_from(row.name, paired_row);
        let floor = FLOORS.iter().find(|(other, _)| other == name).map(|(_, floor)| *floor);
        let floor = floor.filter(|floor| is_from(row.chart, FLOORS_FROM) && !is_at_least(provider, floor));
        let subject = format!("providers/{name}");
        let finding = if let Some(floor) = floor {
            Finding::violation(Named::new("A-16", "ProviderTooOld"), subject)
                .says(format!(
                    "provider {name} {provider} is too old for row {}, whose chart is {}: {floor} is needed",
                    row.name, row.chart
                ))
                .remedy(format!("Upgrade the provider {name} to {floor} or later first."))
        } else if name == PAIRED.0 && is_at_least(provider, paired) != is_late {
            Finding::violation(Named::new("A-15", "ProviderPairing"), subject)
                .says(format!(
                    "provider {name} {provider} and row {} do not belong together: {paired} on goes with {paired_row} on",
                    row.name
                ))
                .remedy(if is_late {
                    format!("Upgrade the provider {name} to {paired} or later first.")
                } else {
                    format!("Take row {paired_row} or later, or keep the provider {name} below {paired}.")
                })
        } else {
            continue;
        };
        findings.push(finding.shows("provider", provider).shows("row", row.name));
    }
    chart_name(case, row, findings);
}

/// What the network's chart is called: the other name belongs to other rows.
fn chart_name(case: Case<'_>, row: &Row, findings: &mut Findings) {
    let (wanted, other) = if is_from(row.chart, FLOORS_FROM) {
        ("chart-kube-ovn", "chart-cpaas-kube-ovn")
    } else {
        ("chart-cpaas-kube-ovn", "chart-kube-ovn")
    };
    let mut extensions = case.before.extensions.iter().flatten();
    if extensions.any(|extension| extension.name == other) {
        let finding = Finding::violation(Named::new("A-16", "ChartName"), format!("extensions/{other}"))
            .says(format!(
                "the chart {} of row {} is called {wanted}",
                row.chart, row.name
            ))
            .shows("row", row.name)
            .shows("wanted", wanted)
            .remedy(format!("Install the network from acp/{wanted}."));
        findings.push(finding);
    }
}

/// A field of the kubelet's configuration that 1.35 needs and earlier ones refuse.
const FIELD: &str = "imagePullCredentialsVerificationPolicy";
const FIELD_FROM: u64 = 35;

/// By the kubelets that a pool will have: a pool that stays behind keeps what it has.
pub(in crate::policy) fn kubelet_fields(case: Case<'_>, findings: &mut Findings) {
    let Some(after) = case.after.filter(|_| moves_row(case)) else {
        return;
    };
    let control_plane = newest(&after.control_plane.kube_api_servers);
    for pool in &after.pools {
        let Some(to) = newest(&pool.kubelets).or(control_plane) else {
            continue;
        };
        let is_needed = to.minor() >= FIELD_FROM;
        let finding = match &pool.kubelet_fields {
            Some(fields) if fields.contains(FIELD) == is_needed => continue,
            Some(_) => Finding::violation(Named::new("A-17", "KubeletField"), shared::pool_subject(pool)),
            None if is_needed => Finding::unknown("A-17", shared::pool_subject(pool)),
            None => continue,
        };
        let word = if is_needed { "needs" } else { "refuses" };
        let finding = finding
            .says(format!("the kubelet of {} {word} the field {FIELD}", to.minor_text()))
            .shows("kubelet", to)
            .remedy(if is_needed {
                format!("Set {FIELD} to NeverVerify for pool {} in the same edit.", pool.name)
            } else {
                format!("Leave {FIELD} out of pool {} until 1.35.", pool.name)
            });
        findings.push(finding);
    }
}

/// The level of processors, as in x86-64-v2.
const CPU_LEVEL: u64 = 2;

/// What 1.35 asks of nodes.
const KERNEL: (u64, u64) = (5, 8);
const GATE: &str = "ack-4.4-kubernetes-1.35-kernel-update";

pub(in crate::policy) fn kernel(case: Case<'_>, findings: &mut Findings) {
    let Some((from, to)) = kubernetes_move(case) else {
        return;
    };
    if to.minor() < FIELD_FROM || from.minor() >= FIELD_FROM {
        return;
    }
    let nodes = &case.before.nodes;
    let (kernel, cgroup) = (nodes.min_kernel, nodes.cgroup);
    for (is_missing, field) in [
        (kernel.is_none(), "nodes.minKernel"),
        (cgroup.is_none(), "nodes.cgroup"),
    ] {
        if is_missing {
            findings.push(missing("A-18", field));
        }
    }
    if kernel.is_some_and(|kernel| kernel < KERNEL) || cgroup.is_some_and(|cgroup| cgroup < 2) {
        let finding = Finding::violation(Named::new("A-18", "NodesTooOld"), "nodes")
            .says(format!(
                "Kubernetes {} needs kernel 5.8 and control groups v2 on every node",
                to.minor_text()
            ))
            .shows(
                "minKernel",
                kernel.map_or("not given".to_owned(), |(major, minor)| format!("{major}.{minor}")),
            )
            .shows(
                "cgroup",
                cgroup.map_or("not given".to_owned(), |level| format!("v{level}")),
            )
            .remedy("Bring all nodes to an operating system that has both first.");
        findings.push(finding);
    }
    let finding = match shared::acknowledged(case, GATE) {
        Some(true) => return,
        Some(false) => Finding::violation(Named::new("A-18", "AdminAckRequired"), format!("acks/{GATE}")),
        None => Finding::unknown("A-18", format!("acks/{GATE}")),
    };
    let finding = finding
        .says(format!(
            "{GATE} is to be acknowledged before {} is entered",
            to.minor_text()
        ))
        .shows("to", to)
        .remedy(format!(
            "Check kernels and control groups, then set {GATE} to \"true\" in cpaas-system/admin-acks."
        ));
    findings.push(finding);
}

/// Whoever is disturbed by an extension's upgrade has said that it is known.
pub(in crate::policy) fn extensions(case: Case<'_>, findings: &mut Findings) {
    if !moves_row(case) && shared::cluster_move(case.before, case.after).is_none() {
        return;
    }
    let extensions = case
        .after
        .and_then(|after| after.extensions.as_ref())
        .or(case.before.extensions.as_ref());
    let Some(extensions) = extensions else {
        findings.push(missing("A-22", "extensions"));
        return;
    };
    for extension in extensions.iter().filter(|extension| !extension.is_acknowledged) {
        let impact = extension.impact.as_deref().unwrap_or("not given");
        let subject = format!("extensions/{}", extension.name);
        let finding = match &*impact.to_ascii_lowercase() {
            "low" | "none" => continue,
            "medium" | "high" => Finding::violation(Named::new("A-22", "AckMissing"), subject),
            // The network moves with the row, and has a rule of its own.
            _ if CHARTS.contains(&&*extension.name) => continue,
            _ => Finding::unknown("A-22", subject),
        };
        let finding = finding
            .says(format!(
                "the impact of upgrading {} is {impact}, and nobody has acknowledged it",
                extension.name
            ))
            .shows("impact", impact)
            .remedy(format!(
                "Read what the upgrade of {} does, then say so: acknowledged: true.",
                extension.name
            ));
        findings.push(finding);
    }
}

pub(in crate::policy) fn modifications(case: Case<'_>, findings: &mut Findings) {
    let Some((_, to)) = shared::cluster_move(case.before, case.after) else {
        return;
    };
    let Some(modifications) = &case.before.modifications else {
        findings.push(missing("A-22", "modifications"));
        return;
    };
    for modification in modifications.iter().filter(|modification| !modification.is_reviewed) {
        let is_exempt = |version: &str| version.trim_start_matches('v') == to.as_str().trim_start_matches('v');
        let subject = format!("modifications/{}", modification.name);
        let finding = match modification.exempt_for.as_deref() {
            Some(version) if is_exempt(version) => continue,
            Some(version) => Finding::violation(Named::new("A-23", "UnexemptResourcePatches"), subject)
                .says(format!(
                    "{} is exempt for {version}, and the target is {to}",
                    modification.name
                ))
                .shows("exemptFor", version)
                .remedy(format!(
                    "Review {}, then set its annotation config.cpaas.io/exempt-for-ver to {to}.",
                    modification.name
                )),
            None => Finding::violation(Named::with("A-22", "ModificationNotReviewed", &["A-23"]), subject)
                .says(format!(
                    "{} changes what the distribution manages, and nobody has reviewed it",
                    modification.name
                ))
                .remedy(format!(
                    "Review {}: remove it, or set its annotation config.cpaas.io/exempt-for-ver to {to}.",
                    modification.name
                )),
        };
        findings.push(finding.shows("to", to));
    }
}

/// Nodes of the new row run on processors of a level.
pub(in crate::policy) fn processors(case: Case<'_>, findings: &mut Findings) {
    if !moves_row(case) {
        return;
    }
    let finding = match case.before.nodes.cpu_level {
        Some(level) if level >= CPU_LEVEL => return,
        Some(level) => Finding::violation(Named::new("A-29", "CpuBaseline"), "nodes")
            .says(format!(
                "a node has a processor of x86-64-v{level}: x86-64-v{CPU_LEVEL} is needed"
            ))
            .fact("cpuLevel", level)
            .remedy(format!(
                "Replace nodes whose processors are below x86-64-v{CPU_LEVEL} first."
            )),
        None => missing("A-29", "nodes.cpuLevel"),
    };
    findings.push(finding);
}

/// A backup of etcd that is known to be good, before the first node changes.
pub(in crate::policy) fn backup(case: Case<'_>, findings: &mut Findings) {
    if !moves_row(case) {
        return;
    }
    let backup = case
        .after
        .and_then(|after| after.backup.as_deref())
        .or(case.before.backup.as_deref());
    match backup {
        Some("Success") => {}
        Some(result) => {
            let finding = Finding::violation(Named::new("A-30", "NoBackup"), "backup")
                .says(format!("the last backup of etcd ended with {result}"))
                .shows("result", result)
                .remedy("Back up etcd until the newest record says Success; on bare metal keep a copy off the nodes.");
            findings.push(finding);
        }
        None => findings.push(missing("A-30", "backup.result")),
    }
}

/// Control plane and nodes are well before they are changed.
pub(in crate::policy) fn health(case: Case<'_>, findings: &mut Findings) {
    if !moves_row(case) {
        return;
    }
    let health = &case.before.health;
    let parts = [
        ("health.controlPlane", health.control_plane),
        ("health.nodesReady", health.nodes_ready),
    ];
    for (field, is_well) in parts {
        let finding = match is_well {
            Some(true) => continue,
            Some(false) => Finding::violation(Named::new("A-10", "NotHealthy"), field)
                .says(format!("{field} is false: a hop begins when everything is well"))
                .remedy(if field == "health.nodesReady" {
                    "Bring every node to Ready first."
                } else {
                    "Bring kube-apiserver, controllers, scheduler and etcd back to health first."
                }),
            None => missing("A-10", field),
        };
        findings.push(finding);
    }
}
