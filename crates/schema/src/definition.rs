//! A CustomResourceDefinition: what is filled in, what is refused, and what the server makes of an accepted one
//! (apiextensions, validation and defaults). Values in, values out; who stores it and when it is served is not said here.

mod compiled;
mod conversion;
mod defaults;
mod fields;
mod options;
mod properties;
mod schema;
mod spec;

use serde_json::Value;

use crate::field_error::FieldError;
use crate::names;
use crate::object_meta;
use options::Options;
use spec::Spec;

pub use compiled::{Column, Compiled, Scale, SelectableField, Version};
pub use defaults::default;

/// Complaints about a definition; `old` makes it an update. The definition has been through [`default`]. The metadata of a
/// new definition is judged with it; what may change in metadata is the same for all kinds and not said here.
pub fn validate(definition: &Value, old: Option<&Value>) -> Vec<FieldError> {
    let options = old.map_or_else(Options::for_create, |old| Options::for_update(definition, old));
    let mut errors = match old {
        None => validate_name(definition),
        Some(_) => Vec::new(),
    };
    let spec = Spec::new(&definition["spec"]);
    errors.extend(spec.validate(&options));
    if let Some(old) = old {
        errors.extend(spec::validate_update(
            &definition["spec"],
            &old["spec"],
            options.requires_immutable_names,
        ));
    }
    errors.extend(spec::validate_names(
        &definition["status"]["acceptedNames"],
        "status.acceptedNames",
    ));
    errors.extend(spec::validate_stored_versions(definition));
    errors.extend(validate_approval(definition, old));
    errors.extend(validate_preserve_unknown_fields(definition, old));
    errors
}

fn validate_name(definition: &Value) -> Vec<FieldError> {
    let metadata = &definition["metadata"];
    let mut errors = object_meta::validate(metadata, false, names::name_is_subdomain, "metadata");
    let spec = &definition["spec"];
    let wanted = format!(
        "{}.{}",
        fields::text(&spec["names"], "plural"),
        fields::text(spec, "group")
    );
    for (field, name) in [
        ("name", fields::text(metadata, "name")),
        ("generateName", fields::text(metadata, "generateName")),
    ] {
        if !name.is_empty() && name != wanted {
            let at = errors
                .iter()
                .rposition(|error| error.field == format!("metadata.{field}"))
                .map_or(0, |at| at + 1);
            let error = FieldError::invalid(
                format!("metadata.{field}"),
                name,
                "must be spec.names.plural+\".\"+spec.group",
            );
            errors.insert(at, error);
        }
    }
    errors
}

const APPROVED: &str = "api-approved.kubernetes.io";

/// Groups of the project need a sign that somebody there agreed.
fn validate_approval(definition: &Value, old: Option<&Value>) -> Option<FieldError> {
    let group = fields::text(&definition["spec"], "group");
    let is_protected = ["k8s.io", "kubernetes.io"]
        .into_iter()
        .any(|community| group == community || group.ends_with(&format!(".{community}")));
    let annotation = |definition: &Value| fields::text(&definition["metadata"]["annotations"], APPROVED).to_owned();
    let current = annotation(definition);
    if !is_protected || old.is_some_and(|old| approval(&annotation(old)) == approval(&current)) {
        return None;
    }
    let path = format!("metadata.annotations[{APPROVED}]");
    let see = "see https://github.com/kubernetes/enhancements/pull/1111";
    match approval(&current) {
        Approval::Missing => Some(FieldError::required(
            path,
            format!("protected groups must have approval annotation \"{APPROVED}\", {see}"),
        )),
        Approval::Invalid => Some(FieldError::invalid(
            path,
            current,
            format!(
                "protected groups must have approval annotation \"{APPROVED}\" with either a URL or a reason starting with \"unapproved\", {see}"
            ),
        )),
        Approval::Given | Approval::Bypassed => None,
    }
}

#[derive(PartialEq, Eq)]
enum Approval {
    Given,
    Bypassed,
    Invalid,
    Missing,
}

fn approval(annotation: &str) -> Approval {
    if annotation.is_empty() {
        return Approval::Missing;
    }
    if annotation.starts_with("unapproved") {
        return Approval::Bypassed;
    }
    match crate::go_net::Url::parse_request(annotation) {
        Ok(url) if !url.host.is_empty() && !url.scheme.is_empty() => Approval::Given,
        _ => Approval::Invalid,
    }
}

fn validate_preserve_unknown_fields(definition: &Value, old: Option<&Value>) -> Option<FieldError> {
    let preserves = |definition: &Value| definition["spec"]["preserveUnknownFields"] == Value::Bool(true);
    if old.is_some_and(preserves) || !preserves(definition) {
        return None;
    }
    Some(FieldError::invalid(
        "spec.preserveUnknownFields",
        true,
        "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead",
    ))
}
