//! Schemas of built-in kinds, from the OpenAPI v3 components that upstream publishes. Definitions are compiled once and
//! shared by all kinds that refer to them; a definition may refer to itself.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value};
use thiserror::Error;

use crate::builder::{self, Builder};
use crate::node::{Additional, Arena, GoType, Node, NodeId, Special, Type};
use crate::schema::Schema;

/// What is wrong with a set of definitions.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum DefinitionsError {
    /// A definition refers to another that is not there.
    #[error("definition {0:?} is referred to and missing; add it to the set")]
    Missing(String),
}

/// Compiled definitions.
#[derive(Clone, Debug)]
pub struct Definitions {
    arena: Arc<Arena>,
    roots: BTreeMap<String, NodeId>,
}

impl Definitions {
    /// Compiles all definitions.
    pub fn new(definitions: &BTreeMap<String, Value>) -> Result<Self, DefinitionsError> {
        let mut compiler = Compiler::default();
        for name in definitions.keys() {
            let id = compiler.builder.arena.push(Node::default());
            compiler.roots.insert(name.clone(), id);
        }
        for (name, definition) in definitions {
            let node = compiler.definition(name, definition)?;
            let id = compiler.roots[name];
            compiler.builder.arena[id] = node;
        }
        let mut arena = compiler.builder.arena;
        settle_contents(&mut arena);
        Ok(Self {
            arena: Arc::new(arena),
            roots: compiler.roots,
        })
    }

    /// The schema of one definition.
    pub fn schema(&self, name: &str) -> Option<Schema> {
        let root = *self.roots.get(name)?;
        Some(Schema::builtin(Arc::clone(&self.arena), root))
    }
}

/// What is below a node is known only when all nodes are; recursive definitions need a few rounds.
fn settle_contents(arena: &mut Arena) {
    loop {
        let mut has_changed = false;
        for id in arena.ids() {
            let contents = builder::contents(arena, &arena[id]);
            has_changed = has_changed || contents != arena[id].contents;
            arena[id].contents = contents;
        }
        if !has_changed {
            break;
        }
    }
    for id in arena.ids() {
        arena[id].defaulted = builder::defaulted(arena, &arena[id]);
    }
}

#[derive(Default)]
struct Compiler {
    builder: Builder,
    roots: BTreeMap<String, NodeId>,
}

impl Compiler {
    fn definition(&mut self, name: &str, schema: &Value) -> Result<Node, DefinitionsError> {
        let mut node = self.node(schema)?;
        let mut parts = name.rsplit('.');
        let (kind, package) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        node.special = Special::of(kind).unwrap_or(node.special);
        if node.special != Special::None {
            node.kind = Type::Any;
        }
        node.go = Some(GoType {
            name: kind.to_owned(),
            package: package.to_owned(),
        });
        Ok(node)
    }

    fn node(&mut self, schema: &Value) -> Result<Node, DefinitionsError> {
        let empty = Map::new();
        let schema = schema.as_object().unwrap_or(&empty);
        let mut node = Node {
            kind: builder::kind_of(schema),
            preserve_unknown: builder::flag(schema, "x-kubernetes-preserve-unknown-fields"),
            list: builder::list_type(schema),
            special: special_of(schema),
            ..Node::default()
        };
        builder::text(schema, "format").clone_into(&mut node.checks.format_name);
        node.checks.required = builder::strings(schema, "required");
        // Raw values: nothing is said about what is in them.
        let is_raw = matches!(node.kind, Type::Any | Type::Object)
            && !["properties", "additionalProperties"]
                .iter()
                .any(|key| schema.contains_key(*key));
        node.preserve_unknown |= is_raw;
        if let Some(items) = schema.get("items") {
            node.items = Some(self.child(items)?);
        }
        if let Some(values) = schema.get("additionalProperties") {
            node.additional = match values {
                Value::Bool(true) => Additional::Allowed,
                Value::Bool(false) => Additional::Refused,
                values => Additional::Schema(self.child(values)?),
            };
        }
        for (name, property) in schema
            .get("properties")
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
        {
            let id = self.child(property)?;
            node.properties.insert(name.clone(), id);
        }
        Ok(node)
    }

    /// A part of a definition: a reference, alone or with a default beside it, or a schema of its own.
    fn child(&mut self, schema: &Value) -> Result<NodeId, DefinitionsError> {
        let referred = match reference(schema) {
            Some(name) => Some(
                *self
                    .roots
                    .get(name)
                    .ok_or_else(|| DefinitionsError::Missing(name.to_owned()))?,
            ),
            None => None,
        };
        if let Some(id) = referred {
            return Ok(id);
        }
        let mut node = self.node(schema)?;
        // Most defaults of upstream's documents are Go's zero values, which say nothing.
        node.default = schema.get("default").filter(|default| !is_zero(default)).cloned();
        Ok(self.builder.arena.push(node))
    }
}

fn special_of(schema: &Map<String, Value>) -> Special {
    match builder::text(schema, "format") {
        "int-or-string" => Special::IntOrString,
        "byte" => Special::Bytes,
        _ => Special::None,
    }
}

/// The definition that a schema stands for: `$ref`, or `allOf` with one `$ref` so that it can have siblings.
fn reference(schema: &Value) -> Option<&str> {
    let reference = schema
        .get("$ref")
        .or_else(|| match schema.get("allOf")?.as_array()?.as_slice() {
            [only] => only.get("$ref"),
            _ => None,
        })?;
    reference.as_str()?.rsplit('/').next()
}

fn is_zero(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(flag) => !flag,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(entries) => entries.is_empty(),
        Value::Object(fields) => fields.is_empty(),
    }
}
