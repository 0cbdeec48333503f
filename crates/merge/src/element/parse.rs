//! Keys of `fieldsV1` documents, read: quickly where they have the form in which they are written, fully otherwise.
//! Must not know what a key leads to.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::{Element, Item, KeyField};

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

/// Reads a key of a `fieldsV1` document.
pub fn parse(text: &str) -> Result<Parsed<'_>, ElementError> {
    let &[kind, separator, ..] = text.as_bytes() else {
        return Err(ElementError::TooShort);
    };
    if separator != b':' || !kind.is_ascii() {
        return Err(ElementError::MissingColon);
    }
    let content = &text[2..];
    if kind == b'f' {
        return Ok(Parsed {
            element: Element::Field(content),
            canonical: true,
        });
    }
    if kind == b'k'
        && let Some(fields) = plain_key(content)
    {
        return Ok(Parsed {
            element: Element::Key(fields),
            canonical: true,
        });
    }
    let element = match kind {
        b'k' => parse_key(content).map(Element::Key),
        b'v' => serde_json::from_str(content)
            .ok()
            .map(|value| Element::Value(Item::Other(Cow::Owned(as_read(value))))),
        b'i' => content.parse().ok().map(Element::Index),
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

/// Reads any other key. A JSON map is sorted by name, and a null has no fields.
fn parse_key(text: &str) -> Option<Box<[KeyField<'_>]>> {
    let fields: Option<Map<String, Value>> = serde_json::from_str(text).ok()?;
    let field = |(name, value)| KeyField {
        name: Cow::Owned(name),
        value: Item::Other(Cow::Owned(as_read(value))),
    };
    Some(fields.unwrap_or_default().into_iter().map(field).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(text: &str) -> Result<String, ElementError> {
        let mut out = String::new();
        let parsed = parse(text)?;
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
        let describe = |text| parse(text).unwrap().element.describe();
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
                parse(pair[0]).unwrap().element < parse(pair[1]).unwrap().element,
                "{pair:?}"
            );
        }
    }
}
