//! The schema of one version of a definition: structural, with valid defaults, and with rules that compile and are not
//! too costly.

mod defaults;
mod rules;

use serde_json::{Map, Value};

use super::fields::present;
use super::options::Options;
use super::properties::{self, Place};
use crate::builder::{Builder, flag, text};
use crate::cel::Types;
use crate::field_error::FieldError;
use crate::node::{Arena, NodeId};
use crate::structural::{self, as_object, join, property_path};
use rules::{Cardinality, TotalCost};

pub(super) use defaults::has_unpruned;

/// Fields that the root may have beside a status subresource, by upstream's names.
const ALLOWED_AT_ROOT: [(&str, &str); 22] = [
    ("Description", "description"),
    ("Type", "type"),
    ("Format", "format"),
    ("Title", "title"),
    ("Maximum", "maximum"),
    ("ExclusiveMaximum", "exclusiveMaximum"),
    ("Minimum", "minimum"),
    ("ExclusiveMinimum", "exclusiveMinimum"),
    ("MaxLength", "maxLength"),
    ("MinLength", "minLength"),
    ("Pattern", "pattern"),
    ("MaxItems", "maxItems"),
    ("MinItems", "minItems"),
    ("UniqueItems", "uniqueItems"),
    ("MultipleOf", "multipleOf"),
    ("Required", "required"),
    ("Items", "items"),
    ("Properties", "properties"),
    ("ExternalDocs", "externalDocs"),
    ("Example", "example"),
    ("XPreserveUnknownFields", "x-kubernetes-preserve-unknown-fields"),
    ("XValidations", "x-kubernetes-validations"),
];

/// Whether a default of an old schema holds fields that the schema does not know.
pub(super) fn has_unpruned_defaults(schema: &Value) -> bool {
    properties::has_defaults(schema) && structural::validate(schema, "").is_empty() && has_unpruned(schema)
}

/// Complaints about the schema of a version.
pub(super) fn validate(
    version_schema: &Value,
    has_status: bool,
    is_unchanged: bool,
    options: &Options,
    path: &str,
) -> Vec<FieldError> {
    let Some(schema) = present(version_schema, "openAPIV3Schema") else {
        return Vec::new();
    };
    let path = join(path, "openAPIV3Schema");
    let mut errors = Vec::new();
    if has_status {
        errors.extend(validate_root(as_object(schema), &path));
    }
    if flag(as_object(schema), "nullable") {
        errors.push(FieldError::forbidden(
            join(&path, "nullable"),
            "nullable cannot be true at the root",
        ));
    }
    let mut unsupported = None;
    let mut compiled = None;
    if options.requires_structural {
        let found = structural::validate(schema, &path);
        unsupported = structural::unsupported(schema);
        if unsupported.is_none() && found.is_empty() {
            let mut schema = Compiling::new(schema);
            let defaults = defaults::validate(&mut schema, &path, options.requires_pruned_defaults);
            if defaults.is_empty() {
                compiled = Some(schema);
            }
            errors.extend(defaults);
        } else if unsupported.is_none() {
            errors.extend(found);
        }
    }
    let mut walk = Walk {
        options,
        is_unchanged,
        schema_errors: Vec::new(),
        rule_errors: Vec::new(),
        total: TotalCost::default(),
        compiling: compiled,
    };
    walk.root(as_object(schema), &path);
    errors.extend(walk.schema_errors);
    errors.extend(walk.rule_errors);
    if let Some(words) = unsupported.filter(|_| errors.is_empty()) {
        errors.push(FieldError::invalid(path.clone(), "", words));
    }
    errors.extend(walk.total.errors(&path));
    errors
}

/// Only some fields are allowed at the root, so that the schema of the status can be taken out of it.
fn validate_root(schema: &Map<String, Value>, path: &str) -> Option<FieldError> {
    let kind = text(schema, "type");
    let is_allowed = |name: &str| ALLOWED_AT_ROOT.iter().any(|(_, allowed)| *allowed == name);
    let is_set = |value: &Value| match value {
        Value::Null => false,
        Value::Bool(flag) => *flag,
        Value::String(text) => !text.is_empty(),
        Value::Array(entries) => !entries.is_empty(),
        _ => true,
    };
    if !kind.is_empty() && kind != "object" {
        return Some(FieldError::invalid(
            join(path, "type"),
            kind,
            "only \"object\" is allowed as the type at the root of the schema if the status subresource is enabled",
        ));
    }
    let odd = schema.iter().find(|(name, value)| is_set(value) && !is_allowed(name))?;
    let names: Vec<&str> = ALLOWED_AT_ROOT.iter().map(|(name, _)| *name).collect();
    Some(FieldError::invalid(
        path,
        Value::Object(Map::from_iter([(odd.0.clone(), odd.1.clone())])),
        format!(
            "only [{}] fields are allowed at the root of the schema if the status subresource is enabled",
            names.join(" ")
        ),
    ))
}

/// A schema whose rules are being compiled.
pub(super) struct Compiling {
    pub(super) arena: Arena,
    pub(super) root: NodeId,
    pub(super) types: Types,
}

impl Compiling {
    pub(super) fn new(schema: &Value) -> Self {
        let mut builder = Builder::default();
        let root = builder.node(schema);
        let mut arena = builder.arena;
        arena.add_meta();
        Self {
            arena,
            root,
            types: Types::default(),
        }
    }
}

struct Walk<'a> {
    options: &'a Options,
    is_unchanged: bool,
    schema_errors: Vec<FieldError>,
    rule_errors: Vec<FieldError>,
    total: TotalCost,
    /// Nothing when the schema is not good enough to compile rules.
    compiling: Option<Compiling>,
}

/// A level of the schema.
#[derive(Clone)]
struct Level {
    place: Place,
    is_root: bool,
    /// The first level around this one whose entries cannot be matched with old ones.
    uncorrelated: Option<String>,
    /// The compiled node; nothing inside of an alternative.
    node: Option<NodeId>,
    cardinality: Cardinality,
}

impl Level {
    /// An alternative of this level.
    fn alternative(&self) -> Self {
        Self {
            node: None,
            is_root: false,
            ..self.clone()
        }
    }
}

impl Walk<'_> {
    fn root(&mut self, schema: &Map<String, Value>, path: &str) {
        let level = Level {
            place: Place {
                forbids_defaults: None,
                is_metadata: false,
                requires_valid_types: self.options.requires_valid_types,
            },
            is_root: true,
            uncorrelated: None,
            node: self.compiling.as_ref().map(|compiling| compiling.root),
            cardinality: Cardinality::ONE,
        };
        self.level(schema, &level, path);
    }

    fn level(&mut self, schema: &Map<String, Value>, level: &Level, path: &str) {
        let before = self.schema_errors.len();
        properties::validate(schema, &level.place, path, &mut self.schema_errors);
        self.additional(schema, level, path);
        self.fields(schema, level, path);
        self.alternatives(schema, level, path);
        self.items(schema, level, path);
        properties::validate_topology(schema, self.options.requires_atomic_sets, path, &mut self.schema_errors);
        if self.options.requires_list_keys {
            self.schema_errors.extend(properties::list_key_errors(schema, path));
        }
        let has_rules = schema
            .get("x-kubernetes-validations")
            .and_then(Value::as_array)
            .is_some_and(|rules| !rules.is_empty());
        if has_rules {
            rules::validate_shape(
                schema,
                self.compiling.as_ref().zip(level.node),
                path,
                &mut self.schema_errors,
            );
            if self.schema_errors.len() == before {
                self.compile(schema, level, path);
            }
        }
    }

    fn child(
        &self,
        level: &Level,
        schema: &Map<String, Value>,
        find: impl Fn(&crate::node::Node) -> Option<NodeId>,
    ) -> Level {
        let node = level
            .node
            .zip(self.compiling.as_ref())
            .and_then(|(id, compiling)| find(&compiling.arena[id]));
        Level {
            is_root: false,
            node,
            cardinality: level.cardinality.below(schema),
            ..level.clone()
        }
    }

    fn additional(&mut self, schema: &Map<String, Value>, level: &Level, path: &str) {
        let Some(additional) = schema
            .get("additionalProperties")
            .filter(|additional| !additional.is_null())
        else {
            return;
        };
        let has_properties = schema
            .get("properties")
            .and_then(Value::as_object)
            .is_some_and(|fields| !fields.is_empty());
        if has_properties && *additional != Value::Bool(true) {
            self.schema_errors.push(FieldError::forbidden(
                join(path, "additionalProperties"),
                "additionalProperties and properties are mutual exclusive",
            ));
        }
        if !additional.is_object() {
            return;
        }
        let mut child = self.child(level, schema, |node| match node.additional {
            crate::node::Additional::Schema(id) => Some(id),
            _ => None,
        });
        if level.place.is_metadata {
            let reason = "inside additionalProperties applying to object metadata".to_owned();
            child.place.forbids_defaults = Some(reason);
        }
        self.level(as_object(additional), &child, &join(path, "additionalProperties"));
    }

    fn fields(&mut self, schema: &Map<String, Value>, level: &Level, path: &str) {
        let is_correlatable = matches!(text(schema, "x-kubernetes-map-type"), "" | "granular" | "atomic");
        let is_resource = level.is_root || flag(schema, "x-kubernetes-embedded-resource");
        for (name, property) in schema
            .get("properties")
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
        {
            let mut child = self.child(level, schema, |node| node.properties.get(name).copied());
            if !is_correlatable {
                child.uncorrelated.get_or_insert_with(|| path.to_owned());
            }
            if is_resource && matches!(name.as_str(), "metadata" | "kind" | "apiVersion") {
                child.place.is_metadata = true;
                if level.is_root {
                    child.place.forbids_defaults = Some(format!("in top-level {name}"));
                }
            }
            self.level(as_object(property), &child, &property_path(path, name));
        }
    }

    fn alternatives(&mut self, schema: &Map<String, Value>, level: &Level, path: &str) {
        let inside = level.alternative();
        if let Some(not) = schema.get("not").filter(|not| not.is_object()) {
            self.level(as_object(not), &inside, &join(path, "not"));
        }
        for key in ["allOf", "oneOf", "anyOf"] {
            for (index, nested) in schema
                .get(key)
                .and_then(Value::as_array)
                .into_iter()
                .flatten()
                .enumerate()
            {
                self.level(as_object(nested), &inside, &format!("{}[{index}]", join(path, key)));
            }
        }
        for (name, nested) in schema
            .get("definitions")
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
        {
            self.level(
                as_object(nested),
                &inside,
                &format!("{}[{name}]", join(path, "definitions")),
            );
        }
    }

    fn items(&mut self, schema: &Map<String, Value>, level: &Level, path: &str) {
        let Some(items) = schema.get("items").filter(|items| items.is_object()) else {
            return;
        };
        let mut child = self.child(level, schema, |node| node.items);
        // Only the entries of maps in list form can be matched with old ones.
        if text(schema, "x-kubernetes-list-type") != "map" {
            child.uncorrelated.get_or_insert_with(|| path.to_owned());
        }
        self.level(as_object(items), &child, &join(path, "items"));
    }

    fn compile(&mut self, schema: &Map<String, Value>, level: &Level, path: &str) {
        let Some((compiling, node)) = self.compiling.as_mut().zip(level.node) else {
            return;
        };
        let place = rules::RulePlace {
            path,
            is_resource: level.is_root || compiling.arena[node].embedded,
            cardinality: level.cardinality,
            uncorrelated: level.uncorrelated.as_deref(),
            ignores_cost: self.is_unchanged,
        };
        rules::validate(compiling, node, schema, &place, &mut self.total, &mut self.rule_errors);
    }
}
