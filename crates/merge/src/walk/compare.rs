//! What changed between two values, as paths.
//! The hot path of every write: borrows, and allocates only for what changed and for list items.

use std::{cmp::Ordering, iter::Peekable};

use serde_json::{Map, Value};

use super::{check::fits, keys};
use crate::{
    element::Element,
    set::Set,
    types::{ListShape, ListType, MapType, Shape, TypeId, Types},
    value::equal,
};

/// The difference of two values.
#[derive(Debug, Default)]
pub(crate) struct Changes<'a> {
    /// Paths that the right side sets anew or otherwise.
    pub(crate) changed: Set<'a>,
    /// Paths that only the left side has.
    pub(crate) removed: Set<'a>,
}

/// The difference of two objects; `None` when one of them does not fit the types in something that differs.
///
/// What is the same on both sides is not looked at twice: upstream would check it against the types once more.
pub(crate) fn compare<'a>(types: &'a Types, left: &'a Value, right: &'a Value) -> Option<Changes<'a>> {
    let mut walk = Walk { types, misfit: false };
    let mut changes = Changes::default();
    walk.compare_roots(left, right, &mut changes);
    (!walk.misfit).then_some(changes)
}

struct Walk<'a> {
    types: &'a Types,
    misfit: bool,
}

/// Whether the path itself, not what lies under it, changed or is gone.
#[derive(Clone, Copy, Default)]
struct Itself {
    changed: bool,
    removed: bool,
}

impl<'a> Walk<'a> {
    /// Most writes change one of the few fields of an object, so the others are first asked whether they are the same.
    fn compare_roots(&mut self, left: &'a Value, right: &'a Value, out: &mut Changes<'a>) {
        let root = self.types.root();
        if let (Value::Object(left), Value::Object(right), Some(map)) = (left, right, &self.types.atom(root).map) {
            self.compare_fields(map, Some(left), Some(right), same, out);
        } else {
            self.compare(root, Some(left), Some(right), out);
        }
    }

    fn compare(
        &mut self,
        type_id: TypeId,
        left: Option<&'a Value>,
        right: Option<&'a Value>,
        out: &mut Changes<'a>,
    ) -> Itself {
        let left_shape = left.map(|value| self.shape(type_id, value));
        let right_shape = right.map(|value| self.shape(type_id, value));
        match (left_shape, right_shape) {
            (None, None) => Itself::default(),
            (Some(shape), None) | (None, Some(shape)) => self.compare_as(shape, left, right, out),
            (Some(left_shape), Some(right_shape)) if left_shape.is_like(&right_shape) => {
                self.compare_as(right_shape, left, right, out)
            }
            (Some(left_shape), Some(right_shape)) => self.compare_kinds(left_shape, right_shape, left, right, out),
        }
    }

    fn shape(&mut self, type_id: TypeId, value: &Value) -> Shape<'a> {
        let shape = self.types.shape(type_id, value);
        self.misfit |= match (shape, value) {
            (_, Value::Null) | (Shape::Map(_), Value::Object(_)) | (Shape::List(_), Value::Array(_)) => false,
            (Shape::Scalar(scalar), value) => !fits(scalar, value),
            _ => true,
        };
        shape
    }

    /// A value became one of another kind: it changed, what was in it is gone, what is in it is new.
    fn compare_kinds(
        &mut self,
        left_shape: Shape<'a>,
        right_shape: Shape<'a>,
        left: Option<&'a Value>,
        right: Option<&'a Value>,
        out: &mut Changes<'a>,
    ) -> Itself {
        let mut before = Changes::default();
        let first = self.compare_as(left_shape, left, right, &mut before);
        let second = self.compare_as(right_shape, left, right, out);
        out.changed = std::mem::take(&mut out.changed).union(before.changed);
        out.removed = std::mem::take(&mut out.removed).union(before.removed);
        Itself {
            changed: first.changed || second.changed,
            removed: first.removed || second.removed,
        }
    }

    fn compare_as(
        &mut self,
        shape: Shape<'a>,
        left: Option<&'a Value>,
        right: Option<&'a Value>,
        out: &mut Changes<'a>,
    ) -> Itself {
        match shape {
            Shape::Scalar(_) => leaf(left, right),
            Shape::Map(map) => self.compare_maps(map, left, right, out),
            Shape::List(list) => self.compare_lists(list, left, right, out),
        }
    }

    fn compare_maps(
        &mut self,
        map: &'a MapType,
        left: Option<&'a Value>,
        right: Option<&'a Value>,
        out: &mut Changes<'a>,
    ) -> Itself {
        let left_fields = left.and_then(Value::as_object).filter(|fields| !fields.is_empty());
        let right_fields = right.and_then(Value::as_object).filter(|fields| !fields.is_empty());
        if map.atomic || (left_fields.is_none() && right_fields.is_none()) {
            return leaf(left, right);
        }
        self.compare_fields(map, left_fields, right_fields, |_, _| false, out);
        presence(left, right)
    }

    fn compare_fields(
        &mut self,
        map: &'a MapType,
        left: Option<&'a Map<String, Value>>,
        right: Option<&'a Map<String, Value>>,
        skip: fn(Option<&Value>, Option<&Value>) -> bool,
        out: &mut Changes<'a>,
    ) {
        let mut left = left.into_iter().flatten().peekable();
        let mut right = right.into_iter().flatten().peekable();
        while let Some((name, left, right)) = next_field(&mut left, &mut right) {
            match map.field(name) {
                Some(_) if skip(left, right) => {}
                Some(type_id) => self.compare_part(&Element::Field(name), type_id, left, right, out),
                None => self.misfit = true,
            }
        }
    }

    fn compare_part(
        &mut self,
        element: &Element<'a>,
        type_id: TypeId,
        left: Option<&'a Value>,
        right: Option<&'a Value>,
        out: &mut Changes<'a>,
    ) {
        let mut part = Changes::default();
        let itself = self.compare(type_id, left, right, &mut part);
        push(&mut out.changed, element, itself.changed, part.changed);
        push(&mut out.removed, element, itself.removed, part.removed);
    }

    fn compare_lists(
        &mut self,
        list: &'a ListType,
        left: Option<&'a Value>,
        right: Option<&'a Value>,
        out: &mut Changes<'a>,
    ) -> Itself {
        let left_items = left.and_then(Value::as_array).filter(|items| !items.is_empty());
        let right_items = right.and_then(Value::as_array).filter(|items| !items.is_empty());
        if list.shape == ListShape::Atomic || (left_items.is_none() && right_items.is_none()) {
            return leaf(left, right);
        }
        if !same(left, right) {
            let left_items = self.sorted(list, left_items);
            let right_items = self.sorted(list, right_items);
            self.compare_items(list, &left_items, &right_items, out);
        }
        presence(left, right)
    }

    /// The items by element; those known by the same one keep their order.
    fn sorted(&mut self, list: &'a ListType, items: Option<&'a Vec<Value>>) -> Vec<(Element<'a>, &'a Value)> {
        let mut sorted = Vec::with_capacity(items.map_or(0, Vec::len));
        for item in items.into_iter().flatten() {
            match keys::element(self.types, list, item) {
                Ok(element) => sorted.push((element, item)),
                Err(_) => self.misfit = true,
            }
        }
        sorted.sort_by(|(left, _), (right, _)| left.cmp(right));
        sorted
    }

    fn compare_items(
        &mut self,
        list: &'a ListType,
        mut left: &[(Element<'a>, &'a Value)],
        mut right: &[(Element<'a>, &'a Value)],
        out: &mut Changes<'a>,
    ) {
        while let Some(element) = least(left.first(), right.first()) {
            let (left_items, left_rest) = split_group(left, element);
            let (right_items, right_rest) = split_group(right, element);
            match (left_items, right_items) {
                ([_, _, ..], _) | (_, [_, _, ..]) => {
                    self.compare_duplicates(element, list.element, left_items, right_items, out);
                }
                (left, right) => self.compare_part(element, list.element, first(left), first(right), out),
            }
            (left, right) = (left_rest, right_rest);
        }
    }

    /// Items that are known by the same element are owned together, by the element alone.
    fn compare_duplicates(
        &mut self,
        element: &Element<'a>,
        type_id: TypeId,
        left: &[(Element<'a>, &'a Value)],
        right: &[(Element<'a>, &'a Value)],
        out: &mut Changes<'a>,
    ) {
        let mut part = Changes::default();
        match (left, right) {
            ([_, _, ..], [_, _, ..]) => {
                let pairs = || left.iter().zip(right).all(|((_, left), (_, right))| equal(left, right));
                push(
                    &mut out.changed,
                    element,
                    left.len() != right.len() || !pairs(),
                    Set::default(),
                );
            }
            ([_, _, ..], single) => {
                let itself = self.compare(type_id, None, first(single), &mut part);
                push(&mut out.changed, element, itself.changed, part.changed);
                push(&mut out.removed, element, true, Set::default());
            }
            (single, _) => {
                let itself = self.compare(type_id, first(single), None, &mut part);
                push(&mut out.removed, element, itself.removed, part.removed);
                push(&mut out.changed, element, true, Set::default());
            }
        }
    }
}

/// Adds a node if it holds a path; only then is the element copied.
fn push<'a>(set: &mut Set<'a>, element: &Element<'a>, member: bool, children: Set<'a>) {
    if member || !children.is_empty() {
        set.push(element.clone(), member, children);
    }
}

fn same(left: Option<&Value>, right: Option<&Value>) -> bool {
    matches!((left, right), (Some(left), Some(right)) if equal(left, right))
}

fn leaf(left: Option<&Value>, right: Option<&Value>) -> Itself {
    match (left, right) {
        (Some(left), Some(right)) => Itself {
            changed: !equal(left, right),
            removed: false,
        },
        _ => presence(left, right),
    }
}

fn presence(left: Option<&Value>, right: Option<&Value>) -> Itself {
    Itself {
        changed: left.is_none(),
        removed: right.is_none(),
    }
}

type Field<'a> = (&'a String, &'a Value);

/// The next field of two sorted maps, with its value on either side.
fn next_field<'a>(
    left: &mut Peekable<impl Iterator<Item = Field<'a>>>,
    right: &mut Peekable<impl Iterator<Item = Field<'a>>>,
) -> Option<(&'a str, Option<&'a Value>, Option<&'a Value>)> {
    let order = match (left.peek(), right.peek()) {
        (Some((left, _)), Some((right, _))) => left.cmp(right),
        (Some(_), None) => Ordering::Less,
        (None, _) => Ordering::Greater,
    };
    if order.is_gt() {
        return right.next().map(|(name, value)| (name.as_str(), None, Some(value)));
    }
    let (name, left) = left.next()?;
    let right = if order.is_eq() {
        right.next().map(|(_, value)| value)
    } else {
        None
    };
    Some((name, Some(left), right))
}

fn least<'s, 'a>(
    left: Option<&'s (Element<'a>, &Value)>,
    right: Option<&'s (Element<'a>, &Value)>,
) -> Option<&'s Element<'a>> {
    match (left, right) {
        (Some((left, _)), Some((right, _))) => Some(left.min(right)),
        (Some((only, _)), None) | (None, Some((only, _))) => Some(only),
        (None, None) => None,
    }
}

type Items<'s, 'a> = &'s [(Element<'a>, &'a Value)];

/// The items at the beginning that are known by an element, and the rest.
fn split_group<'s, 'a>(items: Items<'s, 'a>, element: &Element<'_>) -> (Items<'s, 'a>, Items<'s, 'a>) {
    let end = items
        .iter()
        .position(|(other, _)| other != element)
        .unwrap_or(items.len());
    items.split_at(end)
}

fn first<'a>(items: &[(Element<'a>, &'a Value)]) -> Option<&'a Value> {
    items.first().map(|(_, item)| *item)
}
