//! What the manager may do for pools, as rules of its ClusterRole.

use hyperplane_api::constants::groups;
use hyperplane_component_driver::access::{REPORT, WATCH, WRITE, rule};
use k8s_openapi::api::rbac::v1::PolicyRule;

/// The rules. Secrets and ConfigMaps are among those that the manager has for clusters already.
pub fn manager_rules() -> Vec<PolicyRule> {
    vec![
        rule(groups::HYPERSHIFT, &["nodepools"], &["get", "list", "patch", "watch"]),
        rule(groups::HYPERSHIFT, &["nodepools/finalizers"], &["update"]),
        rule(groups::HYPERSHIFT, &["nodepools/status"], REPORT),
        // To name a cluster as the owner that its deletion waits for.
        rule(groups::HYPERSHIFT, &["hostedclusters/finalizers"], &["update"]),
        rule(groups::HYPERSHIFT, &["hostedclusters", "hostedcontrolplanes"], WATCH),
        rule(groups::HYPERPLANE, &["distributionreleases"], WATCH),
        rule(
            groups::CLUSTER_API,
            &["machinedeployments", "machinehealthchecks"],
            WRITE,
        ),
        // A pause is a mark on them.
        rule(groups::CLUSTER_API, &["machinesets"], &["list", "patch", "watch"]),
        rule(groups::CLUSTER_API, &["machines"], WATCH),
        rule(groups::INFRASTRUCTURE, &["kubevirtmachinetemplates"], WRITE),
        rule(groups::INFRASTRUCTURE, &["kubevirtmachines"], WATCH),
        rule(groups::AGENT_PROVIDER, &["agentmachinetemplates"], WRITE),
    ]
}
