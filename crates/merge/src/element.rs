//! One step of a field path: a field, a keyed list item, a set item or an index, with its order and its texts.
//! Borrows from the objects and schemas that it was read from; knows nothing of sets of paths.

use std::{borrow::Cow, cmp::Ordering};

use serde::{
    Deserializer,
    de::{MapAccess, Visitor},
};
use serde_json::Value;

use crate::{go, value};

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

/// An element that was read.
#[derive(Debug)]
pub struct Parsed<'a> {
    /// The element.
    pub element: Element<'a>,
    /// Whether writing it gives the same text.
    pub canonical: bool,
}

/// Why a key of a `fieldsV1` document is not an element.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum ElementError {
    /// Shorter than a kind and a colon.
    #[error("key must be 2 characters long:")]
    TooShort,
    /// The second character is not a colon.
    #[error("missing colon")]
    MissingColon,
    /// What follows the colon does not parse.
    #[error("unreadable path element")]
    Unreadable,
    /// A kind that only a later version knows; upstream drops such elements.
    #[error("unknown path element type")]
    UnknownKind,
}

impl<'a> Element<'a> {
    /// Reads a key of a `fieldsV1` document.
    pub fn parse(text: &'a str) -> Result<Parsed<'a>, ElementError> {
        let &[kind, separator, ..] = text.as_bytes() else {
            return Err(ElementError::TooShort);
        };
        if separator != b':' || !kind.is_ascii() {
            return Err(ElementError::MissingColon);
        }
        let content = &text[2..];
        if kind == b'f' {
            return Ok(Parsed {
                element: Self::Field(content),
                canonical: true,
            });
        }
        if kind == b'k'
            && let Some(fields) = plain_key(content)
        {
            return Ok(Parsed {
                element: Self::Key(fields),
                canonical: true,
            });
        }
        let element = match kind {
            b'k' => parse_key(content).map(Self::Key),
            b'v' => serde_json::from_str(content)
                .ok()
                .map(|value| Self::Value(Item::Other(Cow::Owned(as_read(value))))),
            b'i' => content.parse().ok().map(Self::Index),
            _ => return Err(ElementError::UnknownKind),
        };
        let element = element.ok_or(ElementError::Unreadable)?;
        let mut written = String::with_capacity(text.len());
        element.write(&mut written);
        Ok(Parsed {
            element,
            canonical: written == text,
        })
    }

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

/// Upstream reads every number of a key as a float, which shows in messages (`1e+06`). Integers that a float cannot
/// hold exactly stay integers, so that an item keeps its identity.
fn as_read(item: Value) -> Value {
    /// 2^53: up to here every integer is a float.
    const EXACT: i64 = 1 << 53;
    match item.as_i64() {
        #[expect(
            clippy::cast_precision_loss,
            reason = "the range is the one in which nothing is lost"
        )]
        Some(integer) if (-EXACT..=EXACT).contains(&integer) => Value::from(integer as f64),
        _ => item,
    }
}

/// Reads a key as upstream writes it when no text in it needs an escape, which is nearly always; `None` for all others.
fn plain_key(text: &str) -> Option<Box<[KeyField<'_>]>> {
    let mut rest = text.strip_prefix('{')?;
    let mut fields: Vec<KeyField<'_>> = Vec::with_capacity(1);
    loop {
        let (name, after) = plain_text(rest)?;
        let (value, after) = plain_item(after.strip_prefix(':')?)?;
        if fields.last().is_some_and(|last| *last.name >= *name) {
            return None;
        }
        fields.push(KeyField {
            name: Cow::Borrowed(name),
            value,
        });
        match after.strip_prefix(',') {
            Some(next) => rest = next,
            None => return (after == "}").then(|| fields.into_boxed_slice()),
        }
    }
}

fn plain_text(text: &str) -> Option<(&str, &str)> {
    let text = text.strip_prefix('"')?;
    let is_plain = |byte: u8| (b' '..=b'~').contains(&byte) && !matches!(byte, b'"' | b'\\' | b'<' | b'>' | b'&');
    let end = text.bytes().position(|byte| !is_plain(byte))?;
    let (content, after) = text.split_at(end);
    Some((content, after.strip_prefix('"')?))
}

fn plain_item(text: &str) -> Option<(Item<'_>, &str)> {
    if text.starts_with('"') {
        let (content, after) = plain_text(text)?;
        return Some((Item::Text(content), after));
    }
    let end = text.bytes().position(|byte| !byte.is_ascii_digit())?;
    let (digits, after) = text.split_at(end);
    if digits.len() > 1 && digits.starts_with('0') {
        return None;
    }
    let number: u32 = digits.parse().ok()?;
    Some((Item::Other(Cow::Owned(Value::from(f64::from(number)))), after))
}

fn parse_key(text: &str) -> Option<Box<[KeyField<'_>]>> {
    if text.trim() == "null" {
        return Some(Box::default());
    }
    let mut reader = serde_json::Deserializer::from_str(text);
    let mut fields = reader.deserialize_map(KeyVisitor).ok()?;
    reader.end().ok()?;
    fields.sort_by(|left, right| left.name.cmp(&right.name));
    Some(fields.into_boxed_slice())
}

struct KeyVisitor;

impl<'de> Visitor<'de> for KeyVisitor {
    type Value = Vec<KeyField<'de>>;

    fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("the key fields of a list item")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut fields = Vec::with_capacity(1);
        while let Some((name, item)) = map.next_entry::<BorrowedName<'de>, Value>()? {
            fields.push(KeyField {
                name: name.0,
                value: Item::Other(Cow::Owned(as_read(item))),
            });
        }
        Ok(fields)
    }
}

/// Serde's own `Cow` never borrows; this one does whenever the name has no escapes.
struct BorrowedName<'de>(Cow<'de, str>);

impl<'de> serde::Deserialize<'de> for BorrowedName<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(NameVisitor)
    }
}

struct NameVisitor;

impl<'de> Visitor<'de> for NameVisitor {
    type Value = BorrowedName<'de>;

    fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("the name of a key field")
    }

    fn visit_borrowed_str<E>(self, name: &'de str) -> Result<Self::Value, E> {
        Ok(BorrowedName(Cow::Borrowed(name)))
    }

    fn visit_str<E>(self, name: &str) -> Result<Self::Value, E> {
        Ok(BorrowedName(Cow::Owned(name.to_owned())))
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

#[cfg(test)]
mod tests {
    use super::*;

    fn written(text: &str) -> Result<String, ElementError> {
        let mut out = String::new();
        let parsed = Element::parse(text)?;
        parsed.element.write(&mut out);
        assert_eq!(parsed.canonical, out == text, "{text}");
        Ok(out)
    }

    #[test]
    fn canonical_texts_survive_a_round_trip() {
        for text in [
            "f:spec",
            "f:",
            "f:a:b",
            "f:é<",
            r#"k:{"containerPort":80,"protocol":"TCP"}"#,
            r#"k:{"name":"a\u003cb"}"#,
            "k:{}",
            r#"v:"x""#,
            "v:1.5",
            "v:true",
            "v:null",
            "v:9007199254740993",
            "i:7",
        ] {
            assert_eq!(written(text).unwrap(), text);
        }
    }

    #[test]
    fn other_texts_become_canonical() {
        assert_eq!(
            written(r#"k:{ "b":1.0, "a":"<" }"#).unwrap(),
            r#"k:{"a":"\u003c","b":1}"#
        );
        assert_eq!(written("v:1.0").unwrap(), "v:1");
        assert_eq!(written("k:null").unwrap(), "k:{}");
        assert_eq!(written("i:+7").unwrap(), "i:7");
    }

    #[test]
    fn what_is_not_an_element_says_why() {
        assert_eq!(written(""), Err(ElementError::TooShort));
        assert_eq!(written("f"), Err(ElementError::TooShort));
        assert_eq!(written("é:"), Err(ElementError::MissingColon));
        assert_eq!(written("spec"), Err(ElementError::MissingColon));
        assert_eq!(written("k:[1]"), Err(ElementError::Unreadable));
        assert_eq!(written("k:{\"a\":1} x"), Err(ElementError::Unreadable));
        assert_eq!(written("v:"), Err(ElementError::Unreadable));
        assert_eq!(written("i:x"), Err(ElementError::Unreadable));
        assert_eq!(written("z:1"), Err(ElementError::UnknownKind));
    }

    #[test]
    fn numbers_that_were_read_are_described_as_floats() {
        let describe = |text| Element::parse(text).unwrap().element.describe();
        assert_eq!(
            describe(r#"k:{"port":80,"protocol":"TCP"}"#),
            r#"[port=80,protocol="TCP"]"#
        );
        assert_eq!(describe("v:1000000"), "[=1e+06]");
        assert_eq!(describe("f:spec"), ".spec");
        assert_eq!(describe("i:3"), "[3]");
    }

    #[test]
    fn elements_of_a_kind_stand_together() {
        let ascending = [
            "f:a",
            "f:b",
            "k:{\"a\":1}",
            "k:{\"a\":1,\"b\":1}",
            "k:{\"a\":2}",
            "v:2",
            "v:10",
            "v:\"a\"",
            "i:2",
            "i:10",
        ];
        for pair in ascending.windows(2) {
            assert!(
                Element::parse(pair[0]).unwrap().element < Element::parse(pair[1]).unwrap().element,
                "{pair:?}"
            );
        }
    }
}
