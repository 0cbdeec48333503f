//! What Go's decoder says about a body that does not fit the type of a built-in kind. The type of a string that Go gave
//! a name (`v1.RestartPolicy`) is not in the published documents, so such a field is said to be a `string`.

use serde_json::{Number, Value};

use crate::node::{Additional, Arena, Node, NodeId, Special, Type};
use crate::quantity::Quantity;
use crate::{go_text, go_time};

const QUANTITY_WORDS: &str =
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
const TIME_LAYOUT: &str = "2006-01-02T15:04:05Z07:00";
const MICRO_TIME_LAYOUT: &str = "2006-01-02T15:04:05.000000Z07:00";

/// The first thing at or below the value that cannot be decoded.
pub(crate) fn type_error(arena: &Arena, root: NodeId, value: &Value) -> Option<String> {
    let place = Place {
        owner: arena[root].go.as_ref().map_or("", |go| go.name.as_str()),
        parent: None,
        name: "",
    };
    Decoder { arena }.value(root, value, &place)
}

/// The JSON type of a value as Go names it.
pub(crate) fn json_word(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// Where the decoder is: the structure that holds the field, and the fields on the way, without indexes and keys.
struct Place<'a> {
    owner: &'a str,
    parent: Option<&'a Place<'a>>,
    name: &'a str,
}

impl Place<'_> {
    fn path(&self) -> String {
        match self.parent {
            None => String::new(),
            Some(parent) if parent.parent.is_none() => self.name.to_owned(),
            Some(parent) => format!("{}.{}", parent.path(), self.name),
        }
    }

    fn mismatch(&self, found: &str, expected: &str) -> String {
        if self.parent.is_none() {
            return format!("json: cannot unmarshal {found} into Go value of type {expected}");
        }
        format!(
            "json: cannot unmarshal {found} into Go struct field {}.{} of type {expected}",
            self.owner,
            self.path()
        )
    }
}

struct Decoder<'a> {
    arena: &'a Arena,
}

impl Decoder<'_> {
    fn value(&self, id: NodeId, value: &Value, place: &Place<'_>) -> Option<String> {
        let node = &self.arena[id];
        if value.is_null() {
            return None;
        }
        match node.special {
            Special::None => self.plain(id, node, value, place),
            Special::Quantity => quantity_error(value),
            Special::Time => time_error(value, TIME_LAYOUT, place),
            Special::MicroTime => time_error(value, MICRO_TIME_LAYOUT, place),
            Special::IntOrString => match value {
                Value::String(_) => None,
                Value::Number(number) => integer_error(number, "int32", place),
                other => Some(place.mismatch(json_word(other), "int32")),
            },
            Special::Bytes => match value {
                Value::String(text) => base64_error(text),
                other => Some(place.mismatch(json_word(other), "[]uint8")),
            },
        }
    }

    fn plain(&self, id: NodeId, node: &Node, value: &Value, place: &Place<'_>) -> Option<String> {
        match (node.kind, value) {
            (Type::Any | Type::IntegerOrString, _)
            | (Type::String, Value::String(_))
            | (Type::Boolean, Value::Bool(_))
            | (Type::Number, Value::Number(_)) => None,
            (Type::Integer, Value::Number(number)) => integer_error(number, &self.go_type(id), place),
            (Type::Array, Value::Array(entries)) => {
                let items = node.items?;
                entries.iter().find_map(|entry| self.value(items, entry, place))
            }
            (Type::Object, Value::Object(fields)) => {
                let owner = node.go.as_ref().map_or(place.owner, |go| go.name.as_str());
                fields
                    .iter()
                    .find_map(|(name, field)| match (node.properties.get(name), node.additional) {
                        (Some(child), _) => {
                            let place = Place {
                                owner,
                                parent: Some(place),
                                name,
                            };
                            self.value(*child, field, &place)
                        }
                        (None, Additional::Schema(child)) => self.value(child, field, place),
                        _ => None,
                    })
            }
            (_, other) => Some(place.mismatch(json_word(other), &self.go_type(id))),
        }
    }

    fn go_type(&self, id: NodeId) -> String {
        let node = &self.arena[id];
        if let Some(go) = &node.go {
            return format!("{}.{}", go.package, go.name);
        }
        match (node.kind, node.special) {
            (_, Special::Bytes) => "[]uint8".to_owned(),
            (Type::Array, _) => format!(
                "[]{}",
                node.items
                    .map_or_else(|| "interface {}".to_owned(), |id| self.go_type(id))
            ),
            (Type::Object, _) => match node.additional {
                Additional::Schema(id) => format!("map[string]{}", self.go_type(id)),
                _ => "map[string]interface {}".to_owned(),
            },
            (Type::Integer, _) if node.checks.format_name == "int32" => "int32".to_owned(),
            (Type::Integer, _) => "int64".to_owned(),
            (Type::Number, _) => "float64".to_owned(),
            (Type::Boolean, _) => "bool".to_owned(),
            _ => "string".to_owned(),
        }
    }
}

fn integer_error(number: &Number, kind: &str, place: &Place<'_>) -> Option<String> {
    let fits = number
        .as_i64()
        .is_some_and(|integer| kind != "int32" || i32::try_from(integer).is_ok());
    let text = || go_text::json(&Value::Number(number.clone()));
    (!fits).then(|| place.mismatch(&format!("number {}", text()), kind))
}

fn quantity_error(value: &Value) -> Option<String> {
    let is_quantity = match value {
        Value::String(text) => Quantity::parse(text).is_some(),
        Value::Number(_) => true,
        _ => false,
    };
    (!is_quantity).then(|| QUANTITY_WORDS.to_owned())
}

fn time_error(value: &Value, layout: &str, place: &Place<'_>) -> Option<String> {
    let Value::String(text) = value else {
        return Some(place.mismatch(json_word(value), "string"));
    };
    if text.is_empty() || go_time::parse_rfc3339(text).is_some() {
        return None;
    }
    Some(unparsable_time(text, layout))
}

/// Go names the part of the layout at which it gave up.
fn unparsable_time(text: &str, layout: &str) -> String {
    const PARTS: [(&str, usize); 11] = [
        ("2006", 4),
        ("-", 1),
        ("01", 2),
        ("-", 1),
        ("02", 2),
        ("T", 1),
        ("15", 2),
        (":", 1),
        ("04", 2),
        (":", 1),
        ("05", 2),
    ];
    let quoted = go_text::quote(text);
    let mut rest = text;
    for (part, length) in PARTS {
        let found = rest.get(..length);
        let is_number = part.starts_with(|character: char| character.is_ascii_digit());
        let is_right = match found {
            Some(found) if is_number => found.bytes().all(|byte| byte.is_ascii_digit()),
            Some(found) => found == part,
            None => false,
        };
        if !is_right {
            return format!(
                "parsing time {quoted} as \"{layout}\": cannot parse {} as \"{part}\"",
                go_text::quote(rest)
            );
        }
        rest = &rest[length..];
    }
    if rest.is_empty() || !rest.starts_with(['Z', '+', '-', '.']) {
        return format!(
            "parsing time {quoted} as \"{layout}\": cannot parse {} as \"Z07:00\"",
            go_text::quote(rest)
        );
    }
    let number = |range: std::ops::Range<usize>| {
        text.get(range)
            .and_then(|part| part.parse::<u32>().ok())
            .unwrap_or_default()
    };
    let part = if !(1..=12).contains(&number(5..7)) {
        "month"
    } else if number(11..13) > 23 {
        "hour"
    } else if number(14..16) > 59 {
        "minute"
    } else if number(17..19) > 59 {
        "second"
    } else {
        "day"
    };
    format!("parsing time {quoted}: {part} out of range")
}

fn base64_error(text: &str) -> Option<String> {
    if text.is_empty() || crate::formats::is_base64(text) {
        return None;
    }
    let is_alphabet = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    let at = text
        .bytes()
        .position(|byte| !is_alphabet(byte))
        .unwrap_or(text.len() / 4 * 4);
    Some(format!("illegal base64 data at input byte {at}"))
}
