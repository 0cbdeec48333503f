//! Bodies in protobuf, which clients written in Go prefer for built-in kinds: the envelope that Kubernetes puts around
//! them, and the way from there to the JSON that the same client would have sent. What the fields of a message are is in
//! the table of types.

mod reader;

use std::fmt;

use serde_json::{Map, Value};

pub(crate) use self::reader::{Fields, Payload};
use crate::{Malformed, types::Types};

/// What every body begins with (apimachinery, runtime/serializer/protobuf).
const PREFIX: &[u8] = b"k8s\0";

/// A body that is no message of Kubernetes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProtobufError {
    /// It does not begin as one.
    Prefix,
    /// It ends in the middle of a field.
    Truncated,
    /// A field is not written as its type is.
    Field(String),
    /// A value is none of its type.
    Value(Malformed),
    /// It nests too deeply.
    Depth,
}

impl fmt::Display for ProtobufError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Prefix => formatter
                .write_str("provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]"),
            Self::Truncated => formatter.write_str("unexpected EOF"),
            Self::Field(name) => write!(formatter, "proto: wrong wireType for field {name}"),
            Self::Value(malformed) => formatter.write_str(&malformed.0),
            Self::Depth => formatter.write_str("exceeded max depth"),
        }
    }
}

impl std::error::Error for ProtobufError {}

/// The object in a body, in the form in which a Go program would write it as JSON. Of a kind that is not built in, only
/// what it says of itself is known.
pub fn decode(body: &[u8]) -> Result<Value, ProtobufError> {
    let envelope = Envelope::read(body)?;
    let types = Types::shared();
    let mut object = match types.find_kind(&envelope.api_version, &envelope.kind) {
        Some(index) => types.read_message(index, envelope.content)?,
        None => Map::new(),
    };
    for (name, text) in [("apiVersion", envelope.api_version), ("kind", envelope.kind)] {
        if !text.is_empty() {
            object.insert(name.to_owned(), text.into());
        }
    }
    Ok(Value::Object(object))
}

/// What stands around a message (apimachinery, runtime.Unknown).
#[derive(Default)]
struct Envelope<'a> {
    api_version: String,
    kind: String,
    content: &'a [u8],
}

impl<'a> Envelope<'a> {
    fn read(body: &'a [u8]) -> Result<Self, ProtobufError> {
        let message = body.strip_prefix(PREFIX).ok_or(ProtobufError::Prefix)?;
        let mut envelope = Self::default();
        for field in Fields::of(message) {
            match field? {
                (1, payload) => envelope.read_type(payload.bytes("typeMeta")?)?,
                (2, payload) => envelope.content = payload.bytes("raw")?,
                _ => {}
            }
        }
        Ok(envelope)
    }

    fn read_type(&mut self, message: &[u8]) -> Result<(), ProtobufError> {
        for field in Fields::of(message) {
            match field? {
                (1, payload) => self.api_version = payload.text("apiVersion")?,
                (2, payload) => self.kind = payload.text("kind")?,
                _ => {}
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
