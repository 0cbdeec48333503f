//! Role, ClusterRole and their bindings.

use jiff::Timestamp;
use serde_json::Value;

use super::rbac_rules::{name as role_name, validate_binding, validate_cluster_role, validate_role};
use crate::{
    Scope,
    cells::{name, object_age},
    row::{AGE, NAME, NAMESPACED, Row},
    value::{list, text},
};

pub(super) const ROWS: &[Row] = &[
    Row {
        plural: "clusterrolebindings",
        singular: "clusterrolebinding",
        kind: "ClusterRoleBinding",
        type_name: "rbac.ClusterRoleBinding",
        scope: Scope::Cluster,
        ..BINDING
    },
    Row {
        plural: "clusterroles",
        singular: "clusterrole",
        kind: "ClusterRole",
        type_name: "rbac.ClusterRole",
        scope: Scope::Cluster,
        validate: validate_cluster_role,
        ..RBAC
    },
    Row {
        plural: "rolebindings",
        singular: "rolebinding",
        kind: "RoleBinding",
        type_name: "rbac.RoleBinding",
        ..BINDING
    },
    Row {
        plural: "roles",
        singular: "role",
        kind: "Role",
        type_name: "rbac.Role",
        validate: validate_role,
        ..RBAC
    },
];

const RBAC: Row = Row {
    group: "rbac.authorization.k8s.io",
    creates_on_update: true,
    name: role_name,
    ..NAMESPACED
};

const BINDING: Row = Row {
    columns: &[
        NAME,
        ("Role", "string", 0),
        AGE,
        ("Users", "string", 1),
        ("Groups", "string", 1),
        ("ServiceAccounts", "string", 1),
    ],
    cells: binding_cells,
    validate: validate_binding,
    ..RBAC
};

fn binding_cells(binding: &Value, now: Timestamp) -> Vec<Value> {
    let role = &binding["roleRef"];
    let subjects = |kind: &str| {
        let names: Vec<String> = list(binding, "subjects")
            .iter()
            .filter(|subject| text(subject, "kind") == kind)
            .map(|subject| match text(subject, "namespace") {
                namespace if kind == "ServiceAccount" && !namespace.is_empty() => {
                    format!("{namespace}/{}", text(subject, "name"))
                }
                _ => text(subject, "name").to_owned(),
            })
            .collect();
        Value::from(names.join(", "))
    };
    vec![
        name(binding),
        Value::from(format!("{}/{}", text(role, "kind"), text(role, "name"))),
        object_age(binding, now),
        subjects("User"),
        subjects("Group"),
        subjects("ServiceAccount"),
    ]
}
