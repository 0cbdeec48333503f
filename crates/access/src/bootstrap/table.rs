//! Reads the default policy from its table. Knows the grammar of that file and nothing else.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::{BootstrapObject, GROUP};

const POLICY: &str = include_str!("policy.txt");
const NOT_POLICY: &str = "every line of the table follows its grammar, which a test checks";

/// The objects of the table: ClusterRoles, their bindings, Roles, their bindings.
pub(super) fn objects() -> Vec<BootstrapObject> {
    let mut objects: Vec<BootstrapObject> = Vec::new();
    for line in POLICY
        .lines()
        .filter(|line| !line.trim().is_empty() && !line.starts_with('#'))
    {
        if line.starts_with(' ') {
            let last = objects.last_mut().expect("a rule follows its role");
            push_rule(Arc::make_mut(&mut last.object), rule(line));
        } else {
            objects.push(entry(line));
        }
    }
    objects
}

fn push_rule(role: &mut Value, addition: Value) {
    role["rules"].as_array_mut().expect("a role has rules").push(addition);
}

fn entry(line: &str) -> BootstrapObject {
    let mut words = line.split_whitespace();
    let mut next = || words.next().expect(NOT_POLICY);
    match next() {
        "cluster-role" => {
            let name = next();
            cluster_role(name, words)
        }
        "role" => {
            let (namespace, name) = (next(), next());
            object("roles", "Role", namespace, name, json!({"rules": []}))
        }
        "cluster-binding" => {
            let name = next();
            let body = binding("ClusterRole", name, words);
            object("clusterrolebindings", "ClusterRoleBinding", "", name, body)
        }
        "binding" => {
            let (namespace, name, role) = (next(), next(), next());
            object(
                "rolebindings",
                "RoleBinding",
                namespace,
                name,
                binding("Role", role, words),
            )
        }
        other => panic!("the table of default policy begins a line with {other}"),
    }
}

fn cluster_role<'a>(name: &str, mut words: impl Iterator<Item = &'a str>) -> BootstrapObject {
    let mut role = object("clusterroles", "ClusterRole", "", name, json!({"rules": []}));
    let value = Arc::make_mut(&mut role.object);
    while let Some(word) = words.next() {
        let key = format!("{GROUP}/{}", words.next().expect(NOT_POLICY));
        match word {
            "label" => value["metadata"]["labels"][key] = json!("true"),
            _ => value["aggregationRule"] = json!({"clusterRoleSelectors": [{"matchLabels": {key: "true"}}]}),
        }
    }
    role
}

fn binding<'a>(role_kind: &str, role: &str, words: impl Iterator<Item = &'a str>) -> Value {
    let mut body = json!({"roleRef": {"apiGroup": GROUP, "kind": role_kind, "name": role}});
    let subjects: Vec<Value> = words.map(subject).collect();
    if !subjects.is_empty() {
        body["subjects"] = json!(subjects);
    }
    body
}

fn subject(word: &str) -> Value {
    let (kind, name) = word.split_once('/').expect(NOT_POLICY);
    match name.split_once('/') {
        Some((namespace, name)) => json!({"kind": kind, "namespace": namespace, "name": name}),
        None => json!({"apiGroup": GROUP, "kind": kind, "name": name}),
    }
}

fn rule(line: &str) -> Value {
    let mut parts = line.split('|').map(str::trim);
    let mut next = || parts.next().expect(NOT_POLICY);
    let (verbs, groups, what) = (next(), next(), next());
    let words = |text: &str| json!(text.split_whitespace().collect::<Vec<_>>());
    let mut rule = Map::from_iter([("verbs".to_owned(), json!(verbs.split(',').collect::<Vec<_>>()))]);
    if groups == "paths" {
        rule.insert("nonResourceURLs".to_owned(), words(what));
        return Value::Object(rule);
    }
    let groups: Vec<&str> = groups
        .split_whitespace()
        .map(|group| if group == "core" { "" } else { group })
        .collect();
    rule.insert("apiGroups".to_owned(), json!(groups));
    rule.insert("resources".to_owned(), words(what));
    if let Some(names) = parts.next() {
        rule.insert("resourceNames".to_owned(), words(names));
    }
    Value::Object(rule)
}

fn object(resource: &'static str, kind: &str, namespace: &str, name: &str, mut body: Value) -> BootstrapObject {
    body["apiVersion"] = json!(format!("{GROUP}/v1"));
    body["kind"] = json!(kind);
    body["metadata"] = json!({
        "name": name,
        "labels": {"kubernetes.io/bootstrapping": "rbac-defaults"},
        "annotations": {"rbac.authorization.kubernetes.io/autoupdate": "true"},
    });
    if !namespace.is_empty() {
        body["metadata"]["namespace"] = json!(namespace);
    }
    BootstrapObject {
        resource,
        namespace: namespace.to_owned(),
        name: name.to_owned(),
        object: Arc::new(body),
    }
}
