//! Durations as Go writes them, such as `1h30m`: what annotations of HyperShift hold.

use std::time::Duration;

use thiserror::Error;

/// Why a text is no duration.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0:?} is no duration")]
pub(crate) struct InvalidDuration(String);

/// The longest duration that is taken: longer than anybody waits.
const LONGEST_SECONDS: f64 = 10.0 * 365.0 * 86_400.0;

/// Reads a duration that is not negative.
pub(crate) fn parse(text: &str) -> Result<Duration, InvalidDuration> {
    let refused = || InvalidDuration(text.to_owned());
    if text == "0" {
        return Ok(Duration::ZERO);
    }
    let (mut rest, mut seconds) = (text, 0.0);
    while !rest.is_empty() {
        let digits = rest
            .find(|one: char| !one.is_ascii_digit() && one != '.')
            .ok_or_else(refused)?;
        let number: f64 = rest[..digits].parse().map_err(|_| refused())?;
        rest = &rest[digits..];
        let letters = rest.find(|one: char| one.is_ascii_digit()).unwrap_or(rest.len());
        let unit = match &rest[..letters] {
            "h" => 3600.0,
            "m" => 60.0,
            "s" => 1.0,
            "ms" => 1e-3,
            "us" | "µs" => 1e-6,
            "ns" => 1e-9,
            _ => return Err(refused()),
        };
        seconds += number * unit;
        rest = &rest[letters..];
    }
    if text.is_empty() || seconds > LONGEST_SECONDS {
        return Err(refused());
    }
    Ok(Duration::from_secs_f64(seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_as_go_does() {
        for (text, milliseconds) in [
            ("90s", 90_000),
            ("1h30m", 5_400_000),
            ("1.5m", 90_000),
            ("250ms", 250),
            ("0", 0),
        ] {
            assert_eq!(parse(text), Ok(Duration::from_millis(milliseconds)), "{text}");
        }
        for text in ["", "90", "-1s", "1 m", "soon", "1x", ".s", "999999999h"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
