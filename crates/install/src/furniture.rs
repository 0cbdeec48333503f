//! What operators need before they run: their namespace, the kinds, priorities for pods, which versions can be hosted,
//! accounts and rights. `hyperplane up`, an operator that sets its cluster up itself, and an installation write the same.

use hyperplane_api::constants::{labels as keys, ours};
use hyperplane_planner::catalogue;
use serde_json::{Value, json};

use crate::{access, definitions::definitions, labels, options::Options, program::Program};

/// The ConfigMap with the versions that can be hosted.
const SUPPORTED_VERSIONS: &str = "supported-versions";

/// The priority of the operators themselves: nothing is repaired without them.
pub(crate) const OPERATOR_PRIORITY: &str = "hypershift-operator";

/// Priorities of pods: the operators before all, then etcd, then what serves requests, then the rest of control planes.
const PRIORITIES: &[(&str, i32, &str)] = &[
    (OPERATOR_PRIORITY, 100_003_000, "the operators of hosted control planes"),
    ("hypershift-etcd", 100_002_000, "etcd of hosted control planes"),
    (
        "hypershift-api-critical",
        100_001_000,
        "what requests to hosted API servers pass through",
    ),
    (
        "hypershift-control-plane",
        100_000_000,
        "everything else of hosted control planes",
    ),
];

/// Everything, in the order in which it is to be written.
pub fn furniture(options: &Options) -> Vec<Value> {
    let mut all = vec![namespace(options)];
    all.extend(definitions(options));
    all.extend(PRIORITIES.iter().map(priority));
    all.push(supported_versions(options));
    for program in Program::of(options) {
        all.extend(access::of(program, options));
    }
    all
}

/// The namespace. What runs in it needs no rights on its machines.
fn namespace(options: &Options) -> Value {
    let mut labels = labels::common();
    for mode in ["enforce", "audit", "warn"] {
        labels[format!("pod-security.kubernetes.io/{mode}")] = "restricted".into();
    }
    json!({
        "apiVersion": "v1", "kind": "Namespace",
        "metadata": {"name": options.namespace, "labels": labels},
    })
}

fn priority((name, value, description): &(&str, i32, &str)) -> Value {
    json!({
        "apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass",
        "metadata": {"name": name, "labels": labels::common()},
        "value": value, "globalDefault": false, "description": description,
    })
}

/// Which versions of Kubernetes can be hosted, newest first, for programs that ask before they create a cluster.
fn supported_versions(options: &Options) -> Value {
    let mut versions: Vec<(u64, u64)> = catalogue::releases()
        .iter()
        .map(|release| (release.version.major(), release.version.minor()))
        .collect();
    versions.sort_unstable_by(|one, other| other.cmp(one));
    versions.dedup();
    let versions: Vec<String> = versions
        .iter()
        .map(|(major, minor)| format!("{major}.{minor}"))
        .collect();
    let mut labels = labels::common();
    labels[keys::SUPPORTED_VERSIONS.as_str()] = "true".into();
    labels[ours::MANAGED_BY.as_str()] = ours::MANAGED_BY_US.into();
    json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": SUPPORTED_VERSIONS, "namespace": options.namespace, "labels": labels},
        "data": {
            "server-version": env!("CARGO_PKG_VERSION"),
            "supported-versions": json!({"versions": versions}).to_string(),
        },
    })
}
