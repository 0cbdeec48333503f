//! How Go prints values, because the messages that clients read were printed by Go: `%q`, `%v` and `encoding/json`.
//! Knows nothing of schemas.

use std::fmt::Write as _;

use serde_json::{Number, Value};

/// From this exponent on `%v` prints a float with an exponent.
const LARGE_EXPONENT: i32 = 6;
/// From this exponent on `encoding/json` prints a float with an exponent.
const LARGE_JSON_EXPONENT: i32 = 21;
/// Below this exponent `%v` prints a float with an exponent.
const SMALL_EXPONENT: i32 = -4;
/// Below this exponent `encoding/json` prints a float with an exponent.
const SMALL_JSON_EXPONENT: i32 = -6;

/// A number without a sign as `strconv.ParseUint` reads it, or its complaint.
pub fn parse_unsigned(text: &str) -> Result<u64, String> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let cause = if is_number {
        "value out of range"
    } else {
        "invalid syntax"
    };
    let number = text.parse().ok().filter(|_| is_number);
    number.ok_or_else(|| format!("strconv.ParseUint: parsing {}: {cause}", quote(text)))
}

/// A string as `%q` prints it.
pub fn quote(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for character in text.chars() {
        quote_character(character, &mut quoted);
    }
    quoted.push('"');
    quoted
}

fn quote_character(character: char, quoted: &mut String) {
    match character {
        '"' => quoted.push_str("\\\""),
        '\\' => quoted.push_str("\\\\"),
        '\u{7}' => quoted.push_str("\\a"),
        '\u{8}' => quoted.push_str("\\b"),
        '\u{c}' => quoted.push_str("\\f"),
        '\n' => quoted.push_str("\\n"),
        '\r' => quoted.push_str("\\r"),
        '\t' => quoted.push_str("\\t"),
        '\u{b}' => quoted.push_str("\\v"),
        printable if is_printable(printable) => quoted.push(printable),
        other => escape(other, quoted),
    }
}

fn escape(character: char, quoted: &mut String) {
    let code = u32::from(character);
    let written = match code {
        0..0x80 => write!(quoted, "\\x{code:02x}"),
        0x80..0x1_0000 => write!(quoted, "\\u{code:04x}"),
        _ => write!(quoted, "\\U{code:08x}"),
    };
    written.expect("writing to a string cannot fail");
}

/// Whether Go prints the character as itself.
pub fn is_printable(character: char) -> bool {
    if character.is_ascii() {
        return matches!(character, ' '..='~');
    }
    if character.is_control() || character.is_whitespace() {
        return false;
    }
    // Combining marks are printable in Go; Rust escapes them only because they would attach to the quote.
    character.is_alphanumeric() || character.escape_debug().count() == 1
}

/// A value as `encoding/json` prints it, with `<`, `>` and `&` escaped.
pub fn json(value: &Value) -> String {
    let mut text = String::new();
    write_json(value, &mut text);
    text
}

fn write_json(value: &Value, text: &mut String) {
    match value {
        Value::Null => text.push_str("null"),
        Value::Bool(flag) => text.push_str(if *flag { "true" } else { "false" }),
        Value::Number(number) => text.push_str(&json_number(number)),
        Value::String(string) => write_json_string(string, text),
        Value::Array(items) => {
            text.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    text.push(',');
                }
                write_json(item, text);
            }
            text.push(']');
        }
        Value::Object(fields) => {
            text.push('{');
            for (index, (key, field)) in fields.iter().enumerate() {
                if index > 0 {
                    text.push(',');
                }
                write_json_string(key, text);
                text.push(':');
                write_json(field, text);
            }
            text.push('}');
        }
    }
}

fn write_json_string(string: &str, text: &mut String) {
    text.push('"');
    for character in string.chars() {
        match character {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            '\t' => text.push_str("\\t"),
            '\u{8}' => text.push_str("\\b"),
            '\u{c}' => text.push_str("\\f"),
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' | '\0'..='\u{1f}' => {
                write!(text, "\\u{:04x}", u32::from(character)).expect("writing to a string cannot fail");
            }
            other => text.push(other),
        }
    }
    text.push('"');
}

fn json_number(number: &Number) -> String {
    number.as_i64().map_or_else(
        || json_float(number.as_f64().unwrap_or_default()),
        |integer| integer.to_string(),
    )
}

fn json_float(float: f64) -> String {
    let (digits, exponent) = shortest(float);
    if float != 0.0 && !(SMALL_JSON_EXPONENT..LARGE_JSON_EXPONENT).contains(&exponent) {
        // encoding/json turns `e-09` into `e-9`, and leaves `e+21` alone.
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{digits}e{sign}{}", exponent.abs());
    }
    plain(float)
}

/// A number as `%v` prints it.
pub fn number(number: &Number) -> String {
    number.as_i64().map_or_else(
        || float(number.as_f64().unwrap_or_default()),
        |integer| integer.to_string(),
    )
}

/// A float as `%v` prints it.
pub fn float(float: f64) -> String {
    if float.is_nan() {
        return "NaN".to_owned();
    }
    if float.is_infinite() {
        return if float > 0.0 { "+Inf" } else { "-Inf" }.to_owned();
    }
    let (digits, exponent) = shortest(float);
    if float != 0.0 && !(SMALL_EXPONENT..LARGE_EXPONENT).contains(&exponent) {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{digits}e{sign}{:02}", exponent.abs());
    }
    plain(float)
}

/// The mantissa with the fewest digits that reads back as the same float, and its decimal exponent.
fn shortest(float: f64) -> (String, i32) {
    let text = format!("{float:e}");
    let (digits, exponent) = text.split_once('e').expect("`{:e}` writes an exponent");
    (
        digits.to_owned(),
        exponent.parse().expect("`{:e}` writes a decimal exponent"),
    )
}

fn plain(float: f64) -> String {
    let text = format!("{float}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn strings_are_quoted_as_go_quotes_them() {
        assert_eq!(quote("a\"b\\c\n"), r#""a\"b\\c\n""#);
        assert_eq!(quote("ä\u{7f}\u{200b}\0"), r#""ä\x7f\u200b\x00""#);
    }

    #[test]
    fn json_is_written_as_go_writes_it() {
        assert_eq!(
            json(&json!({"b": "<&>", "a": [1, 1.0, 1.5, null, true]})),
            r#"{"a":[1,1,1.5,null,true],"b":"\u003c\u0026\u003e"}"#
        );
        assert_eq!(json(&json!(1e21)), "1e+21");
        assert_eq!(json(&json!(1e-7)), "1e-7");
        assert_eq!(json(&json!(0.00001)), "0.00001");
    }

    #[test]
    fn floats_are_written_as_go_writes_them() {
        for (value, text) in [
            (1.0, "1"),
            (1.5, "1.5"),
            (100_000.0, "100000"),
            (1e6, "1e+06"),
            (1_234_567.5, "1.2345675e+06"),
            (0.0001, "0.0001"),
            (0.00001, "1e-05"),
            (9_223_372_036_854_775_807.0, "9.223372036854776e+18"),
        ] {
            assert_eq!(float(value), text);
        }
    }
}
