//! Drops what a schema does not know (structural/pruning), and nulls that neither the schema allows nor a default
//! replaces (structural/defaulting, prunenulls). Reports where it dropped something, in the words of strict decoding.

use std::fmt::Write as _;

use serde_json::{Map, Value};

use crate::node::{Additional, Arena, Node, NodeId, Type};

/// The fields of every resource, which a schema need not list.
pub(crate) const META_FIELDS: [&str; 3] = ["apiVersion", "kind", "metadata"];

/// Drops what the schema does not know below the root of a resource; the paths are sorted.
pub(crate) fn prune(arena: &Arena, root: NodeId, value: &mut Value) -> Vec<String> {
    let mut pruner = Pruner::new(arena);
    if let Value::Object(fields) = value {
        let node = &arena[root];
        pruner.object(Some(node), fields, true, node.preserve_unknown);
    }
    pruner.unknown.sort_unstable();
    pruner.unknown
}

/// Drops what the type of a built-in kind does not know, as Go's decoder does; nulls become nothing or zero.
pub(crate) fn prune_builtin(arena: &Arena, root: NodeId, value: &mut Value) -> Vec<String> {
    let mut pruner = Pruner::new(arena);
    pruner.is_builtin = true;
    pruner.value(Some(root), value, false);
    pruner.unknown
}

/// Drops what the schema does not know at a part of a resource.
pub(crate) fn prune_part(arena: &Arena, id: NodeId, value: &mut Value, is_resource: bool) {
    if is_resource {
        prune(arena, id, value);
        return;
    }
    Pruner::new(arena).value(Some(id), value, false);
}

struct Pruner<'a> {
    arena: &'a Arena,
    path: String,
    unknown: Vec<String>,
    is_builtin: bool,
}

impl<'a> Pruner<'a> {
    fn new(arena: &'a Arena) -> Self {
        Self {
            arena,
            path: String::new(),
            unknown: Vec::new(),
            is_builtin: false,
        }
    }

    /// `is_preserving` holds for the entries of a list that keeps unknown fields.
    fn value(&mut self, id: Option<NodeId>, value: &mut Value, is_preserving: bool) {
        let arena = self.arena;
        let node = id.map(|id| &arena[id]);
        let is_preserving = is_preserving || node.is_some_and(|node| node.preserve_unknown);
        match value {
            Value::Object(fields) => {
                let is_resource = node.is_some_and(|node| node.embedded);
                self.object(node, fields, is_resource, is_preserving);
            }
            Value::Array(entries) => self.array(node, entries, is_preserving),
            _ => {}
        }
    }

    fn object(
        &mut self,
        node: Option<&'a Node>,
        fields: &mut Map<String, Value>,
        is_resource: bool,
        is_preserving: bool,
    ) {
        fields.retain(|name, field| {
            let length = self.enter(name);
            let is_kept = self.field(node, name, field, is_resource, is_preserving);
            self.path.truncate(length);
            is_kept
        });
    }

    fn field(
        &mut self,
        node: Option<&'a Node>,
        name: &str,
        field: &mut Value,
        is_resource: bool,
        is_preserving: bool,
    ) -> bool {
        if is_resource && META_FIELDS.contains(&name) {
            return true;
        }
        let Some(node) = node else {
            self.unknown.push(self.path.clone());
            return false;
        };
        if let Some(child) = node.field(name) {
            self.value(Some(child), field, false);
            if self.is_builtin && !node.properties.contains_key(name) {
                self.zero_for_null(child, field);
            }
            return !self.is_meaningless_null(child, field);
        }
        match node.additional {
            Additional::Allowed | Additional::Refused => self.value(None, field, false),
            _ if is_preserving => {}
            _ => {
                self.unknown.push(self.path.clone());
                return false;
            }
        }
        true
    }

    fn array(&mut self, node: Option<&'a Node>, entries: &mut [Value], is_preserving: bool) {
        let items = node.and_then(|node| node.items);
        if is_preserving && items.is_none() {
            return;
        }
        for (index, entry) in entries.iter_mut().enumerate() {
            let length = self.path.len();
            write!(self.path, "[{index}]").expect("writing to a string cannot fail");
            self.value(items, entry, is_preserving);
            if let Some(items) = items.filter(|_| self.is_builtin) {
                self.zero_for_null(items, entry);
            }
            self.path.truncate(length);
        }
    }

    /// A null entry of a list or map is the zero value of its type in Go.
    fn zero_for_null(&self, id: NodeId, value: &mut Value) {
        if !value.is_null() {
            return;
        }
        *value = match self.arena[id].kind {
            Type::String => Value::from(""),
            Type::Integer | Type::Number => Value::from(0),
            Type::Boolean => Value::from(false),
            Type::Object => Value::Object(Map::new()),
            Type::Array | Type::Any | Type::IntegerOrString => return,
        };
    }

    fn is_meaningless_null(&self, id: NodeId, value: &Value) -> bool {
        let node = &self.arena[id];
        value.is_null() && !node.nullable && node.default.is_none()
    }

    fn enter(&mut self, name: &str) -> usize {
        let length = self.path.len();
        if length > 0 {
            self.path.push('.');
        }
        self.path.push_str(name);
        length
    }
}
