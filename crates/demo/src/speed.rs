//! How fast a story is told. Owns the bounds of `--speed` and what a duration becomes by it.

use std::{fmt, str::FromStr, time::Duration};

use thiserror::Error;

/// The slowest: a story takes ten times as long.
const SLOWEST: f64 = 0.1;
/// The fastest: of a second, a millisecond is left.
const FASTEST: f64 = 1000.0;

/// How many times faster than usual simulated delays pass, and the pauses in which people read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Speed(f64);

/// A text that is no speed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0:?} is no speed: give a number from {SLOWEST} to {FASTEST}, such as 2 for twice as fast")]
pub struct SpeedError(String);

impl Speed {
    /// A duration at this speed.
    pub fn scale(self, duration: Duration) -> Duration {
        duration.div_f64(self.0)
    }
}

impl Default for Speed {
    fn default() -> Self {
        Self(1.0)
    }
}

impl FromStr for Speed {
    type Err = SpeedError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let number = text.parse::<f64>().ok();
        let number = number.filter(|number| (SLOWEST..=FASTEST).contains(number));
        number.map(Self).ok_or_else(|| SpeedError(text.to_owned()))
    }
}

impl fmt::Display for Speed {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_speed_is_a_number_within_bounds() {
        for text in ["0.1", "1", "2.5", "1000"] {
            assert_eq!(text.parse::<Speed>().unwrap().to_string(), text);
        }
        for text in ["", "0", "-1", "0.09", "1001", "fast", "NaN", "inf"] {
            let error = text.parse::<Speed>().unwrap_err().to_string();
            assert!(error.contains("from 0.1 to 1000"), "{error}");
        }
    }

    #[test]
    fn durations_shrink_by_it() {
        let speed: Speed = "4".parse().unwrap();
        assert_eq!(speed.scale(Duration::from_secs(2)), Duration::from_millis(500));
        assert_eq!(Speed::default().scale(Duration::from_secs(2)), Duration::from_secs(2));
    }
}
