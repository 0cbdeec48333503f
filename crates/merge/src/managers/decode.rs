//! Entries of managedFields, read as strictly as upstream reads them.

use std::borrow::Cow;

use jiff::Timestamp;
use serde_json::{Map, Value};

use super::{Entry, Identity, Managers, list_of};
use crate::{author::format_time, conflict::Operation, go, set};

/// Why entries cannot be read. Clients may write anything there, so this is a normal thing to happen.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub(crate) enum Unreadable {
    #[error("managedFields must be a list of entries")]
    NotEntries,
    #[error("operation must be `Apply` or `Update`")]
    Operation,
    #[error("apiVersion must not be empty")]
    ApiVersion,
    #[error("missing fieldsType in managed fields entry {0}")]
    MissingFieldsType(usize),
    #[error("invalid fieldsType {kind} in managed fields entry {index}", kind = go::quote(.0), index = .1)]
    FieldsType(String, usize),
    #[error("error decoding versioned set from managed fields entry {0}")]
    Fields(usize),
    #[error("invalid time in managed fields entry {0}")]
    Time(usize),
}

/// The entries of an object, empty when it has none.
pub(crate) fn entries_of(object: &Value) -> Result<Managers<'_>, Unreadable> {
    decode(list_of(object))
}

/// Reads a list of entries. Of two with the same identity the last one holds.
pub(crate) fn decode(list: &Value) -> Result<Managers<'_>, Unreadable> {
    let entries = match list {
        Value::Null => return Ok(Managers::new()),
        Value::Array(entries) => entries,
        _ => return Err(Unreadable::NotEntries),
    };
    let mut managers = Managers::new();
    for (index, entry) in entries.iter().enumerate() {
        let (identity, entry) = decode_entry(index, entry.as_object().ok_or(Unreadable::NotEntries)?)?;
        managers.insert(identity, entry);
    }
    Ok(managers)
}

fn decode_entry(index: usize, fields: &Map<String, Value>) -> Result<(Identity<'_>, Entry<'_>), Unreadable> {
    let operation = match text(fields, "operation")? {
        "Apply" => Operation::Apply,
        "Update" => Operation::Update,
        _ => return Err(Unreadable::Operation),
    };
    let api_version = Some(text(fields, "apiVersion")?)
        .filter(|version| !version.is_empty())
        .ok_or(Unreadable::ApiVersion)?;
    match text(fields, "fieldsType")? {
        "FieldsV1" => {}
        "" => return Err(Unreadable::MissingFieldsType(index)),
        other => return Err(Unreadable::FieldsType(other.to_owned(), index)),
    }
    let (set, fields_canonical) = match fields.get("fieldsV1") {
        None | Some(Value::Null) => (set::Set::default(), false),
        Some(document) => {
            let decoded = set::decode(document).ok_or(Unreadable::Fields(index))?;
            (decoded.set, decoded.canonical)
        }
    };
    let time = read_time(fields, index)?;
    let identity = Identity::new(
        text(fields, "manager")?,
        operation,
        api_version,
        text(fields, "subresource")?,
    );
    let canonical = fields_canonical && !matches!(time, Some(Cow::Owned(_))) && is_canonical(fields);
    Ok((
        identity,
        Entry {
            origin: canonical.then_some(index),
            ..Entry::new(api_version, time, set)
        },
    ))
}

fn text<'a>(fields: &'a Map<String, Value>, name: &str) -> Result<&'a str, Unreadable> {
    match fields.get(name) {
        None | Some(Value::Null) => Ok(""),
        Some(Value::String(text)) => Ok(text),
        Some(_) => Err(Unreadable::NotEntries),
    }
}

/// The time in the form in which it is written.
fn read_time(fields: &Map<String, Value>, index: usize) -> Result<Option<Cow<'_, str>>, Unreadable> {
    match fields.get("time") {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(time)) if is_written_time(time) => Ok(Some(Cow::Borrowed(time))),
        Some(Value::String(time)) => {
            let time = time.parse::<Timestamp>().map_err(|_| Unreadable::Time(index))?;
            Ok(Some(Cow::Owned(format_time(time))))
        }
        Some(_) => Err(Unreadable::Time(index)),
    }
}

/// Whether a time has the form `2006-01-02T15:04:05Z`, in which the order of texts is the order of times.
fn is_written_time(time: &str) -> bool {
    const FORM: &[u8; 20] = b"0000-00-00T00:00:00Z";
    let same_form = |(byte, form): (&u8, &u8)| {
        if *form == b'0' {
            byte.is_ascii_digit()
        } else {
            byte == form
        }
    };
    time.len() == FORM.len() && time.as_bytes().iter().zip(FORM).all(same_form) && time.parse::<Timestamp>().is_ok()
}

/// Whether an entry has just the fields that it is written with.
fn is_canonical(fields: &Map<String, Value>) -> bool {
    fields.iter().all(|(name, value)| match name.as_str() {
        "apiVersion" | "fieldsType" | "fieldsV1" | "operation" | "time" => !value.is_null(),
        "manager" | "subresource" => value.as_str().is_some_and(|text| !text.is_empty()),
        _ => false,
    })
}

/// Whether a client asks to forget all owners: an empty list, or one empty entry.
pub(crate) fn is_reset(list: &Value) -> bool {
    let is_blank = |value: &Value| value.is_null() || value.as_str().is_some_and(str::is_empty);
    match list.as_array().map(Vec::as_slice) {
        Some([]) => true,
        Some([only]) => only.as_object().is_some_and(|fields| fields.values().all(is_blank)),
        _ => false,
    }
}
