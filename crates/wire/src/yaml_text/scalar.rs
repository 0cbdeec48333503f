//! How one text is written: as it is where a reader would take it for the same text, else in quotes or as a block.

use hyperplane_schema::go_text;
use jiff::civil::Date;
use serde_json::Number;

/// Characters that end a line for some reader of YAML.
pub(super) const BREAKS: [char; 5] = ['\n', '\r', '\u{85}', '\u{2028}', '\u{2029}'];
/// Texts that a reader of YAML 1.1 takes for something else.
const WORDS: [&str; 31] = [
    "y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON", "n", "N", "no", "No", "NO", "false",
    "False", "FALSE", "off", "Off", "OFF", "", "~", "null", "Null", "NULL", ".nan", ".NaN", ".NAN", "<<",
];
/// The same, each with and without a sign.
const INFINITIES: [&str; 3] = [".inf", ".Inf", ".INF"];

/// How a text is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    /// As it is.
    Plain,
    /// In single quotes.
    Single,
    /// In double quotes, with escapes.
    Double,
    /// Line by line, below a bar.
    Block,
}

/// The style of a text.
pub(super) fn style(text: &str) -> Style {
    let is_special = |character: char| !is_printable(character);
    if text.contains('\n') {
        let is_block = !text.ends_with(' ') && !text.contains(" \n") && !text.contains(is_special);
        return if is_block { Style::Block } else { Style::Double };
    }
    if text.contains(is_special) || text.contains(BREAKS) || is_something_else(text) {
        return Style::Double;
    }
    if text.starts_with(' ') || text.ends_with(' ') || has_indicators(text) {
        return Style::Single;
    }
    Style::Plain
}

/// A number as Go writes it.
pub(super) fn number(number: &Number) -> String {
    match number.as_f64() {
        Some(float) if number.is_f64() => go_text::float(float),
        _ => number.to_string(),
    }
}

/// The escape of a character in double quotes, if it needs one.
pub(super) fn escape(character: char) -> Option<String> {
    let letter = match character {
        '\0' => '0',
        '\u{7}' => 'a',
        '\u{8}' => 'b',
        '\t' => 't',
        '\n' => 'n',
        '\u{b}' => 'v',
        '\u{c}' => 'f',
        '\r' => 'r',
        '\u{1b}' => 'e',
        '"' => '"',
        '\\' => '\\',
        '\u{85}' => 'N',
        '\u{2028}' => 'L',
        '\u{2029}' => 'P',
        other if is_printable(other) => return None,
        other => {
            let code = u32::from(other);
            return Some(match code {
                0..=0xFF => format!("\\x{code:02X}"),
                0x100..=0xFFFF => format!("\\u{code:04X}"),
                _ => format!("\\U{code:08X}"),
            });
        }
    };
    Some(format!("\\{letter}"))
}

/// Whether Go's library writes a character as it is; it does so for none beyond the basic plane.
fn is_printable(character: char) -> bool {
    matches!(character, '\n' | ' '..='~' | '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}') && character != '\u{feff}'
}

/// Whether a part of the text would be read as punctuation.
fn has_indicators(text: &str) -> bool {
    let starts_blank = |rest: &str| rest.is_empty() || rest.starts_with([' ', '\t']);
    if text.starts_with("---") || text.starts_with("...") {
        return true;
    }
    if text.starts_with([
        '#', ',', '[', ']', '{', '}', '&', '*', '!', '|', '>', '\'', '"', '%', '@', '`',
    ]) {
        return true;
    }
    if text.starts_with(['?', '-']) && starts_blank(&text[1..]) {
        return true;
    }
    let has_colon = text.match_indices(':').any(|(at, _)| starts_blank(&text[at + 1..]));
    has_colon || text.contains(" #") || text.contains("\t#")
}

/// Whether a reader would take the text for a boolean, a null, a number or a time.
fn is_something_else(text: &str) -> bool {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    if WORDS.contains(&text) || INFINITIES.contains(&unsigned) {
        return true;
    }
    match unsigned.as_bytes().first() {
        Some(b'.') if unsigned.len() == text.len() => is_finite(text),
        Some(b'0'..=b'9' | b'.') => is_number(text, unsigned) || is_timestamp(text),
        _ => false,
    }
}

fn is_number(text: &str, unsigned: &str) -> bool {
    let plain = unsigned.replace('_', "");
    is_integer(&plain) || (is_decimal(&plain) && is_finite(&plain)) || is_base_60(text)
}

fn is_integer(text: &str) -> bool {
    let in_base = |digits: &str, base: u32| {
        let is_digits = !digits.is_empty() && digits.chars().all(|digit| digit.is_digit(base));
        is_digits && u64::from_str_radix(digits, base).is_ok()
    };
    match text.as_bytes() {
        [b'0', b'x' | b'X', ..] => in_base(&text[2..], 16),
        [b'0', b'o' | b'O', ..] => in_base(&text[2..], 8),
        [b'0', b'b' | b'B', ..] => in_base(&text[2..], 2),
        [b'0', _, ..] => in_base(&text[1..], 8),
        _ => in_base(text, 10),
    }
}

fn is_decimal(text: &str) -> bool {
    text.bytes()
        .all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'e' | b'E' | b'+' | b'-'))
}

fn is_finite(text: &str) -> bool {
    text.parse::<f64>().is_ok_and(f64::is_finite)
}

/// Numbers with colons, which YAML 1.1 had: `1:30` is ninety.
fn is_base_60(text: &str) -> bool {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let mut parts = unsigned.split(':');
    let is_number = |part: &str| {
        part.starts_with(|first: char| first.is_ascii_digit())
            && part.bytes().all(|byte| byte.is_ascii_digit() || byte == b'_')
    };
    let is_sixtieth = |part: &str| {
        let part = part.split_once('.').map_or(part, |(whole, _)| whole);
        part.len() <= 2 && part.parse::<u8>().is_ok_and(|value| value < 60)
    };
    parts.next().is_some_and(is_number) && unsigned.contains(':') && parts.all(is_sixtieth)
}

/// Dates, alone or with a time of day.
fn is_timestamp(text: &str) -> bool {
    let Some(separator) = text.find(['T', 't', ' ']) else {
        return is_date(text);
    };
    let (date, time) = (&text[..separator], &text[separator + 1..]);
    let is_zoned = !text[separator..].starts_with(' ');
    is_date(date)
        && match (is_zoned, time.strip_suffix('Z')) {
            (false, _) => is_time_of_day(time),
            (true, Some(time)) => is_time_of_day(time),
            (true, None) => time
                .rsplit_once(['+', '-'])
                .is_some_and(|(time, zone)| is_time_of_day(time) && zone.len() == 5 && zone.as_bytes()[2] == b':'),
        }
}

fn is_date(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let [year, month, day] = parts.as_slice() else {
        return false;
    };
    let is_short = |part: &str| part.len() <= 2;
    let date = || Date::new(year.parse().ok()?, month.parse().ok()?, day.parse().ok()?).ok();
    year.len() == 4 && is_short(month) && is_short(day) && date().is_some()
}

fn is_time_of_day(text: &str) -> bool {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let parts: Vec<&str> = whole.split(':').collect();
    let below = |part: &str, limit: u8| part.len() <= 2 && part.parse::<u8>().is_ok_and(|value| value < limit);
    matches!(parts.as_slice(), [hours, minutes, seconds]
        if below(hours, 24) && below(minutes, 60) && below(seconds, 60))
        && fraction.bytes().all(|byte| byte.is_ascii_digit())
}
