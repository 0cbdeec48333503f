//! Whether a schema is structural: every field has a type outside of logical alternatives, and nothing in an alternative
//! shapes the value (apiextensions, structural schema validation).

use serde_json::{Map, Value};

use crate::builder::{flag, strings, text};
use crate::field_error::FieldError;
use crate::go_regex;

/// Fields of JSON Schema that have no place in a structural schema.
const UNSUPPORTED: [&str; 7] = [
    "id",
    "$schema",
    "$ref",
    "patternProperties",
    "dependencies",
    "additionalItems",
    "definitions",
];

/// Where a schema stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    Root,
    Items,
    Field,
}

/// All complaints about a schema at `path`, sorted as upstream sorts them.
pub(crate) fn validate(schema: &Value, path: &str) -> Vec<FieldError> {
    let mut checker = Checker::default();
    checker.schema(as_object(schema), Level::Root, path);
    let place = Place {
        shape: path.to_owned(),
        nested: path.to_owned(),
    };
    checker.completeness(as_object(schema), as_object(schema), &place);
    checker.errors.sort_by_cached_key(FieldError::to_string);
    checker.errors
}

/// What keeps a schema from being read as a structural one at all.
pub(crate) fn unsupported(schema: &Value) -> Option<String> {
    let fields = schema.as_object()?;
    if let Some(name) = UNSUPPORTED
        .into_iter()
        .find(|name| fields.get(*name).is_some_and(|value| !is_unset(value)))
    {
        let name = if name == "$schema" { "schema" } else { name };
        return Some(format!("OpenAPIV3Schema '{name}' is not supported"));
    }
    if fields.get("x-kubernetes-preserve-unknown-fields") == Some(&Value::Bool(false)) {
        return Some("internal error: 'x-kubernetes-preserve-unknown-fields' must be true or undefined".to_owned());
    }
    if fields.get("items").is_some_and(Value::is_array) {
        return Some("OpenAPIV3Schema 'items' must be a schema, but is an array".to_owned());
    }
    subschemas(fields).find_map(unsupported)
}

fn is_unset(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        _ => false,
    }
}

/// Every schema directly inside of a schema.
pub(crate) fn subschemas(schema: &Map<String, Value>) -> impl Iterator<Item = &Value> {
    let single = ["items", "not", "additionalProperties", "additionalItems"].into_iter();
    let lists = ["allOf", "anyOf", "oneOf", "items"].into_iter();
    let maps = ["properties", "patternProperties", "definitions", "dependencies"].into_iter();
    let single = single
        .filter_map(|key| schema.get(key))
        .filter(|value| value.is_object());
    let lists = lists.filter_map(|key| schema.get(key)?.as_array()).flatten();
    let maps = maps
        .filter_map(|key| schema.get(key)?.as_object())
        .flat_map(Map::values);
    single.chain(lists).chain(maps)
}

pub(crate) fn as_object(value: &Value) -> &Map<String, Value> {
    static EMPTY: std::sync::LazyLock<Map<String, Value>> = std::sync::LazyLock::new(Map::new);
    value.as_object().unwrap_or(&EMPTY)
}

fn properties(schema: &Map<String, Value>) -> impl Iterator<Item = (&String, &Map<String, Value>)> {
    let properties = schema.get("properties").and_then(Value::as_object);
    properties
        .into_iter()
        .flatten()
        .map(|(name, schema)| (name, as_object(schema)))
}

fn alternatives<'a>(schema: &'a Map<String, Value>, key: &str) -> Vec<&'a Map<String, Value>> {
    let list = schema.get(key).and_then(Value::as_array);
    list.into_iter().flatten().map(as_object).collect()
}

#[derive(Default)]
struct Checker {
    errors: Vec<FieldError>,
}

impl Checker {
    fn required(&mut self, path: String, detail: &str) {
        self.errors.push(FieldError::required(path, detail));
    }

    fn forbidden(&mut self, path: String, detail: &str) {
        self.errors.push(FieldError::forbidden(path, detail));
    }

    fn schema(&mut self, schema: &Map<String, Value>, level: Level, path: &str) {
        let items = schema.get("items");
        if text(schema, "type") == "array" && items.is_none() {
            self.required(join(path, "items"), "must be specified");
        }
        if let Some(items) = items {
            self.schema(as_object(items), Level::Items, &join(path, "items"));
        }
        for (name, property) in properties(schema) {
            self.schema(property, Level::Field, &property_path(path, name));
        }
        if let Some(additional) = schema
            .get("additionalProperties")
            .filter(|additional| !additional.is_null())
        {
            let path = join(path, "additionalProperties");
            if level == Level::Root {
                self.forbidden(path.clone(), "must not be used at the root");
            }
            if additional.is_object() {
                self.schema(as_object(additional), Level::Field, &path);
            }
        }
        self.extensions(schema, path);
        let is_any_of = is_int_or_string(&alternatives(schema, "anyOf"));
        let all_of = alternatives(schema, "allOf");
        let is_all_of = all_of
            .first()
            .is_some_and(|first| is_int_or_string(&alternatives(first, "anyOf")));
        self.value_validation(schema, is_any_of, is_all_of, path);
        self.kind(schema, level, path);
        self.resource(schema, level, path);
    }

    fn extensions(&mut self, schema: &Map<String, Value>, path: &str) {
        if !flag(schema, "x-kubernetes-int-or-string") {
            return;
        }
        for name in ["x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource"] {
            if flag(schema, name) {
                self.errors.push(FieldError::invalid(
                    join(path, name),
                    true,
                    "must be false if x-kubernetes-int-or-string is true",
                ));
            }
        }
    }

    fn kind(&mut self, schema: &Map<String, Value>, level: Level, path: &str) {
        let kind = text(schema, "type");
        let kind_path = join(path, "type");
        let embedded = "must be object if x-kubernetes-embedded-resource is true";
        let needs_no_kind =
            flag(schema, "x-kubernetes-int-or-string") || flag(schema, "x-kubernetes-preserve-unknown-fields");
        if flag(schema, "x-kubernetes-embedded-resource") && kind != "object" {
            if kind.is_empty() {
                self.required(kind_path.clone(), embedded);
            } else {
                self.errors.push(FieldError::invalid(kind_path.clone(), kind, embedded));
            }
        } else if kind.is_empty() && !needs_no_kind {
            let detail = match level {
                Level::Root => "must not be empty at the root",
                Level::Items => "must not be empty for specified array items",
                Level::Field => "must not be empty for specified object fields",
            };
            self.required(kind_path.clone(), detail);
        }
        if flag(schema, "x-kubernetes-embedded-resource") && schema.contains_key("additionalProperties") {
            self.forbidden(
                join(path, "additionalProperties"),
                "must not be used if x-kubernetes-embedded-resource is set",
            );
        }
        if level == Level::Root && !kind.is_empty() && kind != "object" {
            self.errors
                .push(FieldError::invalid(kind_path, kind, "must be object at the root"));
        }
    }

    /// The root and embedded resources have a type and metadata that the schema can only restrict.
    fn resource(&mut self, schema: &Map<String, Value>, level: Level, path: &str) {
        let is_embedded = flag(schema, "x-kubernetes-embedded-resource");
        let is_resource = level == Level::Root || is_embedded;
        let property = |name: &str| {
            schema
                .get("properties")
                .and_then(|properties| properties.get(name))
                .map(as_object)
        };
        for name in ["kind", "apiVersion"] {
            if let Some(found) = property(name).filter(|found| is_resource && text(found, "type") != "string") {
                let path = join(&property_path(path, name), "type");
                self.errors
                    .push(FieldError::invalid(path, text(found, "type"), "must be string"));
            }
        }
        if let Some(metadata) = property("metadata") {
            let path = property_path(path, "metadata");
            if is_resource && text(metadata, "type") != "object" {
                let found = text(metadata, "type");
                self.errors
                    .push(FieldError::invalid(join(&path, "type"), found, "must be object"));
            }
            if level == Level::Root && !is_plain_metadata(metadata) {
                self.forbidden(
                    path,
                    "must not specify anything other than name and generateName, but metadata is implicitly specified",
                );
            }
        }
        let is_empty = properties(schema).next().is_none();
        if is_embedded && !flag(schema, "x-kubernetes-preserve-unknown-fields") && is_empty {
            self.required(
                join(path, "properties"),
                "must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields",
            );
        }
    }

    fn value_validation(&mut self, schema: &Map<String, Value>, skips_any_of: bool, skips_first: bool, path: &str) {
        if !skips_any_of {
            for (index, nested) in alternatives(schema, "anyOf").into_iter().enumerate() {
                self.nested(nested, false, &format!("{}[{index}]", join(path, "anyOf")));
            }
        }
        for (index, nested) in alternatives(schema, "allOf").into_iter().enumerate() {
            self.nested(
                nested,
                skips_first && index == 0,
                &format!("{}[{index}]", join(path, "allOf")),
            );
        }
        for (index, nested) in alternatives(schema, "oneOf").into_iter().enumerate() {
            self.nested(nested, false, &format!("{}[{index}]", join(path, "oneOf")));
        }
        if let Some(not) = schema.get("not").filter(|not| not.is_object()) {
            self.nested(as_object(not), false, &join(path, "not"));
        }
        let pattern = text(schema, "pattern");
        if !pattern.is_empty()
            && let Err(error) = go_regex::compile(pattern)
        {
            let detail = go_regex::invalid_pattern(&error);
            self.errors
                .push(FieldError::invalid(join(path, "pattern"), pattern, detail));
        }
    }

    /// What stands in an alternative may restrict a value and must not shape it.
    fn nested(&mut self, schema: &Map<String, Value>, skips_any_of: bool, path: &str) {
        self.value_validation(schema, skips_any_of, false, path);
        if let Some(items) = schema.get("items").filter(|items| items.is_object()) {
            self.nested(as_object(items), false, &join(path, "items"));
        }
        for (name, property) in properties(schema) {
            self.nested(property, false, &property_path(path, name));
        }
        let additional = schema.get("additionalProperties");
        if additional.is_some_and(|additional| additional.is_object() || additional == &Value::Bool(true)) {
            self.forbidden(join(path, "additionalProperties"), "must be undefined to be structural");
        }
        for (name, words) in [
            ("type", "empty"),
            ("title", "empty"),
            ("description", "empty"),
            ("default", "undefined"),
            ("x-kubernetes-list-type", "undefined"),
            ("x-kubernetes-map-type", "undefined"),
        ] {
            let is_set = schema
                .get(name)
                .is_some_and(|value| !value.is_null() && value.as_str() != Some(""));
            if is_set {
                self.forbidden(join(path, name), &format!("must be {words} to be structural"));
            }
        }
        for name in ["x-kubernetes-list-map-keys", "x-kubernetes-validations"] {
            if schema
                .get(name)
                .and_then(Value::as_array)
                .is_some_and(|list| !list.is_empty())
            {
                self.forbidden(join(path, name), "must be empty to be structural");
            }
        }
        for name in [
            "nullable",
            "x-kubernetes-preserve-unknown-fields",
            "x-kubernetes-embedded-resource",
            "x-kubernetes-int-or-string",
        ] {
            if flag(schema, name) {
                self.forbidden(join(path, name), "must be false to be structural");
            }
        }
        if schema
            .get("properties")
            .is_some_and(|properties| properties.get("metadata").is_some())
        {
            self.forbidden(
                property_path(path, "metadata"),
                "must not be specified in a nested context",
            );
        }
    }

    /// Everything that an alternative at the root speaks of must also be shaped outside of it. Upstream follows only
    /// alternatives of the root.
    fn completeness(&mut self, schema: &Map<String, Value>, shape: &Map<String, Value>, place: &Place) {
        if let Some(not) = schema.get("not").filter(|not| not.is_object()) {
            let place = place.alternative("not");
            self.nested_completeness(as_object(not), Some(shape), &place);
        }
        for key in ["allOf", "anyOf", "oneOf"] {
            for (index, nested) in alternatives(schema, key).into_iter().enumerate() {
                let place = place.alternative(&format!("{key}[{index}]"));
                self.nested_completeness(nested, Some(shape), &place);
            }
        }
    }

    fn nested_completeness(&mut self, nested: &Map<String, Value>, shape: Option<&Map<String, Value>>, place: &Place) {
        let Some(shape) = shape else {
            self.required(
                place.shape.clone(),
                &format!("because it is defined in {}", place.nested),
            );
            return;
        };
        self.completeness(nested, shape, place);
        if let Some(items) = nested.get("items").filter(|items| items.is_object()) {
            let shaped = shape.get("items").map(as_object);
            let place = Place {
                shape: join(&place.shape, "items"),
                nested: join(&place.nested, "items"),
            };
            self.nested_completeness(as_object(items), shaped, &place);
        }
        for (name, property) in properties(nested) {
            let shaped = shape
                .get("properties")
                .and_then(|properties| properties.get(name))
                .map(as_object);
            let place = Place {
                shape: property_path(&place.shape, name),
                nested: property_path(&place.nested, name),
            };
            self.nested_completeness(property, shaped, &place);
        }
    }
}

/// A part of an alternative, and where it should be shaped.
struct Place {
    shape: String,
    nested: String,
}

impl Place {
    fn alternative(&self, name: &str) -> Self {
        Self {
            shape: self.shape.clone(),
            nested: join(&self.nested, name),
        }
    }
}

/// The two alternatives that every int-or-string may have.
fn is_int_or_string(alternatives: &[&Map<String, Value>]) -> bool {
    let is_only = |schema: &Map<String, Value>, kind: &str| schema.len() == 1 && text(schema, "type") == kind;
    matches!(alternatives, [first, second] if is_only(first, "integer") && is_only(second, "string"))
}

/// Nothing but a type, value validation, and a name or generateName.
fn is_plain_metadata(metadata: &Map<String, Value>) -> bool {
    const SHAPING: [&str; 10] = [
        "description",
        "title",
        "nullable",
        "items",
        "additionalProperties",
        "x-kubernetes-preserve-unknown-fields",
        "x-kubernetes-embedded-resource",
        "x-kubernetes-int-or-string",
        "x-kubernetes-validations",
        "x-kubernetes-map-type",
    ];
    let names_only = properties(metadata).all(|(name, _)| matches!(name.as_str(), "name" | "generateName"));
    let is_validated = [
        "format",
        "pattern",
        "maximum",
        "minimum",
        "enum",
        "required",
        "maxProperties",
        "minProperties",
        "allOf",
        "anyOf",
        "oneOf",
        "not",
        "maxLength",
        "minLength",
        "maxItems",
        "minItems",
        "multipleOf",
        "uniqueItems",
    ];
    names_only
        && !SHAPING
            .iter()
            .chain(&is_validated)
            .any(|name| metadata.contains_key(*name))
        && strings(metadata, "x-kubernetes-list-map-keys").is_empty()
}

pub(crate) fn join(path: &str, name: &str) -> String {
    if path.is_empty() {
        name.to_owned()
    } else {
        format!("{path}.{name}")
    }
}

pub(crate) fn property_path(path: &str, name: &str) -> String {
    format!("{}[{name}]", join(path, "properties"))
}
