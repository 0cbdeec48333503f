//! How long certificates last, and when they are renewed. Pure arithmetic of time.

use jiff::{SignedDuration, Timestamp};
use sha2::{Digest as _, Sha256};
use thiserror::Error;

/// How long an authority lasts.
pub(crate) const AUTHORITY_LIFE: SignedDuration = SignedDuration::from_hours(10 * 365 * 24);
/// How long before its end people hear of an authority that they have to replace.
pub(crate) const AUTHORITY_WARNING: SignedDuration = SignedDuration::from_hours(365 * 24);
/// How far back validity begins, for peers whose clocks are behind.
pub(crate) const BACKDATED: SignedDuration = SignedDuration::from_mins(5);
/// How long a leaf lasts, if nobody says otherwise.
const VALIDITY: SignedDuration = SignedDuration::from_hours(365 * 24);
/// Which part of that is left when it is renewed, in so many parts of [`RENEWAL_WHOLE`]: thirty days of a year.
const RENEWAL_PARTS: i32 = 30;
const RENEWAL_WHOLE: i32 = 365;
/// Less would not outlast a slow rollout of the pods that have it.
const SHORTEST_VALIDITY: SignedDuration = SignedDuration::from_mins(10);
/// More would outlast the authority.
const LONGEST_VALIDITY: SignedDuration = AUTHORITY_LIFE;
/// A part below or above would be renewed too late to notice a failure, or without end.
const RENEWAL_RANGE: std::ops::RangeInclusive<f64> = 0.01..=0.9;
/// Renewals are spread over this part of the time that is left.
const SPREAD_PARTS: i64 = 3;

/// How long leaves last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lifetime {
    /// How long a new leaf is valid.
    pub validity: SignedDuration,
    /// How much of that is left, at most, when it is renewed.
    pub left: SignedDuration,
}

/// A lifetime that cannot be.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum InvalidLifetime {
    /// The validity is no duration, or out of bounds.
    #[error("{0:?} is no validity of certificates; use a duration such as 8760h, from 10m to 87600h")]
    Validity(String),
    /// The part that is left at renewal is no number, or out of bounds.
    #[error("{0:?} is no part of the validity; use a number from 0.01 to 0.9")]
    Renewal(String),
}

impl Default for Lifetime {
    fn default() -> Self {
        Self::of(VALIDITY)
    }
}

impl Lifetime {
    /// Reads the two texts that a user may give: a duration, and which part of it is left at renewal.
    pub fn parse(validity: Option<&str>, renewal: Option<&str>) -> Result<Self, InvalidLifetime> {
        let validity = match validity {
            None => VALIDITY,
            Some(text) => read_validity(text).ok_or_else(|| InvalidLifetime::Validity(text.to_owned()))?,
        };
        match renewal {
            None => Ok(Self::of(validity)),
            Some(text) => {
                let part = text.parse::<f64>().ok().filter(|part| RENEWAL_RANGE.contains(part));
                let part = part.ok_or_else(|| InvalidLifetime::Renewal(text.to_owned()))?;
                let left = SignedDuration::from_secs(validity.mul_f64(part).as_secs());
                Ok(Self { validity, left })
            }
        }
    }

    fn of(validity: SignedDuration) -> Self {
        // In whole seconds, as certificates have them.
        let left = SignedDuration::from_secs((validity * RENEWAL_PARTS / RENEWAL_WHOLE).as_secs());
        Self { validity, left }
    }

    /// The end of a leaf that begins at this time, under an authority that ends at that time.
    pub(crate) fn end(self, begin: Timestamp, authority_end: Timestamp) -> Timestamp {
        let end = begin.saturating_add(BACKDATED + self.validity);
        end.map_or(authority_end, |end| end.min(authority_end))
    }

    /// When a leaf that ends at this time may be renewed together with others of the same control plane.
    pub(crate) fn window(self, end: Timestamp) -> Timestamp {
        end.saturating_sub(self.left).unwrap_or(Timestamp::MIN)
    }

    /// When a leaf that ends at this time must be renewed. Control planes that were made at the same time differ, so that
    /// a fleet does not restart at once; within one they agree, so that it restarts once.
    pub(crate) fn due(self, end: Timestamp, namespace: &str) -> Timestamp {
        let spread = self.left.as_secs() / SPREAD_PARTS;
        let digest = Sha256::digest(namespace);
        let number = digest
            .iter()
            .take(7)
            .fold(0, |number, byte| number << 8 | i64::from(*byte));
        let delay = number.checked_rem(spread).unwrap_or(0);
        let due = self.window(end).saturating_add(SignedDuration::from_secs(delay));
        due.unwrap_or(end)
    }
}

fn read_validity(text: &str) -> Option<SignedDuration> {
    let validity: SignedDuration = text.parse().ok()?;
    let validity = SignedDuration::from_secs(validity.as_secs());
    (SHORTEST_VALIDITY..=LONGEST_VALIDITY)
        .contains(&validity)
        .then_some(validity)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn texts_of_users() {
        let hours = |hours: i64| SignedDuration::from_hours(hours);
        for (validity, renewal, expected) in [
            (None, None, Some((hours(8760), hours(720)))),
            (Some("8760h"), None, Some((hours(8760), hours(720)))),
            (Some("100h"), Some("0.25"), Some((hours(100), hours(25)))),
            (
                Some("1h30m"),
                Some("0.5"),
                Some((SignedDuration::from_mins(90), SignedDuration::from_mins(45))),
            ),
            (None, Some("0.5"), Some((hours(8760), hours(4380)))),
            (Some("9m"), None, None),
            (Some("87601h"), None, None),
            (Some("-5h"), None, None),
            (Some("soon"), None, None),
            (None, Some("0"), None),
            (None, Some("1"), None),
            (None, Some("NaN"), None),
            (None, Some("30%"), None),
        ] {
            let lifetime = Lifetime::parse(validity, renewal).ok();
            let lifetime = lifetime.map(|lifetime| (lifetime.validity, lifetime.left));
            assert_eq!(lifetime, expected, "{validity:?} {renewal:?}");
        }
    }

    #[test]
    fn a_fleet_is_spread_over_its_window() {
        let end: Timestamp = "2028-01-01T00:00:00Z".parse().unwrap();
        let lifetime = Lifetime::default();
        let window = lifetime.window(end);
        let days: Vec<i64> = (0..1000)
            .map(|number| {
                lifetime
                    .due(end, &format!("clusters-{number}"))
                    .duration_since(window)
                    .as_hours()
                    / 24
            })
            .collect();
        for day in 0..10 {
            let renewed = days.iter().filter(|found| **found == day).count();
            assert!((60..140).contains(&renewed), "{renewed} of 1000 on day {day}");
        }
    }

    proptest! {
        #[test]
        fn renewal_comes_after_issue_and_well_before_the_end(
            minutes in 10i64..5_256_000, part in 0.01f64..0.9, namespace in "[a-z]{1,20}"
        ) {
            let lifetime = Lifetime::parse(Some(&format!("{minutes}m")), Some(&part.to_string())).unwrap();
            let begin: Timestamp = "2027-01-01T00:00:00Z".parse().unwrap();
            let end = lifetime.end(begin, Timestamp::MAX);
            let due = lifetime.due(end, &namespace);
            prop_assert!(due > begin + BACKDATED);
            prop_assert!(due >= lifetime.window(end));
            prop_assert!(end.duration_since(due) >= lifetime.left * 2 / 3);
        }
    }
}
