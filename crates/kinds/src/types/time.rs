//! Timestamps as Go reads and writes them: RFC 3339, without fractions or with six digits.

use jiff::{Timestamp, tz::TimeZone};

use crate::Malformed;

/// How long a time is before its fraction or zone.
const SECONDS: usize = "2006-01-02T15:04:05".len();
/// The layouts that Go names in its complaints.
const LAYOUT: &str = "2006-01-02T15:04:05Z07:00";
const LAYOUT_MICRO: &str = "2006-01-02T15:04:05.000000Z07:00";

/// A timestamp, if it is one.
pub(crate) fn parse_time(text: &str) -> Option<Timestamp> {
    is_well_formed(text).then(|| text.parse().ok()).flatten()
}

/// The form in which a Time is written back, if it differs from `text`.
pub(crate) fn canonical_time(text: &str) -> Result<Option<String>, Malformed> {
    canonical(text, "%Y-%m-%dT%H:%M:%SZ", LAYOUT)
}

/// The form in which a MicroTime is written back, if it differs from `text`. It is read only with six digits.
pub(crate) fn canonical_time_micro(text: &str) -> Result<Option<String>, Malformed> {
    if is_well_formed(text) && !has_six_digits(text) {
        let rest = &text[SECONDS..];
        let words = format!("parsing time {text:?} as {LAYOUT_MICRO:?}: cannot parse {rest:?} as \".000000\"");
        return Err(Malformed(words));
    }
    canonical(text, "%Y-%m-%dT%H:%M:%S.%6fZ", LAYOUT_MICRO)
}

fn has_six_digits(text: &str) -> bool {
    let fraction = text[SECONDS..].strip_prefix('.').unwrap_or_default();
    fraction.bytes().take_while(u8::is_ascii_digit).count() == 6
}

fn canonical(text: &str, format: &str, layout: &str) -> Result<Option<String>, Malformed> {
    let time = parse_time(text).ok_or_else(|| complaint(text, layout))?;
    let written = time.to_zoned(TimeZone::UTC).strftime(format).to_string();
    Ok((written != text).then_some(written))
}

/// Whether the text has the one form that Go takes; the crate that reads it takes others too.
fn is_well_formed(text: &str) -> bool {
    let bytes = text.as_bytes();
    let shape = b"0000-00-00T00:00:00";
    bytes.len() > shape.len()
        && shape.iter().zip(bytes).all(|(expected, found)| match expected {
            b'0' => found.is_ascii_digit(),
            other => other == found,
        })
        && is_zone(
            text[shape.len()..]
                .trim_start_matches(['.', ','])
                .trim_start_matches(|c: char| c.is_ascii_digit()),
        )
}

fn is_zone(text: &str) -> bool {
    let bytes = text.as_bytes();
    text == "Z"
        || (bytes.len() == 6
            && matches!(bytes[0], b'+' | b'-')
            && bytes[3] == b':'
            && [1, 2, 4, 5]
                .iter()
                .all(|&position: &usize| bytes[position].is_ascii_digit()))
}

/// Go says which element of the layout did not fit which rest of the text.
fn complaint(text: &str, layout: &str) -> Malformed {
    const ELEMENTS: [&str; 11] = ["2006", "-", "01", "-", "02", "T", "15", ":", "04", ":", "05"];
    let mut rest = text;
    let mut failed = "Z07:00";
    for element in ELEMENTS {
        let is_number = element.starts_with(|c: char| c.is_ascii_digit());
        let fits = rest.get(..element.len()).is_some_and(|head| {
            if is_number {
                head.bytes().all(|byte| byte.is_ascii_digit())
            } else {
                head == element
            }
        });
        if !fits {
            failed = element;
            break;
        }
        rest = &rest[element.len()..];
    }
    Malformed(format!(
        "parsing time {text:?} as {layout:?}: cannot parse {rest:?} as {failed:?}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_in_utc_without_fractions() {
        let check = |text: &str, expected: Option<&str>| {
            assert_eq!(canonical_time(text).unwrap().as_deref(), expected, "{text}");
        };
        check("2024-01-02T03:04:05Z", None);
        check("2024-01-02T03:04:05.678Z", Some("2024-01-02T03:04:05Z"));
        check("2024-01-02T03:04:05+02:00", Some("2024-01-02T01:04:05Z"));
        let micro = canonical_time_micro("2024-01-02T05:04:05.000001+02:00").unwrap();
        assert_eq!(micro.as_deref(), Some("2024-01-02T03:04:05.000001Z"));
    }

    #[test]
    fn what_is_no_time_is_refused_in_gos_words() {
        let check = |text: &str, expected: &str| {
            assert_eq!(canonical_time(text), Err(Malformed(expected.to_owned())), "{text}");
        };
        check(
            "yesterday",
            r#"parsing time "yesterday" as "2006-01-02T15:04:05Z07:00": cannot parse "yesterday" as "2006""#,
        );
        check(
            "2024-01-02",
            r#"parsing time "2024-01-02" as "2006-01-02T15:04:05Z07:00": cannot parse "" as "T""#,
        );
    }
}
