//! What tells the items of a set or of a keyed list apart.
//! Must not decide what follows from two items being the same.

use std::borrow::Cow;

use serde_json::Value;

use crate::{
    element::{Element, Item, KeyField},
    types::{ListShape, ListType, Types},
};

/// Why an item has no place in its list.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub(crate) enum KeyError {
    #[error("associative list with keys may not have a null element")]
    NullInKeyed,
    #[error("associative list with keys may not have non-map elements")]
    NotAMap,
    #[error("couldn't find default value for {0}: associative list may not have non-map types")]
    NoMapType(Box<str>),
    #[error(
        "associative list with keys has an element that omits all key fields {0} (and doesn't have default values for any key fields)"
    )]
    NoKeys(String),
    #[error("associative list without keys has an element that's a map type")]
    MapInSet,
    #[error("not supported: associative list with lists as elements")]
    ListInSet,
    #[error("associative list without keys has an element that's an explicit null")]
    NullInSet,
    #[error("invalid indexing of non-associative list")]
    Atomic,
}

/// The element that an item of a list is known by.
pub(crate) fn element<'a>(types: &'a Types, list: &'a ListType, item: &'a Value) -> Result<Element<'a>, KeyError> {
    match (&list.shape, item) {
        (ListShape::Atomic, _) => Err(KeyError::Atomic),
        (ListShape::Set, Value::Object(_)) => Err(KeyError::MapInSet),
        (ListShape::Set, Value::Array(_)) => Err(KeyError::ListInSet),
        (ListShape::Set, Value::Null) => Err(KeyError::NullInSet),
        (ListShape::Set, _) => Ok(Element::Value(Item::of(item))),
        (ListShape::Keyed(keys), _) => key(types, list, keys, item),
    }
}

fn key<'a>(
    types: &'a Types,
    list: &'a ListType,
    names: &'a [Box<str>],
    item: &'a Value,
) -> Result<Element<'a>, KeyError> {
    let fields = match item {
        Value::Object(fields) => fields,
        Value::Null => return Err(KeyError::NullInKeyed),
        _ => return Err(KeyError::NotAMap),
    };
    let mut key = Vec::with_capacity(names.len());
    for name in names {
        let value = match fields.get(&**name) {
            Some(value) => Some(value),
            None => key_default(types, list, name)?,
        };
        // An item that omits a key field is another item than one that sets it.
        key.extend(value.map(|value| KeyField {
            name: Cow::Borrowed(name),
            value: Item::of(value),
        }));
    }
    if key.is_empty() {
        return Err(KeyError::NoKeys(list_names(names)));
    }
    Ok(Element::Key(key.into_boxed_slice()))
}

fn key_default<'a>(types: &'a Types, list: &ListType, name: &str) -> Result<Option<&'a Value>, KeyError> {
    let map = types
        .atom(list.element)
        .map
        .as_ref()
        .ok_or_else(|| KeyError::NoMapType(name.into()))?;
    Ok(map.default(name))
}

fn list_names(names: &[Box<str>]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| crate::go::quote(name)).collect();
    format!("[{}]", quoted.join(" "))
}
