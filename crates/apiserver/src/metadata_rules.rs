//! The rules that metadata obeys whatever the kind, in upstream's words (apimachinery, api/validation/objectmeta.go).

use std::collections::BTreeSet;

use hyperplane_kinds::Resource;
use hyperplane_schema::{FieldError, names, object_meta};
use serde_json::Value;

use crate::metadata;

/// Complaints about the metadata of an object. `name_rule` has the kind's words about its name.
pub(crate) fn check(object: &Value, is_namespaced: bool, name_rule: impl Fn(&str) -> Vec<String>) -> Vec<FieldError> {
    let mut errors = check_name(object, name_rule);
    errors.extend(check_namespace(metadata::text(object, "namespace"), is_namespaced));
    errors.extend(object_meta::validate_parts(&object["metadata"], "metadata"));
    errors
}

/// Finalizers without a domain that upstream knows.
const STANDARD_FINALIZERS: [&str; 3] = ["kubernetes", "orphan", "foregroundDeletion"];
/// Built-in groups whose kinds do not mind how finalizers are called.
const LENIENT_GROUPS: [&str; 6] = [
    "admissionregistration.k8s.io",
    "apiextensions.k8s.io",
    "apiregistration.k8s.io",
    "coordination.k8s.io",
    "node.k8s.io",
    "policy",
];

/// Complaints about finalizers of new objects of built-in kinds. Custom kinds warn of them.
pub(crate) fn check_finalizers(resource: &Resource, object: &Value) -> Vec<FieldError> {
    let is_event = resource.group.is_empty() && resource.plural == "events";
    let is_custom = resource.behaviour.openapi_schema().is_some();
    if is_event || is_custom || LENIENT_GROUPS.contains(&resource.group.as_str()) {
        return Vec::new();
    }
    let finalizers = metadata::finalizers(object).enumerate();
    finalizers
        .filter(|(_, name)| !name.contains('/') && !STANDARD_FINALIZERS.contains(name))
        .map(|(index, name)| {
            let detail = "name is neither a standard finalizer name nor is it fully qualified";
            FieldError::invalid(format!("metadata.finalizers[{index}]"), name, detail)
        })
        .collect()
}

/// Complaints about a change of metadata.
pub(crate) fn check_update(object: &Value, old: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    if metadata::is_deleting(old) {
        errors.extend(no_new_finalizers(object, old));
    }
    if metadata::text(object, "resourceVersion").is_empty() {
        errors.push(FieldError::invalid(
            "metadata.resourceVersion",
            "",
            "must be specified for an update",
        ));
    }
    for field in [
        "name",
        "namespace",
        "uid",
        "creationTimestamp",
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
    ] {
        let (new, known) = (metadata::of(object).get(field), metadata::of(old).get(field));
        if new.filter(|value| !value.is_null()) != known.filter(|value| !value.is_null()) {
            let value = new.cloned().unwrap_or(Value::Null);
            errors.push(FieldError::invalid(
                format!("metadata.{field}"),
                value,
                "field is immutable",
            ));
        }
    }
    errors
}

fn check_name(object: &Value, name_rule: impl Fn(&str) -> Vec<String>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let (name, prefix) = (metadata::text(object, "name"), metadata::text(object, "generateName"));
    if !prefix.is_empty() {
        // A prefix may end where a name may not: the suffix follows.
        let trial = format!("{}a", prefix.trim_end_matches('-'));
        for message in name_rule(&trial) {
            errors.push(FieldError::invalid("metadata.generateName", prefix, message));
        }
    }
    if name.is_empty() {
        errors.push(FieldError::required(
            "metadata.name",
            "name or generateName is required",
        ));
    } else {
        let mut messages = name_rule(name);
        if messages.is_empty() {
            messages = names::path_segment(name, false);
        }
        errors.extend(
            messages
                .into_iter()
                .map(|message| FieldError::invalid("metadata.name", name, message)),
        );
    }
    errors
}

fn check_namespace(namespace: &str, is_namespaced: bool) -> Vec<FieldError> {
    match (is_namespaced, namespace.is_empty()) {
        (true, true) => vec![FieldError::required("metadata.namespace", "")],
        (true, false) => names::dns_1123_label(namespace)
            .into_iter()
            .map(|message| FieldError::invalid("metadata.namespace", namespace, message))
            .collect(),
        (false, true) => Vec::new(),
        (false, false) => vec![FieldError::forbidden("metadata.namespace", "not allowed on this type")],
    }
}

fn no_new_finalizers(object: &Value, old: &Value) -> Option<FieldError> {
    let known: BTreeSet<&str> = metadata::finalizers(old).collect();
    let new: BTreeSet<&str> = metadata::finalizers(object)
        .filter(|finalizer| !known.contains(finalizer))
        .collect();
    if new.is_empty() {
        return None;
    }
    let list: Vec<String> = new.iter().map(|finalizer| format!("{finalizer:?}")).collect();
    let detail = format!(
        "no new finalizers can be added if the object is being deleted, found new finalizers []string{{{}}}",
        list.join(", ")
    );
    Some(FieldError::forbidden("metadata.finalizers", detail))
}
