//! Fills in defaults type by type, the outer type before the inner, as upstream's generated functions do.

use serde_json::{Map, Value};

use super::{Shape, TypeIndex, Types};

/// What code fills into one value of a type. Must be idempotent.
pub(crate) type DefaultFunction = fn(&mut Map<String, Value>);

impl Types {
    /// Fills in the defaults of a value and of everything below it.
    pub(crate) fn default(&self, index: TypeIndex, value: &mut Value) {
        if let Value::Object(map) = value {
            self.default_object(index, map);
        }
    }

    fn default_object(&self, index: TypeIndex, map: &mut Map<String, Value>) {
        let entry = self.get(index);
        if !entry.has_defaults {
            return;
        }
        if let Some(function) = entry.default_function {
            function(map);
        }
        for field in &entry.fields {
            if let Some(default) = &field.default
                && is_unset(map.get(field.name), &field.shape)
            {
                map.insert(field.name.to_owned(), default.clone());
            }
        }
        for (name, value) in map.iter_mut() {
            if let Some(field) = entry.field(name) {
                self.default_shape(&field.shape, value);
            }
        }
    }

    fn default_shape(&self, shape: &Shape, value: &mut Value) {
        match (shape, value) {
            (Shape::Object(index) | Shape::ObjectOrBool(index), Value::Object(map)) => self.default_object(*index, map),
            (Shape::Pointer(inner), value) => self.default_shape(inner, value),
            (Shape::List(inner), Value::Array(list)) if inner.index().is_some() => {
                for item in list {
                    self.default_shape(inner, item);
                }
            }
            (Shape::Map(inner), Value::Object(map)) if inner.index().is_some() => {
                for item in map.values_mut() {
                    self.default_shape(inner, item);
                }
            }
            _ => {}
        }
    }
}

/// Whether a default applies: an absent pointer, or a value that is zero.
fn is_unset(value: Option<&Value>, shape: &Shape) -> bool {
    match value {
        None | Some(Value::Null) => true,
        Some(_) if matches!(shape, Shape::Pointer(_)) => false,
        Some(Value::String(text)) => text.is_empty(),
        Some(Value::Number(number)) => number.as_i64() == Some(0),
        Some(_) => false,
    }
}
