//! Sets fitted to types: paths into what has become atomic since they were written, and struct fields on the way.
//! Must not look at objects.

use crate::{
    element::Element,
    set::{Node, Set},
    types::{ListShape, Shape, TypeId, Types},
};

/// Replaces paths into an atomic value by the path of that value, and says whether there were any.
pub(crate) fn reconcile(types: &Types, set: &mut Set<'_>) -> bool {
    fit(types, types.root(), set)
}

fn fit(types: &Types, type_id: TypeId, set: &mut Set<'_>) -> bool {
    match types.atom(type_id).first_shape() {
        Shape::Scalar(_) => false,
        Shape::Map(map) if map.unknown => false,
        Shape::Map(map) => {
            let mut changed = false;
            for node in &mut set.nodes {
                let type_id = match node.element {
                    Element::Field(name) => map.field(name),
                    _ => map.element,
                };
                changed |= type_id.is_some_and(|type_id| fit_node(types, type_id, node));
            }
            changed
        }
        Shape::List(list) => {
            let mut changed = false;
            for node in &mut set.nodes {
                changed |= fit_node(types, list.element, node);
            }
            changed
        }
    }
}

fn fit_node(types: &Types, type_id: TypeId, node: &mut Node<'_>) -> bool {
    if node.children.is_empty() {
        return false;
    }
    let atomic = match types.atom(type_id).first_shape() {
        Shape::Map(map) => map.atomic && !map.unknown,
        Shape::List(list) => list.shape == ListShape::Atomic,
        Shape::Scalar(_) => false,
    };
    if atomic {
        node.member = true;
        node.children = Set::default();
        return true;
    }
    fit(types, type_id, &mut node.children)
}

/// Adds the path of every struct field that leads to a path, so that removing the last of its content removes it too.
pub(crate) fn name_fields(types: &Types, set: &mut Set<'_>) {
    name_under(types, Some(types.root()), set);
}

fn name_under(types: &Types, type_id: Option<TypeId>, set: &mut Set<'_>) {
    let Some(atom) = type_id.map(|type_id| types.atom(type_id)) else {
        return;
    };
    for node in set.nodes.iter_mut().filter(|node| !node.children.is_empty()) {
        let child = match (&node.element, &atom.map, &atom.list) {
            (Element::Field(name), Some(map), _) => {
                node.member |= map.named(name).is_some();
                map.field(name)
            }
            (Element::Key(_), _, Some(list)) => Some(list.element),
            _ => None,
        };
        name_under(types, child, &mut node.children);
    }
}
