//! How Go prints what upstream's messages and keys contain: floats, quoted strings, `%v` and `%#v` of a decoded value.
//! Knows nothing of paths or ownership.

use std::fmt::Write as _;

use serde_json::{Number, Value};

use crate::value::float;

/// Appends a JSON string as upstream's encoder writes it inside of `v:` and `k:` keys, where HTML characters are escaped.
pub fn write_json_string(out: &mut String, text: &str, escape_html: bool) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{0}'..='\u{1f}' => escape(out, character),
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' if escape_html => escape(out, character),
            _ => out.push(character),
        }
    }
    out.push('"');
}

fn escape(out: &mut String, character: char) {
    write!(out, "\\u{:04x}", u32::from(character)).expect("writing to a string cannot fail");
}

/// Appends any JSON value the way upstream's encoder writes it into a key.
pub fn write_json(out: &mut String, value: &Value) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(flag) => out.push_str(if *flag { "true" } else { "false" }),
        Value::Number(number) => out.push_str(&json_number(number)),
        Value::String(text) => write_json_string(out, text, true),
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                separate(out, index, ",");
                write_json(out, item);
            }
            out.push(']');
        }
        Value::Object(fields) => {
            out.push('{');
            for (index, (name, field)) in fields.iter().enumerate() {
                separate(out, index, ",");
                write_json_string(out, name, true);
                out.push(':');
                write_json(out, field);
            }
            out.push('}');
        }
    }
}

fn separate(out: &mut String, index: usize, separator: &str) {
    if index > 0 {
        out.push_str(separator);
    }
}

/// A number in JSON: integers plainly, floats in positional notation between 1e-6 and 1e21.
fn json_number(number: &Number) -> String {
    if let Some(integer) = number.as_i64() {
        return integer.to_string();
    }
    let value = float(number);
    let magnitude = value.abs();
    let scientific = magnitude != 0.0 && !(1e-6..1e21).contains(&magnitude);
    if scientific {
        exponent(value)
    } else {
        format!("{value}")
    }
}

/// A number as `%v` prints it.
pub fn plain_number(number: &Number) -> String {
    if let Some(integer) = number.as_i64() {
        return integer.to_string();
    }
    plain_float(float(number))
}

/// A float as `%v` prints it: the shortest form, with an exponent below 1e-4 and from 1e6 on.
fn plain_float(value: f64) -> String {
    let magnitude = value.abs();
    let scientific = magnitude != 0.0 && !(1e-4..1e6).contains(&magnitude);
    if scientific {
        exponent(value)
    } else {
        format!("{value}")
    }
}

/// Rust writes `1e-7`, Go at least two digits and a sign: `1e-07`.
fn exponent(value: f64) -> String {
    let text = format!("{value:e}");
    let (digits, power) = text.split_once('e').expect("`{:e}` always writes an exponent");
    let (sign, power) = power.strip_prefix('-').map_or(('+', power), |power| ('-', power));
    format!("{digits}e{sign}{power:0>2}")
}

/// A string as `%q` quotes it.
pub fn quote(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{7}' => out.push_str("\\a"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{b}' => out.push_str("\\v"),
            '\u{0}'..='\u{1f}' | '\u{7f}' => {
                write!(out, "\\x{:02x}", u32::from(character)).expect("writing to a string cannot fail");
            }
            '\u{80}'..='\u{9f}' | '\u{a0}' | '\u{ad}' | '\u{2028}' | '\u{2029}' | '\u{feff}' => {
                escape(&mut out, character);
            }
            _ => out.push(character),
        }
    }
    out.push('"');
    out
}

/// A decoded value as `%v` prints it.
pub fn plain(value: &Value) -> String {
    match value {
        Value::Null => "<nil>".to_owned(),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) => plain_number(number),
        Value::String(text) => text.clone(),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(plain).collect();
            format!("[{}]", items.join(" "))
        }
        Value::Object(fields) => {
            let fields: Vec<String> = fields
                .iter()
                .map(|(name, field)| format!("{name}:{}", plain(field)))
                .collect();
            format!("map[{}]", fields.join(" "))
        }
    }
}

/// A decoded value as `%#v` prints it.
pub fn sharp(value: &Value) -> String {
    match value {
        Value::Null => "interface {}(nil)".to_owned(),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) => plain_number(number),
        Value::String(text) => quote(text),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(sharp).collect();
            format!("[]interface {{}}{{{}}}", items.join(", "))
        }
        Value::Object(fields) => {
            let fields: Vec<String> = fields
                .iter()
                .map(|(name, field)| format!("{}:{}", quote(name), sharp(field)))
                .collect();
            format!("map[string]interface {{}}{{{}}}", fields.join(", "))
        }
    }
}

/// The name of a decoded value's Go type, as `%T` prints it.
pub fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "<nil>",
        Value::Bool(_) => "bool",
        Value::Number(number) if number.is_i64() => "int64",
        Value::Number(_) => "float64",
        Value::String(_) => "string",
        Value::Array(_) => "[]interface {}",
        Value::Object(_) => "map[string]interface {}",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn floats_print_as_in_go() {
        let expected = [
            (80.0, "80", "80"),
            (123_456.0, "123456", "123456"),
            (1_234_567.0, "1.234567e+06", "1234567"),
            (1e20, "1e+20", "100000000000000000000"),
            (1e21, "1e+21", "1e+21"),
            (0.0001, "0.0001", "0.0001"),
            (0.00001, "1e-05", "0.00001"),
            (1e-7, "1e-07", "1e-07"),
            (-1.5, "-1.5", "-1.5"),
        ];
        for (value, printed, in_json) in expected {
            let number = Number::from_f64(value).unwrap();
            assert_eq!(plain_number(&number), printed);
            assert_eq!(json_number(&number), in_json);
        }
    }

    #[test]
    fn keys_escape_what_upstream_escapes() {
        let mut out = String::new();
        write_json(&mut out, &json!({"b": ["<&>", 1.0, null], "a": "\"\u{1}\n\u{2028}é"}));
        assert_eq!(out, r#"{"a":"\"\u0001\n\u2028é","b":["\u003c\u0026\u003e",1,null]}"#);
    }

    #[test]
    fn values_print_as_in_go() {
        let value = json!({"b": [1, "x", null], "a": {"c": true}});
        assert_eq!(plain(&value), "map[a:map[c:true] b:[1 x <nil>]]");
        assert_eq!(
            sharp(&value),
            r#"map[string]interface {}{"a":map[string]interface {}{"c":true}, "b":[]interface {}{1, "x", interface {}(nil)}}"#
        );
        assert_eq!(quote("a\u{0}\u{7f}\u{ad}é\""), r#""a\x00\x7f\u00adé\"""#);
    }
}
