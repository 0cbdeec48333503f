//! When a token is replaced, and when one that nobody needs any more is taken away. Pure: the clock is a parameter, and new
//! tokens come from outside.

use std::time::Duration;

use hyperplane_api::constants::annotations;
use hyperplane_runtime::conditions;
use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::core::v1::Secret;

/// How old a token gets. The ignition server takes the one before for as long again.
pub(crate) const ROTATION: SignedDuration = SignedDuration::from_mins(330);

/// How long a token of a configuration that was replaced is still taken: machines that are about to start have it.
pub(crate) const OUTDATED_LIFETIME: SignedDuration = SignedDuration::from_hours(2);

/// What becomes of the token of the configuration that machines are made with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Care {
    /// There is none yet.
    Create,
    /// Another takes its place now.
    Rotate,
    /// It stays for so long.
    Keep(Duration),
}

/// What becomes of a token of a configuration that machines are not made with any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outdated {
    /// It gets an end.
    Expire(Timestamp),
    /// It has an end, which comes after so long.
    Wait(Duration),
    /// Its end has come.
    Remove,
}

/// Judges the token that is in use.
pub(crate) fn care(live: Option<&Secret>, now: Timestamp) -> Care {
    let Some(live) = live else {
        return Care::Create;
    };
    // When it was made must be known; what cannot be read was not written here.
    let made = annotations::LAST_TOKEN_GENERATION_TIME.of(live);
    let Some(made) = made.and_then(|made| made.parse::<Timestamp>().ok()) else {
        return Care::Rotate;
    };
    // A clock that went back makes a token young, not invalid.
    let age = now.duration_since(made).max(SignedDuration::ZERO);
    if age >= ROTATION {
        Care::Rotate
    } else {
        Care::Keep((ROTATION - age).unsigned_abs())
    }
}

/// Judges a token that is not in use.
pub(crate) fn outdated(live: &Secret, now: Timestamp) -> Outdated {
    let Some(end) = annotations::IGNITION_TOKEN_EXPIRATION_TIMESTAMP.of(live) else {
        let end = now.checked_add(OUTDATED_LIFETIME).unwrap_or(now);
        return Outdated::Expire(end);
    };
    // The ignition server takes an end that cannot be read as one that has come; so is it here.
    match end.parse::<Timestamp>() {
        Ok(end) if now < end => Outdated::Wait(end.duration_since(now).unsigned_abs()),
        Ok(_) | Err(_) => Outdated::Remove,
    }
}

/// A moment as annotations hold it, in whole seconds.
pub(crate) fn written(moment: Timestamp) -> String {
    conditions::written(moment).0.to_string()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    const NOW: Timestamp = Timestamp::constant(1_800_000_000, 0);

    fn secret(made: Option<&str>, end: Option<&str>) -> Secret {
        let mut all = serde_json::Map::new();
        for (key, value) in [
            (annotations::LAST_TOKEN_GENERATION_TIME, made),
            (annotations::IGNITION_TOKEN_EXPIRATION_TIMESTAMP, end),
        ] {
            if let Some(value) = value {
                all.insert(key.as_str().to_owned(), value.into());
            }
        }
        hyperplane_objects::read(json!({"metadata": {"annotations": all}})).unwrap()
    }

    fn ago(minutes: i64) -> String {
        written(NOW - SignedDuration::from_mins(minutes))
    }

    #[test]
    fn tokens_are_replaced_by_age() {
        assert_eq!(care(None, NOW), Care::Create);
        for (made, expected) in [
            (Some(ago(0)), Care::Keep(Duration::from_mins(330))),
            (Some(ago(329)), Care::Keep(Duration::from_mins(1))),
            (Some(ago(330)), Care::Rotate),
            (Some(ago(-10)), Care::Keep(Duration::from_mins(330))),
            (Some("yesterday".to_owned()), Care::Rotate),
            (None, Care::Rotate),
        ] {
            assert_eq!(care(Some(&secret(made.as_deref(), None)), NOW), expected, "{made:?}");
        }
    }

    #[test]
    fn outdated_tokens_get_an_end_once_and_go_then() {
        let end = NOW + OUTDATED_LIFETIME;
        assert_eq!(outdated(&secret(None, None), NOW), Outdated::Expire(end));
        for (end, expected) in [
            (ago(-60), Outdated::Wait(Duration::from_hours(1))),
            (ago(0), Outdated::Remove),
            (ago(1), Outdated::Remove),
            ("never".to_owned(), Outdated::Remove),
        ] {
            assert_eq!(outdated(&secret(None, Some(&end)), NOW), expected, "{end}");
        }
    }

    proptest! {
        #[test]
        fn a_token_that_is_kept_is_replaced_when_it_was_said(age in 0_i64..40_000, more in 0_i64..1_000) {
            let made = secret(Some(&written(NOW)), None);
            let at = |seconds: i64| NOW + SignedDuration::from_secs(seconds);
            match care(Some(&made), at(age)) {
                Care::Keep(left) => {
                    let then = age + i64::try_from(left.as_secs()).unwrap();
                    prop_assert_eq!(care(Some(&made), at(then + more)), Care::Rotate);
                }
                other => prop_assert_eq!(other, Care::Rotate),
            }
        }
    }
}
