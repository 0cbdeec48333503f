//! The table at the end of a test run, and its last line. Pure.

use std::time::Duration;

use super::{
    binaries::Ground,
    outcome::{Counts, Outcome},
};

/// Renders the table, a line about soaks that were left to their own task, and the totals.
pub(crate) fn render(outcomes: &[Outcome], soaks: usize) -> String {
    let mut text = row("ground", "steps", "passed", "failed", "skipped", "time");
    for ground in Ground::ALL {
        let of_ground: Vec<_> = outcomes.iter().filter(|outcome| outcome.ground == ground).collect();
        if !of_ground.is_empty() {
            text.push_str(&row_of(ground.name(), &of_ground));
        }
    }
    text.push_str(&row_of("all", &outcomes.iter().collect::<Vec<_>>()));
    if soaks > 0 {
        let line = format!("\nLong soaks left to `cargo xtask soak`: {soaks}; their short slices ran.\n");
        text.push_str(&line);
    }
    text.push('\n');
    text.push_str(&last_line(outcomes.iter().map(|outcome| outcome.counts).sum()));
    text
}

/// The last line, which other programs read.
fn last_line(counts: Counts) -> String {
    let Counts {
        passed,
        failed,
        skipped,
    } = counts;
    match skipped {
        0 => format!("{passed} passed, {failed} failed"),
        _ => format!("{passed} passed, {failed} failed, {skipped} skipped"),
    }
}

fn row_of(name: &str, outcomes: &[&Outcome]) -> String {
    let counts: Counts = outcomes.iter().map(|outcome| outcome.counts).sum();
    let elapsed: Duration = outcomes.iter().map(|outcome| outcome.elapsed).sum();
    let [steps, passed, failed, skipped] =
        [outcomes.len() as u64, counts.passed, counts.failed, counts.skipped].map(|count| count.to_string());
    row(
        name,
        &steps,
        &passed,
        &failed,
        &skipped,
        &format!("{:.1} s", elapsed.as_secs_f64()),
    )
}

fn row(name: &str, steps: &str, passed: &str, failed: &str, skipped: &str, time: &str) -> String {
    format!("{name:<12}{steps:>8}{passed:>10}{failed:>10}{skipped:>10}{time:>12}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(ground: Ground, passed: u64, failed: u64, skipped: u64, seconds: u64) -> Outcome {
        let counts = Counts {
            passed,
            failed,
            skipped,
        };
        Outcome {
            ground,
            counts,
            elapsed: Duration::from_secs(seconds),
            complaint: None,
        }
    }

    #[test]
    fn grounds_are_summed_in_a_fixed_order() {
        let outcomes = [
            outcome(Ground::Real, 8, 1, 0, 60),
            outcome(Ground::Pure, 100, 0, 0, 1),
            outcome(Ground::Pure, 20, 0, 0, 2),
        ];
        let expected = "\
ground         steps    passed    failed   skipped        time
pure               2       120         0         0       3.0 s
real               1         8         1         0      60.0 s
all                3       128         1         0      63.0 s

Long soaks left to `cargo xtask soak`: 2; their short slices ran.

128 passed, 1 failed";
        let text = render(&outcomes, 2);
        assert_eq!(text, expected);
        assert!(text.lines().all(|line| line.len() <= 80));
    }

    #[test]
    fn the_last_line_names_skipped_tests_only_if_there_are_any() {
        assert_eq!(
            last_line(Counts {
                passed: 3,
                failed: 0,
                skipped: 0
            }),
            "3 passed, 0 failed"
        );
        assert_eq!(
            last_line(Counts {
                passed: 3,
                failed: 1,
                skipped: 2
            }),
            "3 passed, 1 failed, 2 skipped"
        );
    }
}
