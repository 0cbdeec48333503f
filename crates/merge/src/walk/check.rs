//! Whether a value fits its types, in upstream's words.
//! What a schema says beyond the types (enums, ranges, rules) is not its business.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::keys;
use crate::{
    element::Element,
    go,
    types::{ListShape, ListType, MapType, Scalar, Shape, TypeId, Types},
};

/// Whether two items of a list may be known by the same element.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Duplicates {
    Allowed,
    Refused,
}

/// All faults of an object as one message, or nothing.
pub(crate) fn check(types: &Types, value: &Value, duplicates: Duplicates) -> Result<(), String> {
    let mut checker = Checker {
        types,
        duplicates,
        path: Vec::new(),
        faults: Vec::new(),
    };
    checker.check(types.root(), value);
    match checker.faults.as_slice() {
        [] => Ok(()),
        [only] => Err(only.clone()),
        several => Err(format!("errors:\n  {}", several.join("\n  "))),
    }
}

struct Checker<'a> {
    types: &'a Types,
    duplicates: Duplicates,
    path: Vec<Element<'a>>,
    faults: Vec<String>,
}

impl<'a> Checker<'a> {
    fn check(&mut self, type_id: TypeId, value: &'a Value) {
        match (self.types.shape(type_id, value), value) {
            (_, Value::Null) => {}
            (Shape::Map(map), Value::Object(fields)) => self.check_fields(map, fields),
            (Shape::Map(_), _) => self.fault(&format!("expected map, got &{{{}}}", go::plain(value))),
            (Shape::List(list), Value::Array(items)) => self.check_items(list, items),
            (Shape::List(_), _) => self.fault(&format!("expected list, got &{{{}}}", go::plain(value))),
            (Shape::Scalar(scalar), _) if fits(scalar, value) => {}
            (Shape::Scalar(scalar), _) => self.fault(&misfit(scalar, value)),
        }
    }

    fn fault(&mut self, message: &str) {
        let path: Vec<String> = self.path.iter().map(Element::describe).collect();
        let fault = if path.is_empty() {
            message.to_owned()
        } else {
            format!("{}: {message}", path.concat())
        };
        self.faults.push(fault);
    }

    /// Goes one step down, and back up again afterwards.
    fn under(&mut self, step: Element<'a>, check: impl FnOnce(&mut Self)) {
        self.path.push(step);
        check(self);
        self.path.pop();
    }

    fn check_fields(&mut self, map: &MapType, fields: &'a Map<String, Value>) {
        for (name, value) in fields {
            let Some(type_id) = map.field(name) else {
                // Upstream gives up on a map at its first undeclared field.
                return self.under(Element::Field(name), |checker| {
                    checker.fault("field not declared in schema");
                });
            };
            if is_plain(self.types, type_id, value) {
                continue;
            }
            self.under(Element::Field(name), |checker| checker.check(type_id, value));
        }
    }

    fn check_items(&mut self, list: &'a ListType, items: &'a [Value]) {
        if list.shape == ListShape::Atomic {
            for (index, item) in items.iter().enumerate() {
                self.check_item(index, list.element, item);
            }
            return;
        }
        let mut elements = Vec::with_capacity(items.len());
        for item in items {
            match keys::element(self.types, list, item) {
                Ok(element) => elements.push(element),
                Err(error) => {
                    // Upstream gives up on a list at its first item without a place.
                    let index = elements.len();
                    self.check_keyed(list, elements, items);
                    return self.fault(&format!("element {index}: {error}"));
                }
            }
        }
        self.check_keyed(list, elements, items);
    }

    fn check_keyed(&mut self, list: &'a ListType, elements: Vec<Element<'a>>, items: &'a [Value]) {
        let repeated = if self.duplicates == Duplicates::Refused {
            repeated(&elements)
        } else {
            BTreeSet::new()
        };
        for (position, (element, item)) in elements.into_iter().zip(items).enumerate() {
            if repeated.contains(&position) {
                self.fault(&format!("duplicate entries for key {}", element.describe()));
            }
            self.under(element, |checker| checker.check(list.element, item));
        }
    }

    fn check_item(&mut self, index: usize, type_id: TypeId, item: &'a Value) {
        if !is_plain(self.types, type_id, item) {
            let index = i64::try_from(index).unwrap_or(i64::MAX);
            self.under(Element::Index(index), |checker| checker.check(type_id, item));
        }
    }
}

/// The positions of elements that stand in a list before.
fn repeated(elements: &[Element<'_>]) -> BTreeSet<usize> {
    let mut sorted: Vec<usize> = (0..elements.len()).collect();
    sorted.sort_by(|left, right| elements[*left].cmp(&elements[*right]));
    sorted
        .windows(2)
        .filter(|pair| elements[pair[0]] == elements[pair[1]])
        .map(|pair| pair[1])
        .collect()
}

/// A scalar that fits: most values are, and need no path.
fn is_plain(types: &Types, type_id: TypeId, value: &Value) -> bool {
    types.atom(type_id).scalar.is_some_and(|scalar| fits(scalar, value))
}

/// Whether a value that is not null is a scalar of this kind.
pub(super) fn fits(scalar: Scalar, value: &Value) -> bool {
    match scalar {
        Scalar::Numeric => value.is_number(),
        Scalar::String => value.is_string(),
        Scalar::Boolean => value.is_boolean(),
        Scalar::Untyped => value.is_number() || value.is_string() || value.is_boolean(),
    }
}

fn misfit(scalar: Scalar, value: &Value) -> String {
    match scalar {
        Scalar::Numeric => format!("expected numeric (int or float), got {}", go::type_name(value)),
        Scalar::String => format!(
            "expected string, got &value.valueUnstructured{{Value:{}}}",
            go::sharp(value)
        ),
        Scalar::Boolean => format!("expected boolean, got &{{{}}}", go::plain(value)),
        Scalar::Untyped => format!("expected any scalar, got &{{{}}}", go::plain(value)),
    }
}
