//! What classes of devices must be, and the parts that classes, claims and slices have in common. Expressions are only
//! measured: nothing here evaluates them.

use std::collections::BTreeSet;

use hyperplane_schema::{
    BadValue, FieldError,
    names::{dns_1123_subdomain, qualified_name},
};
use serde_json::Value;

use super::{resource_rules::is_extended, storage_rules::validate_driver_name};
use crate::{
    Target,
    complaints::{Complaints, Path},
    names::c_identifier,
    value::{list, text},
};

/// How many selectors a class or a request may have.
const SELECTOR_LIMIT: usize = 32;
/// How many configurations a class or a claim may have.
pub(super) const CONFIGURATION_LIMIT: usize = 32;
/// How long an expression may be, in bytes.
const EXPRESSION_BYTES: usize = 10 * 1024;
/// How long the parameters of a driver may be, in bytes.
const PARAMETER_BYTES: usize = 10 * 1024;
/// How long the name of a pool may be.
const POOL_NAME_LIMIT: usize = 253;
/// How long the part of an attribute's name behind the domain may be.
const IDENTIFIER_LIMIT: usize = 32;

pub(super) fn validate_class(class: &Value, _old: Option<&Value>, _target: Target<'_>, complaints: &mut Complaints) {
    let specification = &class["spec"];
    let path = Path::new("spec");
    validate_selectors(specification, &path, complaints);
    let configurations = path.child("config");
    validate_count(
        list(specification, "config"),
        CONFIGURATION_LIMIT,
        &configurations,
        complaints,
        |config, path, complaints| {
            validate_configuration(config, path, complaints);
        },
    );
    let resource = text(specification, "extendedResourceName");
    if specification.get("extendedResourceName").is_some() && !is_extended(resource) {
        let path = path.child("extendedResourceName");
        complaints.invalid(&path, resource, "must be a valid extended resource name");
    }
}

/// A list that is judged entry by entry, unless it is longer than allowed.
pub(super) fn validate_count(
    entries: &[Value],
    limit: usize,
    path: &Path<'_>,
    complaints: &mut Complaints,
    mut validate: impl FnMut(&Value, &Path<'_>, &mut Complaints),
) -> bool {
    if entries.len() > limit {
        too_many(entries.len(), limit, path, complaints);
        return false;
    }
    for (index, entry) in entries.iter().enumerate() {
        validate(entry, &path.index(index), complaints);
    }
    true
}

pub(super) fn too_many(count: usize, limit: usize, path: &Path<'_>, complaints: &mut Complaints) {
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    complaints.add(FieldError::too_many(path.to_string(), count, limit));
}

/// Each entry of a list must have a key of its own.
pub(super) fn validate_unique<K: Ord + Copy + Into<BadValue>>(
    keys: impl Iterator<Item = K>,
    path: &Path<'_>,
    complaints: &mut Complaints,
) {
    let mut seen = BTreeSet::new();
    for (index, key) in keys.enumerate() {
        if !seen.insert(key) {
            complaints.duplicate(&path.index(index), key);
        }
    }
}

/// The field `selectors` of a class or a request.
pub(super) fn validate_selectors(holder: &Value, path: &Path<'_>, complaints: &mut Complaints) {
    let path = path.child("selectors");
    validate_count(
        list(holder, "selectors"),
        SELECTOR_LIMIT,
        &path,
        complaints,
        |selector, path, complaints| {
            let path = path.child("cel");
            if selector.get("cel").is_none_or(Value::is_null) {
                complaints.required(&path, "");
            } else if text(selector, "cel.expression").len() > EXPRESSION_BYTES {
                complaints.too_long(&path.child("expression"), bytes(EXPRESSION_BYTES));
            }
        },
    );
}

fn bytes(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}

/// What is handed to a driver as it is.
pub(super) fn validate_configuration(configuration: &Value, path: &Path<'_>, complaints: &mut Complaints) {
    let path = path.child("opaque");
    let Some(opaque) = configuration.get("opaque").filter(|opaque| opaque.is_object()) else {
        complaints.required(&path, "");
        return;
    };
    validate_driver_name(text(opaque, "driver"), &path.child("driver"), complaints);
    validate_raw(
        opaque.get("parameters"),
        PARAMETER_BYTES,
        &path.child("parameters"),
        complaints,
    );
}

/// A JSON object of a client's own form.
pub(super) fn validate_raw(raw: Option<&Value>, limit: usize, path: &Path<'_>, complaints: &mut Complaints) {
    match raw {
        None | Some(Value::Null) => complaints.required(path, ""),
        Some(raw) if raw.to_string().len() > limit => complaints.too_long(path, bytes(limit)),
        Some(Value::Object(_)) => {}
        Some(_) => complaints.invalid(path, "<value omitted>", "must be a valid JSON object"),
    }
}

/// Subdomains with slashes between them.
pub(super) fn validate_pool_name(name: &str, path: &Path<'_>, complaints: &mut Complaints) {
    if name.is_empty() {
        complaints.required(path, "");
        return;
    }
    if name.len() > POOL_NAME_LIMIT {
        complaints.too_long(path, bytes(POOL_NAME_LIMIT));
    }
    for part in name.split('/') {
        complaints.each(path, part, dns_1123_subdomain(part));
    }
}

/// The name of an attribute or of a capacity, with or without the domain of who defines it.
pub(super) fn validate_qualified_name(name: &str, path: &Path<'_>, complaints: &mut Complaints) {
    match name.split('/').collect::<Vec<_>>()[..] {
        [identifier] => validate_identifier(identifier, path, complaints),
        [domain, identifier] => {
            if domain.is_empty() {
                complaints.invalid(path, "", "the domain must not be empty");
            } else {
                validate_driver_name(domain, path, complaints);
            }
            if identifier.is_empty() {
                complaints.invalid(path, "", "the name must not be empty");
            } else {
                validate_identifier(identifier, path, complaints);
            }
        }
        // Upstream looks no further into names with more than one slash.
        _ => {}
    }
}

fn validate_identifier(identifier: &str, path: &Path<'_>, complaints: &mut Complaints) {
    if identifier.len() > IDENTIFIER_LIMIT {
        complaints.too_long(path, bytes(IDENTIFIER_LIMIT));
    }
    complaints.each(path, identifier, c_identifier(identifier));
}

/// The fields `bindingConditions` and `bindingFailureConditions` of a device or of what was allocated of it.
pub(super) fn validate_binding_conditions(device: &Value, path: &Path<'_>, complaints: &mut Complaints) {
    const LIMIT: usize = 4;
    let fields = ["bindingConditions", "bindingFailureConditions"];
    for field in fields {
        validate_count(
            list(device, field),
            LIMIT,
            &path.child(field),
            complaints,
            |kind, path, complaints| {
                let kind = kind.as_str().unwrap_or_default();
                complaints.each(path, kind, qualified_name(kind));
            },
        );
    }
    let [conditions, failures] = fields.map(|field| list(device, field));
    validate_unique(
        conditions.iter().filter_map(Value::as_str),
        &path.child(fields[0]),
        complaints,
    );
    validate_unique(
        failures.iter().filter_map(Value::as_str),
        &path.child(fields[1]),
        complaints,
    );
    let failures_path = path.child(fields[1]);
    for (index, failure) in failures
        .iter()
        .enumerate()
        .filter(|(_, failure)| conditions.contains(failure))
    {
        let detail = "bindingFailureConditions must not overlap with bindingConditions";
        complaints.invalid(&failures_path.index(index), failure.clone(), detail);
    }
    for (missing, given) in [(0, 1), (1, 0)] {
        let (missing, given) = (fields[missing], fields[given]);
        if list(device, missing).is_empty() && !list(device, given).is_empty() {
            // Upstream prints the list that is not there.
            let nothing = BadValue::Value(Value::Null);
            complaints.invalid(
                &path.child(missing),
                nothing,
                format!("{missing} are required to use {given}"),
            );
        }
    }
}
