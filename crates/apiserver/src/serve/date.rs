//! The Date header, from the server's own clock: on virtual time it is virtual too.

use std::sync::{Mutex, PoisonError};

use http::HeaderValue;
use hyperplane_seams::Clock;
use jiff::{Timestamp, fmt::rfc2822::DateTimePrinter};

static PRINTER: DateTimePrinter = DateTimePrinter::new();

/// The date as a header, written once per second.
#[derive(Debug)]
pub(super) struct Date {
    clock: Clock,
    written: Mutex<Option<(i64, HeaderValue)>>,
}

impl Date {
    pub(super) fn new(clock: Clock) -> Self {
        Self {
            clock,
            written: Mutex::new(None),
        }
    }

    /// The header of this second; none in years that it cannot express.
    pub(super) fn header(&self) -> Option<HeaderValue> {
        let now = self.clock.now();
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        match &*written {
            Some((second, header)) if *second == now.as_second() => Some(header.clone()),
            _ => {
                let header = write(now)?;
                *written = Some((now.as_second(), header.clone()));
                Some(header)
            }
        }
    }
}

fn write(now: Timestamp) -> Option<HeaderValue> {
    let text = PRINTER.timestamp_to_rfc9110_string(&now).ok()?;
    HeaderValue::try_from(text).ok()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_date_follows_the_clock() {
        let date = Date::new(Clock::anchored("2026-02-03T04:05:06.7Z".parse().unwrap()));
        assert_eq!(date.header().unwrap(), "Tue, 03 Feb 2026 04:05:06 GMT");
        tokio::time::advance(Duration::from_millis(300)).await;
        assert_eq!(date.header().unwrap(), "Tue, 03 Feb 2026 04:05:07 GMT");
    }

    #[test]
    fn a_year_that_has_no_date_has_no_header() {
        let date = Date::new(Clock::reading(|| Timestamp::MIN));
        assert_eq!(date.header(), None);
    }
}
