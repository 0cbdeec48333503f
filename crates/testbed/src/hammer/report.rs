//! What clients saw, as numbers. Pure: it is told when things happened.

use std::{collections::BTreeMap, fmt, time::Duration};

use http::StatusCode;
use tokio::time::Instant;

/// How many runs of failures of a client are kept with their reason; all failures are counted.
const FAILURE_LIMIT: usize = 20;

/// How many times of answers are kept: an hour at twenty a second and more.
const LATENCY_LIMIT: usize = 100_000;

/// What all clients of a hammer saw.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// For how long they were at work.
    pub elapsed: Duration,
    /// The longest time in which none of them had a good answer.
    pub longest_gap: Duration,
    /// Each of them.
    pub clients: Vec<ClientReport>,
}

/// What one client saw.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClientReport {
    /// What it is called.
    pub name: String,
    /// How many answers it had, by status. A request that was throttled and then sent again counts once, by its second
    /// answer.
    pub statuses: BTreeMap<u16, u64>,
    /// How many requests found no connection.
    pub refused: u64,
    /// How many requests were lost under way.
    pub broken: u64,
    /// How many answers were 429 with a time to wait, after which the request was sent once more.
    pub throttled: u64,
    /// The longest time without a good answer.
    pub longest_gap: Duration,
    /// How long good answers took; a wait that the server asked for is included.
    pub latency: Latency,
    /// The first failures, in order, those in a row together.
    pub failures: Vec<Failure>,
}

/// Something that a user would have noticed: requests in a row that were lost for one reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// How long after the start the first was lost.
    pub after: Duration,
    /// How long after the start the last was lost.
    pub until: Duration,
    /// How many were lost.
    pub count: u64,
    /// The status or the error.
    pub reason: String,
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "after {:.2} s: {}", self.after.as_secs_f64(), self.reason)?;
        match self.count {
            1 => Ok(()),
            count => write!(
                formatter,
                " ({count} in a row, until {:.2} s)",
                self.until.as_secs_f64()
            ),
        }
    }
}

/// How long good answers took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Latency {
    /// Half of them took no longer.
    pub median: Duration,
    /// All but one in a hundred took no longer.
    pub percentile_99: Duration,
    /// None took longer.
    pub longest: Duration,
}

impl Report {
    /// How many requests were sent.
    pub fn requests(&self) -> u64 {
        self.clients.iter().map(ClientReport::requests).sum()
    }

    /// How many requests had no good answer, not even after the wait that a server asked for.
    pub fn lost(&self) -> u64 {
        self.clients.iter().map(ClientReport::lost).sum()
    }

    /// How many answers were 429 with a time to wait.
    pub fn throttled(&self) -> u64 {
        self.clients.iter().map(|client| client.throttled).sum()
    }
}

impl ClientReport {
    /// How many requests it sent.
    pub fn requests(&self) -> u64 {
        self.statuses.values().sum::<u64>() + self.refused + self.broken
    }

    /// How many requests had no good answer.
    pub fn lost(&self) -> u64 {
        let good = self.statuses.iter().filter(|(status, _)| (200..300).contains(*status));
        self.requests() - good.map(|(_, count)| count).sum::<u64>()
    }

    fn status_text(&self) -> String {
        let each = self.statuses.iter().map(|(status, count)| format!("{status}: {count}"));
        each.collect::<Vec<_>>().join(", ")
    }
}

impl fmt::Display for Report {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            formatter,
            "{} requests in {:.0} s, {} lost, {} throttled, longest time without a good answer {:.2} s",
            self.requests(),
            self.elapsed.as_secs_f64(),
            self.lost(),
            self.throttled(),
            self.longest_gap.as_secs_f64()
        )?;
        writeln!(formatter)?;
        writeln!(
            formatter,
            "| client | answers | refused | broken | throttled | longest gap, s | median, ms | 99 %, ms | longest, ms |"
        )?;
        writeln!(formatter, "|---|---|---|---|---|---|---|---|---|")?;
        for client in &self.clients {
            let Latency {
                median,
                percentile_99,
                longest,
            } = client.latency;
            writeln!(
                formatter,
                "| {} | {} | {} | {} | {} | {:.2} | {} | {} | {} |",
                client.name,
                client.status_text(),
                client.refused,
                client.broken,
                client.throttled,
                client.longest_gap.as_secs_f64(),
                median.as_millis(),
                percentile_99.as_millis(),
                longest.as_millis()
            )?;
        }
        for client in &self.clients {
            for failure in &client.failures {
                writeln!(formatter, "{}, {failure}", client.name)?;
            }
        }
        Ok(())
    }
}

/// The longest time between two good answers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gap {
    last: Instant,
    longest: Duration,
}

impl Gap {
    pub(super) fn starting(now: Instant) -> Self {
        Self {
            last: now,
            longest: Duration::ZERO,
        }
    }

    /// Tells of a good answer.
    pub(super) fn good(&mut self, now: Instant) {
        self.longest = self.longest.max(now.saturating_duration_since(self.last));
        self.last = self.last.max(now);
    }

    /// The longest one, that which is not over yet included.
    pub(super) fn finish(&mut self, now: Instant) -> Duration {
        self.good(now);
        self.longest
    }
}

/// The counts of one client while it is at work.
pub(super) struct Tally {
    pub(super) throttled: u64,
    started: Instant,
    gap: Gap,
    report: ClientReport,
    latencies: Vec<Duration>,
    /// Whether the last request was lost.
    is_failing: bool,
}

impl Tally {
    pub(super) fn starting(now: Instant) -> Self {
        Self {
            throttled: 0,
            started: now,
            gap: Gap::starting(now),
            report: ClientReport::default(),
            latencies: Vec::new(),
            is_failing: false,
        }
    }

    pub(super) fn good(&mut self, status: StatusCode, now: Instant, took: Duration) {
        self.count(status);
        self.gap.good(now);
        self.is_failing = false;
        if self.latencies.len() < LATENCY_LIMIT {
            self.latencies.push(took);
        }
    }

    pub(super) fn bad(&mut self, status: StatusCode, now: Instant) {
        self.count(status);
        self.keep(format!("status {status}"), now);
    }

    pub(super) fn refused(&mut self, reason: &str, now: Instant) {
        self.report.refused += 1;
        self.keep(format!("refused: {reason}"), now);
    }

    pub(super) fn broken(&mut self, reason: &str, now: Instant) {
        self.report.broken += 1;
        self.keep(format!("broken: {reason}"), now);
    }

    pub(super) fn finish(mut self, name: String, now: Instant) -> ClientReport {
        self.latencies.sort_unstable();
        ClientReport {
            name,
            throttled: self.throttled,
            longest_gap: self.gap.finish(now),
            latency: latency(&self.latencies),
            ..self.report
        }
    }

    fn count(&mut self, status: StatusCode) {
        *self.report.statuses.entry(status.as_u16()).or_default() += 1;
    }

    fn keep(&mut self, reason: String, now: Instant) {
        let after = now - self.started;
        let failures = &mut self.report.failures;
        let goes_on = std::mem::replace(&mut self.is_failing, true);
        if goes_on
            && let Some(last) = failures.last_mut()
            && last.reason == reason
        {
            last.until = after;
            last.count += 1;
            return;
        }
        if failures.len() < FAILURE_LIMIT {
            failures.push(Failure {
                after,
                until: after,
                count: 1,
                reason,
            });
        }
    }
}

/// Reads times that are in order.
fn latency(sorted: &[Duration]) -> Latency {
    let at = |percent: usize| {
        let place = (sorted.len() * percent).div_ceil(100).saturating_sub(1);
        sorted.get(place).copied().unwrap_or_default()
    };
    Latency {
        median: at(50),
        percentile_99: at(99),
        longest: at(100),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn milliseconds(count: u64) -> Duration {
        Duration::from_millis(count)
    }

    #[test]
    fn a_gap_lasts_from_one_good_answer_to_the_next() {
        let start = Instant::now();
        let mut gap = Gap::starting(start);
        gap.good(start + milliseconds(10));
        gap.good(start + milliseconds(310));
        // Answers of several clients may be told in another order than they came.
        gap.good(start + milliseconds(305));
        assert_eq!(gap.finish(start + milliseconds(400)), milliseconds(300));
        assert_eq!(gap.finish(start + milliseconds(900)), milliseconds(500));
    }

    #[test]
    fn percentiles_are_times_that_were_seen() {
        let times: Vec<_> = (1..=200).map(milliseconds).collect();
        let expected = Latency {
            median: milliseconds(100),
            percentile_99: milliseconds(198),
            longest: milliseconds(200),
        };
        assert_eq!(latency(&times), expected);
        assert_eq!(latency(&[]), Latency::default());
        assert_eq!(latency(&times[..1]).percentile_99, milliseconds(1));
    }

    #[test]
    fn what_users_notice_is_lost() {
        let start = Instant::now();
        let mut tally = Tally::starting(start);
        tally.throttled = 1;
        tally.good(StatusCode::OK, start + milliseconds(5), milliseconds(5));
        tally.bad(StatusCode::SERVICE_UNAVAILABLE, start + milliseconds(10));
        tally.refused("connection refused", start + milliseconds(20));
        tally.broken("reset", start + milliseconds(30));
        let client = tally.finish("read".to_owned(), start + milliseconds(1005));
        assert_eq!((client.requests(), client.lost()), (4, 3));
        assert_eq!(client.longest_gap, milliseconds(1000));
        let report = Report {
            elapsed: milliseconds(1005),
            longest_gap: client.longest_gap,
            clients: vec![client],
        };
        let text = report.to_string();
        let expected = "4 requests in 1 s, 3 lost, 1 throttled, longest time without a good answer 1.00 s\n";
        assert!(text.starts_with(expected), "{text}");
        assert!(
            text.contains("| read | 200: 1, 503: 1 | 1 | 1 | 1 | 1.00 | 5 | 5 | 5 |\n"),
            "{text}"
        );
        assert!(
            text.contains("read, after 0.02 s: refused: connection refused\n"),
            "{text}"
        );
    }

    #[test]
    fn failures_in_a_row_are_told_together() {
        let start = Instant::now();
        let mut tally = Tally::starting(start);
        for number in 1..=3 {
            tally.refused("nobody", start + milliseconds(100 * number));
        }
        tally.broken("reset", start + milliseconds(400));
        tally.good(StatusCode::OK, start + milliseconds(500), milliseconds(1));
        tally.broken("reset", start + milliseconds(600));
        let client = tally.finish("read".to_owned(), start);
        let told: Vec<String> = client.failures.iter().map(ToString::to_string).collect();
        let expected = [
            "after 0.10 s: refused: nobody (3 in a row, until 0.30 s)",
            "after 0.40 s: broken: reset",
            "after 0.60 s: broken: reset",
        ];
        assert_eq!(told, expected);
    }

    #[test]
    fn only_the_first_failures_are_kept() {
        let start = Instant::now();
        let mut tally = Tally::starting(start);
        for number in 0..2 * FAILURE_LIMIT {
            tally.broken(&format!("reset {number}"), start);
        }
        let client = tally.finish("read".to_owned(), start);
        assert_eq!(
            (client.broken, client.failures.len()),
            (2 * FAILURE_LIMIT as u64, FAILURE_LIMIT)
        );
    }
}
