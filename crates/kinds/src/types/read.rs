//! Reads a body as upstream's decoder does: unknown fields are taken out and named, a value of the wrong type is
//! refused in Go's words, and what is left has the form in which a Go program would write it back.

use serde_json::{Map, Value};

use super::{
    Field, Shape, Type, TypeIndex, Types,
    base::{canonical_bytes, canonical_duration},
    time::{canonical_time, canonical_time_micro},
};
use crate::{Malformed, quantity::Quantity};

/// How deep a body may nest. Only schemas inside of schemas have no bound of their own.
const DEPTH_LIMIT: usize = 256;

/// Where the walk is. A chain on the stack, so that a body without complaints costs no allocation.
struct Frame<'a> {
    parent: Option<&'a Frame<'a>>,
    step: Step<'a>,
    depth: usize,
}

enum Step<'a> {
    Root,
    Field(&'a Type, &'a Field),
    Index(usize),
    Key(&'a str),
}

impl<'a> Frame<'a> {
    const ROOT: Frame<'static> = Frame {
        parent: None,
        step: Step::Root,
        depth: 0,
    };

    fn below(&'a self, step: Step<'a>) -> Self {
        Self {
            parent: Some(self),
            step,
            depth: self.depth + 1,
        }
    }

    /// `spec.containers[0].name`.
    fn path(&self) -> String {
        let mut path = self.parent.map(Frame::path).unwrap_or_default();
        match self.step {
            Step::Root => {}
            Step::Field(_, field) => push_name(&mut path, field.name),
            Step::Index(index) => {
                path.push('[');
                path.push_str(&index.to_string());
                path.push(']');
            }
            Step::Key(key) => push_name(&mut path, key),
        }
        path
    }

    /// The struct and field that Go names in a complaint: `PodSpec.spec.containers`.
    fn go_field(&self) -> Option<String> {
        let mut names = Vec::new();
        let mut innermost = None;
        let mut frame = Some(self);
        while let Some(current) = frame {
            if let Step::Field(entry, field) = current.step {
                innermost.get_or_insert(entry.go_name);
                names.push(field.name);
                names.extend(field.embedded_in().rev());
            }
            frame = current.parent;
        }
        names.reverse();
        Some(format!("{}.{}", innermost?, names.join(".")))
    }

    fn mismatch(&self, found: &str, go_type: &str) -> Malformed {
        Malformed(match self.go_field() {
            Some(field) => format!("json: cannot unmarshal {found} into Go struct field {field} of type {go_type}"),
            None => format!("json: cannot unmarshal {found} into Go value of type {go_type}"),
        })
    }
}

fn push_name(path: &mut String, name: &str) {
    if !path.is_empty() {
        path.push('.');
    }
    path.push_str(name);
}

impl Types {
    /// Brings a body into the form of its type; gives the paths of unknown fields.
    pub(crate) fn read(&self, index: TypeIndex, value: &mut Value) -> Result<Vec<String>, Malformed> {
        let mut unknown = Vec::new();
        match value {
            Value::Object(map) => self.read_object(index, map, &Frame::ROOT, &mut unknown)?,
            other => return Err(Frame::ROOT.mismatch(word(other), &format!("v1.{}", self.get(index).go_name))),
        }
        Ok(unknown)
    }

    fn read_object(
        &self,
        index: TypeIndex,
        map: &mut Map<String, Value>,
        frame: &Frame<'_>,
        unknown: &mut Vec<String>,
    ) -> Result<(), Malformed> {
        if frame.depth > DEPTH_LIMIT {
            return Err(Malformed("exceeded max depth".to_owned()));
        }
        let entry = self.get(index);
        let mut failure = None;
        map.retain(|name, value| {
            if failure.is_some() {
                return true;
            }
            let Some(field) = entry.field(name) else {
                unknown.push(frame.below(Step::Key(name)).path());
                return false;
            };
            let result = self.read_field(field, value, &frame.below(Step::Field(entry, field)), unknown);
            match result {
                Ok(keep) => keep,
                Err(error) => {
                    failure = Some(error);
                    true
                }
            }
        });
        if let Some(error) = failure {
            return Err(error);
        }
        self.fill_always(index, map);
        Ok(())
    }

    /// Reads one field; says whether Go would write it back.
    fn read_field(
        &self,
        field: &Field,
        value: &mut Value,
        frame: &Frame<'_>,
        unknown: &mut Vec<String>,
    ) -> Result<bool, Malformed> {
        if value.is_null() {
            return Ok(false);
        }
        self.read_shape(&field.shape, &field.go_type, value, frame, unknown)?;
        if !is_empty(&field.shape, value) {
            return Ok(!(field.omit_zero && value.as_object().is_some_and(Map::is_empty)));
        }
        if !field.omit_empty && matches!(field.shape, Shape::List(_) | Shape::Map(_) | Shape::Bytes) {
            *value = Value::Null;
        }
        Ok(!field.omit_empty)
    }

    fn read_shape(
        &self,
        shape: &Shape,
        go_type: &str,
        value: &mut Value,
        frame: &Frame<'_>,
        unknown: &mut Vec<String>,
    ) -> Result<(), Malformed> {
        match shape {
            Shape::Pointer(inner) => self.read_shape(inner, go_type.trim_start_matches('*'), value, frame, unknown),
            Shape::Object(index) => match value {
                Value::Object(map) => self.read_object(*index, map, frame, unknown),
                other => Err(frame.mismatch(word(other), go_type)),
            },
            Shape::List(inner) => match value {
                Value::Array(list) => self.read_list(inner, go_type, list, frame, unknown),
                other => Err(frame.mismatch(word(other), go_type)),
            },
            Shape::Map(inner) => match value {
                Value::Object(map) => self.read_map(inner, go_type, map, frame, unknown),
                other => Err(frame.mismatch(word(other), go_type)),
            },
            Shape::ObjectOrBool(index) | Shape::ObjectOrList(index) | Shape::ObjectOrStrings(index) => {
                self.read_either(shape, *index, value, frame, unknown)
            }
            Shape::Raw => Ok(()),
            scalar => read_scalar(scalar, go_type, value, frame),
        }
    }

    fn read_list(
        &self,
        inner: &Shape,
        go_type: &str,
        list: &mut [Value],
        frame: &Frame<'_>,
        unknown: &mut Vec<String>,
    ) -> Result<(), Malformed> {
        let item_type = go_type.strip_prefix("[]").unwrap_or("string");
        for (position, item) in list.iter_mut().enumerate() {
            if item.is_null() {
                *item = self.zero(inner);
            } else {
                self.read_shape(inner, item_type, item, &frame.below(Step::Index(position)), unknown)?;
            }
        }
        Ok(())
    }

    fn read_map(
        &self,
        inner: &Shape,
        go_type: &str,
        map: &mut Map<String, Value>,
        frame: &Frame<'_>,
        unknown: &mut Vec<String>,
    ) -> Result<(), Malformed> {
        let value_type = go_type.strip_prefix("map[string]").unwrap_or("string");
        for (key, item) in map.iter_mut() {
            if item.is_null() {
                *item = self.zero(inner);
            } else {
                self.read_shape(inner, value_type, item, &frame.below(Step::Key(key)), unknown)?;
            }
        }
        Ok(())
    }

    /// The types of schemas that take one of two forms. Upstream keeps a form that fits neither as nothing.
    fn read_either(
        &self,
        shape: &Shape,
        index: TypeIndex,
        value: &mut Value,
        frame: &Frame<'_>,
        unknown: &mut Vec<String>,
    ) -> Result<(), Malformed> {
        match (shape, value) {
            (_, Value::Object(map)) => self.read_object(index, map, frame, unknown),
            (Shape::ObjectOrList(_), Value::Array(list)) => {
                self.read_list(&Shape::Object(index), "[]v1.JSONSchemaProps", list, frame, unknown)
            }
            (Shape::ObjectOrStrings(_), Value::Array(list)) => {
                self.read_list(&Shape::String, "[]string", list, frame, unknown)
            }
            (Shape::ObjectOrBool(_), Value::Bool(_)) => Ok(()),
            (Shape::ObjectOrBool(_), _) => Err(Malformed("boolean or JSON schema expected".to_owned())),
            _ => Err(Malformed("JSON schema or array expected".to_owned())),
        }
    }
}

/// Whether Go's `omitempty` leaves the value out. Structs never are empty.
fn is_empty(shape: &Shape, value: &Value) -> bool {
    match (shape, value) {
        (_, Value::Null) => true,
        (Shape::Pointer(_) | Shape::Object(_) | Shape::Quantity | Shape::IntOrString | Shape::Duration, _) => false,
        (_, Value::String(text)) => text.is_empty(),
        (_, Value::Bool(set)) => !set,
        (_, Value::Number(number)) => number.as_f64() == Some(0.0),
        (Shape::List(_) | Shape::ObjectOrList(_), Value::Array(list)) => list.is_empty(),
        (Shape::Map(_), Value::Object(map)) => map.is_empty(),
        _ => false,
    }
}

fn read_scalar(shape: &Shape, go_type: &str, value: &mut Value, frame: &Frame<'_>) -> Result<(), Malformed> {
    match (shape, &*value) {
        (Shape::String, Value::String(_)) | (Shape::Bool, Value::Bool(_)) => Ok(()),
        (Shape::Int32 | Shape::Int64, Value::Number(number)) => {
            let limit = if *shape == Shape::Int32 {
                i64::from(i32::MAX)
            } else {
                i64::MAX
            };
            let fits = number
                .as_i64()
                .is_some_and(|integer| integer <= limit && integer >= -limit - 1);
            if fits {
                Ok(())
            } else {
                Err(frame.mismatch(&format!("number {number}"), go_type))
            }
        }
        (Shape::Float, Value::Number(number)) => {
            if let Some(whole) = number.as_f64().and_then(whole_number) {
                *value = Value::from(whole);
            }
            Ok(())
        }
        (Shape::Quantity | Shape::ResourceQuantity, found) => {
            let text = read_quantity(found, *shape == Shape::ResourceQuantity)?;
            replace(value, text);
            Ok(())
        }
        (Shape::IntOrString, found) => check_int_or_string(found, frame),
        (Shape::Bytes | Shape::Time | Shape::MicroTime | Shape::Duration, Value::String(text)) => {
            let canonical = match shape {
                Shape::Bytes => canonical_bytes(text)?,
                Shape::Time => canonical_time(text)?,
                Shape::MicroTime => canonical_time_micro(text)?,
                _ => canonical_duration(text)?,
            };
            replace(value, canonical);
            Ok(())
        }
        (Shape::Time | Shape::MicroTime | Shape::Duration, other) => Err(frame.mismatch(word(other), "string")),
        (_, other) => Err(frame.mismatch(word(other), go_type)),
    }
}

/// A float that JSON writes without a fraction; Go writes it back so.
fn whole_number(number: f64) -> Option<i64> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    #[expect(
        clippy::cast_possible_truncation,
        reason = "whole and within the range that is checked here"
    )]
    (number.fract() == 0.0 && number.abs() <= EXACT).then_some(number as i64)
}

fn replace(value: &mut Value, text: Option<String>) {
    if let Some(text) = text {
        *value = Value::String(text);
    }
}

/// The form in which upstream writes a quantity back, if it differs.
fn read_quantity(value: &Value, is_resource: bool) -> Result<Option<String>, Malformed> {
    let number;
    let text = match value {
        Value::String(text) => text.trim(),
        other => {
            number = other.to_string();
            number.as_str()
        }
    };
    let quantity = Quantity::parse(text).map_err(|error| Malformed(error.to_string()))?;
    let written = if is_resource {
        quantity.rounded_up_to_milli(text)
    } else {
        quantity.as_written(text)
    };
    Ok((value.as_str() != Some(&written)).then_some(written))
}

fn check_int_or_string(value: &Value, frame: &Frame<'_>) -> Result<(), Malformed> {
    let complaint = |found: &str| frame.mismatch(found, "int32");
    match value {
        Value::String(_) => Ok(()),
        Value::Number(number) if number.as_i64().is_some_and(|number| i32::try_from(number).is_ok()) => Ok(()),
        Value::Number(number) => Err(complaint(&format!("number {number}"))),
        other => Err(complaint(word(other))),
    }
}

/// Go's word for a JSON value.
fn word(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}
