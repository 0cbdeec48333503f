//! Resources inside of a resource: they have a type and metadata of their own (structural/objectmeta).

use serde_json::{Map, Value};

use crate::field_error::FieldError;
use crate::names;
use crate::node::{Additional, Arena, NodeId};
use crate::object_meta;
use crate::path::Path;

/// Drops unknown fields of the metadata of every embedded resource below the root, and says where.
pub(crate) fn prune(arena: &Arena, id: NodeId, value: &mut Value, is_root: bool, path: &Path<'_>) -> Vec<String> {
    let node = &arena[id];
    if !node.contents.embedded {
        return Vec::new();
    }
    let mut unknown = Vec::new();
    match value {
        Value::Object(fields) => {
            if node.embedded
                && !is_root
                && let Some(metadata) = fields.get_mut("metadata")
            {
                let dropped = object_meta::prune(metadata);
                unknown.extend(dropped.iter().map(|name| format!("{}.{name}", path.child("metadata"))));
            }
            for (name, field) in fields {
                if let Some(child) = node.properties.get(name) {
                    unknown.extend(prune(arena, *child, field, false, &Path::Field(path, name)));
                } else if let Additional::Schema(child) = node.additional {
                    unknown.extend(prune(arena, child, field, false, &Path::Key(path, name)));
                }
            }
        }
        Value::Array(entries) => {
            let Some(items) = node.items else { return unknown };
            for (index, entry) in entries.iter_mut().enumerate() {
                unknown.extend(prune(arena, items, entry, false, &Path::Index(path, index)));
            }
        }
        _ => {}
    }
    unknown
}

/// The first embedded resource whose type or metadata has the wrong JSON type.
pub(crate) fn type_error(arena: &Arena, id: NodeId, value: &Value, path: &Path<'_>) -> Option<FieldError> {
    let node = &arena[id];
    if !node.contents.embedded {
        return None;
    }
    match value {
        Value::Object(fields) => {
            let own = node.embedded.then(|| resource_type_error(fields, path)).flatten();
            own.or_else(|| {
                fields
                    .iter()
                    .find_map(|(name, field)| match (node.properties.get(name), node.additional) {
                        (Some(child), _) => type_error(arena, *child, field, &Path::Field(path, name)),
                        (None, Additional::Schema(child)) => type_error(arena, child, field, &Path::Key(path, name)),
                        _ => None,
                    })
            })
        }
        Value::Array(entries) => {
            let items = node.items?;
            let mut indexed = entries.iter().enumerate();
            indexed.find_map(|(index, entry)| type_error(arena, items, entry, &Path::Index(path, index)))
        }
        _ => None,
    }
}

fn resource_type_error(fields: &Map<String, Value>, path: &Path<'_>) -> Option<FieldError> {
    for name in ["apiVersion", "kind"] {
        if let Some(value) = fields.get(name).filter(|value| !value.is_string()) {
            return Some(FieldError::invalid(path.child(name), value.clone(), "must be a string"));
        }
    }
    let metadata = fields.get("metadata")?;
    let error = object_meta::type_error(metadata)?;
    Some(FieldError::invalid(path.child("metadata"), metadata.clone(), error))
}

/// Complaints about the type and the metadata of every embedded resource at and below a value.
pub(crate) fn validate(arena: &Arena, id: NodeId, value: &Value, path: &Path<'_>, errors: &mut Vec<FieldError>) {
    let node = &arena[id];
    if !node.contents.embedded {
        return;
    }
    match value {
        Value::Object(fields) => {
            if node.embedded {
                validate_resource(fields, path, errors);
            }
            for (name, field) in fields {
                if let Some(child) = node.properties.get(name) {
                    validate(arena, *child, field, &Path::Field(path, name), errors);
                } else if let Additional::Schema(child) = node.additional {
                    validate(arena, child, field, &Path::Key(path, name), errors);
                }
            }
        }
        Value::Array(entries) => {
            let Some(items) = node.items else { return };
            for (index, entry) in entries.iter().enumerate() {
                validate(arena, items, entry, &Path::Index(path, index), errors);
            }
        }
        _ => {}
    }
}

/// The type must be there; metadata need not be.
pub(crate) fn validate_resource(fields: &Map<String, Value>, path: &Path<'_>, errors: &mut Vec<FieldError>) {
    for name in ["apiVersion", "kind"] {
        if !fields.contains_key(name) {
            errors.push(FieldError::required(path.child(name), ""));
        }
    }
    if let Some(value) = fields.get("apiVersion") {
        errors.extend(
            text_error(value, api_version_error)
                .map(|(value, words)| FieldError::invalid(path.child("apiVersion"), value, words)),
        );
    }
    if let Some(value) = fields.get("kind") {
        errors.extend(
            text_error(value, kind_error).map(|(value, words)| FieldError::invalid(path.child("kind"), value, words)),
        );
    }
    if let Some(metadata) = fields.get("metadata") {
        validate_metadata(metadata, &path.child("metadata"), errors);
    }
}

fn text_error(value: &Value, rule: fn(&str) -> Option<String>) -> Option<(Value, String)> {
    let words = match value.as_str() {
        None => "must be a string".to_owned(),
        Some("") => "must not be empty".to_owned(),
        Some(text) => rule(text)?,
    };
    Some((value.clone(), words))
}

fn api_version_error(text: &str) -> Option<String> {
    (text.matches('/').count() > 1).then(|| format!("unexpected GroupVersion string: {text}"))
}

fn kind_error(text: &str) -> Option<String> {
    let complaints = names::dns_1035_label(&text.to_lowercase());
    (!complaints.is_empty()).then(|| {
        format!(
            "may have mixed case, but should otherwise match: {}",
            complaints.join(",")
        )
    })
}

fn validate_metadata(metadata: &Value, path: &str, errors: &mut Vec<FieldError>) {
    if let Some(error) = object_meta::type_error(metadata) {
        errors.push(FieldError::invalid(path, metadata.clone(), error));
        return;
    }
    let mut metadata = metadata.clone();
    let is_namespaced = metadata
        .get("namespace")
        .and_then(Value::as_str)
        .is_some_and(|name| !name.is_empty());
    if let Value::Object(fields) = &mut metadata
        && fields
            .get("name")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .is_empty()
    {
        // Embedded resources need no name; upstream puts one there for the check, too.
        fields.insert("name".to_owned(), Value::from("fakename"));
    }
    errors.extend(object_meta::validate(
        &metadata,
        is_namespaced,
        names::path_segment,
        path,
    ));
}
