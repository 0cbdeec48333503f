//! Time as the API writes it: whole seconds. Owns the conversions; reads no clock.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;

/// A moment as the API writes it.
pub(crate) fn written(moment: Timestamp) -> Time {
    Time(Timestamp::from_second(moment.as_second()).unwrap_or(moment))
}

/// A moment some time after another.
pub(crate) fn after(moment: Timestamp, duration: Duration) -> Timestamp {
    let duration = SignedDuration::try_from(duration).unwrap_or(SignedDuration::MAX);
    moment.saturating_add(duration).unwrap_or(Timestamp::MAX)
}

/// A moment some seconds after another, or before it.
pub(crate) fn after_seconds(moment: Timestamp, seconds: i64) -> Timestamp {
    moment
        .saturating_add(SignedDuration::from_secs(seconds))
        .unwrap_or(Timestamp::MAX)
}

/// How long until a moment; nothing once it is there.
pub(crate) fn until(moment: Timestamp, now: Timestamp) -> Duration {
    Duration::try_from(moment.duration_since(now)).unwrap_or_default()
}

/// The earlier of two moments that may be absent.
pub(crate) fn sooner(left: Option<Timestamp>, right: Option<Timestamp>) -> Option<Timestamp> {
    match (left, right) {
        (Some(left), Some(right)) => Some(left.min(right)),
        (left, right) => left.or(right),
    }
}
