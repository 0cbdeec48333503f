//! Granting and binding, in the words of a real server.

use serde_json::{Value, json};

use super::{super::*, CLUSTER_BINDINGS, ROLES, binding, role, team, user};

fn escalation(policy: &Policy, resource: &str, namespace: &str, object: &Value, old: Option<&Value>) -> String {
    let carol = user("carol", &["a b", "system:authenticated"]);
    let attributes = Attributes::resource(&carol, "create", bootstrap::GROUP, resource, namespace, "");
    policy
        .escalation(&attributes, object, old)
        .map_or_else(|refusal| format!("{} {refusal}", refusal.code()), |()| String::new())
}

#[test]
fn nobody_grants_what_they_do_not_hold() {
    let policy = team();
    let wanted = json!([
        {"apiGroups": ["", "apps"], "resources": ["pods"], "verbs": ["get", "list"]},
        {"apiGroups": [""], "resources": ["secrets"], "resourceNames": ["x", "y"], "verbs": ["get", "update"]},
    ]);
    assert_eq!(
        escalation(&policy, "roles", "team", &role("team", "a", &wanted), None),
        r#"403 roles.rbac.authorization.k8s.io "a" is forbidden: user "carol" (groups=["a b" "system:authenticated"]) is attempting to grant RBAC permissions not currently held:
{APIGroups:[""], Resources:["pods"], Verbs:["list"]}
{APIGroups:[""], Resources:["secrets"], ResourceNames:["x"], Verbs:["get" "update"]}
{APIGroups:[""], Resources:["secrets"], ResourceNames:["y"], Verbs:["get" "update"]}
{APIGroups:["apps"], Resources:["pods"], Verbs:["get" "list"]}"#
    );
    let held = json!([{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]);
    assert_eq!(
        escalation(&policy, "roles", "team", &role("team", "a", &held), None),
        ""
    );
    let mut aggregating = role("", "a", &json!([]));
    assert_eq!(escalation(&policy, "clusterroles", "", &aggregating, None), "");
    aggregating["aggregationRule"] = json!({"clusterRoleSelectors": [{}]});
    let refused = r#"403 clusterroles.rbac.authorization.k8s.io "a" is forbidden: must have cluster-admin privileges to use the aggregationRule"#;
    assert_eq!(escalation(&policy, "clusterroles", "", &aggregating, None), refused);
    assert_eq!(
        escalation(
            &policy,
            "clusterroles",
            "",
            &role("", "a", &json!([])),
            Some(&aggregating)
        ),
        refused
    );
}

#[test]
fn nobody_binds_what_they_do_not_hold() {
    let policy = team();
    let bind = |kind, name| binding("team", "b", (kind, name), &json!([]));
    assert_eq!(
        escalation(
            &policy,
            "rolebindings",
            "team",
            &bind("ClusterRole", "system:basic-user"),
            None
        ),
        ""
    );
    assert_eq!(
        escalation(&policy, "rolebindings", "team", &bind("Role", "nope"), None),
        r#"404 rolebindings.rbac.authorization.k8s.io "nope" not found"#
    );
    let carol = json!([{"kind": "User", "name": "carol"}]);
    policy.put(
        CLUSTER_BINDINGS,
        &binding("", "dangling", ("ClusterRole", "gone"), &carol),
    );
    let refused = escalation(
        &policy,
        "rolebindings",
        "team",
        &bind("ClusterRole", "system:volume-scheduler"),
        None,
    );
    assert_eq!(
        refused,
        r#"403 rolebindings.rbac.authorization.k8s.io "b" is forbidden: user "carol" (groups=["a b" "system:authenticated"]) is attempting to grant RBAC permissions not currently held:
{APIGroups:[""], Resources:["persistentvolumeclaims"], Verbs:["get" "list" "patch" "update" "watch"]}
{APIGroups:[""], Resources:["persistentvolumes"], Verbs:["get" "list" "patch" "update" "watch"]}
{APIGroups:["storage.k8s.io"], Resources:["storageclasses"], Verbs:["get" "list" "watch"]}; resolution errors: [rolebindings.rbac.authorization.k8s.io "gone" not found]"#
    );
}

#[test]
fn the_verbs_escalate_and_bind_lift_the_check() {
    let policy = team();
    let verbs = json!([{"apiGroups": [bootstrap::GROUP], "resources": ["roles", "clusterroles"], "verbs": ["escalate", "bind"]}]);
    policy.put(ROLES, &role("team", "maker", &verbs));
    let everything = json!([{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}]);
    assert_eq!(
        escalation(&policy, "roles", "team", &role("team", "a", &everything), None),
        ""
    );
    let admin = binding("team", "b", ("ClusterRole", "cluster-admin"), &json!([]));
    assert_eq!(escalation(&policy, "rolebindings", "team", &admin, None), "");
    assert!(escalation(&policy, "clusterrolebindings", "", &admin, None).starts_with("403"));
}

#[test]
fn the_garbage_collector_may_edit_any_role() {
    let policy = team();
    let everything = json!([{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}]);
    let old = role("team", "a", &everything);
    let mut new = old.clone();
    new["metadata"]["finalizers"] = json!(["x"]);
    assert_eq!(escalation(&policy, "roles", "team", &new, Some(&old)), "");
    new["metadata"]["labels"] = json!({"x": "y"});
    assert!(escalation(&policy, "roles", "team", &new, Some(&old)).starts_with("403"));
}
