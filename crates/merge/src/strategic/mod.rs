//! Strategic merge patches: merge patches that know of some lists by which field their items are told apart, and that
//! take directives. Faithful to apimachinery's strategicpatch, with two differences: what a type does not declare is
//! merged like JSON instead of being refused, and lists take time in proportion to their length.

mod lists;

use serde_json::{Map, Value};
use thiserror::Error;

use self::lists::Keys;
use crate::{
    go,
    types::{PatchRule, PatchStrategy, TypeId, Types, UNTYPED},
};

/// Says what happens to the map that it stands in.
const DIRECTIVE: &str = "$patch";
/// Names the only keys that a map keeps.
const RETAIN_KEYS: &str = "$retainKeys";
/// Before the name of a list of scalars: what goes.
const DELETE_FROM: &str = "$deleteFromPrimitiveList";
/// Before the name of a list: in which order its items stand.
const SET_ORDER: &str = "$setElementOrder";

/// Why a patch cannot be applied.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum StrategicError {
    /// A directive is not written as it should be: 400.
    #[error("invalid patch format of {0}")]
    Format(&'static str),
    /// A list contains lists: 422.
    #[error("lists of lists are not supported")]
    ListOfLists,
    /// The patch does not fit the object: upstream answers with 500 and this message.
    #[error("{0}")]
    Mismatch(String),
}

/// The object after a patch.
pub fn strategic_merge(
    object: &Value,
    patch: Map<String, Value>,
    types: &Types,
) -> Result<Map<String, Value>, StrategicError> {
    let original = object.as_object().cloned().unwrap_or_default();
    Patcher { types }.map(original, patch, types.root())
}

/// A patch as upstream's messages show it.
pub fn printed_patch(patch: &Map<String, Value>) -> String {
    go::plain(&Value::Object(patch.clone()))
}

pub(super) type Outcome<T> = Result<T, StrategicError>;

#[derive(Clone, Copy)]
struct Patcher<'t> {
    types: &'t Types,
}

impl<'t> Patcher<'t> {
    fn map(
        self,
        mut original: Map<String, Value>,
        mut patch: Map<String, Value>,
        type_id: TypeId,
    ) -> Outcome<Map<String, Value>> {
        if let Some(directive) = patch.get(DIRECTIVE) {
            return match directive.as_str() {
                Some("replace") => {
                    patch.remove(DIRECTIVE);
                    Ok(patch)
                }
                Some("delete") => Ok(Map::new()),
                _ => Err(unknown_directive(directive, &patch)),
            };
        }
        retain_keys(&mut original, &mut patch)?;
        self.ordered_lists(&mut original, &mut patch, type_id)?;
        for (name, value) in patch {
            self.field(&mut original, name, value, type_id)?;
        }
        Ok(original)
    }

    fn field(self, original: &mut Map<String, Value>, name: String, patch: Value, type_id: TypeId) -> Outcome<()> {
        if name.starts_with(DELETE_FROM) {
            return delete_from_list(original, list_name(&name, DELETE_FROM, "primitive list")?, &patch);
        }
        if patch.is_null() {
            original.remove(&name);
            return Ok(());
        }
        let Some(found) = original.get_mut(&name) else {
            if let Some(new) = without_directives(without_nulls(patch)) {
                original.insert(name, new);
            }
            return Ok(());
        };
        let (below, rule) = self.lookup(type_id, &name);
        match (found, patch) {
            (Value::Object(old), Value::Object(new)) if rule.strategy == PatchStrategy::Replace => *old = new,
            (Value::Object(old), Value::Object(new)) => *old = self.map(std::mem::take(old), new, below)?,
            (Value::Array(old), Value::Array(new)) => *old = self.list(std::mem::take(old), new, below, rule)?,
            (found, patch) => match without_directives(without_nulls(patch)) {
                Some(new) => *found = new,
                None => drop(original.remove(&name)),
            },
        }
        Ok(())
    }

    /// The type of a field, and how it is patched. Upstream refuses what a type does not declare.
    fn lookup(self, type_id: TypeId, name: &str) -> (TypeId, &'t PatchRule) {
        static PLAIN: PatchRule = PatchRule {
            strategy: PatchStrategy::Plain,
            key: None,
        };
        let map = self.types.atom(type_id).map.as_ref();
        let declared = map.and_then(|map| map.patched(name));
        declared.unwrap_or_else(|| (map.and_then(|map| map.element).unwrap_or(UNTYPED), &PLAIN))
    }

    fn list(self, original: Vec<Value>, patch: Vec<Value>, type_id: TypeId, rule: &PatchRule) -> Outcome<Vec<Value>> {
        if rule.strategy != PatchStrategy::Merge {
            return Ok(patch);
        }
        if original.is_empty() && patch.is_empty() {
            return Ok(original);
        }
        if !lists::are_maps(&original, &patch)? {
            return Ok(lists::merge_scalars(&original, &patch));
        }
        let Some(key) = rule.key.as_deref() else {
            return Err(StrategicError::Mismatch(
                "cannot merge lists without merge key for struct".to_owned(),
            ));
        };
        let element = self
            .types
            .atom(type_id)
            .list
            .as_ref()
            .map_or(UNTYPED, |list| list.element);
        let (original, patch) = lists::without_special_items(original, patch, key)?;
        let merged = self.items(original.clone(), &patch, element, key)?;
        lists::ordered(merged, &patch, &original, Keys::Field(key))
    }

    /// Merges each item of a patch into the item with the same key.
    fn items(self, mut items: Vec<Value>, patch: &[Value], element: TypeId, key: &str) -> Outcome<Vec<Value>> {
        let keys = Keys::Field(key);
        let mut places = keys.places(&items);
        for item in patch {
            let name = keys.require(item)?;
            if let Some(&place) = places.get(&name) {
                let old = std::mem::take(&mut items[place]);
                let (Value::Object(old), Value::Object(new)) = (old, item.clone()) else {
                    return Err(StrategicError::Mismatch(format!("value for key {place} is not a map")));
                };
                items[place] = Value::Object(self.map(old, new, element)?);
            } else {
                places.insert(name, items.len());
                items.push(item.clone());
            }
        }
        Ok(items)
    }

    /// Merges the lists of which a patch says the order.
    fn ordered_lists(
        self,
        original: &mut Map<String, Value>,
        patch: &mut Map<String, Value>,
        type_id: TypeId,
    ) -> Outcome<()> {
        let directives: Vec<String> = patch
            .keys()
            .filter(|name| name.starts_with(SET_ORDER))
            .cloned()
            .collect();
        for directive in directives {
            let order = lists::as_list(patch.remove(&directive).unwrap_or_default())?;
            let name = list_name(&directive, SET_ORDER, "setElementOrder list")?;
            let (below, rule) = self.lookup(type_id, name);
            let old = original.get(name).cloned().map(lists::as_list).transpose()?;
            let new = patch.remove(name).map(lists::as_list).transpose()?;
            let keys = Keys::of(rule);
            lists::check_order(new.as_deref().unwrap_or_default(), &order, keys)?;
            let merged = match (&old, new) {
                (None, None) => continue,
                (Some(old), None) => old.clone(),
                (None, Some(new)) => new.into_iter().filter_map(without_directives).collect(),
                (Some(old), Some(new)) => self.list(old.clone(), new, below, rule)?,
            };
            let ordered = lists::ordered(merged, &order, old.as_deref().unwrap_or_default(), keys)?;
            original.insert(name.to_owned(), Value::Array(ordered));
        }
        Ok(())
    }
}

/// The name of the list behind a directive.
fn list_name<'n>(name: &'n str, directive: &str, what: &'static str) -> Outcome<&'n str> {
    let rest = name.strip_prefix(directive).and_then(|rest| rest.strip_prefix('/'));
    rest.ok_or(StrategicError::Format(what))
}

/// Takes scalars out of a list, whatever the strategy of the list is.
fn delete_from_list(original: &mut Map<String, Value>, name: &str, patch: &Value) -> Outcome<()> {
    if patch.is_null() {
        original.remove(name);
        return Ok(());
    }
    if let (Some(Value::Array(items)), Value::Array(gone)) = (original.get_mut(name), patch)
        && !(items.is_empty() && gone.is_empty())
    {
        if lists::are_maps(items, gone)? {
            return Err(StrategicError::Format("primitive list"));
        }
        let gone = Keys::Whole.places(gone);
        items.retain(|item| Keys::Whole.name(item).is_none_or(|name| !gone.contains_key(&name)));
    }
    Ok(())
}

/// Removes every key that the patch does not say to keep; the patch may set no others.
fn retain_keys(original: &mut Map<String, Value>, patch: &mut Map<String, Value>) -> Outcome<()> {
    let Some(directive) = patch.remove(RETAIN_KEYS) else {
        return Ok(());
    };
    let Value::Array(kept) = directive else {
        return Err(StrategicError::Format("retainKeys"));
    };
    let is_kept = |name: &str| kept.iter().any(|kept| kept.as_str() == Some(name));
    let is_allowed = |name: &str, value: &Value| {
        value.is_null() || name.starts_with(DELETE_FROM) || name.starts_with(SET_ORDER) || is_kept(name)
    };
    if !patch.iter().all(|(name, value)| is_allowed(name, value)) {
        return Err(StrategicError::Format("retainKeys"));
    }
    original.retain(|name, _| is_kept(name));
    Ok(())
}

/// What is new has no nulls, also not inside of lists.
fn without_nulls(mut value: Value) -> Value {
    match &mut value {
        Value::Object(fields) => {
            fields.retain(|_, value| !value.is_null());
            for value in fields.values_mut() {
                *value = without_nulls(value.take());
            }
        }
        Value::Array(items) => {
            for item in items {
                *item = without_nulls(item.take());
            }
        }
        _ => {}
    }
    value
}

/// What is new has no maps with a directive: there is nothing that they could change.
fn without_directives(value: Value) -> Option<Value> {
    match value {
        Value::Object(fields) if fields.contains_key(DIRECTIVE) => None,
        Value::Object(fields) => {
            let kept = fields
                .into_iter()
                .filter_map(|(name, value)| Some((name, without_directives(value)?)));
            Some(Value::Object(kept.collect()))
        }
        Value::Array(items) => Some(items.into_iter().filter_map(without_directives).collect()),
        scalar => Some(scalar),
    }
}

fn unknown_directive(directive: &Value, patch: &Map<String, Value>) -> StrategicError {
    let map = printed_patch(patch);
    StrategicError::Mismatch(format!("unknown patch type: {} in map: {map}", go::plain(directive)))
}

#[cfg(test)]
mod tests;
