//! What the manager may do for pools, as rules of its ClusterRole.

use hyperplane_api::constants::groups;
use hyperplane_component_driver::access::{READ, WRITE, rule};
use k8s_openapi::api::rbac::v1::PolicyRule;

/// The rules. Secrets and ConfigMaps are among those that the manager has for clusters already.
pub fn manager_rules() -> Vec<PolicyRule> {
    vec![
        rule(
            groups::HYPERSHIFT,
            &["nodepools"],
            &["get", "list", "patch", "update", "watch"],
        ),
        rule(groups::HYPERSHIFT, &["nodepools/finalizers"], &["update"]),
        rule(groups::HYPERSHIFT, &["nodepools/status"], &["patch", "update"]),
        // To name a cluster as the owner that its deletion waits for.
        rule(groups::HYPERSHIFT, &["hostedclusters/finalizers"], &["update"]),
        rule(groups::HYPERSHIFT, &["hostedclusters", "hostedcontrolplanes"], READ),
        rule(groups::HYPERPLANE, &["distributionreleases"], READ),
        rule(
            groups::CLUSTER_API,
            &["machinedeployments", "machinehealthchecks", "machines", "machinesets"],
            WRITE,
        ),
        rule(groups::INFRASTRUCTURE, &["kubevirtmachinetemplates"], WRITE),
        rule(groups::INFRASTRUCTURE, &["kubevirtmachines"], READ),
        rule(groups::AGENT_PROVIDER, &["agentmachinetemplates"], WRITE),
    ]
}
