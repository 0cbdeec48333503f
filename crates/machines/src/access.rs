//! What the manager may do for machines, as rules of its ClusterRole. What they do inside of hosted clusters they may by the
//! kubeconfigs of those.

use hyperplane_api::constants::groups;
use hyperplane_component_driver::access::{READ, WRITE, rule};
use k8s_openapi::api::rbac::v1::PolicyRule;

use crate::InfrastructureKind;

/// What is done to a status.
const REPORT: &[&str] = &["patch", "update"];

/// The rules. Secrets, in which kubeconfigs are, and events are among those that the manager has for clusters already.
pub fn manager_rules() -> Vec<PolicyRule> {
    let mut rules = vec![
        rule(groups::CLUSTER_API, &["clusters"], &["get", "list", "patch", "watch"]),
        rule(
            groups::CLUSTER_API,
            &["machinedeployments", "machinehealthchecks"],
            &["get", "list", "patch", "update", "watch"],
        ),
        rule(groups::CLUSTER_API, &["machines", "machinesets"], WRITE),
        rule(
            groups::CLUSTER_API,
            &[
                "clusters/status",
                "machinedeployments/status",
                "machinehealthchecks/status",
                "machines/status",
                "machinesets/status",
            ],
            REPORT,
        ),
        // An owner that blocks until its dependents are gone may be named only by who may change its finalizers
        // (kubernetes, plugin/pkg/admission/gc).
        rule(
            groups::CLUSTER_API,
            &[
                "clusters/finalizers",
                "machinedeployments/finalizers",
                "machinehealthchecks/finalizers",
                "machines/finalizers",
                "machinesets/finalizers",
            ],
            &["update"],
        ),
        // What Clusters refer to.
        rule(groups::HYPERSHIFT, &["hostedcontrolplanes"], READ),
        rule(groups::INFRASTRUCTURE, &["kubevirtclusters"], READ),
        rule(groups::AGENT_PROVIDER, &["agentclusters"], READ),
    ];
    for kind in InfrastructureKind::ALL {
        let row = kind.row();
        // Templates are called after their kind, as the contract asks.
        let templates = format!("{}templates", row.kind.to_lowercase());
        rules.push(rule(row.group, &[row.plural], WRITE));
        rules.push(rule(row.group, &[templates.as_str()], READ));
    }
    rules
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instances_are_made_and_templates_are_read() {
        let rules = manager_rules();
        let verbs = |resource: &str| {
            let is_meant = |rule: &&PolicyRule| rule.resources.iter().flatten().any(|found| found == resource);
            let found = rules.iter().find(is_meant);
            found.map(|rule| rule.verbs.iter().map(String::as_str).collect::<Vec<&str>>())
        };
        for resource in ["kubevirtmachines", "agentmachines", "machines", "machinesets"] {
            assert_eq!(verbs(resource).as_deref(), Some(WRITE), "{resource}");
        }
        for resource in [
            "kubevirtmachinetemplates",
            "agentmachinetemplates",
            "kubevirtclusters",
            "agentclusters",
            "hostedcontrolplanes",
        ] {
            assert_eq!(verbs(resource).as_deref(), Some(READ), "{resource}");
        }
    }
}
