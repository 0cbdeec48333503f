//! What expressions may know about the values of a schema: types, fields, and how large a value can be in a request
//! (apiserver, cel/common: schemas.go).

use std::collections::BTreeMap;

use serde_json::Value;

use super::types::Type;
use crate::{
    expression::Kind,
    node::{Additional, Arena, Node, NodeId, Type as JsonType},
};

/// The largest body of a request, from which the size of everything that has no limit of its own is estimated.
pub(super) const MAX_REQUEST_BYTES: i64 = 3 * 1024 * 1024;

const MIN_STRING_BYTES: i64 = 2;
const MIN_BOOLEAN_BYTES: i64 = 4;
const MIN_NUMBER_BYTES: i64 = 1;
const MAX_DURATION_BYTES: i64 = 32;
const MIN_DURATION_BYTES: i64 = 3;
const DATE_BYTES: i64 = 12;
const MAX_DATE_TIME_BYTES: i64 = 32;
const MIN_DATE_TIME_BYTES: i64 = 21;

/// A declared type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct DeclaredId(u32);

/// What is declared about the values of one node.
#[derive(Clone, Debug)]
pub(super) struct Declared {
    pub(super) shape: Shape,
    /// The most entries or characters.
    pub(super) max_elements: u64,
    /// The fewest bytes in JSON.
    pub(super) min_bytes: i64,
}

/// What a value is made of.
#[derive(Clone, Debug)]
pub(super) enum Shape {
    Scalar(Type),
    List(DeclaredId),
    Map(DeclaredId),
    /// Fields by the name that expressions use.
    Object(BTreeMap<String, DeclaredId>),
}

/// All declarations of a schema.
#[derive(Debug, Default)]
pub(super) struct Declarations {
    declared: Vec<Declared>,
    /// By node; nodes that expressions must not see have none.
    by_node: BTreeMap<(NodeId, bool), Option<DeclaredId>>,
}

impl Declarations {
    pub(super) fn get(&self, id: DeclaredId) -> &Declared {
        &self.declared[id.0 as usize]
    }

    fn push(&mut self, shape: Shape, max_elements: i64, min_bytes: i64) -> DeclaredId {
        let id = DeclaredId(u32::try_from(self.declared.len()).expect("no more declarations than nodes"));
        self.declared.push(Declared {
            shape,
            max_elements: u64::try_from(max_elements).unwrap_or_default(),
            min_bytes,
        });
        id
    }

    /// The type that expressions see.
    pub(super) fn type_of(&self, id: DeclaredId) -> Type {
        match &self.get(id).shape {
            Shape::Scalar(kind) => kind.clone(),
            Shape::List(item) => Type::list(self.type_of(*item)),
            Shape::Map(value) => Type::map(Type::String, self.type_of(*value)),
            Shape::Object(_) => Type::Object(id),
        }
    }

    /// A type that no schema says.
    pub(super) fn declare_kind(&mut self, kind: &Kind) -> DeclaredId {
        let shape = match kind {
            Kind::Any => Shape::Scalar(Type::Any),
            Kind::String => Shape::Scalar(Type::String),
            Kind::List(item) => Shape::List(self.declare_kind(item)),
            Kind::Map(value) => Shape::Map(self.declare_kind(value)),
            Kind::Object(fields) => {
                let declared = fields.iter();
                Shape::Object(
                    declared
                        .map(|(name, kind)| ((*name).to_owned(), self.declare_kind(kind)))
                        .collect(),
                )
            }
        };
        self.push(shape, 0, 0)
    }

    /// What is declared for a node; a resource has a type and metadata even if its schema does not say so.
    pub(super) fn declare(&mut self, arena: &Arena, id: NodeId, is_resource: bool) -> Option<DeclaredId> {
        if let Some(known) = self.by_node.get(&(id, is_resource)) {
            return *known;
        }
        let node = &arena[id];
        let declared = self.declare_node(arena, node, is_resource);
        self.by_node.insert((id, is_resource), declared);
        declared
    }

    fn declare_node(&mut self, arena: &Arena, node: &Node, is_resource: bool) -> Option<DeclaredId> {
        match node.kind {
            JsonType::IntegerOrString => {
                let most = node.checks.max_length.map_or(MAX_REQUEST_BYTES - 2, four_bytes_each);
                Some(self.push(Shape::Scalar(Type::Dyn), most, 1))
            }
            JsonType::Array => {
                let items = node.items?;
                let item = self.declare(arena, items, arena[items].embedded)?;
                let fitting = (MAX_REQUEST_BYTES - 2) / (self.get(item).min_bytes + 1);
                let most = node.checks.max_items.map_or(fitting, |most| most.max(0));
                Some(self.push(Shape::List(item), most, 2))
            }
            JsonType::Object => match node.additional {
                Additional::Schema(values) => self.declare_map(arena, node, values),
                _ => Some(self.declare_object(arena, node, is_resource)),
            },
            JsonType::String => Some(self.declare_string(node)),
            JsonType::Boolean => Some(self.push(Shape::Scalar(Type::Bool), 0, MIN_BOOLEAN_BYTES)),
            JsonType::Number => Some(self.push(Shape::Scalar(Type::Double), 0, MIN_NUMBER_BYTES)),
            JsonType::Integer => Some(self.push(Shape::Scalar(Type::Int), 0, MIN_NUMBER_BYTES)),
            JsonType::Any => None,
        }
    }

    fn declare_map(&mut self, arena: &Arena, node: &Node, values: NodeId) -> Option<DeclaredId> {
        let value = self.declare(arena, values, arena[values].embedded)?;
        let fitting = (MAX_REQUEST_BYTES - 2) / (self.get(value).min_bytes + 6);
        let most = node.checks.max_properties.map_or(fitting, |most| most.max(0));
        Some(self.push(Shape::Map(value), most, 2))
    }

    fn declare_object(&mut self, arena: &Arena, node: &Node, is_resource: bool) -> DeclaredId {
        let mut fields = BTreeMap::new();
        let mut min_bytes = 2;
        for (name, id) in fields_of(arena, node, is_resource) {
            let Some(declared) = self.declare(arena, id, arena[id].embedded) else {
                continue;
            };
            if node.checks.required.contains(&name) && arena[id].default.is_none() {
                let length = i64::try_from(name.len()).unwrap_or(i64::MAX);
                min_bytes += length + self.get(declared).min_bytes + 4;
            }
            if let Some(escaped) = escape(&name) {
                fields.insert(escaped, declared);
            }
        }
        self.push(Shape::Object(fields), 0, min_bytes)
    }

    fn declare_string(&mut self, node: &Node) -> DeclaredId {
        let max_length = node.checks.max_length;
        let unlimited = MAX_REQUEST_BYTES - 2;
        let (kind, most, least) = match node.checks.format_name.as_str() {
            "byte" => (
                Type::Bytes,
                max_length.map_or(unlimited, |most| most.max(0)),
                MIN_STRING_BYTES,
            ),
            "duration" => (Type::Duration, MAX_DURATION_BYTES, MIN_DURATION_BYTES),
            "date" => (Type::Timestamp, DATE_BYTES, DATE_BYTES),
            "date-time" => (Type::Timestamp, MAX_DATE_TIME_BYTES, MIN_DATE_TIME_BYTES),
            _ => {
                let longest = node
                    .checks
                    .enumeration
                    .iter()
                    .filter_map(Value::as_str)
                    .map(str::len)
                    .max();
                let by_enumeration = if node.checks.enumeration.is_empty() {
                    unlimited
                } else {
                    i64::try_from(longest.unwrap_or_default()).unwrap_or(unlimited)
                };
                (
                    Type::String,
                    max_length.map_or(by_enumeration, four_bytes_each),
                    MIN_STRING_BYTES,
                )
            }
        };
        self.push(Shape::Scalar(kind), most, least)
    }
}

/// A character takes up to four bytes.
fn four_bytes_each(most: i64) -> i64 {
    most.max(0).saturating_mul(4)
}

/// The fields of an object, with those that every resource has.
pub(super) fn fields_of(arena: &Arena, node: &Node, is_resource: bool) -> Vec<(String, NodeId)> {
    let mut fields = node.properties.clone();
    if is_resource && !has_type_and_name(arena, node) {
        let meta = arena.meta();
        fields.insert("kind".to_owned(), meta.string);
        fields.insert("apiVersion".to_owned(), meta.string);
        fields.insert("metadata".to_owned(), meta.metadata);
    }
    fields.into_iter().collect()
}

/// Whether the schema itself says all that every resource has.
pub(crate) fn has_type_and_name(arena: &Arena, node: &Node) -> bool {
    let is =
        |node: &Node, name: &str, kind: JsonType| node.properties.get(name).is_some_and(|id| arena[*id].kind == kind);
    is(node, "kind", JsonType::String)
        && is(node, "apiVersion", JsonType::String)
        && is(node, "metadata", JsonType::Object)
        && node.properties.get("metadata").is_some_and(|id| {
            let metadata = &arena[*id];
            is(metadata, "name", JsonType::String) && is(metadata, "generateName", JsonType::String)
        })
}

const KEYWORDS: [&str; 21] = [
    "true",
    "false",
    "null",
    "in",
    "as",
    "break",
    "const",
    "continue",
    "else",
    "for",
    "function",
    "if",
    "import",
    "let",
    "loop",
    "package",
    "namespace",
    "return",
    "var",
    "void",
    "while",
];

/// The name of a field in expressions, if it can have one.
pub(crate) fn escape(name: &str) -> Option<String> {
    let first = name.chars().next()?;
    if first.is_ascii_digit() {
        return None;
    }
    if KEYWORDS.contains(&name) {
        return Some(format!("__{name}__"));
    }
    let mut escaped = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(character) = rest.chars().next() {
        let (text, length) = match character {
            '_' if rest.starts_with("__") => ("__underscores__", 2),
            '.' => ("__dot__", 1),
            '-' => ("__dash__", 1),
            '/' => ("__slash__", 1),
            plain if plain.is_ascii_alphanumeric() || plain == '_' => (&rest[..1], 1),
            _ => return None,
        };
        escaped.push_str(text);
        rest = &rest[length..];
    }
    Some(escaped)
}

/// The field that a name in an expression means.
pub(crate) fn unescape(name: &str) -> Option<String> {
    if !name.contains("__") {
        return Some(name.to_owned());
    }
    let mut plain = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(start) = rest.find("__") {
        let after = &rest[start + 2..];
        let length = after.find('_').unwrap_or(after.len());
        if length == 0 || !after[length..].starts_with("__") {
            plain.push_str(&rest[..=start]);
            rest = &rest[start + 1..];
            continue;
        }
        plain.push_str(&rest[..start]);
        match &after[..length] {
            "underscores" => plain.push_str("__"),
            "dot" => plain.push('.'),
            "dash" => plain.push('-'),
            "slash" => plain.push('/'),
            keyword if KEYWORDS.contains(&keyword) && name.len() == keyword.len() + 4 => plain.push_str(keyword),
            _ => return None,
        }
        rest = &after[length + 2..];
    }
    Some(plain + rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_escaped_and_back() {
        for (name, escaped) in [
            ("a", "a"),
            ("a-b", "a__dash__b"),
            ("a.b/c", "a__dot__b__slash__c"),
            ("namespace", "__namespace__"),
            ("a__b", "a__underscores__b"),
            ("x_y", "x_y"),
        ] {
            assert_eq!(escape(name).as_deref(), Some(escaped));
            assert_eq!(unescape(escaped).as_deref(), Some(name));
        }
        assert_eq!(escape("1a"), None);
        assert_eq!(escape("a b"), None);
        assert_eq!(unescape("a__wrong__b"), None);
    }
}
