//! YAML text to a value, as the conversion to JSON of upstream does it: the first document counts, `yes` and `on` are
//! booleans, and keys that are given twice are reported with their line. Error texts are those of our parser.

use hyperplane_schema::go_text::quote;
use serde::de::DeserializeSeed;
use serde_json::Value;
use serde_saphyr::{Error, Options, options::DuplicateKeyPolicy};

use crate::{
    decode::{DecodeError, Decoded},
    json_value::{self, Notes},
};

/// How deeply a body in block or flow style may nest. The parser recurses with frames of some 18 KiB in debug builds,
/// and a thread has 2 MiB; manifests that people write need a third of it. Bodies that are JSON have their own limit.
const MAXIMUM_DEPTH: usize = 64;
/// Aliases and anchors in one body; manifests have none or a few, and each may stand for a lot of text.
const MAXIMUM_ALIASES: usize = 1_000;
/// What aliases may grow to, counted in parts of the document.
const MAXIMUM_REPLAYED_EVENTS: usize = 100_000;
/// What aliases may grow to, counted in bytes of text: four times the largest body.
const MAXIMUM_TEXT_BYTES: usize = 12 * 1024 * 1024;

/// Reads the first document of a text. An empty text is null. Clients that apply send JSON under the name of YAML; it
/// is the same value, and the parser of JSON finds it much faster.
pub(crate) fn decode(text: &str) -> Result<Decoded, DecodeError> {
    if text.trim_ascii_start().starts_with('{')
        && let Ok(decoded) = json_value::decode(text)
        && decoded.duplicates.is_empty()
    {
        return Ok(decoded);
    }
    let text = first_document(text);
    let (value, duplicates) = match parse(text, DuplicateKeyPolicy::Error) {
        Ok(value) => (value, Vec::new()),
        Err(error) => match duplicate(&error) {
            Some(complaint) => (
                parse(text, DuplicateKeyPolicy::LastWins).map_err(|error| syntax(&error))?,
                vec![complaint],
            ),
            None => return Err(syntax(&error)),
        },
    };
    Ok(Decoded { value, duplicates })
}

fn parse(text: &str, duplicate_keys: DuplicateKeyPolicy) -> Result<Value, Error> {
    if text.trim().is_empty() {
        return Ok(Value::Null);
    }
    let mut notes = Notes::new(MAXIMUM_TEXT_BYTES);
    serde_saphyr::with_deserializer_from_str_with_options(text, limits(duplicate_keys), |reader| {
        notes.seed().deserialize(reader)
    })
}

fn limits(duplicate_keys: DuplicateKeyPolicy) -> Options {
    serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_depth: MAXIMUM_DEPTH,
            flow_nesting_limit: MAXIMUM_DEPTH,
            max_aliases: MAXIMUM_ALIASES,
            max_anchors: MAXIMUM_ALIASES,
        },
        alias_limits: serde_saphyr::alias_limits! {
            max_total_replayed_events: MAXIMUM_REPLAYED_EVENTS,
        },
        duplicate_keys: duplicate_keys,
        with_snippet: false,
    }
}

/// The text up to a line that starts a second document.
fn first_document(text: &str) -> &str {
    let mut has_content = false;
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let is_separator = line.strip_prefix("---").is_some_and(|rest| rest.trim().is_empty());
        if is_separator && has_content {
            return &text[..start];
        }
        let trimmed = line.trim();
        has_content |= !is_separator && !trimmed.is_empty() && !trimmed.starts_with('#');
        start += line.len();
    }
    text
}

fn duplicate(error: &Error) -> Option<String> {
    let Error::DuplicateMappingKey { key, location } = error.without_snippet() else {
        return None;
    };
    let key = quote(key.as_deref().unwrap_or_default());
    Some(format!("line {}: key {key} already set in map", location.line()))
}

fn syntax(error: &Error) -> DecodeError {
    let error = error.without_snippet();
    let cause = match error {
        Error::AliasError { error, .. } => error,
        other => other,
    };
    if matches!(cause, Error::AliasReplayLimitExceeded { .. }) {
        return DecodeError::Yaml("document contains excessive aliasing".to_owned());
    }
    match error.location() {
        Some(location) if location.line() > 0 => DecodeError::Yaml(format!("line {}: {error}", location.line())),
        _ => DecodeError::Yaml(error.to_string()),
    }
}
