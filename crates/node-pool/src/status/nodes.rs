//! What the nodes of a pool run, counted from what their kubelets say.

use std::collections::BTreeMap;

use hyperplane_api::{
    cluster_api::machine::Machine,
    constants::{annotations, conditions},
    hypershift::node_pool::{
        OsImageStream, OsImageStreamName,
        status::{KubeletVersion, NodeVersion, NodesInfo, ReleaseVersion},
    },
};
use hyperplane_runtime::conditions::holds;

/// The most pairs of versions that are told.
const MOST_VERSIONS: usize = 100;

/// Which versions nodes run; none as long as there are no nodes.
pub(super) fn info<'a>(machines: impl Iterator<Item = &'a Machine>) -> Option<NodesInfo> {
    let mut counts: BTreeMap<(String, String), (i32, i32)> = BTreeMap::new();
    for machine in machines {
        let Some((release, kubelet)) = versions(machine) else {
            continue;
        };
        let (ready, unready) = counts.entry((release, kubelet)).or_default();
        let count = if is_healthy(machine) { ready } else { unready };
        *count = count.saturating_add(1);
    }
    let versions = counts
        .into_iter()
        .take(MOST_VERSIONS)
        .map(|((release, kubelet), (ready, unready))| NodeVersion {
            ocp_version: ReleaseVersion::stored(release),
            kubelet_version: KubeletVersion::stored(kubelet),
            ready_node_count: ready,
            unready_node_count: unready,
        });
    let node_versions: Vec<NodeVersion> = versions.collect();
    (!node_versions.is_empty()).then_some(NodesInfo { node_versions })
}

/// What a node runs: the release that its machine was made with, and the kubelet that it says to have. Texts that the schema
/// would refuse are left out, lest they take the whole status along.
fn versions(machine: &Machine) -> Option<(String, String)> {
    let info = machine.status.as_ref()?.node_info.as_ref()?;
    let release = annotations::RELEASE_VERSION.of(machine);
    let release = release.or(machine.spec.version.as_deref())?.trim_start_matches('v');
    let release = release.parse::<ReleaseVersion>().ok()?;
    let kubelet = info.kubelet_version.parse::<KubeletVersion>().ok()?;
    Some((release.as_str().to_owned(), kubelet.as_str().to_owned()))
}

fn is_healthy(machine: &Machine) -> bool {
    let status = machine.status.as_ref();
    status.is_some_and(|status| holds(&status.conditions, conditions::machine::NODE_HEALTHY.as_str()))
}

/// The stream of operating system images that more than half of the nodes run.
pub(super) fn os_image_stream<'a>(machines: impl Iterator<Item = &'a Machine>) -> Option<OsImageStream> {
    let (mut nine, mut ten, mut all) = (0_usize, 0_usize, 0_usize);
    for machine in machines {
        let info = machine.status.as_ref().and_then(|status| status.node_info.as_ref());
        let Some(info) = info else { continue };
        all += 1;
        match stream_of(&info.os_image) {
            Some(OsImageStreamName::Rhel9) => nine += 1,
            Some(OsImageStreamName::Rhel10) => ten += 1,
            _ => {}
        }
    }
    let name = match all {
        0 => return None,
        all if nine * 2 > all => OsImageStreamName::Rhel9,
        all if ten * 2 > all => OsImageStreamName::Rhel10,
        _ => return None,
    };
    Some(OsImageStream { name })
}

/// CoreOS names itself by the minor of OpenShift, `418.94.…`, or by that of RHEL, `9.6.…`.
fn stream_of(os_image: &str) -> Option<OsImageStreamName> {
    let (_, version) = os_image.split_once("CoreOS ")?;
    let number: u32 = version.split('.').next()?.trim().parse().ok()?;
    match number {
        9 | 400..=499 => Some(OsImageStreamName::Rhel9),
        10 | 500..=599 => Some(OsImageStreamName::Rhel10),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::machine;

    #[test]
    fn nodes_are_counted_by_what_they_run() {
        let machines = [
            machine("one", "1.35.1", "v1.35.1", true),
            machine("two", "1.36.4", "v1.36.4", true),
            machine("three", "1.36.4", "v1.36.4", false),
            machine("four", "1.36.4", "broken", true),
            machine("five", "1.36.4", "", true),
        ];
        let info = info(machines.iter()).unwrap();
        let told: Vec<(&str, &str, i32, i32)> = info
            .node_versions
            .iter()
            .map(|one| {
                (
                    one.ocp_version.as_str(),
                    one.kubelet_version.as_str(),
                    one.ready_node_count,
                    one.unready_node_count,
                )
            })
            .collect();
        assert_eq!(told, [("1.35.1", "v1.35.1", 1, 0), ("1.36.4", "v1.36.4", 1, 1)]);
    }

    #[test]
    fn no_nodes_are_told_by_saying_nothing() {
        assert_eq!(info(std::iter::empty()), None);
        assert_eq!(os_image_stream(std::iter::empty()), None);
    }

    #[test]
    fn streams_are_told_from_the_name_of_the_system() {
        for (text, expected) in [
            (
                "Red Hat Enterprise Linux CoreOS 418.94.202501",
                Some(OsImageStreamName::Rhel9),
            ),
            (
                "Red Hat Enterprise Linux CoreOS 9.6.20250101-0",
                Some(OsImageStreamName::Rhel9),
            ),
            (
                "Red Hat Enterprise Linux CoreOS 500.10.2026",
                Some(OsImageStreamName::Rhel10),
            ),
            ("Debian GNU/Linux 13 (trixie)", None),
        ] {
            assert_eq!(stream_of(text), expected, "{text}");
        }
    }
}
