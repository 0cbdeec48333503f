//! Wall time as a parameter. Owns how a timestamp is obtained; knows nothing of timers, which are tokio's,
//! so that paused tokio time drives both.

use std::{fmt, sync::Arc};

use jiff::{SignedDuration, Timestamp};
use tokio::time::Instant;

/// Where timestamps come from. Cheap to clone; every clone tells the same time.
#[derive(Clone)]
pub struct Clock(Source);

#[derive(Clone)]
enum Source {
    Function(Arc<dyn Fn() -> Timestamp + Send + Sync>),
    Anchored { start: Timestamp, since: Instant },
}

impl Clock {
    /// A clock that asks `read` each time. The binary hands in the system's clock here, and follows its corrections.
    pub fn reading(read: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        Self(Source::Function(Arc::new(read)))
    }

    /// A clock that shows `start` now and advances with tokio's time: virtual where tokio is paused.
    pub fn anchored(start: Timestamp) -> Self {
        Self(Source::Anchored {
            start,
            since: Instant::now(),
        })
    }

    /// The current wall time.
    pub fn now(&self) -> Timestamp {
        match &self.0 {
            Source::Function(read) => read(),
            Source::Anchored { start, since } => {
                let elapsed = SignedDuration::try_from(since.elapsed()).unwrap_or(SignedDuration::MAX);
                start.saturating_add(elapsed).unwrap_or(Timestamp::MAX)
            }
        }
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Clock({})", self.now())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn an_anchored_clock_follows_paused_time() {
        let start: Timestamp = "2026-01-02T03:04:05Z".parse().unwrap();
        let clock = Clock::anchored(start);
        tokio::time::advance(Duration::from_secs(90)).await;
        assert_eq!(clock.now(), "2026-01-02T03:05:35Z".parse::<Timestamp>().unwrap());
    }

    #[test]
    fn a_reading_clock_asks_each_time() {
        let counter = std::sync::atomic::AtomicI64::new(0);
        let clock =
            Clock::reading(move || Timestamp::constant(counter.fetch_add(1, std::sync::atomic::Ordering::Relaxed), 0));
        assert_eq!(clock.now(), Timestamp::constant(0, 0));
        assert_eq!(clock.now(), Timestamp::constant(1, 0));
    }
}
