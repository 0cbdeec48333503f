//! From the JSON of a schema to nodes. Takes what it understands and leaves out the rest: whether a schema may be used
//! at all is decided by `structural` and `definition`.

use std::collections::BTreeMap;

use regex::Regex;
use serde_json::{Map, Value};

use crate::formats::Format;
use crate::go_regex;
use crate::node::{Additional, Arena, Checks, Contents, ListType, Node, NodeId, Pattern, Type};
use crate::rules::Rule;

/// Makes nodes; equal patterns are compiled once.
#[derive(Default)]
pub(crate) struct Builder {
    pub(crate) arena: Arena,
    patterns: BTreeMap<String, Result<Regex, String>>,
}

impl Builder {
    /// The node of a schema and, before it, the nodes of everything below.
    pub(crate) fn node(&mut self, schema: &Value) -> NodeId {
        let empty = Map::new();
        let schema = schema.as_object().unwrap_or(&empty);
        let mut node = Node {
            kind: kind_of(schema),
            nullable: flag(schema, "nullable"),
            preserve_unknown: flag(schema, "x-kubernetes-preserve-unknown-fields"),
            embedded: flag(schema, "x-kubernetes-embedded-resource"),
            default: schema.get("default").filter(|value| !value.is_null()).cloned(),
            items: schema.get("items").map(|items| self.node(items)),
            list: list_type(schema),
            checks: self.checks(schema),
            rules: rules_of(schema),
            additional: self.additional(schema),
            ..Node::default()
        };
        if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
            node.properties = properties
                .iter()
                .map(|(name, schema)| (name.clone(), self.node(schema)))
                .collect();
        }
        self.finish(node)
    }

    /// Stores a node whose children are all known.
    pub(crate) fn finish(&mut self, mut node: Node) -> NodeId {
        node.defaulted = defaulted(&self.arena, &node);
        node.contents = contents(&self.arena, &node);
        self.arena.push(node)
    }

    fn additional(&mut self, schema: &Map<String, Value>) -> Additional {
        match schema.get("additionalProperties") {
            None | Some(Value::Null) => Additional::Unsaid,
            Some(Value::Bool(true)) => Additional::Allowed,
            Some(Value::Bool(false)) => Additional::Refused,
            Some(schema) => Additional::Schema(self.node(schema)),
        }
    }

    pub(crate) fn checks(&mut self, schema: &Map<String, Value>) -> Checks {
        let format = supported_format(schema);
        Checks {
            format: format.and_then(Format::parse),
            format_name: format.unwrap_or_default().to_owned(),
            maximum: number(schema, "maximum"),
            exclusive_maximum: flag(schema, "exclusiveMaximum"),
            minimum: number(schema, "minimum"),
            exclusive_minimum: flag(schema, "exclusiveMinimum"),
            multiple_of: number(schema, "multipleOf"),
            max_length: integer(schema, "maxLength"),
            min_length: integer(schema, "minLength"),
            pattern: self.pattern(schema),
            max_items: integer(schema, "maxItems"),
            min_items: integer(schema, "minItems"),
            unique_items: flag(schema, "uniqueItems"),
            max_properties: integer(schema, "maxProperties"),
            min_properties: integer(schema, "minProperties"),
            required: strings(schema, "required"),
            enumeration: schema
                .get("enum")
                .and_then(Value::as_array)
                .cloned()
                .unwrap_or_default(),
            all_of: self.nodes(schema, "allOf"),
            any_of: self.nodes(schema, "anyOf"),
            one_of: self.nodes(schema, "oneOf"),
            not: schema
                .get("not")
                .filter(|not| not.is_object())
                .map(|not| self.node(not)),
        }
    }

    fn nodes(&mut self, schema: &Map<String, Value>, key: &str) -> Vec<NodeId> {
        let schemas = schema.get(key).and_then(Value::as_array);
        schemas.into_iter().flatten().map(|schema| self.node(schema)).collect()
    }

    fn pattern(&mut self, schema: &Map<String, Value>) -> Option<Pattern> {
        let text = schema.get("pattern")?.as_str().filter(|text| !text.is_empty())?;
        let regex = self
            .patterns
            .entry(text.to_owned())
            .or_insert_with(|| go_regex::compile(text));
        Some(Pattern {
            text: text.to_owned(),
            regex: regex.clone(),
        })
    }
}

/// The properties of a node that have a default.
pub(crate) fn defaulted(arena: &Arena, node: &Node) -> Vec<(String, NodeId)> {
    let with_default = node.properties.iter().filter(|(_, id)| arena[**id].default.is_some());
    with_default.map(|(name, id)| (name.clone(), *id)).collect()
}

/// What is at the node or below it, as far as the nodes below are known.
pub(crate) fn contents(arena: &Arena, node: &Node) -> Contents {
    let own = Contents {
        defaults: node.default.is_some(),
        rules: !node.rules.is_empty(),
        lists: node.list != ListType::Atomic,
        embedded: node.embedded,
    };
    node.children().map(|id| arena[id].contents).fold(own, Contents::union)
}

pub(crate) fn flag(schema: &Map<String, Value>, key: &str) -> bool {
    schema.get(key).and_then(Value::as_bool).unwrap_or_default()
}

fn number(schema: &Map<String, Value>, key: &str) -> Option<f64> {
    schema.get(key)?.as_f64()
}

/// Upstream decodes these into int64; a float that is a whole number is taken as one.
pub(crate) fn integer(schema: &Map<String, Value>, key: &str) -> Option<i64> {
    schema.get(key)?.as_i64()
}

pub(crate) fn strings(schema: &Map<String, Value>, key: &str) -> Vec<String> {
    let list = schema.get(key).and_then(Value::as_array);
    list.into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .map(str::to_owned)
        .collect()
}

pub(crate) fn text<'a>(schema: &'a Map<String, Value>, key: &str) -> &'a str {
    schema.get(key).and_then(Value::as_str).unwrap_or_default()
}

pub(crate) fn kind_of(schema: &Map<String, Value>) -> Type {
    if flag(schema, "x-kubernetes-int-or-string") {
        return Type::IntegerOrString;
    }
    Type::parse(text(schema, "type"))
}

pub(crate) fn list_type(schema: &Map<String, Value>) -> ListType {
    match text(schema, "x-kubernetes-list-type") {
        "set" => ListType::Set,
        "map" => ListType::Map(strings(schema, "x-kubernetes-list-map-keys")),
        _ => ListType::Atomic,
    }
}

fn rules_of(schema: &Map<String, Value>) -> Vec<Rule> {
    let rules = schema.get("x-kubernetes-validations").and_then(Value::as_array);
    rules.into_iter().flatten().map(Rule::new).collect()
}

/// Formats that upstream does not check for the type are as good as absent.
fn supported_format(schema: &Map<String, Value>) -> Option<&str> {
    let format = schema.get("format")?.as_str()?;
    let is_supported = match kind_of(schema) {
        Type::Any | Type::String | Type::IntegerOrString => Format::parse(format).is_some(),
        Type::Integer => matches!(format, "int32" | "int64"),
        Type::Number => matches!(format, "float" | "double"),
        Type::Object | Type::Array | Type::Boolean => false,
    };
    is_supported.then_some(format)
}
