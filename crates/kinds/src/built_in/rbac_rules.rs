//! What roles and bindings must be (rbac/validation).

use hyperplane_schema::{
    BadValue,
    names::{dns_1123_subdomain, path_segment},
};
use serde_json::{Value, json};

use crate::{
    Target,
    complaints::{Complaints, Path},
    labels::validate_selector,
    value::{list, text},
};

const GROUP: &str = "rbac.authorization.k8s.io";

/// Names of roles may hold colons and capitals: only what breaks a path is forbidden.
pub(super) fn name(name: &str) -> Vec<String> {
    path_segment(name, false)
}

pub(super) fn validate_role(role: &Value, _old: Option<&Value>, _target: Target<'_>, complaints: &mut Complaints) {
    validate_rules(role, true, complaints);
}

pub(super) fn validate_cluster_role(
    role: &Value,
    _old: Option<&Value>,
    _target: Target<'_>,
    complaints: &mut Complaints,
) {
    validate_rules(role, false, complaints);
    let Some(aggregation) = role.get("aggregationRule") else {
        return;
    };
    let path = Path::new("aggregationRule.clusterRoleSelectors");
    let selectors = list(aggregation, "clusterRoleSelectors");
    if selectors.is_empty() {
        complaints.required(
            &path,
            "at least one clusterRoleSelector required if aggregationRule is non-nil",
        );
    }
    for (index, selector) in selectors.iter().enumerate() {
        validate_selector(Some(selector), &path.index(index), complaints);
    }
}

fn validate_rules(role: &Value, is_namespaced: bool, complaints: &mut Complaints) {
    let path = Path::new("rules");
    for (index, rule) in list(role, "rules").iter().enumerate() {
        validate_rule(rule, is_namespaced, &path.index(index), complaints);
    }
}

fn validate_rule(rule: &Value, is_namespaced: bool, path: &Path<'_>, complaints: &mut Complaints) {
    let has = |field| !list(rule, field).is_empty();
    if !has("verbs") {
        complaints.required(&path.child("verbs"), "verbs must contain at least one value");
    }
    if has("nonResourceURLs") {
        let urls = rule["nonResourceURLs"].clone();
        let path = path.child("nonResourceURLs");
        if is_namespaced {
            complaints.invalid(
                &path,
                urls.clone(),
                "namespaced rules cannot apply to non-resource URLs",
            );
        }
        if has("apiGroups") || has("resources") || has("resourceNames") {
            complaints.invalid(
                &path,
                urls,
                "rules cannot apply to both regular resources and non-resource URLs",
            );
        }
        return;
    }
    if !has("apiGroups") {
        complaints.required(
            &path.child("apiGroups"),
            "resource rules must supply at least one api group",
        );
    }
    if !has("resources") {
        complaints.required(
            &path.child("resources"),
            "resource rules must supply at least one resource",
        );
    }
}

pub(super) fn validate_binding(binding: &Value, old: Option<&Value>, _target: Target<'_>, complaints: &mut Complaints) {
    let is_namespaced = text(binding, "kind") != "ClusterRoleBinding";
    let role = &binding["roleRef"];
    let path = Path::new("roleRef");
    complaints.one_of(&path.child("apiGroup"), text(role, "apiGroup"), &[GROUP]);
    let kinds: &[&str] = if is_namespaced {
        &["Role", "ClusterRole"]
    } else {
        &["ClusterRole"]
    };
    complaints.one_of(&path.child("kind"), text(role, "kind"), kinds);
    match text(role, "name") {
        "" => complaints.required(&path.child("name"), ""),
        name => complaints.each(&path.child("name"), name, path_segment(name, false)),
    }
    let subjects = Path::new("subjects");
    for (index, subject) in list(binding, "subjects").iter().enumerate() {
        validate_subject(subject, is_namespaced, &subjects.index(index), complaints);
    }
    if old.is_some_and(|old| old["roleRef"] != *role) {
        complaints.invalid(&path, shown_role(role), "cannot change roleRef");
    }
}

/// A reference as upstream prints its internal form.
fn shown_role(role: &Value) -> BadValue {
    let field = |name| json!(text(role, name));
    BadValue::Text(format!(
        r#"{{"APIGroup":{},"Kind":{},"Name":{}}}"#,
        field("apiGroup"),
        field("kind"),
        field("name")
    ))
}

fn validate_subject(subject: &Value, is_namespaced: bool, path: &Path<'_>, complaints: &mut Complaints) {
    let (name, group) = (text(subject, "name"), text(subject, "apiGroup"));
    if name.is_empty() {
        complaints.required(&path.child("name"), "");
    }
    match text(subject, "kind") {
        "ServiceAccount" => {
            if !name.is_empty() {
                complaints.each(&path.child("name"), name, dns_1123_subdomain(name));
            }
            complaints.one_of(&path.child("apiGroup"), group, &[""]);
            if !is_namespaced && text(subject, "namespace").is_empty() {
                complaints.required(&path.child("namespace"), "");
            }
        }
        "User" | "Group" => complaints.one_of(&path.child("apiGroup"), group, &[GROUP]),
        other => complaints.one_of(&path.child("kind"), other, &["ServiceAccount", "User", "Group"]),
    }
}
