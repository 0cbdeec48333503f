//! An applied value laid over a live one: nothing is removed, the applied side wins, lists keep a sensible order.
//! Expects values that were checked; ownership and removal are decided elsewhere.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::keys;
use crate::{
    element::Element,
    types::{ListShape, ListType, MapType, Shape, TypeId, Types},
};

/// The live object with the applied one laid over it.
pub(crate) fn merge(types: &Types, live: &Value, applied: &Value) -> Value {
    let mut merged = live.clone();
    lay_over(types, types.root(), live, applied, &mut merged);
    merged
}

/// Lays a value over a copy of the live one. `live` is what the copy was made of: keys are read there while the copy
/// changes.
fn lay_over(types: &Types, type_id: TypeId, live: &Value, applied: &Value, merged: &mut Value) {
    match types.shape(type_id, applied) {
        Shape::Map(map) if !map.atomic => lay_over_map(types, map, live, applied, merged),
        Shape::List(list) if list.shape != ListShape::Atomic => lay_over_list(types, list, live, applied, merged),
        Shape::Map(_) | Shape::List(_) | Shape::Scalar(_) => merged.clone_from(applied),
    }
}

/// A map without fields is a leaf when it meets another one, and changes nothing in one that has fields.
fn lay_over_map(types: &Types, map: &MapType, live: &Value, applied: &Value, merged: &mut Value) {
    let live_fields = live.as_object().filter(|fields| !fields.is_empty());
    let applied_fields = applied.as_object().filter(|fields| !fields.is_empty());
    match (live_fields, applied_fields, merged.as_object_mut()) {
        (Some(live), Some(applied), Some(merged)) => lay_over_fields(types, map, live, applied, merged),
        (Some(_), None, _) => {}
        _ => merged.clone_from(applied),
    }
}

fn lay_over_fields(
    types: &Types,
    map: &MapType,
    live: &Map<String, Value>,
    applied: &Map<String, Value>,
    merged: &mut Map<String, Value>,
) {
    for (name, value) in applied {
        match (live.get(name), merged.get_mut(name), map.field(name)) {
            (Some(live), Some(merged), Some(type_id)) => lay_over(types, type_id, live, value, merged),
            _ => {
                merged.insert(name.clone(), value.clone());
            }
        }
    }
}

fn lay_over_list(types: &Types, list: &ListType, live: &Value, applied: &Value, merged: &mut Value) {
    let live_items = live.as_array().filter(|items| !items.is_empty());
    let applied_items = applied.as_array().filter(|items| !items.is_empty());
    match (live_items, applied_items, merged.as_array_mut()) {
        (Some(live), Some(applied), Some(merged)) => merge_items(types, list, live, applied, merged),
        (Some(_), None, _) => {}
        _ => merged.clone_from(applied),
    }
}

/// An item of a merged list.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Slot {
    /// A live item that is not applied.
    Live(usize),
    /// An applied item, and the live one that it is laid over. Where several live items are known by its element, it
    /// replaces all of them.
    Applied(usize, Option<usize>),
}

fn merge_items(types: &Types, list: &ListType, live: &[Value], applied: &[Value], merged: &mut Vec<Value>) {
    let (Some(live_elements), Some(applied_elements)) = (elements(types, list, live), elements(types, list, applied))
    else {
        return;
    };
    let slots = if live_elements == applied_elements {
        (0..live.len())
            .map(|position| Slot::Applied(position, Some(position)))
            .collect()
    } else {
        Order::new(&live_elements, &applied_elements).slots()
    };
    let lay_item = |applied_at: usize, live_at: usize, item: &mut Value| {
        lay_over(types, list.element, &live[live_at], &applied[applied_at], item);
    };
    let mut items = std::mem::take(merged);
    merged.extend(slots.into_iter().map(|slot| match slot {
        Slot::Live(live_at) => items[live_at].take(),
        Slot::Applied(applied_at, None) => applied[applied_at].clone(),
        Slot::Applied(applied_at, Some(live_at)) => {
            lay_item(applied_at, live_at, &mut items[live_at]);
            items[live_at].take()
        }
    }));
}

/// What the items of a list are known by; `None` when one has no place in it.
fn elements<'a>(types: &'a Types, list: &'a ListType, items: &'a [Value]) -> Option<Vec<Element<'a>>> {
    items.iter().map(|item| keys::element(types, list, item).ok()).collect()
}

/// Two lists whose items are being put in order.
struct Order<'a> {
    live: &'a [Element<'a>],
    applied: &'a [Element<'a>],
    /// Where live items are; none where several have the element.
    live_positions: BTreeMap<&'a Element<'a>, Option<usize>>,
    applied_elements: BTreeSet<&'a Element<'a>>,
}

impl<'a> Order<'a> {
    fn new(live: &'a [Element<'a>], applied: &'a [Element<'a>]) -> Self {
        let mut live_positions = BTreeMap::new();
        for (position, element) in live.iter().enumerate() {
            live_positions
                .entry(element)
                .and_modify(|same| *same = None)
                .or_insert(Some(position));
        }
        Self {
            live,
            applied,
            live_positions,
            applied_elements: applied.iter().collect(),
        }
    }

    /// Walks both lists at once. Items of both come in the applied order, and live items that nobody applies keep
    /// their place between the shared ones as far as that order allows.
    fn slots(&self) -> Vec<Slot> {
        let mut slots = Vec::with_capacity(self.live.len().max(self.applied.len()));
        let mut shared = self
            .applied
            .iter()
            .filter(|element| self.live_positions.contains_key(element));
        let mut next_shared = shared.next();
        let mut placed: BTreeSet<&Element<'a>> = BTreeSet::new();
        let (mut live_at, mut applied_at) = (0, 0);
        while live_at < self.live.len() || applied_at < self.applied.len() {
            let live = self.live.get(live_at);
            let applied = self.applied.get(applied_at);
            if let Some(element) = live {
                let is_applied = self.applied_elements.contains(element);
                let waits = is_applied && applied.is_some_and(|wanted| wanted != element);
                if waits && next_shared.is_some_and(|next| next != element) {
                    live_at += 1;
                    continue;
                }
                if !is_applied {
                    slots.push(Slot::Live(live_at));
                    live_at += 1;
                    continue;
                }
                live_at += usize::from(applied == Some(element) || placed.contains(element));
            }
            if let Some(element) = applied {
                placed.insert(element);
                slots.push(Slot::Applied(
                    applied_at,
                    self.live_positions.get(element).copied().flatten(),
                ));
                applied_at += 1;
                if next_shared == Some(element) {
                    next_shared = shared.next();
                }
            }
        }
        slots
    }
}
