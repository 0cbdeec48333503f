//! Lists of strategic merge patches: what tells their items apart, and in which order items of two lists stand.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{DIRECTIVE, Outcome, StrategicError, unknown_directive};
use crate::{go, types::PatchRule};

/// What tells items apart.
#[derive(Clone, Copy)]
pub(super) enum Keys<'k> {
    /// They are scalars.
    Whole,
    /// They are maps with this field.
    Field(&'k str),
}

impl<'k> Keys<'k> {
    pub(super) fn of(rule: &'k PatchRule) -> Self {
        rule.key.as_deref().map_or(Self::Whole, Self::Field)
    }

    /// The name of an item; none of a map that lacks the field.
    pub(super) fn name(self, item: &Value) -> Option<String> {
        match self {
            Self::Whole => Some(item.to_string()),
            Self::Field(key) => item.get(key).map(ToString::to_string),
        }
    }

    /// The name of an item that must have one.
    pub(super) fn require(self, item: &Value) -> Outcome<String> {
        let Self::Field(key) = self else {
            return Ok(item.to_string());
        };
        if !item.is_object() {
            return Err(wrong_type("map[string]interface {}", item));
        }
        self.name(item).ok_or_else(|| {
            let map = go::plain(item);
            StrategicError::Mismatch(format!("map: {map} does not contain declared merge key: {key}"))
        })
    }

    /// Where the first item of each name is.
    pub(super) fn places(self, items: &[Value]) -> BTreeMap<String, usize> {
        let mut places = BTreeMap::new();
        for (place, item) in items.iter().enumerate() {
            if let Some(name) = self.name(item) {
                places.entry(name).or_insert(place);
            }
        }
        places
    }
}

/// The items of what must be a list.
pub(super) fn as_list(value: Value) -> Outcome<Vec<Value>> {
    match value {
        Value::Array(items) => Ok(items),
        other => Err(wrong_type("[]interface {}", &other)),
    }
}

fn wrong_type(expected: &str, found: &Value) -> StrategicError {
    let found = go::type_name(found);
    StrategicError::Mismatch(format!("expected a {expected}, but received a {found}"))
}

/// Whether the items of two lists are maps; all of them have to be of one type, which is no list.
pub(super) fn are_maps(original: &[Value], patch: &[Value]) -> Outcome<bool> {
    let mut items = original.iter().chain(patch);
    let Some(first) = items.next() else {
        return Err(StrategicError::Mismatch(
            "no elements in any of the given slices".to_owned(),
        ));
    };
    if first.is_array() {
        return Err(StrategicError::ListOfLists);
    }
    if first.is_null() || items.any(|item| go::type_name(item) != go::type_name(first)) {
        let all = Value::Array(vec![original.into(), patch.into()]);
        let message = format!("list element types are not identical: {}", go::plain(&all));
        return Err(StrategicError::Mismatch(message));
    }
    Ok(first.is_object())
}

/// Scalars of both lists, each once.
pub(super) fn merge_scalars(original: &[Value], patch: &[Value]) -> Vec<Value> {
    let mut seen = BTreeSet::new();
    let both = original.iter().chain(patch);
    let merged = both.filter(|item| seen.insert(item.to_string())).cloned().collect();
    let (wanted, live) = (Keys::Whole.places(patch), Keys::Whole.places(original));
    arranged(merged, &wanted, &live, Keys::Whole)
}

/// Carries out what items say of themselves: those that go are taken out of the original, and where one says that the
/// list is replaced, only the other items of the patch are left.
pub(super) fn without_special_items(
    mut original: Vec<Value>,
    patch: Vec<Value>,
    key: &str,
) -> Outcome<(Vec<Value>, Vec<Value>)> {
    let mut plain = Vec::new();
    let mut gone = BTreeSet::new();
    let mut is_replaced = false;
    for item in patch {
        let Some(directive) = item.get(DIRECTIVE) else {
            plain.push(item);
            continue;
        };
        match directive.as_str() {
            Some("delete") => drop(gone.insert(Keys::Field(key).require(&item)?)),
            Some("replace") => is_replaced = true,
            Some("merge") => {
                let message = "merging lists cannot yet be specified in the patch";
                return Err(StrategicError::Mismatch(message.to_owned()));
            }
            _ => {
                return Err(unknown_directive(
                    directive,
                    item.as_object().unwrap_or(&serde_json::Map::new()),
                ));
            }
        }
    }
    if is_replaced {
        return Ok((plain, Vec::new()));
    }
    original.retain(|item| Keys::Field(key).name(item).is_none_or(|name| !gone.contains(&name)));
    Ok((original, plain))
}

/// Checks that the items of a patch stand in the order that it says itself.
pub(super) fn check_order(patch: &[Value], order: &[Value], keys: Keys<'_>) -> Outcome<()> {
    if patch.is_empty() || order.is_empty() {
        return Ok(());
    }
    let mut wanted = order.iter();
    for item in patch.iter().filter(|item| item.get(DIRECTIVE).is_none()) {
        let name = keys.require(item)?;
        loop {
            let Some(next) = wanted.next() else {
                let (patch, order) = (go::plain(&patch.into()), go::plain(&order.into()));
                return Err(StrategicError::Mismatch(format!(
                    "The order in patch list:\n{patch}\n doesn't match $setElementOrder list:\n{order}\n"
                )));
            };
            if keys.require(next)? == name {
                break;
            }
        }
    }
    Ok(())
}

/// A merged list in order: items that are wanted in this order, others as they stood, and between the two as they stood
/// in the live list.
pub(super) fn ordered(merged: Vec<Value>, wanted: &[Value], live: &[Value], keys: Keys<'_>) -> Outcome<Vec<Value>> {
    for item in merged.iter().chain(wanted).chain(live) {
        keys.require(item)?;
    }
    Ok(arranged(merged, &keys.places(wanted), &keys.places(live), keys))
}

fn arranged(
    merged: Vec<Value>,
    wanted: &BTreeMap<String, usize>,
    live: &BTreeMap<String, usize>,
    keys: Keys<'_>,
) -> Vec<Value> {
    let place = |places: &BTreeMap<String, usize>, item: &Value| {
        let name = keys.name(item);
        name.and_then(|name| places.get(&name).copied())
    };
    let (mut first, mut others): (Vec<Value>, Vec<Value>) =
        merged.into_iter().partition(|item| place(wanted, item).is_some());
    first.sort_by_cached_key(|item| place(wanted, item));
    others.sort_by_cached_key(|item| place(live, item).unwrap_or(usize::MAX));
    let mut first = first.into_iter().peekable();
    let mut arranged = Vec::new();
    for other in others {
        let stood = place(live, &other);
        let is_after = |item: &Value| !matches!((stood, place(live, item)), (Some(left), Some(right)) if left < right);
        while let Some(item) = first.next_if(|item| is_after(item)) {
            arranged.push(item);
        }
        arranged.push(other);
    }
    arranged.extend(first);
    arranged
}
