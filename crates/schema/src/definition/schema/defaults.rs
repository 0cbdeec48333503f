//! Defaults must be values that the schema itself accepts, and hold nothing that it does not know.

use serde_json::{Map, Value, json};

use super::Compiling;
use crate::embedded;
use crate::field_error::FieldError;
use crate::node::{Arena, NodeId};
use crate::object_meta;
use crate::path::Path;
use crate::prune;
use crate::rules::{self, Budget};
use crate::structural::{join, property_path};
use crate::validate::Validator;

/// Whether some default holds fields that the schema does not know.
pub(in super::super) fn has_unpruned(schema: &Value) -> bool {
    let compiling = Compiling::new(schema);
    compiling.arena.ids().any(|id| is_unpruned(&compiling.arena, id))
}

fn is_unpruned(arena: &Arena, id: NodeId) -> bool {
    let Some(default) = &arena[id].default else {
        return false;
    };
    let mut pruned = default.clone();
    prune::prune_part(arena, id, &mut pruned, arena[id].embedded);
    pruned != *default
}

/// Complaints about all defaults of a schema.
pub(super) fn validate(compiling: &mut Compiling, path: &str, requires_pruned: bool) -> Vec<FieldError> {
    if !compiling.arena[compiling.root].contents.defaults {
        return Vec::new();
    }
    // Rules that do not compile are complained about later.
    rules::compile(&mut compiling.arena, compiling.root);
    let mut walk = Walk {
        arena: &compiling.arena,
        requires_pruned,
        errors: Vec::new(),
        budget: Budget::per_object(),
    };
    let root = Surroundings {
        root: compiling.root,
        steps: Vec::new(),
        is_metadata: false,
    };
    walk.node(compiling.root, true, &root, path);
    walk.errors
}

/// The object around a default, as far as it is known: the steps from the resource to the field.
#[derive(Clone)]
struct Surroundings {
    root: NodeId,
    steps: Vec<Option<String>>,
    is_metadata: bool,
}

impl Surroundings {
    fn with(&self, step: Option<&str>, is_metadata: bool) -> Self {
        let mut steps = self.steps.clone();
        steps.push(step.map(str::to_owned));
        Self {
            root: self.root,
            steps,
            is_metadata: self.is_metadata || is_metadata,
        }
    }

    /// A resource that holds nothing but the value.
    fn around(&self, value: &Value) -> Value {
        let mut object = self.steps.iter().rev().fold(value.clone(), |inner, step| match step {
            Some(name) => Value::Object(Map::from_iter([(name.clone(), inner)])),
            None => json!([inner]),
        });
        if let Value::Object(fields) = &mut object {
            fields.entry("kind").or_insert_with(|| "Validation".into());
            fields.entry("apiVersion").or_insert_with(|| "validation/v1".into());
        }
        object
    }
}

struct Walk<'a> {
    arena: &'a Arena,
    requires_pruned: bool,
    errors: Vec<FieldError>,
    budget: Budget,
}

impl Walk<'_> {
    fn node(&mut self, id: NodeId, is_root: bool, around: &Surroundings, path: &str) {
        let node = &self.arena[id];
        if !node.contents.defaults {
            return;
        }
        let is_resource = is_root || node.embedded;
        let fresh = Surroundings {
            root: id,
            steps: Vec::new(),
            is_metadata: false,
        };
        let around = if is_resource { &fresh } else { around };
        if let Some(default) = &node.default {
            self.default(id, default, around, &join(path, "default"));
        }
        if let Some(items) = node.items {
            self.node(items, false, &around.with(None, false), &join(path, "items"));
        }
        for (name, child) in &node.properties {
            let is_metadata = is_resource && prune::META_FIELDS.contains(&name.as_str());
            self.node(
                *child,
                false,
                &around.with(Some(name), is_metadata),
                &property_path(path, name),
            );
        }
        // Defaults of map entries apply to nulls only; upstream does not look at them.
    }

    fn default(&mut self, id: NodeId, default: &Value, around: &Surroundings, path: &str) {
        if around.is_metadata {
            let object = around.around(default);
            if let Some(words) = metadata_error(&object) {
                let detail = format!("must result in valid metadata: {words}");
                self.errors.push(FieldError::invalid(path, default.clone(), detail));
                return;
            }
        } else {
            if self.requires_pruned && is_unpruned(self.arena, id) {
                self.errors.push(FieldError::invalid(
                    path,
                    default.clone(),
                    "must not have unknown fields",
                ));
            }
            if let Some(error) = embedded::type_error(self.arena, id, default, &Path::Root(path)) {
                self.errors.push(error);
                return;
            }
            let before = self.errors.len();
            embedded::validate(self.arena, id, default, &Path::Root(path), &mut self.errors);
            if self.errors.len() > before {
                return;
            }
        }
        self.values(id, default, path);
    }

    fn values(&mut self, id: NodeId, default: &Value, path: &str) {
        let validator = Validator {
            arena: self.arena,
            base: path,
        };
        let errors = validator.validate(id, default, None);
        if !errors.is_empty() {
            self.errors.extend(errors);
            return;
        }
        let is_resource = self.arena[id].embedded;
        for old in [Some(default), None] {
            let errors = rules::evaluate_part(self.arena, id, default, old, is_resource, path, &mut self.budget);
            if !errors.is_empty() {
                self.errors.extend(errors);
                return;
            }
        }
    }
}

/// What is wrong with the type or metadata of a resource.
fn metadata_error(object: &Value) -> Option<String> {
    let fields = object.as_object()?;
    if let Some(error) = object.get("metadata").and_then(object_meta::type_error) {
        return Some(error);
    }
    let mut errors = Vec::new();
    embedded::validate_resource(fields, &Path::Root(""), &mut errors);
    let words: Vec<String> = errors.iter().map(FieldError::to_string).collect();
    (!words.is_empty()).then(|| words.join(", "))
}
