//! Choices that are made once. The schema keeps most of them, but not the network plugin, and not where another definition
//! of the kind is installed; what the control plane was made from decides.

use hyperplane_platforms::{Problem, Rule};
use serde_json::Value;

use super::Case;

const CHOICE: Rule = Rule {
    name: "immutable-choice",
    asks: "a choice that the running control plane was made from cannot be changed",
};

pub(super) const RULES: &[Rule] = &[CHOICE];

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
}
