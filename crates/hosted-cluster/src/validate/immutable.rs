//! Choices that are made once. The schema keeps most of them, but not the network plugin, and not where another definition
//! of the kind is installed; what the control plane was made from decides.

use hyperplane_api::hypershift::{hosted_cluster::HostedClusterSpec, hosted_control_plane::HostedControlPlane};
use hyperplane_platforms::{Problem, Rule};
use serde_json::Value;

use super::Case;

const CHOICE: Rule = Rule {
    name: "immutable-choice",
    asks: "a choice that the running control plane was made from cannot be changed",
};

const SIGNING_KEY: Rule = Rule {
    name: "signing-key-stays",
    asks: "a key of service account tokens that was given once can be replaced, but not taken away",
};

pub(super) const RULES: &[Rule] = &[CHOICE, SIGNING_KEY];

/// Fields that have the same place in a HostedCluster and its HostedControlPlane.
const FIELDS: &[&str] = &[
    "/networking/networkType",
    "/networking/clusterNetwork",
    "/networking/serviceNetwork",
    "/networking/machineNetwork",
    "/controllerAvailabilityPolicy",
    "/etcd/managementType",
    "/issuerURL",
    "/fips",
    "/olmCatalogPlacement",
    "/infraID",
    "/clusterID",
    "/services",
    "/capabilities",
    "/platform/kubevirt/credentials",
];

pub(super) fn judge(case: &Case<'_>, problems: &mut Vec<Problem>) {
    let Some(control_plane) = &case.seen.control_plane else {
        return;
    };
    let wanted = serde_json::to_value(&case.cluster.spec).expect("a spec has only text keys and finite numbers");
    let made = serde_json::to_value(&control_plane.spec).expect("a spec has only text keys and finite numbers");
    let changed = FIELDS.iter().filter(|field| {
        let value = |of: &Value| of.pointer(field).cloned().unwrap_or_default();
        value(&wanted) != value(&made)
    });
    problems.extend(changed.map(|field| {
        let name = field.trim_start_matches('/').replace('/', ".");
        Problem::new(
            &CHOICE,
            format!("spec.{name}"),
            "the control plane was made with another value",
            "set it back, or make another cluster",
        )
    }));
    problems.extend(signing_key(&case.cluster.spec, control_plane));
}

/// Another key would be made in its place, and every token that is around would be void at once.
fn signing_key(spec: &HostedClusterSpec, control_plane: &HostedControlPlane) -> Option<Problem> {
    let wanted = spec.service_account_signing_key.as_ref();
    let is_given = wanted.is_some_and(|secret| !secret.name.is_empty());
    let was_given = control_plane.spec.service_account_signing_key.is_some();
    (was_given && !is_given).then(|| {
        Problem::new(
            &SIGNING_KEY,
            "spec.serviceAccountSigningKey",
            "it is missing, and without it every token that was signed with it would be void",
            "set it back, or name a Secret with another key: tokens of the old one stay valid then",
        )
    })
}
