//! ACP's matrix of operating systems: which components belong together. Each row is one version of the distribution; a
//! hop takes all of them from one row.

use crate::{
    check::{Finding, Findings, Named},
    version::{Scheme, Version},
};

/// A row: what one version of the distribution consists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    /// The version of the distribution, by which the row is called.
    pub name: &'static str,
    /// Kubernetes.
    pub kubernetes: &'static str,
    /// containerd.
    pub containerd: &'static str,
    /// CoreDNS.
    pub coredns: &'static str,
    /// etcd.
    pub etcd: &'static str,
    /// The chart of the network.
    pub chart: &'static str,
}

impl Row {
    /// A version in it.
    pub(crate) fn version(text: &'static str) -> Option<Version> {
        Version::parse(Scheme::Acp, text).ok()
    }

    fn component(&self, name: &str) -> &'static str {
        match name {
            "coredns" => self.coredns,
            "containerd" => self.containerd,
            _ => self.etcd,
        }
    }
}

const fn row(
    name: &'static str,
    kubernetes: &'static str,
    containerd: &'static str,
    coredns: &'static str,
    etcd: &'static str,
    chart: &'static str,
) -> Row {
    Row {
        name,
        kubernetes,
        containerd,
        coredns,
        etcd,
        chart,
    }
}

/// The published rows (alauda/immutable-infra-docs, os-support-matrix). There is none for v4.1.4.
#[rustfmt::skip]
pub(crate) const ROWS: [Row; 19] = [
    row("v4.0.9", "v1.31.14-2", "1.7.23-4", "1.12.4-v4.0.20", "v3.5.25-251215", "v4.0.39"),
    row("v4.0.10", "v1.31.14-2", "1.7.23-4", "1.12.4-v4.0.20", "v3.5.25-251215", "v4.0.46"),
    row("v4.0.11", "v1.31.14-2", "1.7.23-4", "1.12.4-v4.0.20", "v3.5.25-251215", "v4.0.47"),
    row("v4.1.0", "v1.32.7", "1.7.27-4", "1.11.3-v4.1.0", "v3.5.21", "v4.1.4"),
    row("v4.1.1", "v1.32.7", "1.7.27-4", "1.11.3-v4.1.0", "v3.5.21", "v4.1.5"),
    row("v4.1.2", "v1.32.7", "1.7.27-4", "1.11.3-v4.1.0", "v3.5.21", "v4.1.9"),
    row("v4.1.3", "v1.32.7", "1.7.27-4", "1.12.4-v4.1.2", "v3.5.21", "v4.1.11"),
    row("v4.1.5", "v1.32.11-2", "1.7.27-4", "1.12.4-v4.1.5", "v3.5.25-251215", "v4.1.25"),
    row("v4.1.6", "v1.32.11-2", "1.7.27-4", "1.12.4-v4.1.5", "v3.5.25-251215", "v4.1.32"),
    row("v4.2.0", "v1.33.6", "1.7.27-4", "1.12.4-v4.2.3", "v3.5.21-251117", "v4.2.6"),
    row("v4.2.1", "v1.33.7-1", "1.7.29-4", "1.12.4-v4.2.4", "v3.5.25-251215", "v4.2.15"),
    row("v4.2.2", "v1.33.7-2", "1.7.29-4", "1.12.4-v4.2.7", "v3.5.25-251215", "v4.2.24"),
    row("v4.2.3", "v1.33.7-3", "1.7.29-4", "1.12.4-v4.2.8", "v3.5.27-260305", "v4.2.26"),
    row("v4.2.4", "v1.33.7-3", "1.7.29-4", "1.12.4-v4.2.8", "v3.5.27-260305", "v4.2.26"),
    row("v4.2.5", "v1.33.7-4", "1.7.29-4", "1.14.3-v4.2.11", "v3.5.28-260421", "v4.2.33"),
    row("v4.3.0", "v1.34.5", "2.2.1-5", "1.14.2-v4.3.4", "v3.5.28-260325", "v4.3.3"),
    row("v4.3.1", "v1.34.5-1", "2.2.1-5", "1.14.2-v4.3.9", "v3.5.28-260421", "v4.3.5"),
    row("v4.3.2", "v1.34.5-3", "2.2.1-5", "1.14.2-v4.3.11", "v3.5.28-260625", "v4.3.11"),
    row("v4.4.0", "v1.35.6-acp.1", "2.2.6-3", "1.14.3-v4.4.6", "v3.6.13-acp.0", "v4.4.1"),
];

/// The row with a name, with or without the leading v.
pub(crate) fn row_named(name: &str) -> Option<&'static Row> {
    let bare = name.trim_start_matches('v');
    ROWS.iter().find(|row| row.name.trim_start_matches('v') == bare)
}

/// CoreDNS is compared by its own version, without the mark of the distribution behind it.
fn compared(component: &str, text: &'static str) -> Option<Version> {
    let text = match component {
        "coredns" => text.split_once('-').map_or(text, |(version, _)| version),
        _ => text,
    };
    Row::version(text)
}

/// Whether a component goes down from one row to another; with its versions if so.
pub(crate) fn goes_down(from: &Row, to: &Row, component: &str) -> bool {
    let versions = (
        compared(component, from.component(component)),
        compared(component, to.component(component)),
    );
    matches!(versions, (Some(from), Some(to)) if to.precedence(&from).is_lt())
}

/// A component does not go down from one row to another.
pub(super) fn no_component_down(named: Named, from: &Row, to: &Row, component: &'static str, findings: &mut Findings) {
    if goes_down(from, to, component) {
        let (was, is) = (from.component(component), to.component(component));
        let finding = Finding::violation(named, format!("components/{component}"))
            .says(format!(
                "row {} to {} takes {component} down from {was} to {is}",
                from.name, to.name
            ))
            .shows("from", was)
            .shows("to", is)
            .fact("rows", vec![from.name, to.name])
            .remedy(match last_good_of_minor(from, to) {
                Some(row) => format!(
                    "Take row {}, whose {component} is {}.",
                    row.name,
                    row.component(component)
                ),
                None => format!("Wait for a row of this minor whose {component} is {was} or later."),
            });
        findings.push(finding);
    }
}

/// The rows of the next minor of Kubernetes that can be reached from a row without taking a component down; none if
/// there is no next minor.
pub(crate) fn next_rows(from: &Row) -> Option<Vec<&'static Row>> {
    let minor = |row: &Row| Row::version(row.kubernetes).map(|version| version.minor());
    let next: Vec<&Row> = ROWS
        .iter()
        .filter(|row| minor(row) == minor(from).map(|minor| minor + 1))
        .collect();
    if next.is_empty() {
        return None;
    }
    let is_feasible = |row: &&&Row| !goes_down(from, row, "etcd") && !goes_down(from, row, "coredns");
    Some(next.iter().filter(is_feasible).copied().collect())
}

/// Whether one row comes after another.
pub(crate) fn is_after(row: &Row, other: &Row) -> bool {
    let place = |wanted: &Row| ROWS.iter().position(|row| row == wanted);
    place(row) > place(other)
}

/// The components that keep every row of the next minor out of reach.
pub(crate) fn blocking(from: &Row) -> Vec<&'static str> {
    let minor = |row: &Row| Row::version(row.kubernetes).map(|version| version.minor());
    let next = || {
        let wanted = minor(from).map(|minor| minor + 1);
        ROWS.iter().filter(move |row| minor(row) == wanted)
    };
    let blocks = |component: &&str| next().any(|row| goes_down(from, row, component));
    ["coredns", "etcd"].into_iter().filter(blocks).collect()
}

/// The last row of a row's minor that can be reached from another and left again.
pub(crate) fn last_good_of_minor(from: &Row, row: &Row) -> Option<&'static Row> {
    let minor = |row: &Row| Row::version(row.name).map(|version| version.minor());
    let is_good = |other: &&Row| {
        let is_reachable = !goes_down(from, other, "etcd") && !goes_down(from, other, "coredns");
        is_reachable && next_rows(other).is_none_or(|next| !next.is_empty())
    };
    let mut rows = ROWS.iter().filter(|other| minor(other) == minor(row));
    rows.rfind(is_good)
}
