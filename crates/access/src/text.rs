//! How Go prints the values that stand in messages of access: `%q` of a string and of a list. Knows no rules.

use std::fmt::Write as _;

/// A string as `%q` prints it.
pub(crate) fn quote(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    push_quoted(&mut quoted, &[text]);
    quoted
}

/// Appends the parts as one string that `%q` prints.
pub(crate) fn push_quoted(target: &mut String, parts: &[&str]) {
    target.push('"');
    for part in parts {
        let is_plain = |byte: u8| matches!(byte, b' '..=b'~') && byte != b'"' && byte != b'\\';
        if part.bytes().all(is_plain) {
            target.push_str(part);
        } else {
            part.chars().for_each(|character| push_escaped(target, character));
        }
    }
    target.push('"');
}

/// A list of strings as `%q` prints it.
pub(crate) fn quote_list<T: AsRef<str>>(texts: &[T]) -> String {
    let quoted: Vec<String> = texts.iter().map(|text| quote(text.as_ref())).collect();
    format!("[{}]", quoted.join(" "))
}

/// Several errors in one, each once: alone as it is, together in brackets (apimachinery, errors.Aggregate).
pub(crate) fn join_errors(errors: &[String]) -> String {
    let mut distinct: Vec<&str> = Vec::with_capacity(errors.len());
    for error in errors {
        if !distinct.contains(&error.as_str()) {
            distinct.push(error);
        }
    }
    match distinct.as_slice() {
        [alone] => (*alone).to_owned(),
        several => format!("[{}]", several.join(", ")),
    }
}

fn push_escaped(quoted: &mut String, character: char) {
    let escape = match character {
        '"' => "\\\"",
        '\\' => "\\\\",
        '\u{7}' => "\\a",
        '\u{8}' => "\\b",
        '\u{c}' => "\\f",
        '\n' => "\\n",
        '\r' => "\\r",
        '\t' => "\\t",
        '\u{b}' => "\\v",
        _ => return push_unless_control(quoted, character),
    };
    quoted.push_str(escape);
}

fn push_unless_control(quoted: &mut String, character: char) {
    let code = u32::from(character);
    if !character.is_control() && (character.is_ascii() || !character.is_whitespace()) {
        return quoted.push(character);
    }
    let written = match code {
        0..0x80 => write!(quoted, "\\x{code:02x}"),
        _ => write!(quoted, "\\u{code:04x}"),
    };
    written.expect("writing to a string cannot fail");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_quoted_as_go_does() {
        let cases = [
            ("", r#""""#),
            ("a\"b\\", r#""a\"b\\""#),
            ("é\n\u{1}\u{85}", r#""é\n\x01\u0085""#),
        ];
        for (text, expected) in cases {
            assert_eq!(quote(text), expected);
        }
        assert_eq!(quote_list(&["a", "b c"]), r#"["a" "b c"]"#);
        assert_eq!(quote_list::<&str>(&[]), "[]");
    }

    #[test]
    fn errors_are_joined_without_repetition() {
        let errors = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect::<Vec<_>>();
        assert_eq!(join_errors(&errors(&["a"])), "a");
        assert_eq!(join_errors(&errors(&["a", "a"])), "a");
        assert_eq!(join_errors(&errors(&["a", "b", "a"])), "[a, b]");
    }
}
