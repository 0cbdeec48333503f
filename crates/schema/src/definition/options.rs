//! What is asked of a new definition, and what an old one may keep although it would be refused today.

use std::collections::BTreeSet;

use serde_json::Value;

use super::conversion;
use super::fields::{is_established, list, present, text};
use super::properties;
use crate::structural;

/// The switches of validation.
#[derive(Clone, Debug)]
#[allow(clippy::struct_excessive_bools, reason = "they are upstream's switches")]
pub(super) struct Options {
    pub(super) requires_recognized_review_version: bool,
    pub(super) requires_immutable_names: bool,
    pub(super) requires_schema: bool,
    pub(super) requires_valid_types: bool,
    pub(super) requires_structural: bool,
    pub(super) requires_pruned_defaults: bool,
    pub(super) requires_atomic_sets: bool,
    pub(super) requires_list_keys: bool,
    pub(super) allows_invalid_bundle: bool,
    /// Versions whose rules are as they were, whatever they cost.
    pub(super) unchanged_versions: BTreeSet<String>,
    /// Versions that have too many selectable fields, and always had.
    pub(super) many_selectable_fields: BTreeSet<String>,
}

impl Options {
    pub(super) const fn for_create() -> Self {
        Self {
            requires_recognized_review_version: true,
            requires_immutable_names: false,
            requires_schema: true,
            requires_valid_types: true,
            requires_structural: true,
            requires_pruned_defaults: true,
            requires_atomic_sets: true,
            requires_list_keys: true,
            allows_invalid_bundle: true,
            unchanged_versions: BTreeSet::new(),
            many_selectable_fields: BTreeSet::new(),
        }
    }

    pub(super) fn for_update(definition: &Value, old: &Value) -> Self {
        let schemas: Vec<&Value> = schemas(old);
        let all_have_schemas = list(&old["spec"], "versions")
            .iter()
            .all(|version| schema_of(version).is_some());
        let has = |is_odd: fn(&serde_json::Map<String, Value>) -> bool| {
            schemas.iter().any(|schema| properties::any(schema, &is_odd))
        };
        let is_structural =
            |schema: &&Value| structural::unsupported(schema).is_none() && structural::validate(schema, "").is_empty();
        Self {
            requires_recognized_review_version: conversion::has_recognized_or_no_version(&old["spec"]["conversion"]),
            requires_immutable_names: is_established(old),
            requires_schema: all_have_schemas,
            requires_valid_types: !has(properties::has_invalid_type),
            requires_structural: schemas.iter().all(is_structural),
            requires_pruned_defaults: !schemas
                .iter()
                .any(|schema| super::schema::has_unpruned_defaults(schema)),
            requires_atomic_sets: !has(properties::is_set_of_divisibles),
            requires_list_keys: !has(|schema| !properties::list_key_errors(schema, "").is_empty()),
            allows_invalid_bundle: conversion::allows_invalid_bundle(old),
            unchanged_versions: unchanged(definition, old, "schema"),
            many_selectable_fields: unchanged(definition, old, "selectableFields"),
        }
    }
}

fn schemas(definition: &Value) -> Vec<&Value> {
    list(&definition["spec"], "versions")
        .iter()
        .filter_map(schema_of)
        .collect()
}

/// The schema of a version.
pub(super) fn schema_of(version: &Value) -> Option<&Value> {
    present(version, "schema").and_then(|schema| present(schema, "openAPIV3Schema"))
}

/// The versions in which a field is as it was.
fn unchanged(definition: &Value, old: &Value, field: &str) -> BTreeSet<String> {
    let old_versions = list(&old["spec"], "versions");
    let is_same = |version: &&Value| {
        let same = old_versions
            .iter()
            .find(|old| text(old, "name") == text(version, "name"));
        same.is_some_and(|old| old.get(field) == version.get(field))
    };
    let versions = list(&definition["spec"], "versions").iter().filter(is_same);
    versions.map(|version| text(version, "name").to_owned()).collect()
}
