//! Type, enumeration and strings.

use serde_json::Value;

use super::{Outcome, Validator};
use crate::field_error::FieldError;
use crate::go_text;
use crate::node::{Checks, Node, Type};
use crate::path::Path;

/// The largest number up to which every whole number is a float of its own.
const MAX_SAFE_INTEGER: f64 = 9_007_199_254_740_991.0;

impl Validator<'_> {
    /// The JSON type of the value, as far as the schema says one.
    pub(super) fn kind(&self, node: &Node, value: &Value, path: &Path<'_>, outcome: &mut Outcome) {
        let (kind, format) = (node.kind, node.checks.format_name.as_str());
        if value.is_null() {
            if kind != Type::Any && !node.nullable {
                outcome.push(self.wrong_type(path, kind.name(), "null"));
            }
            return;
        }
        if kind == Type::Any && format.is_empty() {
            return;
        }
        outcome.matches += 1;
        let (found, found_format) = json_type(value);
        let is_right = is_type(kind, value);
        let is_text = value.is_string() || value.is_array();
        if !format.is_empty() {
            if !is_text && !is_right && found_format != format {
                outcome.push(self.wrong_type(path, format, found_format));
                return;
            }
            // A format makes the type of a text somebody else's business, even if it is a list.
            if is_text && !matches!(kind, Type::Number | Type::Integer | Type::IntegerOrString) {
                outcome.matches += 1;
                return;
            }
        }
        if is_right {
            outcome.matches += 1;
        } else {
            outcome.push(self.wrong_type(path, kind.name(), found));
        }
    }

    fn wrong_type(&self, path: &Path<'_>, expected: &str, found: &str) -> FieldError {
        let detail = format!("{path} in body must be of type {expected}: {}", go_text::quote(found));
        FieldError::type_invalid(self.field(path), found, detail)
    }

    pub(super) fn enumeration(&self, node: &Node, value: &Value, path: &Path<'_>, outcome: &mut Outcome) {
        let known = &node.checks.enumeration;
        if known.is_empty() || known.iter().any(|known| is_same(known, value)) {
            return;
        }
        let words: Vec<String> = known
            .iter()
            .map(|known| known.as_str().map_or_else(|| go_text::json(known), str::to_owned))
            .collect();
        outcome.push(FieldError::not_supported(
            self.field(path),
            value.clone(),
            words.iter().map(String::as_str),
        ));
    }

    pub(super) fn string(&self, node: &Node, text: &str, path: &Path<'_>, outcome: &mut Outcome) {
        let checks = &node.checks;
        outcome.matches += 1;
        if let Some(error) = self.length_or_pattern(checks, text, path) {
            outcome.push(error);
        }
        let Some(format) = checks.format else { return };
        outcome.matches += 1;
        if !format.accepts(text) {
            let name = &checks.format_name;
            let detail = format!("{path} in body must be of type {name}: {}", go_text::quote(text));
            outcome.push(FieldError::type_invalid(self.field(path), text, detail));
        }
    }

    /// Only the first of these complaints is made.
    fn length_or_pattern(&self, checks: &Checks, text: &str, path: &Path<'_>) -> Option<FieldError> {
        if checks.max_length.is_some() || checks.min_length.is_some() {
            let length = i64::try_from(text.chars().count()).unwrap_or(i64::MAX);
            if let Some(most) = checks.max_length.filter(|most| length > *most) {
                return Some(FieldError::too_long(self.field(path), most));
            }
            if let Some(least) = checks.min_length.filter(|least| length < *least) {
                let detail = format!("{path} in body should be at least {least} chars long");
                return Some(FieldError::invalid(self.field(path), text, detail));
            }
        }
        let pattern = checks.pattern.as_ref()?;
        let words = match &pattern.regex {
            Ok(regex) if regex.is_match(text) => return None,
            Ok(_) => pattern.text.clone(),
            Err(error) => format!("{}, but pattern is invalid: {error}", pattern.text),
        };
        let detail = format!("{path} in body should match '{words}'");
        Some(FieldError::invalid(self.field(path), text, detail))
    }
}

/// The type of a value and Go's format of it.
fn json_type(value: &Value) -> (&'static str, &'static str) {
    match value {
        Value::Null => ("null", ""),
        Value::Bool(_) => ("boolean", ""),
        Value::Number(number) if number.is_i64() => ("integer", "int64"),
        Value::Number(_) => ("number", "float64"),
        Value::String(_) => ("string", ""),
        Value::Array(_) => ("array", ""),
        Value::Object(_) => ("object", ""),
    }
}

fn is_type(kind: Type, value: &Value) -> bool {
    match (kind, value) {
        (Type::Object, Value::Object(_))
        | (Type::Array, Value::Array(_))
        | (Type::String | Type::IntegerOrString, Value::String(_))
        | (Type::Number, Value::Number(_))
        | (Type::Boolean, Value::Bool(_)) => true,
        (Type::Integer | Type::IntegerOrString, Value::Number(number)) => {
            number.is_i64() || number.as_f64().is_some_and(is_whole)
        }
        _ => false,
    }
}

/// Whether a float is a whole number that JSON readers agree on.
pub(crate) fn is_whole(float: f64) -> bool {
    float.abs() <= MAX_SAFE_INTEGER && float.fract() == 0.0
}

/// Numbers are compared in the type of the enumeration, where a float loses its fraction; null equals nothing.
fn is_same(known: &Value, value: &Value) -> bool {
    match (known, value) {
        (Value::Null, _) => false,
        (Value::Number(known), Value::Number(value)) => match (known.as_i64(), value.as_i64()) {
            (Some(known), Some(value)) => known == value,
            (Some(known), None) => value.as_f64().is_some_and(|value| truncated(value) == known),
            _ => known.as_f64() == value.as_f64(),
        },
        _ => known == value,
    }
}

#[allow(
    clippy::cast_possible_truncation,
    reason = "Go converts a float to int64 in the same way"
)]
fn truncated(float: f64) -> i64 {
    float as i64
}
