//! JSON text to a value in one pass, noting fields that are given twice. Numbers become what Go's unstructured objects
//! hold: an int64 if they fit, else a float64. Knows nothing of messages: those are found afterwards, if need be.

use std::{borrow::Cow, fmt};

use hyperplane_schema::go_text::quote;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value, map::Entry};

use crate::decode::{Decoded, MAXIMUM_DEPTH, MAXIMUM_DUPLICATES};

/// Reads a text; the error is for the case that nothing better can be said.
pub(crate) fn decode(text: &str) -> Result<Decoded, String> {
    let text = without_lone_surrogates(text);
    let mut reader = serde_json::Deserializer::from_str(&text);
    let mut notes = Notes::new(usize::MAX);
    let value = notes
        .seed()
        .deserialize(&mut reader)
        .map_err(|error| error.to_string())?;
    reader.end().map_err(|error| error.to_string())?;
    Ok(Decoded {
        value,
        duplicates: notes.complaints(),
    })
}

/// A number as Go's unstructured objects hold it. A float without a fraction prints as an integer there, and is one
/// once it is stored; so it is one here from the start.
fn number(value: f64) -> Option<Number> {
    let is_whole = value.fract() == 0.0 && value.abs() < 9_223_372_036_854_775_808.0;
    if is_whole {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "checked to be whole and inside of the range"
        )]
        return Some(Number::from(value as i64));
    }
    Number::from_f64(value)
}

/// The path to a field that is given twice, from the inside out.
type ReversedPath = Vec<Segment>;

#[derive(Debug)]
enum Segment {
    Field(String),
    Index(usize),
}

/// What is noted while a value is read.
#[derive(Debug)]
pub(crate) struct Notes {
    duplicates: Vec<ReversedPath>,
    /// How many bytes of text may follow.
    remaining_bytes: usize,
}

impl Notes {
    /// Notes of a value with at most this much text in it.
    pub(crate) const fn new(maximum_bytes: usize) -> Self {
        Self {
            duplicates: Vec::new(),
            remaining_bytes: maximum_bytes,
        }
    }

    /// What reads a value and takes the notes.
    pub(crate) const fn seed(&mut self) -> Seed<'_> {
        Seed { notes: self, depth: 0 }
    }

    fn spend<E: Error>(&mut self, text: &str) -> Result<(), E> {
        let remaining = self.remaining_bytes.checked_sub(text.len());
        self.remaining_bytes = remaining.ok_or_else(|| E::custom("too much text"))?;
        Ok(())
    }

    fn add(&mut self, field: &str) {
        if self.duplicates.len() < MAXIMUM_DUPLICATES {
            self.duplicates.push(vec![Segment::Field(field.to_owned())]);
        }
    }

    /// Puts a segment in front of every path that was noted since `from`; free when there is none.
    fn prefix(&mut self, from: usize, segment: impl Fn() -> Segment) {
        for path in &mut self.duplicates[from..] {
            path.push(segment());
        }
    }

    fn complaints(&self) -> Vec<String> {
        let mut complaints = Vec::new();
        for path in &self.duplicates {
            let complaint = format!("duplicate field {}", quote(&joined(path)));
            if !complaints.contains(&complaint) {
                complaints.push(complaint);
            }
        }
        complaints
    }
}

fn joined(path: &ReversedPath) -> String {
    let mut text = String::new();
    for segment in path.iter().rev() {
        match segment {
            Segment::Field(name) if text.is_empty() => text.push_str(name),
            Segment::Field(name) => {
                text.push('.');
                text.push_str(name);
            }
            Segment::Index(index) => text.extend(["[", &index.to_string(), "]"]),
        }
    }
    text
}

/// Reads any value.
pub(crate) struct Seed<'a> {
    notes: &'a mut Notes,
    depth: usize,
}

impl Seed<'_> {
    fn inner(&mut self) -> Seed<'_> {
        Seed {
            notes: self.notes,
            depth: self.depth + 1,
        }
    }

    fn check_depth<E: Error>(&self) -> Result<(), E> {
        if self.depth >= MAXIMUM_DEPTH {
            return Err(E::custom("exceeded max depth"));
        }
        Ok(())
    }
}

impl<'de> DeserializeSeed<'de> for Seed<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Seed<'_> {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("any JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        match i64::try_from(value) {
            Ok(value) => Ok(Value::Number(value.into())),
            #[expect(clippy::cast_precision_loss, reason = "Go's decoder loses the same digits")]
            Err(_) => self.visit_f64(value as f64),
        }
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        number(value)
            .map(Value::Number)
            .ok_or_else(|| E::custom("number out of range"))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        self.notes.spend(value)?;
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E: Error>(self, value: String) -> Result<Value, E> {
        self.notes.spend(&value)?;
        Ok(Value::String(value))
    }

    fn visit_i128<E: Error>(self, value: i128) -> Result<Value, E> {
        #[expect(clippy::cast_precision_loss, reason = "Go's decoder loses the same digits")]
        self.visit_f64(value as f64)
    }

    fn visit_u128<E: Error>(self, value: u128) -> Result<Value, E> {
        #[expect(clippy::cast_precision_loss, reason = "Go's decoder loses the same digits")]
        self.visit_f64(value as f64)
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut items: A) -> Result<Value, A::Error> {
        self.check_depth()?;
        let mut list = Vec::new();
        loop {
            let noted = self.notes.duplicates.len();
            let Some(item) = items.next_element_seed(self.inner())? else {
                return Ok(Value::Array(list));
            };
            self.notes.prefix(noted, || Segment::Index(list.len()));
            list.push(item);
        }
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut entries: A) -> Result<Value, A::Error> {
        self.check_depth()?;
        let mut map = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            self.notes.spend(&key)?;
            match map.entry(key) {
                Entry::Vacant(vacant) => {
                    let noted = self.notes.duplicates.len();
                    let value = entries.next_value_seed(self.inner())?;
                    self.notes.prefix(noted, || Segment::Field(vacant.key().clone()));
                    vacant.insert(value);
                }
                Entry::Occupied(mut occupied) => {
                    let noted = self.notes.duplicates.len() + 1;
                    self.notes.add(occupied.key());
                    let value = entries.next_value_seed(self.inner())?;
                    let noted = noted.min(self.notes.duplicates.len());
                    self.notes.prefix(noted, || Segment::Field(occupied.key().clone()));
                    occupied.insert(value);
                }
            }
        }
        Ok(Value::Object(map))
    }
}

/// Escapes of half a surrogate pair stand for no character; Go reads each as a replacement character.
fn without_lone_surrogates(text: &str) -> Cow<'_, str> {
    if !text.contains("\\ud") && !text.contains("\\uD") {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        out.push_str(before);
        let length = match (unit(escape), unit(escape.get(6..).unwrap_or_default())) {
            (Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => 12,
            (Some(0xD800..=0xDFFF), _) => {
                out.push_str("\\ufffd");
                rest = &escape[6..];
                continue;
            }
            // The backslash and what it escapes, which may be a backslash.
            _ => 1 + escape[1..].chars().next().map_or(0, char::len_utf8),
        };
        out.push_str(&escape[..length]);
        rest = &escape[length..];
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// The number in an escape such as `\u00e4` at the start of a text.
fn unit(text: &str) -> Option<u32> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    digits
        .bytes()
        .all(|byte| byte.is_ascii_hexdigit())
        .then(|| u32::from_str_radix(digits, 16).ok())?
}
