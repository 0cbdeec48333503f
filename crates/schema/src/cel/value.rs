//! The values of expressions. Those of the object are read in place, in the types that its schema declares; nothing of it
//! is copied.

mod equality;

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::ops::Deref;
use std::rc::Rc;

use serde_json::{Map, Value as Json};

use super::declared::{escape, has_type_and_name, unescape};
use super::library::semver::Semver;
use super::types::Type;
use crate::formats::Format;
use crate::go_net::Url;
use crate::go_time;
use crate::node::{Additional, Arena, Node, NodeId, Type as JsonType};
use crate::quantity::Quantity;
use equality::{lists_equal, maps_equal, numbers_compare};

/// Why an expression has no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Failure {
    /// The message that upstream gives.
    Error(Rc<str>),
    /// It cost more than it may.
    TooCostly,
}

impl Failure {
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self::Error(message.into().into())
    }

    pub(super) fn no_overload() -> Self {
        Self::new("no such overload")
    }
}

pub(super) type Outcome<T> = Result<T, Failure>;

/// A string of the object, of the expression, or a new one.
#[derive(Clone, Debug)]
pub(super) enum Text<'a> {
    Borrowed(&'a str),
    Owned(Rc<str>),
}

impl Deref for Text<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        match self {
            Self::Borrowed(text) => text,
            Self::Owned(text) => text,
        }
    }
}

/// A list of the object.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entries<'a> {
    pub(super) items: &'a [Json],
    pub(super) node: &'a Node,
    arena: &'a Arena,
}

impl<'a> Entries<'a> {
    pub(super) fn get(&self, index: usize) -> Option<Outcome<Value<'a>>> {
        let item = self.items.get(index)?;
        Some(match self.node.items {
            Some(id) => Value::of(self.arena, id, item),
            None => Err(Failure::new(
                "invalid array type, expected Items with a non-empty Schema",
            )),
        })
    }
}

/// An object or a map of the object.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fields<'a> {
    pub(super) map: &'a Map<String, Json>,
    node: &'a Node,
    arena: &'a Arena,
    is_resource: bool,
}

impl<'a> Fields<'a> {
    /// Objects have names that are escaped in expressions; maps have keys.
    pub(super) fn is_object(&self) -> bool {
        self.is_resource || !self.node.properties.is_empty()
    }

    fn schema_of(&self, name: &str) -> Option<NodeId> {
        if self.is_resource
            && matches!(name, "kind" | "apiVersion" | "metadata")
            && !has_type_and_name(self.arena, self.node)
        {
            let meta = self.arena.meta();
            return Some(if name == "metadata" { meta.metadata } else { meta.string });
        }
        if self.is_object() {
            return self.node.properties.get(name).copied();
        }
        match self.node.additional {
            Additional::Schema(id) => Some(id),
            _ => None,
        }
    }

    /// The value under a key as expressions write it.
    pub(super) fn find(&self, key: &str) -> Option<Outcome<Value<'a>>> {
        if self.is_object() {
            let name = unescape(key)?;
            return self.field(&name);
        }
        let value = self.map.get(key)?;
        Some(Value::of(self.arena, self.schema_of(key)?, value))
    }

    /// The value of a field by its own name; null is no value.
    pub(super) fn field(&self, name: &str) -> Option<Outcome<Value<'a>>> {
        let value = self.map.get(name)?;
        if value.is_null() && self.is_object() {
            return None;
        }
        Some(Value::of(self.arena, self.schema_of(name)?, value))
    }

    /// The keys as expressions write them.
    pub(super) fn keys(&self) -> impl Iterator<Item = Text<'a>> + '_ {
        self.map
            .keys()
            .filter(|name| self.schema_of(name).is_some())
            .map(
                |name| match escape(name).filter(|escaped| self.is_object() && escaped != name) {
                    Some(escaped) => Text::Owned(escaped.into()),
                    None => Text::Borrowed(name),
                },
            )
    }
}

/// A key of a map that an expression made; whole numbers of any type are one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Key {
    Bool(bool),
    Number(i128),
    String(Rc<str>),
}

/// A moment, and the offset in which it was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Timestamp {
    pub(super) nanos: i128,
    pub(super) offset_seconds: i32,
}

/// A value.
#[derive(Clone, Debug)]
pub(super) enum Value<'a> {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Double(f64),
    String(Text<'a>),
    Bytes(Rc<[u8]>),
    /// In nanoseconds.
    Duration(i64),
    Timestamp(Timestamp),
    Entries(Entries<'a>),
    Fields(Fields<'a>),
    List(Rc<Vec<Value<'a>>>),
    Map(Rc<BTreeMap<Key, (Value<'a>, Value<'a>)>>),
    Optional(Option<Rc<Value<'a>>>),
    Type(&'static str),
    Url(Rc<Url>),
    Quantity(Quantity),
    Semver(Rc<Semver>),
    Format(&'static str),
    Ip(IpAddr),
    Cidr(IpAddr, u8),
    /// A value that the schema says nothing about.
    Opaque(&'a Json),
}

impl<'a> Value<'a> {
    pub(super) fn text(text: impl Into<String>) -> Self {
        Self::String(Text::Owned(text.into().into()))
    }

    pub(super) fn list(items: Vec<Self>) -> Self {
        Self::List(Rc::new(items))
    }

    pub(super) fn optional(value: Option<Self>) -> Self {
        Self::Optional(value.map(Rc::new))
    }

    /// The root of a resource.
    pub(super) fn root(arena: &'a Arena, id: NodeId, json: &'a Json, is_resource: bool) -> Outcome<Self> {
        match json {
            Json::Object(fields) if is_resource => Ok(Self::Fields(Fields {
                map: fields,
                node: &arena[id],
                arena,
                is_resource,
            })),
            _ => Self::of(arena, id, json),
        }
    }

    /// A part of the object in the type that its schema declares.
    pub(super) fn of(arena: &'a Arena, id: NodeId, json: &'a Json) -> Outcome<Self> {
        let node = &arena[id];
        match (node.kind, json) {
            (_, Json::Null) if node.nullable => Ok(Self::Null),
            (_, Json::Null) => Err(Failure::new("invalid data, got null for schema with nullable=false")),
            (JsonType::Object, Json::Object(fields)) => Ok(Self::Fields(Fields {
                map: fields,
                node,
                arena,
                is_resource: node.embedded,
            })),
            (JsonType::Array, Json::Array(items)) => Ok(Self::Entries(Entries { items, node, arena })),
            (JsonType::String, Json::String(text)) => string_of(node, text),
            (JsonType::IntegerOrString, Json::String(text)) => Ok(Self::String(Text::Borrowed(text))),
            (JsonType::Integer | JsonType::IntegerOrString, Json::Number(number)) => number
                .as_i64()
                .map(Self::Int)
                .ok_or_else(|| Failure::new(wrong_data(node.kind, json))),
            (JsonType::Number, Json::Number(number)) => Ok(Self::Double(number.as_f64().unwrap_or_default())),
            (JsonType::Boolean, Json::Bool(flag)) => Ok(Self::Bool(*flag)),
            (JsonType::Any, json) if node.preserve_unknown => Ok(Self::Opaque(json)),
            (kind, json) => Err(Failure::new(wrong_data(kind, json))),
        }
    }

    /// The name of its type.
    pub(super) fn type_name(&self) -> &'static str {
        match self {
            Self::Null => "null_type",
            Self::Bool(_) => "bool",
            Self::Int(_) => "int",
            Self::Uint(_) => "uint",
            Self::Double(_) => "double",
            Self::String(_) => "string",
            Self::Bytes(_) => "bytes",
            Self::Duration(_) => "google.protobuf.Duration",
            Self::Timestamp(_) => "google.protobuf.Timestamp",
            Self::Entries(_) | Self::List(_) => "list",
            Self::Fields(_) | Self::Map(_) => "map",
            Self::Optional(_) => "optional_type",
            Self::Type(_) => "type",
            Self::Url(_) => "kubernetes.URL",
            Self::Quantity(_) => "kubernetes.Quantity",
            Self::Semver(_) => "kubernetes.Semver",
            Self::Format(_) => "kubernetes.NamedFormat",
            Self::Ip(_) => "net.IP",
            Self::Cidr(..) => "net.CIDR",
            Self::Opaque(_) => "unknown",
        }
    }

    /// The items of a list.
    pub(super) fn items(&self) -> Option<Items<'_, 'a>> {
        match self {
            Self::Entries(entries) => Some(Items::Entries(*entries, 0)),
            Self::List(items) => Some(Items::List(items.iter())),
            _ => None,
        }
    }

    /// Characters, bytes, items or fields; everything else is one.
    pub(super) fn size(&self) -> u64 {
        let size = match self {
            Self::String(text) => text.chars().count(),
            Self::Bytes(bytes) => bytes.len(),
            Self::Entries(entries) => entries.items.len(),
            Self::List(items) => items.len(),
            Self::Fields(fields) => fields.map.len(),
            Self::Map(entries) => entries.len(),
            Self::Ip(IpAddr::V4(_)) | Self::Cidr(IpAddr::V4(_), _) => 4,
            Self::Ip(IpAddr::V6(_)) | Self::Cidr(IpAddr::V6(_), _) => 16,
            Self::Optional(Some(inner)) => return inner.size(),
            _ => 1,
        };
        u64::try_from(size).unwrap_or(u64::MAX)
    }

    /// What it is as a key of a map.
    pub(super) fn key(&self) -> Option<Key> {
        Some(match self {
            Self::Bool(flag) => Key::Bool(*flag),
            Self::Int(number) => Key::Number((*number).into()),
            Self::Uint(number) => Key::Number((*number).into()),
            #[allow(clippy::cast_possible_truncation, reason = "the float is a whole number")]
            Self::Double(number) if number.fract() == 0.0 => Key::Number(*number as i128),
            Self::String(text) => Key::String((&**text).into()),
            _ => return None,
        })
    }

    /// The value under a key, or nothing.
    pub(super) fn find(&self, key: &Value<'a>) -> Outcome<Option<Value<'a>>> {
        match (self, key) {
            (Self::Fields(fields), Self::String(key)) => fields.find(key).transpose(),
            (Self::Map(entries), key) => Ok(key
                .key()
                .and_then(|key| entries.get(&key))
                .map(|(_, value)| value.clone())),
            _ => Err(Failure::no_overload()),
        }
    }

    /// Whether two values are the same. Values of the object refuse to be compared to what is no list or map at all.
    pub(super) fn equals(&self, other: &Value<'a>) -> Outcome<bool> {
        Ok(match (self, other) {
            (Self::Null, Self::Null) => true,
            (Self::Null, _) | (_, Self::Null) => false,
            (Self::Bool(first), Self::Bool(second)) => first == second,
            (Self::String(first), Self::String(second)) => **first == **second,
            (Self::Bytes(first), Self::Bytes(second)) => first == second,
            (Self::Duration(first), Self::Duration(second)) => first == second,
            (Self::Timestamp(first), Self::Timestamp(second)) => first.nanos == second.nanos,
            (Self::Url(first), Self::Url(second)) => first.text == second.text,
            (Self::Quantity(first), Self::Quantity(second)) => first == second,
            (Self::Semver(first), Self::Semver(second)) => first.compare(second) == Ordering::Equal,
            (Self::Type(first), Self::Type(second)) | (Self::Format(first), Self::Format(second)) => first == second,
            (Self::Ip(first), Self::Ip(second)) => first == second,
            (Self::Cidr(first, length), Self::Cidr(second, other_length)) => (first, length) == (second, other_length),
            (Self::Opaque(first), Self::Opaque(second)) => first == second,
            (Self::Optional(first), Self::Optional(second)) => match (first, second) {
                (Some(first), Some(second)) => first.equals(second)?,
                (None, None) => true,
                _ => false,
            },
            (Self::Entries(_) | Self::List(_), Self::Entries(_) | Self::List(_)) => return lists_equal(self, other),
            (Self::Fields(_) | Self::Map(_), Self::Fields(_) | Self::Map(_)) => return maps_equal(self, other),
            (Self::Entries(_) | Self::Fields(_), _) => return Err(Failure::no_overload()),
            _ => numbers_compare(self, other) == Some(Ordering::Equal),
        })
    }

    /// Which of two values comes first, if there is an order.
    pub(super) fn compare(&self, other: &Value<'a>) -> Outcome<Ordering> {
        Ok(match (self, other) {
            (Self::Bool(first), Self::Bool(second)) => first.cmp(second),
            (Self::String(first), Self::String(second)) => (**first).cmp(&**second),
            (Self::Bytes(first), Self::Bytes(second)) => first.cmp(second),
            (Self::Duration(first), Self::Duration(second)) => first.cmp(second),
            (Self::Timestamp(first), Self::Timestamp(second)) => first.nanos.cmp(&second.nanos),
            (Self::Int(_) | Self::Uint(_) | Self::Double(_), Self::Int(_) | Self::Uint(_) | Self::Double(_)) => {
                return numbers_compare(self, other).ok_or_else(|| Failure::new("NaN values cannot be ordered"));
            }
            _ => return Err(Failure::no_overload()),
        })
    }
}

/// What upstream says about data that the schema did not keep out.
fn wrong_data(kind: JsonType, json: &Json) -> String {
    let found = match json {
        Json::Null => "<nil>",
        Json::Bool(_) => "bool",
        Json::Number(number) if number.is_i64() => "int64",
        Json::Number(_) => "float64",
        Json::String(_) => "string",
        Json::Array(_) => "[]interface {}",
        Json::Object(_) => "map[string]interface {}",
    };
    let expected = match kind {
        JsonType::Object => return "invalid data, expected a map for the provided schema with type=object".to_owned(),
        JsonType::Array => return "invalid data, expected an array for the provided schema with type=array".to_owned(),
        JsonType::IntegerOrString => {
            return "invalid data, expected XIntOrString value to be either a string or integer".to_owned();
        }
        JsonType::String => "string",
        JsonType::Number => "float",
        JsonType::Integer => "int",
        JsonType::Boolean => "bool",
        JsonType::Any => "a type",
    };
    format!("invalid data, expected {expected}, got {found}")
}

/// The items of a list, one after the other.
pub(super) enum Items<'v, 'a> {
    Entries(Entries<'a>, usize),
    List(std::slice::Iter<'v, Value<'a>>),
}

impl<'a> Iterator for Items<'_, 'a> {
    type Item = Outcome<Value<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Self::Entries(entries, index) => {
                let item = entries.get(*index);
                *index += 1;
                item
            }
            Self::List(items) => items.next().cloned().map(Ok),
        }
    }
}

/// Strings with some formats are more than strings.
fn string_of<'a>(node: &Node, text: &'a str) -> Outcome<Value<'a>> {
    let invalid = |what: &str| Failure::new(format!("Invalid {what} {text}"));
    let moment = |nanos: i128, offset_seconds: i32| Value::Timestamp(Timestamp { nanos, offset_seconds });
    Ok(match node.checks.format {
        Some(Format::Duration) => {
            Value::Duration(crate::formats::parse_duration(text).ok_or_else(|| invalid("duration"))?)
        }
        Some(Format::Date) => {
            let midnight = format!("{text}T00:00:00Z");
            moment(
                go_time::parse_rfc3339(&midnight).ok_or_else(|| invalid("date formatted string"))?,
                0,
            )
        }
        Some(Format::DateTime) => {
            let nanos = parse_date_time(text).ok_or_else(|| invalid("date-time formatted string"))?;
            let zone = text.get(text.len().saturating_sub(6)..).and_then(go_time::parse_offset);
            moment(nanos, zone.unwrap_or_default())
        }
        Some(Format::Byte) => Value::Bytes(
            decode_base64(text)
                .ok_or_else(|| invalid("byte formatted string"))?
                .into(),
        ),
        _ => Value::String(Text::Borrowed(text)),
    })
}

/// RFC 3339, or the same without a zone.
fn parse_date_time(text: &str) -> Option<i128> {
    go_time::parse_rfc3339(text).or_else(|| go_time::parse_rfc3339(&format!("{text}Z")))
}

/// Base64 in the alphabet of URLs, as upstream reads bytes.
fn decode_base64(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| {
        Some(match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'-' => 62,
            b'_' => 63,
            _ => return None,
        })
    };
    let body = text.trim_end_matches('=');
    if !text.len().is_multiple_of(4) || text.len() - body.len() > 2 {
        return None;
    }
    let digits = body.bytes().map(digit).collect::<Option<Vec<u8>>>()?;
    let mut bytes = Vec::with_capacity(digits.len() * 3 / 4);
    for group in digits.chunks(4) {
        let bits = group.iter().fold(0_u32, |bits, digit| bits << 6 | u32::from(*digit)) << (6 * (4 - group.len()));
        bytes.extend_from_slice(&bits.to_be_bytes()[1..group.len()]);
    }
    Some(bytes)
}

/// The name of a type as a value.
pub(super) fn type_value_name(kind: &Type) -> &'static str {
    match kind {
        Type::Bool => "bool",
        Type::Bytes => "bytes",
        Type::Double => "double",
        Type::Duration => "google.protobuf.Duration",
        Type::Timestamp => "google.protobuf.Timestamp",
        Type::Int => "int",
        Type::List(_) => "list",
        Type::Map(..) => "map",
        Type::Null => "null_type",
        Type::String => "string",
        Type::Uint => "uint",
        Type::Optional(_) => "optional_type",
        Type::Ip => "net.IP",
        Type::Cidr => "net.CIDR",
        _ => "type",
    }
}
