//! Decisions of the whole policy, as a real server gave them, and what the other tests share.

mod escalation;
mod model;
mod node;

use serde_json::{Value, json};

use super::*;

const ROLES: &str = "roles.rbac.authorization.k8s.io";
const CLUSTER_ROLES: &str = "clusterroles.rbac.authorization.k8s.io";
const BINDINGS: &str = "rolebindings.rbac.authorization.k8s.io";
const CLUSTER_BINDINGS: &str = "clusterrolebindings.rbac.authorization.k8s.io";

fn role(namespace: &str, name: &str, rules: &Value) -> Value {
    json!({"metadata": {"namespace": namespace, "name": name}, "rules": rules})
}

fn binding(namespace: &str, name: &str, (kind, role): (&str, &str), subjects: &Value) -> Value {
    json!({
        "metadata": {"namespace": namespace, "name": name},
        "roleRef": {"apiGroup": bootstrap::GROUP, "kind": kind, "name": role},
        "subjects": subjects,
    })
}

fn user(name: &str, groups: &[&str]) -> User {
    User::with_groups(name, groups.iter().map(|&group| group.to_owned()).collect())
}

/// The objects on which the answers below were taken from a real server.
fn team() -> Policy {
    let policy = Policy::with_defaults();
    let rbac = json!({"apiGroups": [bootstrap::GROUP], "resources": ["roles", "rolebindings"], "verbs": ["create", "update", "get"]});
    let pods = json!({"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]});
    policy.put(ROLES, &role("team", "maker", &json!([rbac, pods])));
    let carol = json!([{"kind": "User", "name": "carol"}]);
    policy.put(BINDINGS, &binding("team", "maker", ("Role", "maker"), &carol));
    let rbac = json!({"apiGroups": [bootstrap::GROUP], "resources": ["clusterroles", "clusterrolebindings"], "verbs": ["create", "update", "get"]});
    policy.put(CLUSTER_ROLES, &role("", "cmaker", &json!([rbac])));
    policy.put(
        CLUSTER_BINDINGS,
        &binding("", "cmaker", ("ClusterRole", "cmaker"), &carol),
    );
    let dave = json!([{"kind": "User", "name": "dave"}, {"kind": "User", "name": "erin"}]);
    policy.put(
        CLUSTER_BINDINGS,
        &binding("", "dangling", ("ClusterRole", "gone"), &dave),
    );
    let dave = json!([{"kind": "User", "name": "dave"}, {"kind": "ServiceAccount", "name": "local"}]);
    policy.put(BINDINGS, &binding("team", "dangling", ("Role", "gone"), &dave));
    policy
}

#[test]
fn reasons_are_those_of_a_real_server() {
    let policy = team();
    let cases = [
        (
            "dave",
            "team",
            "RBAC: [clusterrole.rbac.authorization.k8s.io \"gone\" not found, role.rbac.authorization.k8s.io \"gone\" not found]",
        ),
        (
            "dave",
            "",
            "RBAC: clusterrole.rbac.authorization.k8s.io \"gone\" not found",
        ),
        (
            "system:serviceaccount:team:local",
            "team",
            "RBAC: role.rbac.authorization.k8s.io \"gone\" not found",
        ),
        (
            "carol",
            "team",
            "RBAC: allowed by RoleBinding \"maker/team\" of Role \"maker\" to User \"carol\"",
        ),
        ("carol", "other", ""),
        ("nobody", "team", ""),
    ];
    for (name, namespace, reason) in cases {
        let user = user(name, &[]);
        let decision = policy.authorize(&Attributes::resource(&user, "get", "", "pods", namespace, ""));
        assert_eq!(decision.reason(), reason, "{name} {namespace}");
        assert_eq!(
            decision.is_allowed(),
            reason.contains("allowed by"),
            "{name} {namespace}"
        );
    }
    let reader = user("bob", &["system:authenticated"]);
    assert_eq!(
        policy.authorize(&Attributes::path(&reader, "get", "/api")),
        Decision::Allow("RBAC: allowed by ClusterRoleBinding \"system:discovery\" of ClusterRole \"system:discovery\" to Group \"system:authenticated\"".to_owned())
    );
}

#[test]
fn the_masters_may_do_everything_and_others_nothing_without_a_role() {
    let policy = Policy::new();
    let (admin, other) = (User::admin(), user("other", &["system:authenticated"]));
    let ask = |user| policy.authorize(&Attributes::resource(user, "delete", "", "nodes", "", "a"));
    assert_eq!(ask(&admin), Decision::Allow(String::new()));
    assert_eq!(ask(&other), Decision::NoOpinion(String::new()));
}

#[test]
fn what_is_removed_no_longer_counts() {
    let policy = team();
    let carol = user("carol", &[]);
    let may = || {
        policy
            .authorize(&Attributes::resource(&carol, "get", "", "pods", "team", ""))
            .is_allowed()
    };
    assert!(may());
    policy.remove(ROLES, "team", "maker");
    assert!(!may());
    policy.put(
        ROLES,
        &role(
            "team",
            "maker",
            &json!([{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}]),
        ),
    );
    assert!(may());
    policy.put(BINDINGS, &binding("team", "maker", ("Role", "maker"), &json!([])));
    assert!(!may());
    policy.put(
        BINDINGS,
        &binding(
            "team",
            "maker",
            ("Role", "maker"),
            &json!([{"kind": "User", "name": "carol"}]),
        ),
    );
    policy.remove(BINDINGS, "team", "maker");
    assert!(!may());
}

#[test]
fn objects_of_other_groups_are_not_taken_for_ours() {
    let policy = Policy::new();
    let everything = json!([{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}]);
    policy.put("clusterroles.example.com", &role("", "all", &everything));
    let all = json!([{"kind": "User", "name": "eve"}]);
    policy.put(CLUSTER_BINDINGS, &binding("", "all", ("ClusterRole", "all"), &all));
    let eve = user("eve", &[]);
    assert!(
        !policy
            .authorize(&Attributes::resource(&eve, "get", "", "pods", "a", ""))
            .is_allowed()
    );
}

#[test]
fn rules_are_listed_with_what_could_not_be_found() {
    let policy = team();
    let status = policy.rules_for(&user("dave", &["system:unauthenticated"]), "team");
    assert_eq!(
        status,
        json!({
            "resourceRules": [],
            "nonResourceRules": [{"verbs": ["get"], "nonResourceURLs": ["/healthz", "/livez", "/readyz", "/version", "/version/"]}],
            "incomplete": false,
            "evaluationError": "[clusterrole.rbac.authorization.k8s.io \"gone\" not found, role.rbac.authorization.k8s.io \"gone\" not found]",
        })
    );
    let node = policy.rules_for(&User::node("n1"), "team");
    assert_eq!(node["incomplete"], true);
    assert_eq!(
        node["evaluationError"],
        "node authorizer does not support user rule resolution"
    );
}
