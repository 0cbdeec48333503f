//! Quantities, versions and named formats.

use std::cmp::Ordering;
use std::rc::Rc;

use super::super::value::{Failure, Outcome, Value};
use super::semver::Semver;
use super::{Native, no_overload};
use crate::formats::Format;
use crate::go_net::Url;
use crate::quantity::Quantity;
use crate::{go_text, names};

const QUANTITY_WORDS: &str =
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";

pub(super) fn native(function: &str) -> Option<Native> {
    Some(match function {
        "quantity" => |arguments| match arguments {
            [Value::String(text)] => Quantity::parse(text)
                .map(Value::Quantity)
                .ok_or_else(|| Failure::new(QUANTITY_WORDS)),
            _ => no_overload(),
        },
        "isQuantity" => |arguments| match arguments {
            [Value::String(text)] => Ok(Value::Bool(Quantity::parse(text).is_some())),
            _ => no_overload(),
        },
        "sign" => |arguments| with_quantity(arguments, |quantity| Ok(Value::Int(quantity.sign()))),
        "asInteger" => |arguments| {
            with_quantity(arguments, |quantity| {
                quantity
                    .as_integer()
                    .map(Value::Int)
                    .ok_or_else(|| Failure::new("cannot convert value to integer"))
            })
        },
        "isInteger" => {
            |arguments| with_quantity(arguments, |quantity| Ok(Value::Bool(quantity.as_integer().is_some())))
        }
        "asApproximateFloat" => |arguments| with_quantity(arguments, |quantity| Ok(Value::Double(quantity.as_float()))),
        "add" => |arguments| combine(arguments, Quantity::add),
        "sub" => |arguments| combine(arguments, Quantity::subtract),
        "isGreaterThan" => |arguments| compare(arguments).map(|order| Value::Bool(order == Ordering::Greater)),
        "isLessThan" => |arguments| compare(arguments).map(|order| Value::Bool(order == Ordering::Less)),
        "compareTo" => |arguments| compare(arguments).map(|order| Value::Int(order as i64)),
        "semver" => |arguments| match arguments {
            [Value::String(text)] => version(text, false),
            [Value::String(text), Value::Bool(is_tolerant)] => version(text, *is_tolerant),
            _ => no_overload(),
        },
        "isSemver" => |arguments| match arguments {
            [Value::String(text)] => Ok(Value::Bool(version(text, false).is_ok())),
            [Value::String(text), Value::Bool(is_tolerant)] => Ok(Value::Bool(version(text, *is_tolerant).is_ok())),
            _ => no_overload(),
        },
        "major" => |arguments| with_version(arguments, |version| version.major),
        "minor" => |arguments| with_version(arguments, |version| version.minor),
        "patch" => |arguments| with_version(arguments, |version| version.patch),
        "format.named" => |arguments| match arguments {
            [Value::String(name)] => Ok(Value::optional(named(name).map(|(name, ..)| Value::Format(name)))),
            _ => no_overload(),
        },
        "validate" => validate,
        other => {
            return other
                .strip_prefix("format.")
                .and_then(named)
                .map(|(_, native, _)| *native);
        }
    })
}

fn with_quantity<'a>(arguments: &[Value<'a>], get: fn(Quantity) -> Outcome<Value<'a>>) -> Outcome<Value<'a>> {
    match arguments {
        [Value::Quantity(quantity)] => get(*quantity),
        _ => no_overload(),
    }
}

fn combine<'a>(arguments: &[Value<'a>], get: fn(Quantity, Quantity) -> Quantity) -> Outcome<Value<'a>> {
    match arguments {
        [Value::Quantity(first), Value::Quantity(second)] => Ok(Value::Quantity(get(*first, *second))),
        [Value::Quantity(first), Value::Int(second)] => {
            Ok(Value::Quantity(get(*first, Quantity::from_integer(*second))))
        }
        _ => no_overload(),
    }
}

fn compare(arguments: &[Value<'_>]) -> Outcome<Ordering> {
    match arguments {
        [Value::Quantity(first), Value::Quantity(second)] => Ok(first.cmp(second)),
        [Value::Semver(first), Value::Semver(second)] => Ok(first.compare(second)),
        _ => Err(Failure::no_overload()),
    }
}

fn version<'a>(text: &str, is_tolerant: bool) -> Outcome<Value<'a>> {
    let parsed = if is_tolerant {
        Semver::parse_tolerant(text)
    } else {
        Semver::parse(text)
    };
    parsed
        .map(|version| Value::Semver(Rc::new(version)))
        .map_err(Failure::new)
}

fn with_version<'a>(arguments: &[Value<'a>], get: fn(&Semver) -> u64) -> Outcome<Value<'a>> {
    match arguments {
        [Value::Semver(version)] => Ok(Value::Int(i64::try_from(get(version)).unwrap_or(i64::MAX))),
        _ => no_overload(),
    }
}

/// What is wrong with a text.
type Rule = fn(&str) -> Vec<String>;

/// The named formats, the function that gives each, and its rule.
const FORMATS: [(&str, Native, Rule); 13] = [
    (
        "dns1123Label",
        |_| Ok(Value::Format("dns1123Label")),
        names::dns_1123_label,
    ),
    (
        "dns1123Subdomain",
        |_| Ok(Value::Format("dns1123Subdomain")),
        names::dns_1123_subdomain,
    ),
    (
        "dns1035Label",
        |_| Ok(Value::Format("dns1035Label")),
        names::dns_1035_label,
    ),
    (
        "qualifiedName",
        |_| Ok(Value::Format("qualifiedName")),
        names::qualified_name,
    ),
    (
        "dns1123LabelPrefix",
        |_| Ok(Value::Format("dns1123LabelPrefix")),
        |text| names::name_is_label(text, true),
    ),
    (
        "dns1123SubdomainPrefix",
        |_| Ok(Value::Format("dns1123SubdomainPrefix")),
        |text| names::name_is_subdomain(text, true),
    ),
    (
        "dns1035LabelPrefix",
        |_| Ok(Value::Format("dns1035LabelPrefix")),
        |text| names::name_is_dns_1035_label(text, true),
    ),
    ("labelValue", |_| Ok(Value::Format("labelValue")), names::label_value),
    ("uri", |_| Ok(Value::Format("uri")), uri_error),
    (
        "uuid",
        |_| Ok(Value::Format("uuid")),
        |text| by_format(Format::Uuid(None), text, "does not match the UUID format"),
    ),
    (
        "byte",
        |_| Ok(Value::Format("byte")),
        |text| by_format(Format::Byte, text, "invalid base64"),
    ),
    (
        "date",
        |_| Ok(Value::Format("date")),
        |text| by_format(Format::Date, text, "invalid date"),
    ),
    (
        "datetime",
        |_| Ok(Value::Format("datetime")),
        |text| by_format(Format::DateTime, text, "invalid datetime"),
    ),
];

fn named(name: &str) -> Option<&'static (&'static str, Native, Rule)> {
    FORMATS.iter().find(|(known, ..)| *known == name)
}

fn uri_error(text: &str) -> Vec<String> {
    match Url::parse_request(text) {
        Ok(_) => Vec::new(),
        Err(error) => vec![format!("parse {}: {error}", go_text::quote(text))],
    }
}

fn by_format(format: Format, text: &str, words: &str) -> Vec<String> {
    if format.accepts(text) {
        Vec::new()
    } else {
        vec![words.to_owned()]
    }
}

fn validate<'a>(arguments: &[Value<'a>]) -> Outcome<Value<'a>> {
    let [Value::Format(name), Value::String(text)] = arguments else {
        return no_overload();
    };
    let Some((_, _, rule)) = named(name) else {
        return no_overload();
    };
    let complaints = rule(text);
    let found = (!complaints.is_empty()).then(|| Value::list(complaints.into_iter().map(Value::text).collect()));
    Ok(Value::optional(found))
}
