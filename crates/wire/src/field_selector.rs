//! Field selectors: how they are read, printed and matched (apimachinery, fields/selector.go), and which fields of a
//! kind may be named.

use std::{borrow::Cow, fmt, str::FromStr};

use hyperplane_kinds::Resource;
use hyperplane_schema::go_text::quote;
use serde_json::Value;

use crate::{Failure, Origin};

/// One part of a field selector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldRequirement {
    /// The field as the client names it.
    pub field: String,
    /// Whether the field must have the value, or must not.
    pub is_equal: bool,
    /// The value.
    pub value: String,
}

impl fmt::Display for FieldRequirement {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let operator = if self.is_equal { "=" } else { "!=" };
        write!(formatter, "{}{operator}{}", self.field, escape(&self.value))
    }
}

/// A field selector: all of its requirements must be met.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldSelector {
    /// The requirements, in the order of their texts.
    pub requirements: Vec<FieldRequirement>,
}

impl FieldSelector {
    /// Whether it selects everything.
    pub fn is_empty(&self) -> bool {
        self.requirements.is_empty()
    }

    /// The value that a field must have, if the selector says so.
    pub fn requires(&self, field: &str) -> Option<&str> {
        self.requirements
            .iter()
            .find(|requirement| requirement.is_equal && requirement.field == field)
            .map(|requirement| requirement.value.as_str())
    }

    /// The name that every match has: a list with such a selector is a lookup.
    pub fn requires_name(&self) -> Option<&str> {
        self.requires("metadata.name")
    }

    /// Refuses fields that a kind does not offer.
    pub fn check(&self, resource: &Resource, origin: Origin) -> Result<(), Failure> {
        let unknown = self.requirements.iter().find(|requirement| {
            let is_common = matches!(requirement.field.as_str(), "metadata.name" | "metadata.namespace");
            let mut known = resource.selectable_fields.iter().map(|selectable| &selectable.label);
            !is_common && !known.any(|label| *label == requirement.field)
        });
        match unknown {
            None => Ok(()),
            Some(requirement) => Err(Failure::bad_request(unsupported(&requirement.field, resource, origin))),
        }
    }

    /// Whether fields that are looked up one by one match.
    pub fn matches_with<'a>(&self, field: impl Fn(&str) -> Cow<'a, str>) -> bool {
        self.requirements
            .iter()
            .all(|requirement| (field(&requirement.field) == requirement.value) == requirement.is_equal)
    }

    /// Whether an object of a kind matches.
    pub fn matches(&self, resource: &Resource, object: &Value) -> bool {
        self.matches_with(|field| field_of(resource, object, field))
    }
}

impl FromStr for FieldSelector {
    type Err = Failure;

    fn from_str(text: &str) -> Result<Self, Failure> {
        let mut terms = split_terms(text);
        terms.sort_unstable();
        let requirements = terms
            .into_iter()
            .filter(|term| !term.is_empty())
            .map(|term| requirement(text, term))
            .collect::<Result<_, _>>()?;
        Ok(Self { requirements })
    }
}

impl fmt::Display for FieldSelector {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let texts: Vec<String> = self.requirements.iter().map(ToString::to_string).collect();
        formatter.write_str(&texts.join(","))
    }
}

/// Upstream has three wordings: kinds with fields of their own, Jobs, and everything else that is built in.
fn unsupported(field: &str, resource: &Resource, origin: Origin) -> String {
    if resource.group == "batch" && resource.kind == "Job" {
        format!("field label {} not supported for Job", quote(field))
    } else if origin == Origin::BuiltIn && resource.selectable_fields.is_empty() {
        format!(
            "{} is not a known field selector: only \"metadata.name\", \"metadata.namespace\"",
            quote(field)
        )
    } else {
        format!("field label not supported: {field}")
    }
}

fn field_of<'a>(resource: &'a Resource, object: &'a Value, field: &str) -> Cow<'a, str> {
    match field {
        "metadata.name" => text_of(&object["metadata"]["name"]),
        "metadata.namespace" => text_of(&object["metadata"]["namespace"]),
        _ => {
            let Some(selectable) = resource.selectable_fields.iter().find(|known| known.label == field) else {
                return Cow::Borrowed("");
            };
            let found = selectable
                .paths
                .iter()
                .map(|path| text_at(object, path))
                .find(|text| !text.is_empty());
            found.unwrap_or(Cow::Borrowed(&selectable.default))
        }
    }
}

fn text_at<'a>(object: &'a Value, path: &[String]) -> Cow<'a, str> {
    let found = path.iter().try_fold(object, |value, name| value.get(name));
    found.map_or(Cow::Borrowed(""), text_of)
}

/// Scalars as text; what is absent or no scalar is the empty text.
fn text_of(value: &Value) -> Cow<'_, str> {
    match value {
        Value::String(text) => Cow::Borrowed(text),
        Value::Bool(flag) => Cow::Borrowed(if *flag { "true" } else { "false" }),
        Value::Number(number) => Cow::Owned(number.to_string()),
        _ => Cow::Borrowed(""),
    }
}

/// Splits at commas that no backslash precedes.
fn split_terms(text: &str) -> Vec<&str> {
    let mut terms = Vec::new();
    let mut start = 0;
    let mut is_escaped = false;
    for (index, character) in text.char_indices() {
        if is_escaped {
            is_escaped = false;
        } else if character == '\\' {
            is_escaped = true;
        } else if character == ',' {
            terms.push(&text[start..index]);
            start = index + 1;
        }
    }
    terms.push(&text[start..]);
    terms
}

fn requirement(selector: &str, term: &str) -> Result<FieldRequirement, Failure> {
    let (field, is_equal, value) = split_term(term)
        .ok_or_else(|| Failure::bad_request(format!("invalid selector: '{selector}'; can't understand '{term}'")))?;
    Ok(FieldRequirement {
        field: field.to_owned(),
        is_equal,
        value: unescape(value).map_err(Failure::bad_request)?,
    })
}

/// Splits at the first operator; the left side knows no escapes.
fn split_term(term: &str) -> Option<(&str, bool, &str)> {
    let at = term.find('=')?;
    match term[..at].strip_suffix('!') {
        Some(field) => Some((field, false, &term[at + 1..])),
        None => Some((
            &term[..at],
            true,
            term[at + 1..].strip_prefix('=').unwrap_or(&term[at + 1..]),
        )),
    }
}

fn escape(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    for character in value.chars() {
        if matches!(character, '\\' | ',' | '=') {
            out.push('\\');
        }
        out.push(character);
    }
    out
}

fn unescape(value: &str) -> Result<String, String> {
    let mut out = String::with_capacity(value.len());
    let mut characters = value.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => match characters.next() {
                Some(escaped @ ('\\' | ',' | '=')) => out.push(escaped),
                Some(other) => return Err(format!("invalid field selector: invalid escape sequence: \\{other}")),
                None => return Err("invalid field selector: invalid escape sequence: \\".to_owned()),
            },
            ',' | '=' => {
                return Err(format!(
                    "invalid field selector: unescaped character in value: {}",
                    u32::from(character)
                ));
            }
            other => out.push(other),
        }
    }
    Ok(out)
}
