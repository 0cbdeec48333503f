//! Fills in defaults: of fields that are missing, and of nulls where null is not allowed (structural/defaulting).

use serde_json::Value;

use crate::node::{Additional, Arena, NodeId};

/// Fills in what is missing at and below a value.
pub(crate) fn default(arena: &Arena, id: NodeId, value: &mut Value) {
    let node = &arena[id];
    if !node.contents.defaults {
        return;
    }
    match value {
        Value::Object(fields) => {
            for (name, child) in &node.defaulted {
                if fields
                    .get(name)
                    .is_none_or(|field| is_null_where_forbidden(arena, *child, field))
                {
                    let Some(default) = &arena[*child].default else {
                        continue;
                    };
                    fields.insert(name.clone(), default.clone());
                }
            }
            for (name, field) in fields {
                match (node.properties.get(name), node.additional) {
                    (Some(child), _) => default(arena, *child, field),
                    (None, Additional::Schema(child)) => default_entry(arena, child, field),
                    _ => {}
                }
            }
        }
        Value::Array(entries) => {
            let Some(items) = node.items else { return };
            for entry in entries {
                default_entry(arena, items, entry);
            }
        }
        _ => {}
    }
}

/// An entry of a map or list: a null that is not allowed becomes the default.
fn default_entry(arena: &Arena, id: NodeId, value: &mut Value) {
    if is_null_where_forbidden(arena, id, value)
        && let Some(default) = &arena[id].default
    {
        value.clone_from(default);
    }
    default(arena, id, value);
}

fn is_null_where_forbidden(arena: &Arena, id: NodeId, value: &Value) -> bool {
    value.is_null() && !arena[id].nullable
}
