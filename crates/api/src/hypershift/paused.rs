//! How long a hosted cluster or a node pool stays as it is, and what the text of `pausedUntil` means.
//!
//! Whether a pause is over is for the caller to say: this file knows no clock.

use std::{sync::LazyLock, time::Duration};

use jiff::Timestamp;
use regex::Regex;

use crate::text::{InvalidText, string_type};

string_type! {
    /// When a hosted cluster is reconciled again: a time in RFC 3339, true for never, false for always.
    pub struct PausedUntil {
        length: 4..=35,
        matches: r"^(true|True|false|False|[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}.*)$"
            => "must be true, false, or a time such as 2030-01-31T08:00:00Z",
    }
}

string_type! {
    /// When a node pool is reconciled again: a time in RFC 3339, true for never, false for always.
    pub struct NodePoolPausedUntil {
        length: 1..=35,
        matches: r"^(true|True|false|False|[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}.*)$"
            => "must be true, false, or a time such as 2030-01-31T08:00:00Z",
    }
}

/// What a text of `pausedUntil` asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pause {
    /// Not paused.
    No,
    /// Paused up to a point in time.
    Until(Timestamp),
    /// Paused until the text changes.
    Forever,
}

impl Pause {
    /// Whether the pause holds at a point in time.
    pub fn holds_at(self, now: Timestamp) -> bool {
        match self {
            Self::No => false,
            Self::Until(end) => now < end,
            Self::Forever => true,
        }
    }
}

/// Reads a text of `pausedUntil`. The schema looks only at the beginning of a time, so that a text which an API
/// server has taken may still be refused here.
pub fn pause(text: &str) -> Result<Pause, InvalidText> {
    match text {
        "true" | "True" => Ok(Pause::Forever),
        "false" | "False" => Ok(Pause::No),
        time => parse_time(time)
            .map(Pause::Until)
            .ok_or_else(|| InvalidText::new("pausedUntil", text, "must be true, false, or a time in RFC 3339")),
    }
}

/// What a pause comes to at a point in time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PauseState {
    /// It is not paused.
    Active,
    /// It is paused.
    Paused {
        /// What the user wrote.
        text: String,
        /// How long it lasts from now, where an end is set.
        left: Option<Duration>,
    },
    /// What the user wrote means nothing, and so pauses nothing.
    Unreadable(String),
}

impl PauseState {
    /// What a text of `pausedUntil`, if there is one, comes to.
    pub fn of(text: Option<&str>, now: Timestamp) -> Self {
        let Some(text) = text else {
            return Self::Active;
        };
        match pause(text) {
            Err(error) => Self::Unreadable(error.to_string()),
            Ok(found) if !found.holds_at(now) => Self::Active,
            Ok(found) => Self::Paused {
                text: text.to_owned(),
                left: match found {
                    Pause::Until(end) => Some(end.duration_since(now).unsigned_abs()),
                    Pause::Forever | Pause::No => None,
                },
            },
        }
    }

    /// Whether what is paused is left alone.
    pub const fn is_paused(&self) -> bool {
        matches!(self, Self::Paused { .. })
    }

    /// When the pause ends by itself.
    pub const fn left(&self) -> Option<Duration> {
        match self {
            Self::Paused { left, .. } => *left,
            Self::Active | Self::Unreadable(_) => None,
        }
    }
}

/// jiff reads more than RFC 3339 (other separators, a time zone in brackets), so the form is checked first.
fn parse_time(text: &str) -> Option<Timestamp> {
    static RFC_3339: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,9})?(Z|[+-][0-9]{2}:[0-9]{2})$")
            .expect("the pattern is a literal that a test compiles")
    });
    RFC_3339.is_match(text).then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_comes_to_a_time_that_is_left() {
        let now = at("2030-01-31T08:00:00Z");
        let paused = |text: &str, left: Option<u64>| PauseState::Paused {
            text: text.to_owned(),
            left: left.map(Duration::from_secs),
        };
        for (text, expected) in [
            (None, PauseState::Active),
            (Some("false"), PauseState::Active),
            (Some("2030-01-31T08:00:00Z"), PauseState::Active),
            (Some("2030-01-31T08:01:00Z"), paused("2030-01-31T08:01:00Z", Some(60))),
            (Some("true"), paused("true", None)),
        ] {
            let found = PauseState::of(text, now);
            assert_eq!(found.is_paused(), matches!(expected, PauseState::Paused { .. }));
            assert_eq!(found, expected, "{text:?}");
        }
        assert!(matches!(
            PauseState::of(Some("2030-01-31T08:00:00"), now),
            PauseState::Unreadable(_)
        ));
    }

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    #[test]
    fn words_pause_for_ever_or_not_at_all() {
        for (text, expected) in [
            ("true", Pause::Forever),
            ("True", Pause::Forever),
            ("false", Pause::No),
            ("False", Pause::No),
        ] {
            assert_eq!(pause(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn times_pause_until_then() {
        for (text, expected) in [
            ("2030-01-31T08:00:00Z", "2030-01-31T08:00:00Z"),
            ("2030-01-31T08:00:00.25Z", "2030-01-31T08:00:00.25Z"),
            ("2030-01-31T08:00:00+05:30", "2030-01-31T02:30:00Z"),
            ("2030-01-31T20:00:00-08:00", "2030-02-01T04:00:00Z"),
        ] {
            assert_eq!(pause(text), Ok(Pause::Until(at(expected))), "{text}");
        }
    }

    #[test]
    fn anything_else_is_refused() {
        for text in [
            "",
            "TRUE",
            "yes",
            "2030-01-31",
            "2030-01-31 08:00:00Z",
            "2030-01-31t08:00:00Z",
            "2030-01-31T08:00Z",
            "2030-01-31T08:00:00",
            "2030-01-31T08:00:00z",
            "2030-01-31T08:00:00+05",
            "2030-01-31T08:00:00Z[UTC]",
            "2030-02-31T08:00:00Z",
            "2030-01-31T25:00:00Z",
            " 2030-01-31T08:00:00Z",
        ] {
            let refused = pause(text).unwrap_err();
            assert_eq!((refused.type_name, refused.text.as_str()), ("pausedUntil", text));
        }
    }

    #[test]
    fn a_pause_ends_at_its_time() {
        let end = at("2030-01-31T08:00:00Z");
        assert!(Pause::Until(end).holds_at(at("2030-01-31T07:59:59Z")));
        assert!(!Pause::Until(end).holds_at(end));
        assert!(Pause::Forever.holds_at(end));
        assert!(!Pause::No.holds_at(end));
    }

    #[test]
    fn every_pause_that_can_be_read_passes_the_schema() {
        for text in [
            "true",
            "False",
            "2030-01-31T08:00:00Z",
            "2030-01-31T08:00:00.123456789+05:30",
        ] {
            assert!(pause(text).is_ok(), "{text}");
            assert!(text.parse::<PausedUntil>().is_ok(), "{text}");
            assert!(text.parse::<NodePoolPausedUntil>().is_ok(), "{text}");
        }
    }

    #[test]
    fn the_schema_takes_a_time_that_only_begins_well() {
        let text = "2030-01-31T08:00:00 or so";
        assert!(text.parse::<NodePoolPausedUntil>().is_ok());
        assert!(pause(text).is_err());
    }
}
