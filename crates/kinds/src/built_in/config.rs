//! ConfigMap, Secret and ServiceAccount.

use jiff::Timestamp;
use serde_json::Value;

use super::config_rules::{validate_config_map, validate_secret};
use crate::{
    Target, Verb,
    cells::{name, name_and_age, object_age},
    row::{AGE, NAME, NAMESPACED, Row, SubresourceRow},
    value::{object, text},
};

pub(super) const ROWS: &[Row] = &[CONFIG_MAP, SECRET, SERVICE_ACCOUNT];

const CONFIG_MAP: Row = Row {
    plural: "configmaps",
    singular: "configmap",
    kind: "ConfigMap",
    type_name: "core.ConfigMap",
    short_names: &["cm"],
    columns: &[NAME, ("Data", "string", 0), AGE],
    cells: config_map_cells,
    validate: validate_config_map,
    ..NAMESPACED
};

const SECRET: Row = Row {
    plural: "secrets",
    singular: "secret",
    kind: "Secret",
    type_name: "core.Secret",
    columns: &[NAME, ("Type", "string", 0), ("Data", "string", 0), AGE],
    cells: secret_cells,
    fields: &[("type", &["type"], "")],
    update: keep_type,
    validate: validate_secret,
    ..NAMESPACED
};

const SERVICE_ACCOUNT: Row = Row {
    plural: "serviceaccounts",
    singular: "serviceaccount",
    kind: "ServiceAccount",
    returns_deleted: true,
    type_name: "core.ServiceAccount",
    short_names: &["sa"],
    subresources: &[SubresourceRow {
        name: "token",
        kind: "TokenRequest",
        group: "authentication.k8s.io",
        version: "v1",
        verbs: &[Verb::Create],
    }],
    columns: &[NAME, AGE],
    cells: name_and_age,
    create: only_names_of_secrets,
    update: |object, _, _| only_names_of_secrets(object),
    ..NAMESPACED
};

fn config_map_cells(config_map: &Value, now: Timestamp) -> Vec<Value> {
    let entries = |field| object(config_map, field).map_or(0, serde_json::Map::len);
    vec![
        name(config_map),
        Value::from(entries("data") + entries("binaryData")),
        object_age(config_map, now),
    ]
}

fn secret_cells(secret: &Value, now: Timestamp) -> Vec<Value> {
    let entries = object(secret, "data").map_or(0, serde_json::Map::len);
    vec![
        name(secret),
        Value::from(text(secret, "type")),
        Value::from(entries),
        object_age(secret, now),
    ]
}

/// The type of a Secret that an update leaves open stays what it was.
fn keep_type(object: &mut Value, old: &Value, _target: Target<'_>) {
    if text(object, "type").is_empty()
        && let Some(map) = object.as_object_mut()
    {
        map.insert("type".to_owned(), old["type"].clone());
    }
}

/// References to secrets keep nothing but the name.
fn only_names_of_secrets(object: &mut Value) {
    for reference in object
        .get_mut("secrets")
        .and_then(Value::as_array_mut)
        .into_iter()
        .flatten()
    {
        reference
            .as_object_mut()
            .into_iter()
            .for_each(|map| map.retain(|field, _| field == "name"));
    }
}
