//! Strings and patterns.

use super::super::value::{Failure, Outcome, Text, Value};
use super::{MAX_RESULT, Native, count, format, no_overload};
use crate::go_regex;

pub(super) fn native(function: &str) -> Option<Native> {
    Some(match function {
        "size" => |arguments| match arguments {
            [
                value @ (Value::String(_)
                | Value::Bytes(_)
                | Value::Entries(_)
                | Value::List(_)
                | Value::Fields(_)
                | Value::Map(_)),
            ] => Ok(Value::Int(i64::try_from(value.size()).unwrap_or(i64::MAX))),
            _ => Err(Failure::new("no such overload: size")),
        },
        "contains" => |arguments| test(arguments, |text, part| text.contains(part)),
        "startsWith" => |arguments| test(arguments, |text, part| text.starts_with(part)),
        "endsWith" => |arguments| test(arguments, |text, part| text.ends_with(part)),
        "charAt" => char_at,
        "lowerAscii" => |arguments| map(arguments, str::to_ascii_lowercase),
        "upperAscii" => |arguments| map(arguments, str::to_ascii_uppercase),
        "trim" => |arguments| map(arguments, |text| text.trim().to_owned()),
        "strings.quote" => |arguments| map(arguments, quote),
        "replace" => replace,
        "split" => split,
        "substring" => substring,
        "join" => join,
        "format" => format::format,
        "matches" => matches,
        "find" => find,
        "findAll" => find_all,
        _ => return None,
    })
}

fn test<'a>(arguments: &[Value<'a>], holds: fn(&str, &str) -> bool) -> Outcome<Value<'a>> {
    match arguments {
        [Value::String(text), Value::String(part)] => Ok(Value::Bool(holds(text, part))),
        _ => no_overload(),
    }
}

fn map<'a>(arguments: &[Value<'a>], change: fn(&str) -> String) -> Outcome<Value<'a>> {
    match arguments {
        [Value::String(text)] => Ok(Value::text(change(text))),
        _ => no_overload(),
    }
}

fn out_of_range(index: i64) -> Failure {
    Failure::new(format!("index out of range: {index}"))
}

fn char_at<'a>(arguments: &[Value<'a>]) -> Outcome<Value<'a>> {
    let [Value::String(text), Value::Int(index)] = arguments else {
        return no_overload();
    };
    let place = usize::try_from(*index).map_err(|_| out_of_range(*index))?;
    match text.chars().nth(place) {
        Some(character) => Ok(Value::text(character)),
        None if place == text.chars().count() => Ok(Value::text("")),
        None => Err(out_of_range(*index)),
    }
}

fn quote(text: &str) -> String {
    let mut quoted = String::from("\"");
    for character in text.chars() {
        match character {
            '\u{7}' => quoted.push_str("\\a"),
            '\u{8}' => quoted.push_str("\\b"),
            '\u{c}' => quoted.push_str("\\f"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            '\u{b}' => quoted.push_str("\\v"),
            '\\' => quoted.push_str("\\\\"),
            '"' => quoted.push_str("\\\""),
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}

fn replace<'a>(arguments: &[Value<'a>]) -> Outcome<Value<'a>> {
    let (text, old, new, limit) = match arguments {
        [Value::String(text), Value::String(old), Value::String(new)] => (text, old, new, -1),
        [
            Value::String(text),
            Value::String(old),
            Value::String(new),
            Value::Int(limit),
        ] => (text, old, new, *limit),
        _ => return no_overload(),
    };
    let found = if old.is_empty() {
        text.chars().count() + 1
    } else {
        text.matches(&**old).count()
    };
    let times = usize::try_from(limit).map_or(found, |limit| limit.min(found));
    if times.saturating_mul(new.len()).saturating_add(text.len()) > MAX_RESULT {
        return Err(Failure::TooCostly);
    }
    Ok(Value::text(text.replacen(&**old, new, times)))
}

fn split<'a>(arguments: &[Value<'a>]) -> Outcome<Value<'a>> {
    let (text, separator, limit) = match arguments {
        [Value::String(text), Value::String(separator)] => (text, separator, -1),
        [Value::String(text), Value::String(separator), Value::Int(limit)] => (text, separator, *limit),
        _ => return no_overload(),
    };
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    if limit == 0 {
        return Ok(Value::list(Vec::new()));
    }
    let parts: Vec<Value<'a>> = if separator.is_empty() {
        split_characters(text, limit)
    } else {
        text.splitn(limit, &**separator).map(Value::text).collect()
    };
    Ok(Value::list(parts))
}

/// Each character; the last part holds what is beyond the limit.
fn split_characters<'a>(text: &str, limit: usize) -> Vec<Value<'a>> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some(character) = rest.chars().next() {
        if parts.len() + 1 == limit {
            parts.push(Value::text(rest));
            return parts;
        }
        parts.push(Value::text(character));
        rest = &rest[character.len_utf8()..];
    }
    parts
}

fn substring<'a>(arguments: &[Value<'a>]) -> Outcome<Value<'a>> {
    let (text, start, end) = match arguments {
        [Value::String(text), Value::Int(start)] => (text, *start, None),
        [Value::String(text), Value::Int(start), Value::Int(end)] => (text, *start, Some(*end)),
        _ => return no_overload(),
    };
    if let Some(end) = end.filter(|end| start > *end) {
        return Err(Failure::new(format!(
            "invalid substring range. start: {start}, end: {end}"
        )));
    }
    let length = text.chars().count();
    let place = |index: i64| {
        usize::try_from(index)
            .ok()
            .filter(|place| *place <= length)
            .ok_or_else(|| out_of_range(index))
    };
    let from = place(start)?;
    let to = end.map_or(Ok(length), place)?;
    Ok(Value::text(text.chars().skip(from).take(to - from).collect::<String>()))
}

fn join<'a>(arguments: &[Value<'a>]) -> Outcome<Value<'a>> {
    let empty = Text::Borrowed("");
    let (list, separator) = match arguments {
        [list] => (list, &empty),
        [list, Value::String(separator)] => (list, separator),
        _ => return no_overload(),
    };
    let Some(items) = list.items() else {
        return no_overload();
    };
    let mut joined = String::new();
    for (index, item) in items.enumerate() {
        let Value::String(item) = item? else {
            return Err(Failure::new("join: invalid input"));
        };
        if index > 0 {
            joined.push_str(separator);
        }
        joined.push_str(&item);
        if joined.len() > MAX_RESULT {
            return Err(Failure::TooCostly);
        }
    }
    Ok(Value::text(joined))
}

fn compile(pattern: &str) -> Outcome<regex::Regex> {
    go_regex::compile_unkept(pattern).map_err(Failure::new)
}

fn matches<'a>(arguments: &[Value<'a>]) -> Outcome<Value<'a>> {
    match arguments {
        [Value::String(text), Value::String(pattern)] => Ok(Value::Bool(compile(pattern)?.is_match(text))),
        _ => no_overload(),
    }
}

fn illegal(failure: Failure) -> Failure {
    match failure {
        Failure::Error(message) => Failure::new(format!("Illegal regex: {message}")),
        Failure::TooCostly => Failure::TooCostly,
    }
}

fn find<'a>(arguments: &[Value<'a>]) -> Outcome<Value<'a>> {
    match arguments {
        [Value::String(text), Value::String(pattern)] => {
            let regex = compile(pattern).map_err(illegal)?;
            Ok(Value::text(regex.find(text).map_or("", |found| found.as_str())))
        }
        _ => no_overload(),
    }
}

fn find_all<'a>(arguments: &[Value<'a>]) -> Outcome<Value<'a>> {
    let (text, pattern, limit) = match arguments {
        [Value::String(text), Value::String(pattern)] => (text, pattern, -1),
        [Value::String(text), Value::String(pattern), Value::Int(limit)] => (text, pattern, *limit),
        _ => return no_overload(),
    };
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let regex = compile(pattern).map_err(illegal)?;
    Ok(Value::list(
        regex
            .find_iter(text)
            .take(limit)
            .map(|found| Value::text(found.as_str()))
            .collect(),
    ))
}

/// Where a part begins, in characters, from `offset` on.
pub(super) fn index_of<'a>(text: &str, part: &str, offset: i64) -> Outcome<Value<'a>> {
    if part.is_empty() {
        return Ok(Value::Int(offset));
    }
    let skip = usize::try_from(offset).map_err(|_| out_of_range(offset))?;
    let Some((start, _)) = text.char_indices().nth(skip) else {
        return Ok(Value::Int(-1));
    };
    Ok(match text[start..].find(part) {
        Some(found) => count(text[..start + found].chars().count()),
        None => Value::Int(-1),
    })
}

/// Where a part begins for the last time, in characters, up to `offset`.
pub(super) fn last_index_of<'a>(text: &str, part: &str, offset: Option<i64>) -> Outcome<Value<'a>> {
    let length = text.chars().count();
    if part.is_empty() {
        return Ok(offset.map_or_else(|| count(length), Value::Int));
    }
    if offset.is_none() && text.len() < part.len() {
        return Ok(Value::Int(-1));
    }
    let last = offset.unwrap_or_else(|| i64::try_from(length).unwrap_or(i64::MAX) - 1);
    let last = usize::try_from(last).map_err(|_| out_of_range(last))?;
    if last >= length {
        return Ok(Value::Int(-1));
    }
    let end = text.char_indices().nth(last).map_or(text.len(), |(at, _)| at);
    let until = text.len().min(end.saturating_add(part.len()));
    let until = (until..=text.len())
        .find(|at| text.is_char_boundary(*at))
        .unwrap_or(text.len());
    Ok(match text[..until].rmatch_indices(part).find(|(at, _)| *at <= end) {
        Some((at, _)) => count(text[..at].chars().count()),
        None => Value::Int(-1),
    })
}
