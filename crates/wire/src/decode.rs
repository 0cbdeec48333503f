//! Bodies to values: JSON, YAML and protobuf as upstream reads them, with fields that are given twice, and the check that a body
//! is of the kind that its address says. Knows no schema: which fields a kind has is the kind's business.

use std::borrow::Cow;

use hyperplane_kinds::{Resource, Subresource, protobuf};
use hyperplane_schema::{FieldError, go_json, go_text::quote};
use serde_json::{Map, Value};

use crate::{
    Failure, GroupKind, Origin,
    discovery::hexadecimal,
    document_order, json_value,
    negotiate::{BodyFormat, MEDIA_TYPES},
    yaml_value,
};

/// How deeply a body may nest. Upstream allows 10,000; objects are walked, compared, dropped and, by Rust clients,
/// parsed by recursion, and the parser of those clients stops at 128 with the envelope of a list or event around it.
pub const MAXIMUM_DEPTH: usize = 120;
/// How many fields that are given twice are reported; upstream has the same limit.
pub(crate) const MAXIMUM_DUPLICATES: usize = 100;
/// How much of a body an error message shows.
const EXCERPT_BYTES: usize = 30;
/// Where upstream registers its kinds; the words are part of the message.
const SCHEME: &str = "pkg/runtime/scheme.go:111";

/// A body that was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Decoded {
    /// What it says; of a field that is given twice, the last value.
    pub value: Value,
    /// Complaints about fields that are given twice, for field validation.
    pub duplicates: Vec<String>,
}

/// A body that cannot be read, in the words of upstream's decoder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DecodeError {
    /// It is no JSON.
    Json(String),
    /// It is no YAML.
    Yaml(String),
    /// A number is beyond the range of a float64.
    Number(String),
    /// It is no protobuf.
    Protobuf(String),
}

impl DecodeError {
    /// The complaint itself.
    pub fn message(&self) -> String {
        match self {
            Self::Json(message) | Self::Protobuf(message) => message.clone(),
            Self::Yaml(message) => format!("yaml: {message}"),
            Self::Number(literal) => {
                format!("json: cannot unmarshal number {literal} into Go value of type float64")
            }
        }
    }
}

impl std::fmt::Display for DecodeError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Json(message) => formatter.write_str(&no_kind(message)),
            other => formatter.write_str(&other.message()),
        }
    }
}

impl std::error::Error for DecodeError {}

/// Reads a body.
pub fn decode(body: &[u8], format: BodyFormat) -> Result<Decoded, DecodeError> {
    match format {
        BodyFormat::Json => decode_json(body),
        BodyFormat::Yaml => yaml_value::decode(&as_text(body)),
        BodyFormat::Protobuf => decode_protobuf(body),
    }
}

/// Reads a protobuf body, in which no field is given twice.
fn decode_protobuf(body: &[u8]) -> Result<Decoded, DecodeError> {
    let value = protobuf::decode(body).map_err(|error| DecodeError::Protobuf(error.to_string()))?;
    if is_deeper_than(&value, MAXIMUM_DEPTH) {
        return Err(DecodeError::Protobuf("exceeded max depth".to_owned()));
    }
    Ok(Decoded {
        value,
        duplicates: Vec::new(),
    })
}

fn is_deeper_than(value: &Value, depth: usize) -> bool {
    match value {
        Value::Object(fields) => depth == 0 || fields.values().any(|value| is_deeper_than(value, depth - 1)),
        Value::Array(items) => depth == 0 || items.iter().any(|value| is_deeper_than(value, depth - 1)),
        _ => false,
    }
}

/// Reads a JSON body.
pub fn decode_json(body: &[u8]) -> Result<Decoded, DecodeError> {
    json_value::decode(&as_text(body)).map_err(|error| match go_json::scan(body, MAXIMUM_DEPTH) {
        go_json::Verdict::Invalid(message) => DecodeError::Json(message),
        go_json::Verdict::Valid {
            overflow: Some(literal),
        } => DecodeError::Number(literal.to_owned()),
        go_json::Verdict::Valid { overflow: None } => DecodeError::Json(error),
    })
}

/// Puts complaints about fields into the order in which a body of a built-in kind names the fields. YAML is read by way
/// of a map, which has another order.
pub fn sort_complaints(body: &[u8], format: BodyFormat, complaints: &mut [String]) {
    if format == BodyFormat::Json && complaints.len() > 1 {
        document_order::sort(&as_text(body), complaints);
    }
}

/// Bytes that are no UTF-8 become replacement characters, one each, as in Go.
fn as_text(body: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(body) {
        return Cow::Borrowed(text);
    }
    let mut text = String::with_capacity(body.len());
    for chunk in body.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().map(|_| char::REPLACEMENT_CHARACTER));
    }
    Cow::Owned(text)
}

/// What a body must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expected<'a> {
    /// The group.
    pub group: &'a str,
    /// The version.
    pub version: &'a str,
    /// The kind.
    pub kind: &'a str,
}

impl<'a> Expected<'a> {
    /// An object of a resource.
    pub fn of_resource(resource: &'a Resource) -> Self {
        Self {
            group: &resource.group,
            version: &resource.version,
            kind: &resource.kind,
        }
    }

    /// What a subresource takes.
    pub fn of_subresource(subresource: &'a Subresource) -> Self {
        Self {
            group: &subresource.group,
            version: &subresource.version,
            kind: &subresource.kind,
        }
    }

    fn api_version(&self) -> String {
        if self.group.is_empty() {
            self.version.to_owned()
        } else {
            format!("{}/{}", self.group, self.version)
        }
    }

    /// The failure of a body that says of itself that it is of this kind.
    pub fn mishandled(&self, complaint: &str) -> Failure {
        mishandled(self.kind, self.version, self.kind, complaint)
    }

    /// The failure of a body with fields that are unknown or given twice, where the client asked to be strict.
    pub fn strict_failure(&self, complaints: &[String]) -> Failure {
        self.mishandled(&strict_message(complaints))
    }
}

/// Reads a body and checks that it is an object of the expected kind. Built-in kinds may leave out `apiVersion` and
/// `kind`, which are then filled in.
pub fn decode_object(
    body: &[u8],
    format: BodyFormat,
    expected: &Expected<'_>,
    origin: Origin,
) -> Result<Decoded, Failure> {
    // Upstream breaks the connection here.
    if format == BodyFormat::Protobuf && origin == Origin::Custom {
        return Err(Failure::unsupported_media_type(&MEDIA_TYPES));
    }
    let mut decoded = decode(body, format).map_err(|error| match error {
        DecodeError::Number(_) => expected.mishandled(&error.message()),
        other => unrecognized(expected, &other.to_string(), body),
    })?;
    if decoded.value.is_null() && origin == Origin::BuiltIn {
        decoded.value = Value::Object(Map::new());
    }
    check_object(&mut decoded.value, expected, origin, body)?;
    Ok(decoded)
}

/// Checks that a value, such as the outcome of a patch, is an object of the expected kind.
pub fn check_object(value: &mut Value, expected: &Expected<'_>, origin: Origin, body: &[u8]) -> Result<(), Failure> {
    if value.is_null() {
        return Err(unrecognized(expected, &missing_kind(body), body));
    }
    let complaint = no_object(value);
    let Value::Object(object) = value else {
        return Err(unrecognized(expected, &complaint, body));
    };
    let found = Found::read(object).map_err(|complaint| unrecognized(expected, &complaint, body))?;
    match origin {
        Origin::Custom => check_custom(&found, object, expected, body),
        Origin::BuiltIn => {
            check_built_in(&found, expected)?;
            fill_in(object, expected);
            Ok(())
        }
    }
}

/// What a body says of itself; empty where it does not say.
struct Found {
    api_version: String,
    kind: String,
}

impl Found {
    fn read(object: &Map<String, Value>) -> Result<Self, String> {
        let text = |name: &str| match object.get(name) {
            None | Some(Value::Null) => Ok(String::new()),
            Some(Value::String(text)) => Ok(text.clone()),
            Some(other) => Err(no_kind(&format!(
                "json: cannot unmarshal {} into Go struct field .{name} of type string",
                type_word(other)
            ))),
        };
        let found = Self {
            api_version: text("apiVersion")?,
            kind: text("kind")?,
        };
        if found.api_version.matches('/').count() > 1 {
            return Err(format!("unexpected GroupVersion string: {}", found.api_version));
        }
        Ok(found)
    }

    fn version(&self) -> &str {
        self.api_version.rsplit('/').next().unwrap_or_default()
    }
}

fn check_custom(
    found: &Found,
    object: &Map<String, Value>,
    expected: &Expected<'_>,
    body: &[u8],
) -> Result<(), Failure> {
    if found.kind.is_empty() {
        return Err(unrecognized(expected, &missing_kind(body), body));
    }
    let wanted = expected.api_version();
    if found.api_version != wanted {
        return Err(Failure::bad_request(format!(
            "the API version in the data ({}) does not match the expected API version ({wanted})",
            found.api_version
        )));
    }
    if found.kind != expected.kind {
        let name = object.get("metadata").and_then(|metadata| metadata["name"].as_str());
        let error = FieldError::invalid("kind", found.kind.as_str(), format!("must be {}", expected.kind));
        let kind = GroupKind::new(expected.group, &found.kind);
        return Err(Failure::invalid(&kind, name.unwrap_or_default(), &[error]));
    }
    Ok(())
}

fn check_built_in(found: &Found, expected: &Expected<'_>) -> Result<(), Failure> {
    let wanted = expected.api_version();
    let has_version = found.api_version.is_empty() || found.api_version == wanted;
    let has_kind = found.kind.is_empty() || found.kind == expected.kind;
    if has_version && has_kind {
        return Ok(());
    }
    let kind = if found.kind.is_empty() {
        expected.kind
    } else {
        &found.kind
    };
    let (version, api_version) = if found.api_version.is_empty() {
        (expected.version, wanted.as_str())
    } else {
        (found.version(), found.api_version.as_str())
    };
    Err(mishandled(
        kind,
        version,
        expected.kind,
        &unregistered(kind, api_version),
    ))
}

fn fill_in(object: &mut Map<String, Value>, expected: &Expected<'_>) {
    for (name, value) in [
        ("apiVersion", expected.api_version()),
        ("kind", expected.kind.to_owned()),
    ] {
        let is_absent = object.get(name).and_then(Value::as_str).is_none_or(str::is_empty);
        if is_absent {
            object.insert(name.to_owned(), value.into());
        }
    }
}

/// The complaint about fields that are unknown or given twice.
pub fn strict_message(complaints: &[String]) -> String {
    let (from_yaml, plain): (Vec<&String>, Vec<&String>) =
        complaints.iter().partition(|text| text.starts_with("line "));
    let mut texts: Vec<String> = Vec::new();
    if !from_yaml.is_empty() {
        let lines: Vec<String> = from_yaml.iter().map(|line| format!("\n  {line}")).collect();
        texts.push(format!("yaml: unmarshal errors:{}", lines.concat()));
    }
    texts.extend(plain.into_iter().cloned());
    format!("strict decoding error: {}", texts.join(", "))
}

/// The failure of a patch whose outcome cannot be of the kind; the client is shown the outcome, or the patch.
pub fn invalid_patch(shown: String, complaint: &str) -> Failure {
    let error = FieldError::invalid("patch", shown, complaint);
    Failure::invalid(&GroupKind::default(), "", &[error])
}

fn mishandled(kind: &str, version: &str, expected: &str, complaint: &str) -> Failure {
    Failure::bad_request(format!(
        "{kind} in version {} cannot be handled as a {expected}: {complaint}",
        quote(version)
    ))
}

fn unrecognized(expected: &Expected<'_>, complaint: &str, body: &[u8]) -> Failure {
    Failure::bad_request(format!(
        "the object provided is unrecognized (must be of type {}): {complaint} ({})",
        expected.kind,
        excerpt(body)
    ))
}

fn missing_kind(body: &[u8]) -> String {
    format!("Object 'Kind' is missing in '{}'", String::from_utf8_lossy(body))
}

/// The complaint about a kind that is not known.
pub(crate) fn unregistered(kind: &str, api_version: &str) -> String {
    format!(
        "no kind {} is registered for version {} in scheme {}",
        quote(kind),
        quote(api_version),
        quote(SCHEME)
    )
}

/// The complaint about a body that is JSON but no object.
pub(crate) fn no_object(value: &Value) -> String {
    no_kind(&format!(
        "json: cannot unmarshal {} into Go value of type struct {{ APIVersion string \
         \"json:\\\"apiVersion,omitempty\\\"\"; Kind string \"json:\\\"kind,omitempty\\\"\" }}",
        type_word(value)
    ))
}

fn no_kind(message: &str) -> String {
    format!("couldn't get version/kind; json parse error: {message}")
}

/// What Go's decoder calls the type of a value.
pub(crate) fn type_word(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// The beginning of a body: as text if it looks like JSON, else in hexadecimal digits.
fn excerpt(body: &[u8]) -> String {
    let start = &body[..body.len().min(EXCERPT_BYTES)];
    let mut text = match start.first() {
        None => return "<empty>".to_owned(),
        Some(b'{') => String::from_utf8_lossy(start).into_owned(),
        Some(_) => hexadecimal(start),
    };
    if body.len() > EXCERPT_BYTES {
        text.push_str(" ...");
    }
    text
}

#[cfg(test)]
mod tests;
