//! Bytes and durations as Go reads and writes them in JSON.

use crate::Malformed;

/// Checks that a text is base64 as Go reads it; gives the form that Go writes, if it differs.
pub(crate) fn canonical_bytes(text: &str) -> Result<Option<String>, Malformed> {
    if text.contains(['\r', '\n']) {
        let joined: String = text
            .chars()
            .filter(|character| !matches!(character, '\r' | '\n'))
            .collect();
        check_base64(joined.as_bytes())?;
        return Ok(Some(joined));
    }
    check_base64(text.as_bytes())?;
    Ok(None)
}

/// How many bytes a base64 text stands for.
pub(crate) fn bytes_length(text: &str) -> usize {
    let padding = text.bytes().rev().take_while(|byte| *byte == b'=').count();
    (text.len() / 4 * 3).saturating_sub(padding)
}

/// Bytes as base64.
pub(crate) fn encode_bytes(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let number = group.iter().fold(0_u32, |number, byte| number << 8 | u32::from(*byte)) << (8 * (3 - group.len()));
        for position in 0..4 {
            let is_padding = position > group.len();
            let digit = DIGITS[(number >> (18 - 6 * position) & 63) as usize];
            text.push(if is_padding { '=' } else { char::from(digit) });
        }
    }
    text
}

fn check_base64(bytes: &[u8]) -> Result<(), Malformed> {
    let illegal = |position: usize| Malformed(format!("illegal base64 data at input byte {position}"));
    let body = bytes.iter().take_while(|byte| is_digit(**byte)).count();
    let rest = &bytes[body..];
    let padding = rest.iter().take_while(|byte| **byte == b'=').count();
    let expected = match body % 4 {
        0 => 0,
        2 => 2,
        3 => 1,
        _ => return Err(illegal(body)),
    };
    match rest.len() {
        length if length == expected && padding == expected => Ok(()),
        _ if padding < expected => Err(illegal(body + padding.min(rest.len()))),
        _ => Err(illegal(body + expected)),
    }
}

const fn is_digit(byte: u8) -> bool {
    matches!(byte, b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'+' | b'/')
}

/// Checks a duration such as `1h30m`; gives the form that Go writes, if it differs.
pub(crate) fn canonical_duration(text: &str) -> Result<Option<String>, Malformed> {
    let nanos = parse_duration(text).ok_or_else(|| Malformed(format!("time: invalid duration {text:?}")))?;
    let written = write_duration(nanos);
    Ok((written != text).then_some(written))
}

/// A duration in nanoseconds.
fn parse_duration(text: &str) -> Option<i64> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    if unsigned == "0" {
        return Some(0);
    }
    let mut rest = unsigned;
    let mut total: i64 = 0;
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let number: f64 = rest[..digits].parse().ok()?;
        rest = &rest[digits..];
        let end = rest
            .find(|c: char| c.is_ascii_digit() || c == '.')
            .unwrap_or(rest.len());
        let scale = unit_nanos(&rest[..end])?;
        #[expect(clippy::cast_possible_truncation, reason = "saturates, and the sum is checked")]
        let nanos = (number * scale) as i64;
        total = total.checked_add(nanos)?;
        rest = &rest[end..];
    }
    Some(if text.starts_with('-') { -total } else { total })
}

fn unit_nanos(unit: &str) -> Option<f64> {
    Some(match unit {
        "ns" => 1.0,
        "us" | "µs" | "μs" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        "m" => 60e9,
        "h" => 3600e9,
        _ => return None,
    })
}

/// A duration as Go writes it.
pub(crate) fn write_duration(nanos: i64) -> String {
    let sign = if nanos < 0 { "-" } else { "" };
    let nanos = nanos.unsigned_abs();
    let fraction = |value: u64, scale: u64, unit: &str| {
        let digits = scale.to_string().len() - 1;
        let rest = format!("{:0width$}", value % scale, width = digits);
        match rest.trim_end_matches('0') {
            "" => format!("{sign}{}{unit}", value / scale),
            rest => format!("{sign}{}.{rest}{unit}", value / scale),
        }
    };
    match nanos {
        0 => "0s".to_owned(),
        1..1_000 => format!("{sign}{nanos}ns"),
        1_000..1_000_000 => fraction(nanos, 1_000, "µs"),
        1_000_000..1_000_000_000 => fraction(nanos, 1_000_000, "ms"),
        _ => {
            let minutes = nanos / 60_000_000_000;
            let seconds = fraction(nanos % 60_000_000_000, 1_000_000_000, "s");
            let seconds = seconds.trim_start_matches('-');
            match (minutes / 60, minutes % 60) {
                (0, 0) => format!("{sign}{seconds}"),
                (0, minutes) => format!("{sign}{minutes}m{seconds}"),
                (hours, minutes) => format!("{sign}{hours}h{minutes}m{seconds}"),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_base64_with_padding() {
        for text in ["", "YQ==", "YWI=", "YWJj"] {
            assert_eq!(canonical_bytes(text), Ok(None), "{text}");
        }
        assert_eq!(canonical_bytes("YW\nJj"), Ok(Some("YWJj".to_owned())));
        for (text, position) in [("a b", 1), ("YQ=", 3), ("YQ", 2), ("YWJj=", 4), ("not base64!", 3)] {
            let expected = Malformed(format!("illegal base64 data at input byte {position}"));
            assert_eq!(canonical_bytes(text), Err(expected), "{text}");
        }
        assert_eq!(bytes_length("YQ=="), 1);
        assert_eq!(bytes_length("YWJj"), 3);
    }

    #[test]
    fn bytes_are_written_as_base64() {
        for (bytes, text) in [
            ("", ""),
            ("a", "YQ=="),
            ("ab", "YWI="),
            ("abc", "YWJj"),
            ("abcd", "YWJjZA=="),
        ] {
            assert_eq!(encode_bytes(bytes.as_bytes()), text);
        }
    }

    #[test]
    fn durations_are_written_as_go_writes_them() {
        for (text, written) in [
            ("90s", "1m30s"),
            ("1h", "1h0m0s"),
            ("0", "0s"),
            ("1.5s", "1.5s"),
            ("250ms", "250ms"),
            ("1500us", "1.5ms"),
            ("-90s", "-1m30s"),
        ] {
            let canonical = canonical_duration(text).unwrap().unwrap_or_else(|| text.to_owned());
            assert_eq!(canonical, written, "{text}");
        }
        assert!(canonical_duration("soon").is_err());
    }
}
