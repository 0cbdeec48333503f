//! `"%s of %d".format([...])`.

use std::fmt::Write as _;

use super::super::value::{Failure, Outcome, Value};
use super::convert::string_of;
use super::{MAX_RESULT, no_overload};
use crate::go_text;

/// Digits after the point where none are asked for.
const DEFAULT_PRECISION: usize = 6;

pub(super) fn format<'a>(arguments: &[Value<'a>]) -> Outcome<Value<'a>> {
    let [Value::String(pattern), list] = arguments else {
        return no_overload();
    };
    let items = list
        .items()
        .ok_or_else(Failure::no_overload)?
        .collect::<Outcome<Vec<_>>>()?;
    let mut text = String::new();
    let mut next = 0;
    let mut rest: &str = pattern;
    while let Some(at) = rest.find('%') {
        text.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix('%') {
            text.push('%');
            rest = after;
            continue;
        }
        let Some(item) = items.get(next) else {
            return Err(Failure::new(format!("index {next} out of range")));
        };
        next += 1;
        let (precision, after) = precision(rest)?;
        let Some(clause) = after.chars().next() else {
            return Err(Failure::new("unexpected end of string"));
        };
        text.push_str(&formatted(item, clause, precision).map_err(during)?);
        if text.len() > MAX_RESULT {
            return Err(Failure::TooCostly);
        }
        rest = &after[clause.len_utf8()..];
    }
    text.push_str(rest);
    Ok(Value::text(text))
}

fn during(failure: Failure) -> Failure {
    match failure {
        Failure::Error(message) => Failure::new(format!("error during formatting: {message}")),
        Failure::TooCostly => Failure::TooCostly,
    }
}

/// The digits after the point that a clause asks for.
fn precision(text: &str) -> Outcome<(Option<usize>, &str)> {
    let Some(after) = text.strip_prefix('.') else {
        return Ok((None, text));
    };
    let end = after.find(|character: char| !character.is_ascii_digit()).ok_or_else(|| {
        Failure::new("could not parse formatting clause: error while parsing precision: could not find end of precision specifier")
    })?;
    let digits = after[..end].parse::<usize>().ok().filter(|digits| *digits <= MAX_PRECISION).ok_or_else(|| {
        Failure::new("could not parse formatting clause: error while parsing precision: error while converting precision to integer")
    })?;
    Ok((Some(digits), &after[end..]))
}

/// More digits than a float has say nothing.
const MAX_PRECISION: usize = 1_100;

fn formatted(value: &Value<'_>, clause: char, precision: Option<usize>) -> Outcome<String> {
    let digits = precision.unwrap_or(DEFAULT_PRECISION);
    let wrong = |what: &str| Failure::new(format!("{what}, was given {}", value.type_name()));
    match (clause, value) {
        ('s', value) => shown(value),
        ('d', Value::Int(_) | Value::Uint(_)) => string_of(value),
        ('d', _) => Err(wrong("decimal clause can only be used on integers")),
        ('f', value) => float(value)
            .map(|float| fixed(float, digits))
            .ok_or_else(|| wrong("fixed-point clause can only be used on doubles")),
        ('e', value) => float(value)
            .map(scientific)
            .ok_or_else(|| wrong("scientific clause can only be used on doubles")),
        ('b', Value::Int(number)) => Ok(signed(*number, |number| format!("{number:b}"))),
        ('b', Value::Uint(number)) => Ok(format!("{number:b}")),
        ('b', Value::Bool(flag)) => Ok(u8::from(*flag).to_string()),
        ('b', _) => Err(wrong("only integers and bools can be formatted as binary")),
        ('o', Value::Int(number)) => Ok(signed(*number, |number| format!("{number:o}"))),
        ('o', Value::Uint(number)) => Ok(format!("{number:o}")),
        ('o', _) => Err(wrong("octal clause can only be used on integers")),
        ('x' | 'X', value) => {
            let hexadecimal = hexadecimal(value)
                .ok_or_else(|| wrong("only integers, byte buffers, and strings can be formatted as hex"))?;
            Ok(if clause == 'X' {
                hexadecimal.to_uppercase()
            } else {
                hexadecimal
            })
        }
        (other, _) => Err(Failure::new(format!("unrecognized formatting clause \"{other}\""))),
    }
}

fn float(value: &Value<'_>) -> Option<f64> {
    match value {
        Value::Double(number) => Some(*number),
        Value::String(text) => match &**text {
            "NaN" => Some(f64::NAN),
            "Infinity" => Some(f64::INFINITY),
            "-Infinity" => Some(f64::NEG_INFINITY),
            _ => None,
        },
        _ => None,
    }
}

fn fixed(number: f64, digits: usize) -> String {
    match number {
        number if number.is_nan() => "NaN".to_owned(),
        number if number.is_infinite() => if number > 0.0 { "∞" } else { "-∞" }.to_owned(),
        number => grouped(&format!("{number:.digits$}")),
    }
}

/// Upstream prints in English: thousands are set apart by commas.
fn grouped(number: &str) -> String {
    let (sign, number) = number.strip_prefix('-').map_or(("", number), |number| ("-", number));
    let (whole, fraction) = number
        .split_once('.')
        .map_or((number, None), |(whole, fraction)| (whole, Some(fraction)));
    let mut text = String::new();
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    match fraction {
        Some(fraction) => format!("{sign}{text}.{fraction}"),
        None => format!("{sign}{text}"),
    }
}

/// English again: `1.234568×10⁰³`, always with six digits.
fn scientific(number: f64) -> String {
    if !number.is_finite() {
        return fixed(number, 0);
    }
    let text = format!("{number:.6e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let (sign, digits) = exponent
        .strip_prefix('-')
        .map_or(("", exponent), |digits| ("⁻", digits));
    let raised: String = format!("{digits:0>2}").chars().map(superscript).collect();
    format!("{mantissa}×10{sign}{raised}")
}

fn superscript(digit: char) -> char {
    const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    digit
        .to_digit(10)
        .and_then(|digit| DIGITS.get(digit as usize))
        .copied()
        .unwrap_or(digit)
}

fn signed(number: i64, digits: fn(u64) -> String) -> String {
    let sign = if number < 0 { "-" } else { "" };
    format!("{sign}{}", digits(number.unsigned_abs()))
}

fn hexadecimal(value: &Value<'_>) -> Option<String> {
    let of_bytes = |bytes: &[u8]| {
        bytes.iter().fold(String::new(), |mut text, byte| {
            write!(text, "{byte:02x}").expect("writing to a string cannot fail");
            text
        })
    };
    Some(match value {
        Value::Int(number) => signed(*number, |number| format!("{number:x}")),
        Value::Uint(number) => format!("{number:x}"),
        Value::String(text) => of_bytes(text.as_bytes()),
        Value::Bytes(bytes) => of_bytes(bytes),
        _ => return None,
    })
}

/// `%s`: scalars as strings, lists and maps in the syntax of expressions.
fn shown(value: &Value<'_>) -> Outcome<String> {
    match value {
        Value::Null => Ok("null".to_owned()),
        Value::Entries(_) | Value::List(_) => {
            let mut parts = Vec::new();
            for item in value.items().ok_or_else(Failure::no_overload)? {
                parts.push(nested(&item?)?);
            }
            Ok(format!("[{}]", parts.join(", ")))
        }
        Value::Fields(fields) => {
            let mut parts = Vec::new();
            for key in fields.keys() {
                if let Some(value) = fields.find(&key) {
                    parts.push((go_text::quote(&key), nested(&value?)?));
                }
            }
            Ok(entries(parts))
        }
        Value::Map(map) => {
            let mut parts = Vec::new();
            for (key, value) in map.values() {
                parts.push((nested(key)?, nested(value)?));
            }
            Ok(entries(parts))
        }
        other => string_of(other).map_err(|_| {
            Failure::new(format!(
                "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps, was given {}",
                other.type_name()
            ))
        }),
    }
}

fn entries(mut parts: Vec<(String, String)>) -> String {
    parts.sort();
    let parts: Vec<String> = parts.into_iter().map(|(key, value)| format!("{key}:{value}")).collect();
    format!("{{{}}}", parts.join(", "))
}

fn nested(value: &Value<'_>) -> Outcome<String> {
    Ok(match value {
        Value::String(text) => go_text::quote(text),
        Value::Bytes(_) => format!("b{}", go_text::quote(&string_of(value)?)),
        Value::Double(number) => format!("{number:.6}"),
        Value::Timestamp(_) => format!("timestamp({})", go_text::quote(&string_of(value)?)),
        Value::Duration(_) => format!("duration({})", go_text::quote(&string_of(value)?)),
        Value::Type(name) => format!("type({name})"),
        other => shown(other)?,
    })
}
