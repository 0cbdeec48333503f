//! Acting as somebody else: every mode, what it needs, and what a real server says when it is missing.

use serde_json::{Value, json};

use super::super::*;
use crate::{Attributes, Policy, names};

/// A service account with exactly these rights, on a node if its token says so.
fn act(rules: &Value, node: Option<&str>, headers: &[(&str, &str)]) -> Result<Impersonated, String> {
    let policy = Policy::new();
    policy.put(
        "clusterroles.rbac.authorization.k8s.io",
        &json!({"metadata": {"name": "r"}, "rules": rules}),
    );
    policy.put(
        "clusterrolebindings.rbac.authorization.k8s.io",
        &json!({"metadata": {"name": "b"}, "roleRef": {"kind": "ClusterRole", "name": "r"},
                "subjects": [{"kind": "ServiceAccount", "namespace": "default", "name": "bob"}]}),
    );
    let mut bob = User::service_account("default", "bob", "");
    if let Some(node) = node {
        bob.extra.insert(names::NODE_NAME.to_owned(), vec![node.to_owned()]);
    }
    let list = Attributes::resource(&bob, "list", "", "pods", "default", "");
    let authorize = |attributes: &Attributes<'_>| policy.authorize(attributes);
    let found = impersonation(headers.iter().copied(), &list, &authorize);
    found
        .map(|found| found.expect("a header asks"))
        .map_err(|refusal| format!("{} {refusal}", refusal.code()))
}

fn may(verb: &str, group: &str, resources: &[&str], names: &[&str]) -> Value {
    json!({"verbs": [verb], "apiGroups": [group], "resources": resources, "resourceNames": names})
}

fn on(mode: &str) -> Value {
    may(&format!("impersonate-on:{mode}:list"), "", &["pods"], &[])
}

const BOB: &str = "User \"system:serviceaccount:default:bob\"";

#[test]
fn without_rights_the_first_mode_that_applies_is_named() {
    let cases = [
        (
            "alice",
            &[][..],
            format!(
                "403 pods is forbidden: {BOB} cannot impersonate-on:user-info:list resource \"pods\" in API group \"\" in the namespace \"default\""
            ),
        ),
        (
            "system:serviceaccount:kube-system:x",
            &[],
            format!(
                "403 pods is forbidden: {BOB} cannot impersonate-on:serviceaccount:list resource \"pods\" in API group \"\" in the namespace \"default\""
            ),
        ),
        (
            "system:node:n1",
            &[],
            format!(
                "403 pods is forbidden: {BOB} cannot impersonate-on:arbitrary-node:list resource \"pods\" in API group \"\" in the namespace \"default\""
            ),
        ),
        (
            "system:node:n1",
            &[("Impersonate-Group", "g")],
            format!(
                "403 users \"system:node:n1\" is forbidden: {BOB} cannot impersonate resource \"users\" in API group \"\" at the cluster scope"
            ),
        ),
    ];
    for (user, more, expected) in cases {
        let headers: Vec<(&str, &str)> = [("Impersonate-User", user)]
            .into_iter()
            .chain(more.iter().copied())
            .collect();
        assert_eq!(act(&json!([]), None, &headers).unwrap_err(), expected);
    }
}

#[test]
fn whoever_asks_for_more_must_ask_for_a_user() {
    let cases = [
        (
            vec![("Impersonate-Group", "g")],
            r#"&user.DefaultInfo{Name:"", UID:"", Groups:[]string{"g"}, Extra:map[string][]string(nil)}"#,
        ),
        (
            vec![("impersonate-uid", "g"), ("IMPERSONATE-EXTRA-a%2fB", "x")],
            r#"&user.DefaultInfo{Name:"", UID:"g", Groups:[]string(nil), Extra:map[string][]string{"a/b":[]string{"x"}}}"#,
        ),
    ];
    for (headers, shown) in cases {
        assert_eq!(
            act(&json!([]), None, &headers).unwrap_err(),
            format!("400 requested {shown} without impersonating a user name")
        );
    }
    let anonymous = User::anonymous();
    let get = Attributes::path(&anonymous, "get", "/version");
    let nobody = |_: &Attributes<'_>| crate::Decision::NoOpinion(String::new());
    assert_eq!(impersonation([("accept", "*/*")], &get, &nobody), Ok(None));
}

#[test]
fn the_old_right_is_enough() {
    let rules = json!([may("impersonate", "", &["users", "groups", "serviceaccounts"], &[])]);
    let cases = [
        (
            vec![("Impersonate-User", "alice")],
            "alice",
            vec!["system:authenticated"],
        ),
        (
            vec![("Impersonate-User", "system:anonymous")],
            "system:anonymous",
            vec!["system:unauthenticated"],
        ),
        (
            vec![
                ("Impersonate-User", "alice"),
                ("Impersonate-Group", "a"),
                ("Impersonate-Group", "b"),
            ],
            "alice",
            vec!["a", "b", "system:authenticated"],
        ),
        (
            vec![
                ("Impersonate-User", "alice"),
                ("Impersonate-Group", "system:unauthenticated"),
            ],
            "alice",
            vec!["system:unauthenticated"],
        ),
        (
            vec![("Impersonate-User", "system:serviceaccount:a:b")],
            "system:serviceaccount:a:b",
            vec![
                "system:serviceaccounts",
                "system:serviceaccounts:a",
                "system:authenticated",
            ],
        ),
        (
            vec![
                ("Impersonate-User", "system:serviceaccount:a:b"),
                ("Impersonate-Group", "g"),
            ],
            "system:serviceaccount:a:b",
            vec!["g", "system:authenticated"],
        ),
        (
            vec![("Impersonate-User", "alice"), ("Impersonate-Group", "system:masters")],
            "alice",
            vec!["system:masters", "system:authenticated"],
        ),
        (
            vec![("Impersonate-User", "system:node:n1")],
            "system:node:n1",
            vec!["system:authenticated"],
        ),
    ];
    for (headers, name, groups) in cases {
        let found = act(&rules, None, &headers).unwrap();
        assert_eq!((found.user.name.as_str(), found.constraint), (name, ""));
        assert_eq!(found.user.groups, groups, "{headers:?}");
    }
}

#[test]
fn each_value_is_a_right_of_its_own() {
    let extra = may(
        "impersonate",
        "authentication.k8s.io",
        &["userextras/scopes"],
        &["view"],
    );
    let uid = may("impersonate", "authentication.k8s.io", &["uids"], &["1"]);
    let rules = json!([
        may("impersonate", "", &["users"], &["alice"]),
        may("impersonate", "", &["groups"], &["a"]),
        extra,
        uid
    ]);
    let alice = ("Impersonate-User", "alice");
    let allowed = [
        vec![("Impersonate-Group", "a")],
        vec![("Impersonate-Uid", "1")],
        vec![("Impersonate-Extra-Scopes", "view")],
    ];
    for more in allowed {
        let headers: Vec<_> = [alice].into_iter().chain(more).collect();
        assert!(act(&rules, None, &headers).is_ok(), "{headers:?}");
    }
    let refused = [
        vec![("Impersonate-Group", "a"), ("Impersonate-Group", "b")],
        vec![("Impersonate-Uid", "2")],
        vec![
            ("Impersonate-Extra-Scopes", "view"),
            ("Impersonate-Extra-Scopes", "edit"),
        ],
        vec![("Impersonate-Extra-Other", "view")],
    ];
    for more in refused {
        let headers: Vec<_> = [alice].into_iter().chain(more).collect();
        assert!(
            act(&rules, None, &headers).unwrap_err().starts_with("403 "),
            "{headers:?}"
        );
    }
    assert!(act(&rules, None, &[("Impersonate-User", "mallory")]).is_err());
}

#[test]
fn a_constrained_mode_needs_both_of_its_rights() {
    const AUTHENTICATION: &str = "authentication.k8s.io";
    let cases = [
        ("alice", "user-info", "users", None, vec!["system:authenticated"]),
        (
            "system:serviceaccount:a:b",
            "serviceaccount",
            "serviceaccounts",
            None,
            vec![
                "system:serviceaccounts",
                "system:serviceaccounts:a",
                "system:authenticated",
            ],
        ),
        (
            "system:node:n1",
            "arbitrary-node",
            "nodes",
            None,
            vec!["system:nodes", "system:authenticated"],
        ),
        (
            "system:node:n1",
            "associated-node",
            "nodes",
            Some("n1"),
            vec!["system:nodes", "system:authenticated"],
        ),
    ];
    for (name, mode, resource, node, groups) in cases {
        let verb = format!("impersonate:{mode}");
        let who = may(&verb, AUTHENTICATION, &[resource], &[]);
        let headers = [("Impersonate-User", name)];
        let found = act(&json!([on(mode), who]), node, &headers).unwrap();
        assert_eq!((found.user.name.as_str(), found.constraint), (name, verb.as_str()));
        assert_eq!(found.user.groups, groups);
        assert!(act(&json!([on(mode)]), node, &headers).is_err(), "{mode}");
        assert!(act(&json!([who]), node, &headers).is_err(), "{mode}");
    }
    let rights = json!([
        on("associated-node"),
        may("impersonate:associated-node", AUTHENTICATION, &["nodes"], &[])
    ]);
    assert!(
        act(&rights, Some("n2"), &[("Impersonate-User", "system:node:n1")]).is_err(),
        "another node"
    );
}

#[test]
fn constrained_modes_refuse_what_the_old_one_lets_pass() {
    let all = may(
        "impersonate:user-info",
        "authentication.k8s.io",
        &["users", "groups", "userextras/*"],
        &[],
    );
    let rights = json!([on("user-info"), all]);
    let alice = ("Impersonate-User", "alice");
    let cases = [
        (
            ("Impersonate-Group", "system:masters"),
            "impersonating the system:masters group is not allowed",
        ),
        (
            ("Impersonate-Group", ""),
            "impersonating the empty string group is not allowed",
        ),
        (
            ("Impersonate-Extra-scopes", "a"),
            "must be a domain-prefixed path (such as \"acme.io/foo\")",
        ),
        (
            ("Impersonate-Extra-acme.io%2Ffoo", ""),
            "impersonating the empty string value in extra is not allowed",
        ),
        (
            ("Impersonate-Extra-_%2Ffoo", "a"),
            "a lowercase RFC 1123 subdomain must consist of",
        ),
        (
            ("Impersonate-Extra-acme.io%2Ff%20o", "a"),
            "Invalid path (regex used for validation is",
        ),
    ];
    for (header, expected) in cases {
        let refused = act(&rights, None, &[alice, header]).unwrap_err();
        assert!(refused.contains(expected), "{refused}");
    }
}

#[test]
fn many_groups_are_asked_for_at_once() {
    let groups: Vec<(&str, &str)> = ["a", "b", "c", "d"].map(|group| ("Impersonate-Group", group)).to_vec();
    let headers: Vec<(&str, &str)> = [("Impersonate-User", "alice")].into_iter().chain(groups).collect();
    let users = may("impersonate:user-info", "authentication.k8s.io", &["users"], &[]);
    let star = may("impersonate:user-info", "authentication.k8s.io", &["groups"], &["*"]);
    assert!(act(&json!([on("user-info"), users, star]), None, &headers).is_ok());
    assert!(
        act(&json!([on("user-info"), users, star]), None, &headers[..3]).is_err(),
        "few groups are asked one by one"
    );
}
