//! What the environment of a container must be.

use hyperplane_schema::names::{dns_1123_subdomain, qualified_name};
use serde_json::Value;

use crate::{
    complaints::{Complaints, Path},
    names::{config_key, environment_variable},
    value::{is_set, list, text},
};

const SOURCES: [&str; 5] = [
    "fieldRef",
    "resourceFieldRef",
    "configMapKeyRef",
    "secretKeyRef",
    "fileKeyRef",
];
const SEVERAL: &str = "may not have more than one field specified at a time";

/// The fields of a pod that a variable may show.
const FIELDS: [&str; 11] = [
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "spec.nodeName",
    "spec.serviceAccountName",
    "status.hostIP",
    "status.hostIPs",
    "status.podIP",
    "status.podIPs",
    "metadata.annotations",
    "metadata.labels",
];
/// The same, as upstream lists them to those who ask for another.
const SHOWN_FIELDS: [&str; 9] = [
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "spec.nodeName",
    "spec.serviceAccountName",
    "status.hostIP",
    "status.hostIPs",
    "status.podIP",
    "status.podIPs",
];
const RESOURCES: [&str; 6] = [
    "limits.cpu",
    "limits.ephemeral-storage",
    "limits.memory",
    "requests.cpu",
    "requests.ephemeral-storage",
    "requests.memory",
];

pub(super) fn validate_environment(container: &Value, path: &Path<'_>, complaints: &mut Complaints) {
    let variables = path.child("env");
    for (index, variable) in list(container, "env").iter().enumerate() {
        validate_variable(variable, &variables.index(index), complaints);
    }
    let sources = path.child("envFrom");
    for (index, source) in list(container, "envFrom").iter().enumerate() {
        validate_source(source, &sources.index(index), &sources, complaints);
    }
}

fn validate_variable(variable: &Value, path: &Path<'_>, complaints: &mut Complaints) {
    let name = text(variable, "name");
    if name.is_empty() {
        complaints.required(&path.child("name"), "");
    } else {
        complaints.each(&path.child("name"), name, environment_variable(name));
    }
    let Some(source) = variable.get("valueFrom") else {
        return;
    };
    let path = path.child("valueFrom");
    validate_field(source.get("fieldRef"), &path.child("fieldRef"), complaints);
    validate_resource_field(
        source.get("resourceFieldRef"),
        &path.child("resourceFieldRef"),
        complaints,
    );
    for field in ["configMapKeyRef", "secretKeyRef"] {
        validate_key(source.get(field), &path.child(field), complaints);
    }
    let count = SOURCES.iter().filter(|field| source.get(field).is_some()).count();
    if count == 0 {
        let detail =
            "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`";
        complaints.invalid(&path, "", detail);
    } else if is_set(variable.get("value")) {
        complaints.invalid(&path, "", "may not be specified when `value` is not empty");
    } else if count > 1 {
        complaints.invalid(&path, "", SEVERAL);
    }
}

fn validate_field(selector: Option<&Value>, path: &Path<'_>, complaints: &mut Complaints) {
    let Some(selector) = selector else { return };
    let field = text(selector, "fieldPath");
    let field_path = path.child("fieldPath");
    if field.is_empty() {
        complaints.required(&field_path, "");
        return;
    }
    if let Some((base, key)) = field.strip_suffix("']").and_then(|rest| rest.split_once("['")) {
        match base {
            "metadata.annotations" => complaints.each(path, key, qualified_name(&key.to_lowercase())),
            "metadata.labels" => complaints.each(path, key, qualified_name(key)),
            other => complaints.invalid(path, other, "does not support subscript"),
        }
        return;
    }
    if !FIELDS.contains(&field) {
        let detail = format!("error converting fieldPath: field label not supported: {field}");
        complaints.invalid(&field_path, field, detail);
        return;
    }
    complaints.one_of(&field_path, field, &SHOWN_FIELDS);
}

fn validate_resource_field(selector: Option<&Value>, path: &Path<'_>, complaints: &mut Complaints) {
    let Some(selector) = selector else { return };
    let resource = text(selector, "resource");
    let is_huge = resource.starts_with("requests.hugepages-") || resource.starts_with("limits.hugepages-");
    if resource.is_empty() {
        complaints.required(&path.child("resource"), "");
    } else if !is_huge {
        complaints.one_of(&path.child("resource"), resource, &RESOURCES);
    }
}

fn validate_key(selector: Option<&Value>, path: &Path<'_>, complaints: &mut Complaints) {
    let Some(selector) = selector else { return };
    let name = text(selector, "name");
    complaints.each(&path.child("name"), name, dns_1123_subdomain(name));
    match text(selector, "key") {
        "" => complaints.required(&path.child("key"), ""),
        key => complaints.each(&path.child("key"), key, config_key(key)),
    }
}

fn validate_source(source: &Value, path: &Path<'_>, all: &Path<'_>, complaints: &mut Complaints) {
    let prefix = text(source, "prefix");
    if !prefix.is_empty() {
        complaints.each(&path.child("prefix"), prefix, environment_variable(prefix));
    }
    let mut count = 0;
    for field in ["configMapRef", "secretRef"] {
        if let Some(reference) = source.get(field) {
            count += 1;
            let path = path.child(field);
            match text(reference, "name") {
                "" => complaints.required(&path.child("name"), ""),
                name => complaints.each(&path.child("name"), name, dns_1123_subdomain(name)),
            }
        }
    }
    match count {
        0 => complaints.invalid(all, "", "must specify one of: `configMapRef` or `secretRef`"),
        1 => {}
        _ => complaints.invalid(all, "", SEVERAL),
    }
}
