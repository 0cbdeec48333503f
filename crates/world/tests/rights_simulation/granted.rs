//! Which rules the accounts have on a management cluster: from every binding that names one of them.

use k8s_openapi::api::rbac::v1::{ClusterRole, ClusterRoleBinding, PolicyRule, Role, RoleBinding, RoleRef, Subject};
use kube::{Api, Client, ResourceExt as _, api::ListParams};

use crate::record::{ACCOUNTS, Record, Right};

/// Notes all of them.
pub async fn note(client: &Client, record: &Record) {
    let all = ListParams::default();
    for binding in Api::<ClusterRoleBinding>::all(client.clone()).list(&all).await.unwrap() {
        let rules = rules(client, None, &binding.role_ref).await;
        grant(record, &rules, binding.subjects.as_deref().unwrap_or_default());
    }
    for binding in Api::<RoleBinding>::all(client.clone()).list(&all).await.unwrap() {
        let rules = rules(client, binding.namespace().as_deref(), &binding.role_ref).await;
        grant(record, &rules, binding.subjects.as_deref().unwrap_or_default());
    }
}

async fn rules(client: &Client, namespace: Option<&str>, reference: &RoleRef) -> Vec<PolicyRule> {
    let rules = if let (Some(namespace), "Role") = (namespace, reference.kind.as_str()) {
        let api: Api<Role> = Api::namespaced(client.clone(), namespace);
        api.get_opt(&reference.name).await.unwrap().and_then(|role| role.rules)
    } else {
        let api: Api<ClusterRole> = Api::all(client.clone());
        api.get_opt(&reference.name).await.unwrap().and_then(|role| role.rules)
    };
    rules.unwrap_or_default()
}

fn grant(record: &Record, rules: &[PolicyRule], subjects: &[Subject]) {
    let is_ours = |subject: &&Subject| {
        let namespace = subject.namespace.as_deref().unwrap_or_default();
        let is_known = namespace == hyperplane_world::NAMESPACE || namespace.starts_with("clusters-");
        subject.kind == "ServiceAccount" && is_known && ACCOUNTS.contains(&subject.name.as_str())
    };
    for subject in subjects.iter().filter(is_ours) {
        for rule in rules {
            for (group, resource, verb) in each(rule) {
                record.grant(Right {
                    account: subject.name.clone(),
                    group: group.clone(),
                    resource: resource.clone(),
                    verb: verb.clone(),
                });
            }
        }
    }
}

/// Every combination that a rule names.
fn each(rule: &PolicyRule) -> impl Iterator<Item = (&String, &String, &String)> {
    let groups = rule.api_groups.iter().flatten();
    groups.flat_map(move |group| {
        let resources = rule.resources.iter().flatten();
        resources.flat_map(move |resource| rule.verbs.iter().map(move |verb| (group, resource, verb)))
    })
}
