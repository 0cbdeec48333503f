//! What the manager may do for machines, as rules of its ClusterRole. What they do inside of hosted clusters they may by the
//! kubeconfigs of those.

use hyperplane_api::constants::groups;
use hyperplane_component_driver::access::{REPORT, WATCH, WRITE, event_rules, rule};
use k8s_openapi::api::rbac::v1::PolicyRule;

use crate::InfrastructureKind;

/// The rules: all that the controllers need, in whichever process they run.
pub fn manager_rules() -> Vec<PolicyRule> {
    let mut rules = vec![
        rule(groups::CLUSTER_API, &["clusters"], &["list", "patch", "watch"]),
        rule(
            groups::CLUSTER_API,
            &["machinedeployments"],
            &["get", "list", "patch", "watch"],
        ),
        rule(groups::CLUSTER_API, &["machinehealthchecks"], WATCH),
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
        // In which the kubeconfigs of hosted clusters are.
        rule("", &["secrets"], WATCH),
        // What Clusters refer to.
        rule(groups::HYPERSHIFT, &["hostedcontrolplanes"], WATCH),
        rule(groups::INFRASTRUCTURE, &["kubevirtclusters"], WATCH),
        rule(groups::AGENT_PROVIDER, &["agentclusters"], WATCH),
    ];
    rules.extend(event_rules());
    for kind in InfrastructureKind::ALL {
        let row = kind.row();
        // Templates are called after their kind, as the contract asks.
        let templates = format!("{}templates", row.kind.to_lowercase());
        rules.push(rule(row.group, &[row.plural], WRITE));
        rules.push(rule(row.group, &[templates.as_str()], &["get"]));
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
        for resource in ["kubevirtmachinetemplates", "agentmachinetemplates"] {
            assert_eq!(verbs(resource).as_deref(), Some(&["get"][..]), "{resource}");
        }
        for resource in ["kubevirtclusters", "agentclusters", "hostedcontrolplanes"] {
            assert_eq!(verbs(resource).as_deref(), Some(WATCH), "{resource}");
        }
    }
}
