//! One step of a field path: a field, a keyed list item, a set item or an index, with its order and its texts.
//! Borrows from the objects and schemas that it was read from; knows nothing of sets of paths.

mod parse;

use std::{borrow::Cow, cmp::Ordering};

use serde_json::Value;

use crate::{go, value};

pub use parse::{ElementError, parse};

/// One step from a value to a part of it.
#[derive(Clone, Debug)]
pub enum Element<'a> {
    /// A field of a map.
    Field(&'a str),
    /// The item of a list whose key fields have these values, sorted by name.
    Key(Box<[KeyField<'a>]>),
    /// The item of a set with this value.
    Value(Item<'a>),
    /// The item at this position; only ever read, never made by a walk.
    Index(i64),
}

/// A field that takes part in the key of a list item.
#[derive(Clone, Debug)]
pub struct KeyField<'a> {
    /// The name of the field.
    pub name: Cow<'a, str>,
    /// Its value in the item, or its default.
    pub value: Item<'a>,
}

/// The value that an item is known by. Nearly all of them are texts, which are borrowed wherever they come from.
#[derive(Clone, Debug)]
pub enum Item<'a> {
    /// A string.
    Text(&'a str),
    /// Anything else, or a string that had to be unescaped.
    Other(Cow<'a, Value>),
}

impl Element<'_> {
    /// Appends the key of a `fieldsV1` document.
    pub fn write(&self, out: &mut String) {
        match self {
            Self::Field(name) => {
                out.push_str("f:");
                out.push_str(name);
            }
            Self::Key(fields) => write_key(out, fields),
            Self::Value(item) => {
                out.push_str("v:");
                item.write(out);
            }
            Self::Index(index) => {
                out.push_str("i:");
                out.push_str(&index.to_string());
            }
        }
    }

    /// The element as messages show it: `.spec`, `[name="a"]`, `[="a"]`, `[0]`.
    pub fn describe(&self) -> String {
        match self {
            Self::Field(name) => format!(".{name}"),
            Self::Key(fields) => {
                let fields: Vec<String> = fields
                    .iter()
                    .map(|field| format!("{}={}", field.name, field.value.describe()))
                    .collect();
                format!("[{}]", fields.join(","))
            }
            Self::Value(item) => format!("[={}]", item.describe()),
            Self::Index(index) => format!("[{index}]"),
        }
    }
}

fn write_key(out: &mut String, fields: &[KeyField<'_>]) {
    out.push_str("k:{");
    for (index, field) in fields.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        go::write_json_string(out, &field.name, false);
        out.push(':');
        field.value.write(out);
    }
    out.push('}');
}

impl<'a> Item<'a> {
    /// The item that a value of an object is.
    pub fn of(value: &'a Value) -> Self {
        match value {
            Value::String(text) => Self::Text(text),
            other => Self::Other(Cow::Borrowed(other)),
        }
    }

    /// The value itself.
    pub fn to_value(&self) -> Value {
        match self {
            Self::Text(text) => Value::from(*text),
            Self::Other(value) => value.clone().into_owned(),
        }
    }

    fn write(&self, out: &mut String) {
        match self {
            Self::Text(text) => go::write_json_string(out, text, true),
            Self::Other(value) => go::write_json(out, value),
        }
    }

    fn describe(&self) -> String {
        match self {
            Self::Text(text) => go::quote(text),
            Self::Other(value) => describe_value(value),
        }
    }

    fn compare(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Text(left), Self::Text(right)) => left.cmp(right),
            (Self::Other(left), Self::Other(right)) => value::compare(left, right),
            (Self::Text(left), Self::Other(right)) => compare_text(left, right),
            (Self::Other(left), Self::Text(right)) => compare_text(right, left).reverse(),
        }
    }
}

/// Numbers come before texts, everything else after them.
fn compare_text(text: &str, other: &Value) -> Ordering {
    match other {
        Value::String(other) => text.cmp(other),
        Value::Number(_) => Ordering::Greater,
        _ => Ordering::Less,
    }
}

fn describe_value(item: &Value) -> String {
    match item {
        Value::Null => "null".to_owned(),
        Value::String(text) => go::quote(text),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(describe_value).collect();
            format!("[{}]", items.join(","))
        }
        Value::Object(fields) => {
            let fields: Vec<String> = fields
                .iter()
                .map(|(name, field)| format!("{name}={}", describe_value(field)))
                .collect();
            fields.concat()
        }
        Value::Bool(_) | Value::Number(_) => go::plain(item),
    }
}

impl Ord for Element<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Field(left), Self::Field(right)) => left.cmp(right),
            (Self::Key(left), Self::Key(right)) => compare_keys(left, right),
            (Self::Value(left), Self::Value(right)) => left.compare(right),
            (Self::Index(left), Self::Index(right)) => left.cmp(right),
            _ => self.rank().cmp(&other.rank()),
        }
    }
}

impl Element<'_> {
    fn rank(&self) -> u8 {
        match self {
            Self::Field(_) => 0,
            Self::Key(_) => 1,
            Self::Value(_) => 2,
            Self::Index(_) => 3,
        }
    }
}

fn compare_keys(left: &[KeyField<'_>], right: &[KeyField<'_>]) -> Ordering {
    let first_difference = left
        .iter()
        .zip(right)
        .map(|(left, right)| {
            left.name
                .cmp(&right.name)
                .then_with(|| left.value.compare(&right.value))
        })
        .find(|order| order.is_ne());
    first_difference.unwrap_or_else(|| left.len().cmp(&right.len()))
}

impl PartialOrd for Element<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Element<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Element<'_> {}
