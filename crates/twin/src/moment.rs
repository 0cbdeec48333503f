//! Moments and the time between them. Owns the arithmetic; reads no clock.

use std::time::Duration;

pub(crate) use hyperplane_runtime::conditions::written;
use jiff::{SignedDuration, Timestamp};

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
