//! Trying again until something works, and saying what it waits for without filling a log. Owns the pauses; knows
//! nothing of what is tried.

use std::{error::Error, fmt::Write as _, time::Duration};

use tokio::time::{Instant, sleep};

/// The pause between two attempts: short against the start of a server, long against the cost of asking.
pub(crate) const PAUSE: Duration = Duration::from_secs(1);

/// How often the same reason is said again: somebody who looks at the log of a program that waits finds it.
const REMINDER: Duration = Duration::from_mins(1);

/// Tries until it works.
pub(crate) async fn until<T, E: Error>(what: &str, mut attempt: impl AsyncFnMut() -> Result<T, E>) -> T {
    let mut notes = Notes::default();
    loop {
        match attempt().await {
            Ok(value) => return value,
            Err(error) => notes.waiting(what, &chain(&error)),
        }
        sleep(PAUSE).await;
    }
}

/// What was said last, and when.
#[derive(Default)]
pub(crate) struct Notes {
    last: Option<(String, Instant)>,
}

impl Notes {
    /// Says why it waits, if it is a new reason or was not said for some time.
    pub(crate) fn waiting(&mut self, what: &str, reason: &str) {
        let now = Instant::now();
        let is_known = |(said, when): &(String, Instant)| said == reason && now - *when < REMINDER;
        if !self.last.as_ref().is_some_and(is_known) {
            tracing::info!(%reason, "Waiting: {what}.");
            self.last = Some((reason.to_owned(), now));
        }
    }
}

/// An error and its causes, in one line.
pub(crate) fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        write!(text, ": {error}").expect("writing to a string cannot fail");
        cause = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("not yet")]
    struct NotYet(#[source] std::io::Error);

    #[tokio::test(start_paused = true)]
    async fn it_tries_until_it_works() {
        let start = Instant::now();
        let mut left = 3;
        let answer = until("a test to end", async || {
            left -= 1;
            if left == 0 {
                Ok("done")
            } else {
                Err(NotYet(std::io::Error::other("no")))
            }
        })
        .await;
        assert_eq!((answer, start.elapsed()), ("done", PAUSE * 2));
    }

    #[test]
    fn causes_are_told() {
        assert_eq!(chain(&NotYet(std::io::Error::other("no"))), "not yet: no");
    }
}
