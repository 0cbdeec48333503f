//! Patterns: JSON with holes, and whether a value fits. It knows nothing of HTTP.
//!
//! - An object fits when each field of the pattern fits; it may hold more. A list fits item by item and in length.
//! - `{"${some}": [a, b]}` fits a list in which some item fits `a` and some item fits `b`.
//! - `${absent}` fits a field that is not there.
//! - `${any}`, `${uid}`, `${rv}` and `${time}` fit what their name says, also inside of a longer text; `${any}` alone
//!   fits any value that is there. With a name, as in `${rv:before}`, what was seen is kept as a variable.
//! - `${newer:before}` fits a resource version that is greater than the variable.
//! - `${before}` fits the variable itself.

use regex::Regex;
use serde_json::Value;

use crate::{
    difference::{Difference, Path},
    variables::Variables,
};

/// The shape of a uid.
pub const UID: &str = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}";
/// The shape of a resource version: decimal, no leading zero, never "0".
pub const REVISION: &str = "[1-9][0-9]*";
/// The shape of a time, with or without a fraction of a second.
pub const TIME: &str = r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,9})?Z";

const SOME: &str = "${some}";
const ABSENT: &str = "${absent}";

/// Compares a value with a pattern, keeps what named holes saw, and says where the value does not fit.
pub fn check(pattern: &Value, value: Option<&Value>, variables: &mut Variables) -> Vec<Difference> {
    let mut differences = Vec::new();
    check_at(&Path::root(), pattern, value, variables, &mut differences);
    differences
}

fn check_at(
    path: &Path,
    pattern: &Value,
    value: Option<&Value>,
    variables: &mut Variables,
    found: &mut Vec<Difference>,
) {
    match (pattern, value) {
        (Value::Object(fields), Some(Value::Array(items))) if fields.contains_key(SOME) => {
            check_some(path, &fields[SOME], items, variables, found);
        }
        (Value::Object(fields), Some(Value::Object(actual))) => {
            for (key, field) in fields {
                let key = variables.in_text(key);
                check_at(&path.field(&key), field, actual.get(&key), variables, found);
            }
        }
        (Value::Array(items), Some(Value::Array(actual))) if items.len() == actual.len() => {
            for (index, (item, value)) in items.iter().zip(actual).enumerate() {
                check_at(&path.index(index), item, Some(value), variables, found);
            }
        }
        (Value::String(text), _) if fits(text, value, variables) => {}
        (pattern, Some(value)) if is_scalar(pattern) && pattern == value => {}
        _ => found.push(Difference::new(path, Some(pattern), value)),
    }
}

fn is_scalar(value: &Value) -> bool {
    matches!(value, Value::Null | Value::Bool(_) | Value::Number(_))
}

/// Each pattern must fit some item; an item may serve several.
fn check_some(path: &Path, patterns: &Value, items: &[Value], variables: &mut Variables, found: &mut Vec<Difference>) {
    for pattern in patterns.as_array().into_iter().flatten() {
        let fitting = items.iter().find_map(|item| {
            let mut seen = variables.clone();
            check(pattern, Some(item), &mut seen).is_empty().then_some(seen)
        });
        match fitting {
            Some(seen) => *variables = seen,
            None => found.push(Difference::new(
                path,
                Some(pattern),
                Some(&Value::Array(items.to_vec())),
            )),
        }
    }
}

/// Whether a value fits a text with holes.
fn fits(pattern: &str, value: Option<&Value>, variables: &mut Variables) -> bool {
    let Some(value) = value else {
        return pattern == ABSENT;
    };
    if let Some(hole) = whole_hole(pattern)
        && hole.kind == "any"
    {
        keep(variables, hole.name, &plain(value));
        return true;
    }
    value.as_str().is_some_and(|text| fits_text(pattern, text, variables))
}

/// Whether a text fits a text with holes.
pub fn fits_text(pattern: &str, text: &str, variables: &mut Variables) -> bool {
    let template = Template::parse(pattern, variables);
    let Some(captures) = template.regex.captures(text) else {
        return false;
    };
    for (index, hole) in template.holes.iter().enumerate() {
        let seen = captures.get(index + 1).map_or("", |group| group.as_str());
        if hole.kind == "newer" {
            if !is_newer(seen, variables.get(&hole.name)) {
                return false;
            }
        } else {
            keep(variables, &hole.name, seen);
        }
    }
    true
}

fn keep(variables: &mut Variables, name: impl AsRef<str>, seen: &str) {
    if !name.as_ref().is_empty() {
        variables.set(name.as_ref(), seen);
    }
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn is_newer(seen: &str, before: Option<&str>) -> bool {
    let number = |text: &str| text.parse::<u64>().ok();
    match (number(seen), before.and_then(number)) {
        (Some(seen), Some(before)) => seen > before,
        _ => false,
    }
}

/// A hole of a text: its kind, and the name under which what it saw is kept, if it has one.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Hole<T> {
    kind: T,
    name: T,
}

fn whole_hole(pattern: &str) -> Option<Hole<&str>> {
    let inner = pattern.strip_prefix("${")?.strip_suffix('}')?;
    let (kind, name) = inner.split_once(':').unwrap_or((inner, ""));
    (!inner.contains('}')).then_some(Hole { kind, name })
}

/// A text with holes as a regular expression; group n + 1 is hole n.
struct Template {
    regex: Regex,
    holes: Vec<Hole<String>>,
}

impl Template {
    fn parse(pattern: &str, variables: &Variables) -> Self {
        let mut source = String::from("(?s)^");
        let mut holes = Vec::new();
        let mut rest = pattern;
        while let Some(start) = rest.find("${") {
            source += &regex::escape(&rest[..start]);
            let Some(end) = rest[start..].find('}') else {
                break;
            };
            let hole = whole_hole(&rest[start..=start + end]).expect("it begins and ends as a hole");
            match shape(hole.kind) {
                Some(shape) => {
                    source.extend(["(", shape, ")"]);
                    holes.push(Hole {
                        kind: hole.kind.to_owned(),
                        name: hole.name.to_owned(),
                    });
                }
                None => source += &regex::escape(&variables.in_text(&rest[start..=start + end])),
            }
            rest = &rest[start + end + 1..];
        }
        source += &regex::escape(rest);
        source.push('$');
        let regex = Regex::new(&source).expect("escaped text and fixed shapes are a regular expression");
        Self { regex, holes }
    }
}

fn shape(kind: &str) -> Option<&'static str> {
    Some(match kind {
        "any" => ".*?",
        "uid" => UID,
        "rv" | "newer" => REVISION,
        "time" => TIME,
        _ => return None,
    })
}

#[cfg(test)]
mod tests;
