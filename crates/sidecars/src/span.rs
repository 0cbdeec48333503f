//! Spans of time as flags spell them: `10m`, `1h30m`, `500ms`. Pure.

use std::time::Duration;

use thiserror::Error;

/// What is no span of time.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{text:?} is no span of time: write whole numbers with units, such as 500ms, 30s, 10m or 1h30m")]
pub struct SpanError {
    text: String,
}

/// Reads a span of time that is longer than nothing. Nothing at all is refused: a loop without a pause helps nobody.
pub fn parse(text: &str) -> Result<Duration, SpanError> {
    let refused = || SpanError { text: text.to_owned() };
    let mut rest = text;
    let mut sum = Duration::ZERO;
    while !rest.is_empty() {
        let (part, after) = part(rest).ok_or_else(refused)?;
        sum = sum.checked_add(part).ok_or_else(refused)?;
        rest = after;
    }
    if sum.is_zero() { Err(refused()) } else { Ok(sum) }
}

/// The first number with its unit, and what comes after it.
fn part(text: &str) -> Option<(Duration, &str)> {
    let digits = text.find(|letter: char| !letter.is_ascii_digit())?;
    let number: u64 = text[..digits].parse().ok()?;
    let rest = &text[digits..];
    let length = rest.find(|letter: char| letter.is_ascii_digit()).unwrap_or(rest.len());
    let (unit, after) = rest.split_at(length);
    let span = match unit {
        "ms" => Duration::from_millis(number),
        "s" => Duration::from_secs(number),
        "m" => Duration::from_secs(number.checked_mul(60)?),
        "h" => Duration::from_secs(number.checked_mul(60 * 60)?),
        _ => return None,
    };
    Some((span, after))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn numbers_have_units() {
        let good = [
            ("500ms", 500),
            ("45s", 45_000),
            ("10m", 600_000),
            ("1h", 3_600_000),
            ("1h30m", 5_400_000),
            ("1m0s", 60_000),
        ];
        for (text, milliseconds) in good {
            assert_eq!(parse(text), Ok(Duration::from_millis(milliseconds)), "{text}");
        }
        for text in [
            "",
            "0s",
            "10",
            "m",
            "10x",
            "-1s",
            "1.5h",
            " 1s",
            "1s ",
            "18446744073709551615h",
            "99999999999999999999s",
        ] {
            let refused = parse(text).unwrap_err().to_string();
            assert!(refused.contains("such as 500ms"), "{text}: {refused}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "\\PC{0,12}") {
            drop(parse(&text));
        }

        #[test]
        fn whole_units_are_read_back(hours in 0_u64..100, seconds in 1_u64..10_000) {
            prop_assert_eq!(parse(&format!("{hours}h{seconds}s")), Ok(Duration::from_secs(hours * 3600 + seconds)));
        }
    }
}
