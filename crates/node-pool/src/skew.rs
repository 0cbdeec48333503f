//! Whether nodes of a version may stand beside the control plane as it was last observed. The rules are the planner's; here
//! is decided what they are asked, and what their answer means for a pool.
//!
//! A roll is judged by where it leads, not by where it comes from: the way out of a bad state is never refused because the
//! state is bad.

#[cfg(test)]
mod tests;

use std::{fmt, sync::Arc};

use hyperplane_api::{
    cluster_api::machine::Machine,
    constants::annotations,
    hypershift::{hosted_cluster::HostedCluster, version_status::UpdateState},
};
use hyperplane_planner::{
    blocker::{Blocker, Moment},
    check::{Choice, check},
    release::Release,
    state::{ControlPlane, Distribution, Pool, State},
    version::{Scheme, Version},
};

/// A version that some part of the control plane has, by the history in the status of the cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PlaneVersion {
    /// The version of the distribution.
    pub(crate) version: Version,
    /// The version of Kubernetes in it, where it is known.
    pub(crate) kubernetes: Option<Version>,
}

/// Every version that a control plane has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PlaneVersions {
    /// Those that can be compared.
    pub(crate) known: Vec<PlaneVersion>,
    /// Those that cannot: their release is gone, and what the history says is no version.
    pub(crate) unknown: Vec<String>,
}

/// From what is judged.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SkewFacts<'a> {
    /// The name of the pool.
    pub(crate) pool: &'a str,
    /// Every version that the control plane has.
    pub(crate) plane: &'a PlaneVersions,
    /// What the nodes of the pool have.
    pub(crate) nodes: &'a NodeVersions,
    /// The version that all of them reached last.
    pub(crate) reached: Option<&'a str>,
    /// What they are to have.
    pub(crate) target: &'a Release,
}

/// What nodes were observed to have, one entry each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct NodeVersions {
    /// Versions of the distribution.
    pub(crate) versions: Vec<Version>,
    /// Versions of the kubelet.
    pub(crate) kubelets: Vec<Version>,
}

/// What was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SkewVerdict {
    /// Why nodes must not become what they are to be.
    pub(crate) refusals: Vec<Finding>,
    /// What is wrong with nodes as they are.
    pub(crate) observed: Vec<Finding>,
}

/// One finding of the planner about the pool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    /// The name that it has on every run, without when it is.
    pub(crate) rule: &'static str,
    /// What is wrong.
    pub(crate) message: String,
    /// What would help.
    pub(crate) remedy: String,
    /// Whether it could not be told.
    pub(crate) is_unknown: bool,
}

impl fmt::Display for Finding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let remedy = self.remedy.trim_end_matches('.');
        write!(formatter, "{} ({}): {remedy}", self.message, self.rule)
    }
}

impl SkewVerdict {
    /// Whether nodes may become what they are to be.
    pub(crate) const fn allows(&self) -> bool {
        self.refusals.is_empty()
    }
}

/// Judges a pool.
pub(crate) fn judge(facts: &SkewFacts<'_>) -> SkewVerdict {
    let choice = Choice::default_for_pools(facts.target.scheme());
    let mut verdict = SkewVerdict::default();
    verdict.refusals.extend(missing(facts.plane));
    let subject = format!("pools/{}", facts.pool);
    for plane in &facts.plane.known {
        // What is not known of nodes that are there keeps nobody from replacing them.
        let observed = check(&state(facts, plane, facts.nodes), None, &choice);
        for found in observed.violations.iter().filter(|found| found.subject == subject) {
            add(&mut verdict.observed, found, false);
        }
        let (before, after) = (
            state(facts, plane, &reached(facts)),
            state(facts, plane, &wanted(facts)),
        );
        let report = check(&before, Some(&after), &choice);
        let violations = report.violations.iter().map(|found| (found, false));
        let unknown = report.unknown.iter().map(|found| (found, true));
        for (found, is_unknown) in violations.chain(unknown) {
            if found.subject == subject && found.state != Moment::Before {
                add(&mut verdict.refusals, found, is_unknown);
            }
        }
    }
    verdict
}

/// What is not known of the control plane, which is never a pass.
fn missing(plane: &PlaneVersions) -> Vec<Finding> {
    let finding = |message: String, remedy: &str| Finding {
        rule: "H-04",
        message,
        remedy: remedy.to_owned(),
        is_unknown: true,
    };
    if plane.known.is_empty() && plane.unknown.is_empty() {
        let message = "the version of the control plane is not known yet".to_owned();
        return vec![finding(message, "Wait until the cluster reports it")];
    }
    let unknown = plane.unknown.iter().map(|text| {
        let message = format!("the control plane has {text}, of which no release is known and which is no version");
        finding(message, "Add the DistributionRelease of its image again")
    });
    unknown.collect()
}

/// Where a move begins: at the version that all nodes had last. Those that a roll has brought further do not keep anybody
/// from taking it back.
fn reached(facts: &SkewFacts<'_>) -> NodeVersions {
    if facts.nodes.kubelets.is_empty() && facts.nodes.versions.is_empty() {
        return NodeVersions::default();
    }
    let version = facts.reached;
    let version = version.and_then(|text| Version::parse(facts.target.scheme(), text).ok());
    NodeVersions {
        versions: version.into_iter().collect(),
        kubelets: facts.nodes.kubelets.clone(),
    }
}

fn add(list: &mut Vec<Finding>, found: &Blocker, is_unknown: bool) {
    let finding = Finding {
        rule: found.rule,
        message: found.message.clone(),
        remedy: found.remedy.clone(),
        is_unknown,
    };
    if !list.contains(&finding) {
        list.push(finding);
    }
}

/// All nodes at the version that they are to have; one, where there are none yet.
fn wanted(facts: &SkewFacts<'_>) -> NodeVersions {
    let count = facts.nodes.kubelets.len().max(1);
    NodeVersions {
        versions: vec![facts.target.version.clone(); count],
        kubelets: vec![facts.target.kubernetes.clone(); count],
    }
}

fn state(facts: &SkewFacts<'_>, plane: &PlaneVersion, nodes: &NodeVersions) -> State {
    let pool = Pool {
        name: facts.pool.to_owned(),
        versions: nodes.versions.clone(),
        kubelets: nodes.kubelets.clone(),
        ..Pool::default()
    };
    let has_nodes = !pool.kubelets.is_empty() || !pool.versions.is_empty();
    State {
        control_plane: ControlPlane {
            // All of them run at once while the control plane moves: the oldest decides what is too new, the newest what
            // is too old.
            kube_api_servers: facts
                .plane
                .known
                .iter()
                .filter_map(|one| one.kubernetes.clone())
                .collect(),
            ..ControlPlane::default()
        },
        pools: if has_nodes { vec![pool] } else { Vec::new() },
        distribution: Distribution {
            scheme: facts.target.scheme(),
            version: Some(plane.version.clone()),
            ..Distribution::default()
        },
        ..State::default()
    }
}

/// Every version that the control plane of a cluster has: the one that it last reached as a whole, and the one that it is
/// on its way to.
pub(crate) fn plane_versions(
    cluster: &HostedCluster,
    scheme: Scheme,
    resolve: impl Fn(&str) -> Option<Arc<Release>>,
) -> PlaneVersions {
    let mut found = PlaneVersions::default();
    for (version, image) in told(cluster) {
        let release = resolve(&image).map(|release| PlaneVersion {
            version: release.version.clone(),
            kubernetes: Some(release.kubernetes.clone()),
        });
        match release.or_else(|| by_number(scheme, &version)) {
            Some(version) if found.known.contains(&version) => {}
            Some(version) => found.known.push(version),
            None => found.unknown.push(format!("{version} ({image})")),
        }
    }
    found
}

/// A release that somebody took away is known by its version only, which for Kubernetes itself says all.
fn by_number(scheme: Scheme, text: &str) -> Option<PlaneVersion> {
    let version = Version::parse(scheme, text).ok()?;
    let is_kubernetes = !matches!(scheme, Scheme::OpenShift | Scheme::Acp);
    Some(PlaneVersion {
        kubernetes: is_kubernetes.then(|| version.clone()),
        version,
    })
}

/// Versions and images of the control plane, as the status of a cluster tells them. Its own history counts where there is
/// one: the control plane may be ahead of the cluster.
fn told(cluster: &HostedCluster) -> Vec<(String, String)> {
    let Some(status) = &cluster.status else {
        return Vec::new();
    };
    let (desired, history): (_, Vec<(bool, String, String)>) = match (&status.control_plane_version, &status.version) {
        (Some(own), _) => (
            &own.desired,
            own.history
                .iter()
                .map(|update| {
                    let is_complete = update.state == UpdateState::Completed;
                    (is_complete, update.version.as_str().to_owned(), update.image.clone())
                })
                .collect(),
        ),
        (None, Some(whole)) => (
            &whole.desired,
            whole
                .history
                .iter()
                .map(|update| {
                    let is_complete = update.state == UpdateState::Completed;
                    let version = update.version.clone().unwrap_or_default();
                    (is_complete, version, update.image.clone())
                })
                .collect(),
        ),
        (None, None) => return Vec::new(),
    };
    // What was begun after the last version that was reached may run somewhere.
    let reached = history.iter().position(|(is_complete, _, _)| *is_complete);
    let last = reached.map_or(history.len(), |place| place + 1);
    let versions: Vec<(String, String)> = history
        .into_iter()
        .take(last)
        .map(|(_, version, image)| (version, image))
        .collect();
    if versions.is_empty() && !desired.image.is_empty() {
        return vec![(desired.version.clone(), desired.image.clone())];
    }
    versions
}

/// What the nodes of some machines were observed to have.
pub(crate) fn node_versions<'a>(machines: impl IntoIterator<Item = &'a Machine>, target: &Release) -> NodeVersions {
    let mut found = NodeVersions::default();
    for machine in machines {
        let Some(info) = machine.status.as_ref().and_then(|status| status.node_info.as_ref()) else {
            continue;
        };
        found.kubelets.extend(kubelet(&info.kubelet_version, target));
        let version = annotations::RELEASE_VERSION.of(machine);
        let version = version.and_then(|text| Version::parse(target.scheme(), text).ok());
        found.versions.extend(version);
    }
    found
}

/// A version of the kubelet. Kubelets say it in Kubernetes' own way, whichever distribution they come with.
pub(crate) fn kubelet(text: &str, target: &Release) -> Option<Version> {
    let found = Version::parse(target.kubernetes.scheme(), text);
    found.or_else(|_| Version::parse(Scheme::Kubernetes, text)).ok()
}
