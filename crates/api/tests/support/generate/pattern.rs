//! From a pattern of a schema to one from which short texts can be generated.

use std::{iter::Peekable, str::Chars};

/// How often a part repeats at most that the pattern lets repeat without end, unless the text has to be long.
const MAX_REPEATS: usize = 3;

/// The same pattern without anchors, which generators do not take, with endless repetition made just long enough for
/// a text of `least` characters, and with the classes `\d`, `\w` and `\s` as Go reads them: ASCII alone.
pub fn generable(pattern: &str, least: usize) -> String {
    let most = MAX_REPEATS.max(least);
    let mut rest = pattern.chars().peekable();
    let mut result = String::new();
    while let Some(character) = rest.next() {
        match character {
            '\\' => result.push_str(&escape(rest.next(), false)),
            '[' => class(&mut rest, &mut result),
            '^' | '$' => {}
            '*' => result.push_str(&repeat(0, most)),
            '+' => result.push_str(&repeat(1, most)),
            '{' => braces(&mut rest, &mut result, most),
            other => result.push(other),
        }
    }
    result
}

fn repeat(least: usize, most: usize) -> String {
    format!("{{{least},{}}}", most.max(least))
}

fn escape(escaped: Option<char>, in_class: bool) -> String {
    let set = match escaped {
        Some('d') => "0-9",
        Some('w') => "0-9A-Za-z_",
        Some('s') => r"\t\n\f\r ",
        other => return other.map_or_else(String::new, |character| format!("\\{character}")),
    };
    if in_class { set.to_owned() } else { format!("[{set}]") }
}

/// A class in brackets, where `^`, `$`, `*` and `+` mean themselves; a closing bracket that comes first does too.
fn class(rest: &mut Peekable<Chars<'_>>, result: &mut String) {
    result.push('[');
    result.extend(rest.next_if_eq(&'^'));
    result.extend(rest.next_if_eq(&']'));
    while let Some(character) = rest.next() {
        match character {
            '\\' => result.push_str(&escape(rest.next(), true)),
            other => result.push(other),
        }
        if character == ']' {
            return;
        }
    }
}

/// A repetition in braces; `{2,}` gets an end.
fn braces(rest: &mut Peekable<Chars<'_>>, result: &mut String, most: usize) {
    let inside: String = rest.take_while(|character| *character != '}').collect();
    match inside.strip_suffix(',').map(str::parse) {
        Some(Ok(least)) => result.push_str(&repeat(least, most)),
        _ => result.extend(["{", &inside, "}"]),
    }
}
