//! Waiting for real programs: looks again and again until a deadline.

use std::{
    thread,
    time::{Duration, Instant},
};

use super::error::Error;

/// How often is looked; a look is mostly one short process.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// Waits until a probe gives a value. What it says otherwise is told when the time is over; an error ends the waiting.
pub(crate) fn wait_until<T>(
    what: &str,
    limit: Duration,
    mut probe: impl FnMut() -> Result<Result<T, String>, Error>,
) -> Result<T, Error> {
    let start = Instant::now();
    loop {
        match probe()? {
            Ok(value) => return Ok(value),
            Err(last) if start.elapsed() >= limit => {
                return Err(Error::Late {
                    what: what.to_owned(),
                    limit,
                    last,
                });
            }
            Err(_) => thread::sleep(POLL_INTERVAL),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_never_comes_is_told_with_what_was_seen_last() {
        let mut looks = 0;
        let limit = Duration::from_millis(1);
        let late = wait_until::<()>("a miracle", limit, || {
            looks += 1;
            Ok(Err(format!("look {looks}")))
        });
        assert_eq!(late.unwrap_err().to_string(), "a miracle: not within 0 s; last: look 2");
        assert_eq!(wait_until("1", limit, || Ok(Ok(1))).unwrap(), 1);
    }
}
