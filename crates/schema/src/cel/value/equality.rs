//! When two values are the same, and which of two numbers is larger.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value as Json;

use super::{Entries, Outcome, Text, Value};
use crate::go_text;
use crate::node::ListType;

/// Numbers of all types are on one line.
#[allow(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "the casts are guarded by range checks"
)]
pub(super) fn numbers_compare(first: &Value<'_>, second: &Value<'_>) -> Option<Ordering> {
    fn whole(value: &Value<'_>) -> Option<i128> {
        match value {
            Value::Int(number) => Some((*number).into()),
            Value::Uint(number) => Some((*number).into()),
            _ => None,
        }
    }
    match (first, second) {
        (Value::Double(first), Value::Double(second)) => first.partial_cmp(second),
        (Value::Double(first), second) => {
            let second = whole(second)?;
            if first.abs() < 1e30 && first.fract() == 0.0 {
                return Some((*first as i128).cmp(&second));
            }
            first.partial_cmp(&(second as f64))
        }
        (first, Value::Double(_)) => numbers_compare(second, first).map(Ordering::reverse),
        _ => Some(whole(first)?.cmp(&whole(second)?)),
    }
}

pub(super) fn lists_equal<'a>(first: &Value<'a>, second: &Value<'a>) -> Outcome<bool> {
    if first.size() != second.size() {
        return Ok(false);
    }
    if let Value::Entries(entries) = first {
        match &entries.node.list {
            ListType::Set => return sets_equal(entries, second),
            ListType::Map(keys) => return keyed_equal(entries, keys, second),
            ListType::Atomic => {}
        }
    }
    let (Some(first), Some(second)) = (first.items(), second.items()) else {
        return Ok(false);
    };
    for (first, second) in first.zip(second) {
        if !first?.equals(&second?)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The order of a set does not count.
fn sets_equal<'a>(first: &Entries<'a>, second: &Value<'a>) -> Outcome<bool> {
    let known: BTreeSet<String> = first.items.iter().map(go_text::json).collect();
    let Some(items) = second.items() else {
        return Ok(false);
    };
    for item in items {
        if !known.contains(&json_text(&item?)) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The entries of a map in list form are matched by their keys.
fn keyed_equal<'a>(first: &Entries<'a>, keys: &[String], second: &Value<'a>) -> Outcome<bool> {
    let Value::Entries(second) = second else {
        return Ok(false);
    };
    let key = |entry: &Json| -> Vec<String> {
        keys.iter()
            .map(|key| entry.get(key).map_or_else(String::new, go_text::json))
            .collect()
    };
    let by_key: BTreeMap<Vec<String>, usize> = first
        .items
        .iter()
        .enumerate()
        .map(|(index, entry)| (key(entry), index))
        .collect();
    for (index, entry) in second.items.iter().enumerate() {
        let Some(same) = by_key.get(&key(entry)).and_then(|same| first.get(*same)) else {
            return Ok(false);
        };
        let Some(other) = second.get(index) else {
            return Ok(false);
        };
        if !same?.equals(&other?)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// A scalar as JSON, to look it up among those of the object.
fn json_text(value: &Value<'_>) -> String {
    match value {
        Value::Bool(flag) => flag.to_string(),
        Value::Int(number) => number.to_string(),
        Value::Uint(number) => number.to_string(),
        Value::Double(number) => go_text::json(&Json::from(*number)),
        Value::String(text) => go_text::json(&Json::from(&**text)),
        Value::Opaque(json) => go_text::json(json),
        Value::Fields(fields) => go_text::json(&Json::Object(fields.map.clone())),
        Value::Entries(entries) => go_text::json(&Json::Array(entries.items.to_vec())),
        _ => String::new(),
    }
}

pub(super) fn maps_equal<'a>(first: &Value<'a>, second: &Value<'a>) -> Outcome<bool> {
    if first.size() != second.size() {
        return Ok(false);
    }
    match first {
        Value::Fields(fields) => {
            for (name, json) in fields.map {
                if fields.schema_of(name).is_none() {
                    if let Value::Fields(other) = second
                        && other.map.get(name).is_some_and(|other| other != json)
                    {
                        return Ok(false);
                    }
                    continue;
                }
                let same = match second {
                    Value::Fields(other) => other.field(name).transpose()?,
                    other => other.find(&Value::String(Text::Borrowed(name)))?,
                };
                match (fields.field(name).transpose()?, same) {
                    (Some(first), Some(second)) if first.equals(&second)? => {}
                    (None, None) => {}
                    _ => return Ok(false),
                }
            }
            Ok(true)
        }
        Value::Map(entries) => {
            for (key, value) in entries.values() {
                match second.find(key)? {
                    Some(other) if value.equals(&other)? => {}
                    _ => return Ok(false),
                }
            }
            Ok(true)
        }
        _ => Ok(false),
    }
}
