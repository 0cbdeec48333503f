//! What a run of tests amounts to: counts, and whether they may stand. Pure.

use std::{iter::Sum, time::Duration};

use super::ground::Ground;

/// How many tests went which way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) passed: u64,
    pub(crate) failed: u64,
    /// Tests that were left out although they should have run.
    pub(crate) skipped: u64,
}

impl Sum for Counts {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), |sum, counts| Self {
            passed: sum.passed + counts.passed,
            failed: sum.failed + counts.failed,
            skipped: sum.skipped + counts.skipped,
        })
    }
}

/// How long one test took.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TestTime {
    pub(crate) name: String,
    pub(crate) elapsed: Duration,
}

/// What came of one step of the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Outcome {
    /// The step, for people.
    pub(crate) label: String,
    pub(crate) ground: Ground,
    /// Its tests, as far as they say how long they took.
    pub(crate) tests: Vec<TestTime>,
    pub(crate) counts: Counts,
    pub(crate) elapsed: Duration,
    /// What is wrong beyond what the tests themselves say.
    pub(crate) complaint: Option<&'static str>,
}

impl Outcome {
    /// A check that stands or falls as a whole.
    pub(crate) fn of_check(label: &str, is_success: bool, elapsed: Duration) -> Self {
        let counts = Counts {
            passed: is_success.into(),
            failed: (!is_success).into(),
            skipped: 0,
        };
        Self {
            label: label.to_owned(),
            ground: Ground::Checks,
            tests: Vec::new(),
            counts,
            elapsed,
            complaint: None,
        }
    }

    /// What the output of test binaries amounts to. A run that went wrong without naming a failed test still counts
    /// as one failure, and so does a binary for real servers that tests nothing.
    pub(crate) fn of_output(label: &str, ground: Ground, output: &str, is_success: bool, elapsed: Duration) -> Self {
        let mut counts: Counts = output.lines().filter_map(read_result).sum();
        let complaint = if !is_success && counts.failed == 0 {
            Some("it ended without a result")
        } else if ground.needs_servers() && counts.passed + counts.failed == 0 {
            Some("it holds no tests")
        } else {
            None
        };
        counts.failed += u64::from(complaint.is_some());
        Self {
            label: label.to_owned(),
            ground,
            tests: output.lines().filter_map(read_time).collect(),
            counts,
            elapsed,
            complaint,
        }
    }

    /// Whether nothing is wrong. A test that was left out is wrong: nobody knows whether it holds.
    pub(crate) fn is_success(&self) -> bool {
        self.counts.failed == 0 && self.counts.skipped == 0
    }
}

/// Reads a line like `test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 1 filtered out; finished in 0.01s`.
fn read_result(line: &str) -> Option<Counts> {
    let counts = line.strip_prefix("test result: ")?.split_once(". ")?.1;
    let count_of = |word| {
        let count = |part: &str| part.trim().strip_suffix(word)?.trim().parse().ok();
        counts.split(';').find_map(count)
    };
    Some(Counts {
        passed: count_of("passed")?,
        failed: count_of("failed")?,
        skipped: count_of("ignored")?,
    })
}

/// Reads a line like `test queue::order ... ok <0.012s>`.
fn read_time(line: &str) -> Option<TestTime> {
    let (name, rest) = line.strip_prefix("test ")?.split_once(" ... ")?;
    let seconds: f64 = rest.rsplit_once('<')?.1.strip_suffix("s>")?.parse().ok()?;
    Some(TestTime {
        name: name.to_owned(),
        elapsed: Duration::try_from_secs_f64(seconds).ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 1 filtered out; finished in 0.01s";
    const BAD: &str = "test result: FAILED. 2 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 9s";
    const LEFT_OUT: &str = "test result: ok. 2 passed; 0 failed; 4 ignored; 0 measured; 0 filtered out; finished in 9s";
    const EMPTY: &str = "test result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s";

    fn outcome(ground: Ground, output: &str, is_success: bool) -> Outcome {
        Outcome::of_output("step", ground, output, is_success, Duration::ZERO)
    }

    #[test]
    fn counts_are_added_over_all_result_lines() {
        let both = format!("running 3 tests\n{GOOD}\nnoise\n{BAD}\n");
        let outcome = outcome(Ground::Doc, &both, false);
        assert_eq!(
            outcome.counts,
            Counts {
                passed: 5,
                failed: 1,
                skipped: 0
            }
        );
        assert!(!outcome.is_success());
    }

    #[test]
    fn a_good_run_is_a_success() {
        assert!(outcome(Ground::Real, GOOD, true).is_success());
        assert!(outcome(Ground::Pure, EMPTY, true).is_success());
    }

    #[test]
    fn a_test_that_was_left_out_is_no_success() {
        let outcome = outcome(Ground::Pure, LEFT_OUT, true);
        assert_eq!(
            outcome.counts,
            Counts {
                passed: 2,
                failed: 0,
                skipped: 4
            }
        );
        assert!(!outcome.is_success());
    }

    #[test]
    fn a_crash_counts_as_a_failure() {
        let outcome = outcome(Ground::Pure, "running 3 tests\nSegmentation fault", false);
        assert_eq!(
            (outcome.counts.failed, outcome.complaint),
            (1, Some("it ended without a result"))
        );
    }

    #[test]
    fn a_real_binary_must_test_something() {
        let outcome = outcome(Ground::Real, EMPTY, true);
        assert_eq!(
            (outcome.counts.failed, outcome.complaint),
            (1, Some("it holds no tests"))
        );
    }

    #[test]
    fn times_are_read_where_they_are_told() {
        let output = "test a::b ... ok <0.250s>\ntest c ... FAILED <1.5s>\ntest d ... ok\ntest e ... ok <x>\n";
        let times = outcome(Ground::Pure, output, true).tests;
        let times: Vec<_> = times
            .iter()
            .map(|time| (time.name.as_str(), time.elapsed.as_millis()))
            .collect();
        assert_eq!(times, [("a::b", 250), ("c", 1_500)]);
    }
}
