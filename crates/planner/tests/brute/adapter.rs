//! Between numbers and the crate: states made of numbers, and reports read as findings of the second reading. Where a
//! report says something that the reading has no word for, the adapter stops the test.

use std::collections::BTreeSet;

use hyperplane_planner::{
    blocker::{Blocker, Moment, Report},
    check::Choice,
    policy,
    state::{self, State},
    version::{Scheme, Version},
};

use super::{
    distributions::{self, Wrong},
    kubernetes::{self, CONTROLLERS, Fault, Minor, When, Who},
};

/// A patch for each role. Patches do not count for Kubernetes, so the lower parts of a cluster get the higher ones.
const PATCH_OF_SERVER: u32 = 0;
const PATCH_OF_CONTROLLER: u32 = 4;
const PATCH_OF_NODE: u32 = 9;

/// One policy and no other.
pub fn only(name: &str) -> Choice {
    Choice::of([policy::named(name).expect("the policy is there")])
}

/// A version of Kubernetes.
pub fn version(minor: Minor, patch: u32) -> Version {
    Version::parse(Scheme::Kubernetes, &format!("v1.{minor}.{patch}")).expect("it is a version")
}

fn versions(minors: impl IntoIterator<Item = Minor>, patch: u32) -> Vec<Version> {
    minors.into_iter().map(|minor| version(minor, patch)).collect()
}

/// The state of a cluster of minors.
pub fn state(cluster: &kubernetes::Cluster) -> State {
    let [manager, scheduler, cloud] = cluster
        .controllers
        .each_ref()
        .map(|minors| versions(minors.iter().copied(), PATCH_OF_CONTROLLER));
    let pools = cluster.pools.iter().map(|pool| state::Pool {
        name: pool.name.clone(),
        kubelets: versions(pool.nodes.iter().map(|node| node.kubelet), PATCH_OF_NODE),
        kube_proxies: versions(pool.nodes.iter().filter_map(|node| node.proxy), PATCH_OF_NODE),
        drains: Some(pool.drains),
        ..state::Pool::default()
    });
    State {
        control_plane: state::ControlPlane {
            kube_api_servers: versions(cluster.servers.iter().copied(), PATCH_OF_SERVER),
            kube_controller_manager: manager,
            kube_scheduler: scheduler,
            cloud_controller_manager: cloud,
            etcd: Vec::new(),
            is_local: cluster.is_local,
        },
        pools: pools.collect(),
        kubectl: versions(cluster.kubectl.iter().copied(), PATCH_OF_NODE),
        ..State::default()
    }
}

fn when(moment: Moment) -> When {
    match moment {
        Moment::Before => When::Before,
        Moment::After => When::After,
        Moment::Transition => When::Between,
    }
}

/// What a report forbids, in the words of the second reading.
pub fn violations(report: &Report) -> BTreeSet<kubernetes::Finding> {
    report.violations.iter().map(kubernetes_finding).collect()
}

/// Whether a report warns of kubectl.
pub fn warns_of_kubectl(report: &Report) -> bool {
    report
        .warnings
        .iter()
        .any(|warning| matches!(warning.rule, "K-20" | "K-21"))
}

/// Whether a skew is about being too old or too new; the facts say which.
fn direction(blocker: &Blocker) -> Fault {
    let says = |fact: &str| blocker.evidence.contains_key(fact);
    match (says("minorsOlder"), says("minorsNewer")) {
        (true, false) => Fault::Older,
        (false, true) => Fault::Newer,
        _ => panic!("{blocker:?} says neither older nor newer"),
    }
}

fn kubernetes_finding(blocker: &Blocker) -> kubernetes::Finding {
    let fault = match blocker.rule {
        "K-02" | "K-14" | "K-15" => Fault::Apart,
        "K-03" | "K-05" | "K-07" | "K-08" | "K-10" | "K-12" | "K-13" | "K-17" | "K-18" => direction(blocker),
        "KT-01" => Fault::Skip,
        "KT-02" | "KT-04" => Fault::Behind,
        "KT-05" | "KT-07" => Fault::Early,
        "KT-08" => Fault::NotDrained,
        rule => panic!("{rule} is not a rule of Kubernetes that forbids"),
    };
    (when(blocker.state), who(blocker), fault)
}

fn who(blocker: &Blocker) -> Who {
    let subject = blocker.subject.as_str();
    if let Some(pool) = subject.strip_prefix("pools/") {
        return match blocker.rule {
            "K-13" | "K-14" | "K-15" => Who::Proxies(pool.to_owned()),
            _ => Who::Kubelets(pool.to_owned()),
        };
    }
    let field = subject
        .strip_prefix("controlPlane.")
        .expect("it is of the control plane");
    match field.split('[').next().expect("a name comes first") {
        "kubeApiServers" => Who::ApiServers,
        "kubeControllerManager" => Who::Controller(CONTROLLERS[0]),
        "kubeScheduler" => Who::Controller(CONTROLLERS[1]),
        "cloudControllerManager" => Who::Controller(CONTROLLERS[2]),
        other => panic!("{other} is nobody"),
    }
}

/// What a report of a distribution's policy forbids.
pub fn distribution_violations(report: &Report) -> BTreeSet<distributions::Finding> {
    report.violations.iter().map(distribution_finding).collect()
}

fn distribution_finding(blocker: &Blocker) -> distributions::Finding {
    let is_skew = blocker.evidence.contains_key("minorsOlder") || blocker.evidence.contains_key("minorsNewer");
    let wrong = match (blocker.rule, blocker.reason) {
        _ if is_skew => Wrong::Skew(direction(blocker)),
        ("H-01", _) => Wrong::OutOfRange,
        ("H-02" | "H-09" | "C-01", _) | ("G-01", "Downgrade") => Wrong::Downgrade,
        ("H-03" | "C-02", _) | ("G-01", "SkipMinor") => Wrong::Skew(Fault::Skip),
        ("H-04", _) | ("G-01", "WorkerPoolNewer") => Wrong::Skew(Fault::Newer),
        ("H-06", _) => Wrong::Skew(Fault::Older),
        ("C-04", _) => Wrong::Unsettled,
        (rule, reason) => panic!("{rule} {reason} has no place in the second reading"),
    };
    let subject = match blocker.subject.strip_prefix("pools/") {
        Some(pool) => distributions::Who::Pool(pool.to_owned()),
        None => distributions::Who::Cluster,
    };
    (when(blocker.state), subject, wrong)
}
