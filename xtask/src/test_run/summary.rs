//! The table at the end of a test run, and its last line. Pure.

use std::time::Duration;

use super::{
    ground::{BUDGET, Ground},
    outcome::{Counts, Outcome, TestTime},
};

/// How many of the slowest tests are named.
const SLOWEST: usize = 10;

/// Renders the table, the slowest tests, what took more than its share, a line about soaks that were left to their own
/// task, and the totals.
pub(crate) fn render(outcomes: &[Outcome], soaks: usize, wall: Duration) -> String {
    let mut text = row(
        "ground",
        ["steps", "passed", "failed", "skipped", "time", "share"].map(str::to_owned),
    );
    let grounds = Ground::ALL.map(|ground| (ground, of_ground(outcomes, ground)));
    let grounds: Vec<_> = grounds
        .into_iter()
        .filter(|(_, outcomes)| !outcomes.is_empty())
        .collect();
    for (ground, outcomes) in &grounds {
        text.push_str(&row_of(ground.name(), outcomes, sum(outcomes), ground.share()));
    }
    let all: Vec<_> = outcomes.iter().collect();
    text.push_str(&row_of("all (wall)", &all, wall, BUDGET));
    text.push_str(&slowest(outcomes));
    for (ground, outcomes) in &grounds {
        text.push_str(&overdrawn(ground.name(), sum(outcomes), ground.share()));
    }
    text.push_str(&overdrawn("the whole run", wall, BUDGET));
    if soaks > 0 {
        let line = format!("\nLong soaks left to `cargo xtask soak`: {soaks}; their short slices ran.\n");
        text.push_str(&line);
    }
    text.push('\n');
    text.push_str(&last_line(outcomes.iter().map(|outcome| outcome.counts).sum()));
    text
}

fn of_ground(outcomes: &[Outcome], ground: Ground) -> Vec<&Outcome> {
    outcomes.iter().filter(|outcome| outcome.ground == ground).collect()
}

fn sum(outcomes: &[&Outcome]) -> Duration {
    outcomes.iter().map(|outcome| outcome.elapsed).sum()
}

fn slowest(outcomes: &[Outcome]) -> String {
    let with_label = |outcome| move |test| (outcome, test);
    let mut tests: Vec<(&Outcome, &TestTime)> = outcomes
        .iter()
        .flat_map(|outcome| outcome.tests.iter().map(with_label(outcome)))
        .collect();
    tests.sort_by(|(_, one), (_, other)| other.elapsed.cmp(&one.elapsed).then_with(|| one.name.cmp(&other.name)));
    if tests.is_empty() {
        return String::new();
    }
    let lines = tests.into_iter().take(SLOWEST).map(|(outcome, test)| {
        let seconds = test.elapsed.as_secs_f64();
        format!("{seconds:>8.1} s  {}  {}\n", outcome.label, test.name)
    });
    format!("\nThe slowest tests:\n{}", lines.collect::<String>())
}

/// A line where more was spent than is there.
fn overdrawn(name: &str, spent: Duration, share: Duration) -> String {
    if spent <= share {
        return String::new();
    }
    format!(
        "\nOver budget: {name} took {} of {} min. Make tests quicker before you add more.\n",
        minutes(spent),
        share.as_secs() / 60
    )
}

fn minutes(time: Duration) -> String {
    format!("{:.1}", time.as_secs_f64() / 60.0)
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

fn row_of(name: &str, outcomes: &[&Outcome], spent: Duration, share: Duration) -> String {
    let counts: Counts = outcomes.iter().map(|outcome| outcome.counts).sum();
    let [steps, passed, failed, skipped] =
        [outcomes.len() as u64, counts.passed, counts.failed, counts.skipped].map(|count| count.to_string());
    let time = format!("{:.1} s", spent.as_secs_f64());
    let share = format!("{} min", share.as_secs() / 60);
    row(name, [steps, passed, failed, skipped, time, share])
}

fn row(name: &str, [steps, passed, failed, skipped, time, share]: [String; 6]) -> String {
    format!("{name:<12}{steps:>8}{passed:>10}{failed:>10}{skipped:>10}{time:>12}{share:>9}\n")
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
            label: "api: pure".to_owned(),
            ground,
            tests: vec![TestTime {
                name: format!("test_{seconds}"),
                elapsed: Duration::from_secs(seconds),
            }],
            counts,
            elapsed: Duration::from_secs(seconds),
            complaint: None,
        }
    }

    #[test]
    fn grounds_are_summed_in_a_fixed_order() {
        let outcomes = [
            outcome(Ground::Pods, 8, 1, 0, 400),
            outcome(Ground::Pure, 100, 0, 0, 1),
            outcome(Ground::Pure, 20, 0, 0, 2),
        ];
        let expected = "\
ground         steps    passed    failed   skipped        time    share
pure               2       120         0         0       3.0 s    8 min
pods               1         8         1         0     400.0 s    6 min
all (wall)         3       128         1         0     401.0 s   30 min

The slowest tests:
   400.0 s  api: pure  test_400
     2.0 s  api: pure  test_2
     1.0 s  api: pure  test_1

Over budget: pods took 6.7 of 6 min. Make tests quicker before you add more.

Long soaks left to `cargo xtask soak`: 2; their short slices ran.

128 passed, 1 failed";
        let text = render(&outcomes, 2, Duration::from_secs(401));
        assert_eq!(text, expected);
        assert!(text.lines().all(|line| line.len() <= 80));
        let late = render(&outcomes, 0, Duration::from_mins(31));
        assert!(
            late.contains("Over budget: the whole run took 31.0 of 30 min."),
            "{late}"
        );
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
