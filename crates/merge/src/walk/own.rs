//! The paths that an applied value owns.
//! Expects a value that was checked; must not know who applies it.

use serde_json::{Map, Value};

use super::keys;
use crate::{
    element::Element,
    set::Set,
    types::{ListShape, ListType, MapType, Shape, TypeId, Types},
};

/// Every leaf, list item and key of a map in an object.
pub(crate) fn owned<'a>(types: &'a Types, value: &'a Value) -> Set<'a> {
    let mut set = Set::default();
    own(types, types.root(), value, &mut set);
    set
}

/// Adds what lies under a value, and says whether its own path is owned.
fn own<'a>(types: &'a Types, type_id: TypeId, value: &'a Value, out: &mut Set<'a>) -> bool {
    match types.shape(type_id, value) {
        Shape::Scalar(_) => return true,
        Shape::Map(map) if map.atomic => return true,
        Shape::List(list) if list.shape == ListShape::Atomic => return true,
        Shape::Map(map) => own_fields(types, map, value.as_object(), out),
        Shape::List(list) => own_items(types, list, value.as_array(), out),
    }
    false
}

fn own_fields<'a>(types: &'a Types, map: &'a MapType, fields: Option<&'a Map<String, Value>>, out: &mut Set<'a>) {
    for (name, value) in fields.into_iter().flatten() {
        let Some(type_id) = map.field(name) else { continue };
        let mut part = Set::default();
        let mut member = own(types, type_id, value, &mut part);
        member |= value.is_null() || value.as_object().is_some_and(Map::is_empty) || map.named(name).is_none();
        out.push(Element::Field(name), member, part);
    }
}

fn own_items<'a>(types: &'a Types, list: &'a ListType, items: Option<&'a Vec<Value>>, out: &mut Set<'a>) {
    let keyed = |item| keys::element(types, list, item).ok().map(|element| (element, item));
    let mut items: Vec<(Element<'a>, &Value)> = items.into_iter().flatten().filter_map(keyed).collect();
    items.sort_by(|(left, _), (right, _)| left.cmp(right));
    let mut items = items.into_iter().peekable();
    while let Some((element, item)) = items.next() {
        let mut part = Set::default();
        let mut single = true;
        while items.next_if(|(other, _)| *other == element).is_some() {
            single = false;
        }
        if single {
            own(types, list.element, item, &mut part);
        }
        out.push(element, true, part);
    }
}
