//! Accounts of the programs that run once for a management cluster, and what each may do: what its operators do, and not
//! one verb more. Operators of one control plane get theirs from the manager, in the namespace of the control plane.

use hyperplane_api::constants::groups;
use hyperplane_component_driver::access::rule;
use k8s_openapi::api::rbac::v1::PolicyRule;
use serde_json::{Value, json};

use crate::{
    labels,
    options::{MachineManager, Options},
    program::Program,
    rules::united,
};

/// The group of leases.
const COORDINATION: &str = "coordination.k8s.io";

/// The account of a program, its rights everywhere and those in its own namespace.
pub(crate) fn of(program: Program, options: &Options) -> Vec<Value> {
    let everywhere = options.global_name(program.account());
    let account = program.account();
    let metadata = |name: &str| json!({"name": name, "labels": labels::of(program)});
    let inside = |name: &str| json!({"name": name, "namespace": options.namespace, "labels": labels::of(program)});
    let subjects = json!([{"kind": "ServiceAccount", "name": account, "namespace": options.namespace}]);
    let reference = |kind: &str, name: &str| json!({"apiGroup": groups::RBAC, "kind": kind, "name": name});
    let rbac = format!("{}/v1", groups::RBAC);
    vec![
        json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": inside(account)}),
        json!({
            "apiVersion": rbac, "kind": "ClusterRole",
            "metadata": metadata(&everywhere), "rules": united(rights(program, options)),
        }),
        json!({
            "apiVersion": rbac, "kind": "ClusterRoleBinding",
            "metadata": metadata(&everywhere), "roleRef": reference("ClusterRole", &everywhere), "subjects": subjects,
        }),
        json!({
            "apiVersion": rbac, "kind": "Role",
            "metadata": inside(account), "rules": lease(program, options),
        }),
        json!({
            "apiVersion": rbac, "kind": "RoleBinding",
            "metadata": inside(account), "roleRef": reference("Role", account), "subjects": subjects,
        }),
    ]
}

/// What a program may do everywhere.
fn rights(program: Program, options: &Options) -> Vec<PolicyRule> {
    match program {
        Program::Operator => {
            let mut rules = hyperplane_hosted_cluster::manager_rules();
            rules.extend(hyperplane_node_pool::manager_rules());
            if options.machines == MachineManager::Hyperplane {
                rules.extend(hyperplane_machines::manager_rules());
            }
            // Where the management cluster runs.
            rules.push(rule("config.openshift.io", &["infrastructures"], &["get"]));
            rules.push(other_manager());
            rules
        }
        Program::MachineController => {
            let mut rules = hyperplane_machines::manager_rules();
            rules.push(other_manager());
            rules
        }
    }
}

/// Whether another manager of Cluster API is there.
fn other_manager() -> PolicyRule {
    PolicyRule {
        resource_names: Some(vec!["capi-controller-manager".to_owned()]),
        ..rule("apps", &["deployments"], &["get"])
    }
}

/// What may be done to the lease. Nothing that is not there yet can be named in a rule, and so making one cannot be bound
/// to its name.
fn lease(program: Program, options: &Options) -> Vec<PolicyRule> {
    vec![
        rule(COORDINATION, &["leases"], &["create"]),
        PolicyRule {
            resource_names: Some(vec![program.lease(options.scope.as_deref())]),
            ..rule(COORDINATION, &["leases"], &["get", "update"])
        },
    ]
}
