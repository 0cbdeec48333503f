//! From the messages of protobuf to JSON, by the table: what a field is called, of which shape it is, and whether Go
//! would have written it.

use jiff::{Timestamp, tz::TimeZone};
use serde_json::{Map, Number, Value, json};

use super::{
    Field, Shape, Type, TypeIndex, Types,
    base::{encode_bytes, write_duration},
};
use crate::protobuf::{Fields, Payload, ProtobufError};

/// How deep messages may nest. Only schemas inside of schemas have no bound of their own, and no real one comes close.
const DEPTH_LIMIT: usize = 100;

impl Types {
    /// The object in a message. Go writes every field of a struct into a message, also what JSON leaves out; reading the
    /// object as a body removes that again.
    pub(crate) fn read_message(&self, index: TypeIndex, message: &[u8]) -> Result<Map<String, Value>, ProtobufError> {
        let mut object = Value::Object(self.message(index, message, 1)?);
        self.read(index, &mut object).map_err(ProtobufError::Value)?;
        match object {
            Value::Object(object) => Ok(object),
            _ => Ok(Map::new()),
        }
    }

    fn message(&self, index: TypeIndex, message: &[u8], depth: usize) -> Result<Map<String, Value>, ProtobufError> {
        if depth > DEPTH_LIMIT {
            return Err(ProtobufError::Depth);
        }
        let mut object = Map::new();
        self.add_fields(self.get(index), &[], message, depth, &mut object)?;
        Ok(object)
    }

    /// Adds the fields of a message; `path` leads to it from the message of the whole struct. What JSON has beside each
    /// other is a message inside of a message where Go embeds one struct in another.
    fn add_fields(
        &self,
        entry: &Type,
        path: &[u32],
        message: &[u8],
        depth: usize,
        object: &mut Map<String, Value>,
    ) -> Result<(), ProtobufError> {
        for field in Fields::of(message) {
            let (number, payload) = field?;
            let path = [path, &[number]].concat();
            if let Some(field) = entry.fields.iter().find(|field| field.tags == path) {
                self.add_field(field, payload, depth, object)?;
            } else if entry.fields.iter().any(|field| field.tags.starts_with(&path)) {
                self.add_fields(entry, &path, payload.bytes(entry.go_name)?, depth, object)?;
            }
        }
        Ok(())
    }

    fn add_field(
        &self,
        field: &Field,
        payload: Payload<'_>,
        depth: usize,
        object: &mut Map<String, Value>,
    ) -> Result<(), ProtobufError> {
        let mut shape = &field.shape;
        while let Shape::Pointer(inner) = shape {
            shape = inner;
        }
        match shape {
            Shape::List(inner) => {
                let added = self.items(inner, field.name, payload, depth + 1)?;
                if let Value::Array(items) = object.entry(field.name).or_insert_with(|| json!([])) {
                    items.extend(added);
                }
            }
            Shape::Map(inner) => {
                let (key, value) = self.entry(inner, field.name, payload, depth + 1)?;
                if let Value::Object(entries) = object.entry(field.name).or_insert_with(|| json!({})) {
                    entries.insert(key, value);
                }
            }
            single => {
                let value = self.value(single, field.name, payload, depth)?;
                object.insert(field.name.to_owned(), value);
            }
        }
        Ok(())
    }

    /// One item of a list, or many numbers at once.
    fn items(
        &self,
        shape: &Shape,
        name: &str,
        payload: Payload<'_>,
        depth: usize,
    ) -> Result<Vec<Value>, ProtobufError> {
        match (shape, payload) {
            (Shape::Int32 | Shape::Int64 | Shape::Bool, Payload::Bytes(packed)) => Fields::of(packed)
                .packed()?
                .into_iter()
                .map(|number| self.value(shape, name, number, depth))
                .collect(),
            _ => Ok(vec![self.value(shape, name, payload, depth)?]),
        }
    }

    /// One entry of a map.
    fn entry(
        &self,
        shape: &Shape,
        name: &str,
        payload: Payload<'_>,
        depth: usize,
    ) -> Result<(String, Value), ProtobufError> {
        let mut entry = (String::new(), self.zero(shape));
        for field in Fields::of(payload.bytes(name)?) {
            match field? {
                (1, payload) => entry.0 = payload.text(name)?,
                (2, payload) => entry.1 = self.value(shape, name, payload, depth)?,
                _ => {}
            }
        }
        Ok(entry)
    }

    fn value(&self, shape: &Shape, name: &str, payload: Payload<'_>, depth: usize) -> Result<Value, ProtobufError> {
        Ok(match shape {
            Shape::String => payload.text(name)?.into(),
            Shape::Bool => (payload.number(name)? != 0).into(),
            Shape::Int32 | Shape::Int64 => payload.number(name)?.into(),
            Shape::Float => float(name, payload)?,
            Shape::Bytes => encode_bytes(payload.bytes(name)?).into(),
            Shape::Quantity | Shape::ResourceQuantity => part(payload, name, 1)?.text(name)?.into(),
            Shape::Time => time(name, payload, "%Y-%m-%dT%H:%M:%SZ")?,
            Shape::MicroTime => time(name, payload, "%Y-%m-%dT%H:%M:%S.%6fZ")?,
            Shape::Duration => write_duration(whole_part(payload, name, 1)?).into(),
            Shape::IntOrString => int_or_string(name, payload)?,
            Shape::Raw => raw(name, payload)?,
            Shape::Object(index) => Value::Object(self.message(*index, payload.bytes(name)?, depth + 1)?),
            Shape::Pointer(inner) => self.value(inner, name, payload, depth)?,
            // A map has no lists as values: where Go has them, a message stands around the list.
            Shape::List(inner) => {
                let mut items = Vec::new();
                for field in Fields::of(payload.bytes(name)?) {
                    let (_, payload) = field?;
                    items.extend(self.items(inner, name, payload, depth + 1)?);
                }
                items.into()
            }
            Shape::Map(_) => return Err(ProtobufError::Field(name.to_owned())),
            Shape::ObjectOrBool(index) => self.either(*index, &Shape::Bool, [2, 1], name, payload, depth)?,
            Shape::ObjectOrList(index) => {
                let list = Shape::List(Box::new(Shape::Object(*index)));
                self.either(*index, &list, [1, 2], name, payload, depth)?
            }
            Shape::ObjectOrStrings(index) => {
                let list = Shape::List(Box::new(Shape::String));
                self.either(*index, &list, [1, 2], name, payload, depth)?
            }
        })
    }

    /// A schema, or what may stand in its place; `numbers` are those of the two.
    fn either(
        &self,
        index: TypeIndex,
        other: &Shape,
        numbers: [u32; 2],
        name: &str,
        payload: Payload<'_>,
        depth: usize,
    ) -> Result<Value, ProtobufError> {
        let mut found = self.zero(other);
        let mut items = Vec::new();
        for field in Fields::of(payload.bytes(name)?) {
            let (number, payload) = field?;
            if number == numbers[0] {
                return self.value(&Shape::Object(index), name, payload, depth);
            }
            match other {
                Shape::List(inner) if number == numbers[1] => {
                    items.extend(self.items(inner, name, payload, depth + 1)?);
                }
                single if number == numbers[1] => found = self.value(single, name, payload, depth)?,
                _ => {}
            }
        }
        Ok(if items.is_empty() { found } else { items.into() })
    }
}

/// The field of this number in a message; an empty one where it is absent.
fn part<'a>(payload: Payload<'a>, name: &str, number: u32) -> Result<Payload<'a>, ProtobufError> {
    let mut found = Payload::Bytes(&[]);
    for field in Fields::of(payload.bytes(name)?) {
        let (other, payload) = field?;
        if other == number {
            found = payload;
        }
    }
    Ok(found)
}

/// The same for a whole number, which is 0 where it is absent.
fn whole_part(payload: Payload<'_>, name: &str, number: u32) -> Result<i64, ProtobufError> {
    match part(payload, name, number)? {
        Payload::Bytes([]) => Ok(0),
        other => other.number(name),
    }
}

fn float(name: &str, payload: Payload<'_>) -> Result<Value, ProtobufError> {
    let Payload::Fixed(bits) = payload else {
        return Err(ProtobufError::Field(name.to_owned()));
    };
    let number = Number::from_f64(f64::from_bits(bits));
    Ok(number.map_or(Value::Null, Value::Number))
}

/// A time; Go writes one that is not set as an empty message.
fn time(name: &str, payload: Payload<'_>, format: &str) -> Result<Value, ProtobufError> {
    if payload.bytes(name)?.is_empty() {
        return Ok(Value::Null);
    }
    let (seconds, nanos) = (whole_part(payload, name, 1)?, whole_part(payload, name, 2)?);
    let time = i32::try_from(nanos)
        .ok()
        .and_then(|nanos| Timestamp::new(seconds, nanos).ok())
        .ok_or_else(|| ProtobufError::Field(name.to_owned()))?;
    Ok(time.to_zoned(TimeZone::UTC).strftime(format).to_string().into())
}

fn int_or_string(name: &str, payload: Payload<'_>) -> Result<Value, ProtobufError> {
    if whole_part(payload, name, 1)? == 0 {
        return Ok(whole_part(payload, name, 2)?.into());
    }
    Ok(part(payload, name, 3)?.text(name)?.into())
}

/// JSON inside of a message.
fn raw(name: &str, payload: Payload<'_>) -> Result<Value, ProtobufError> {
    let text = part(payload, name, 1)?.bytes(name)?;
    if text.is_empty() {
        return Ok(Value::Null);
    }
    serde_json::from_slice(text).map_err(|_| ProtobufError::Field(name.to_owned()))
}
