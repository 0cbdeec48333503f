//! A fleet in eighty columns. Pure.

use std::time::Duration;

use super::{Answers, Counts, FleetOutcome};
use crate::{
    outcome::Ending,
    render::{Style, bar, fit, paragraph, seconds},
};

/// How wide the bar is.
const BAR: usize = 10;
/// Where details begin.
const INDENT: usize = 4;

/// How far a fleet is, in one line without an end: it can be drawn over itself.
pub fn counts_line(counts: &Counts) -> String {
    let text = format!(
        "{:>8}  {} {}/{} done, {} asked for, {} control planes, {} nodes",
        seconds(counts.took),
        bar(counts.done, counts.of, BAR),
        counts.done,
        counts.of,
        counts.asked,
        counts.control_planes,
        counts.nodes
    );
    fit(&text, crate::render::WIDTH).trim_end().to_owned()
}

/// What came of a fleet.
pub fn outcome_text(outcome: &FleetOutcome, style: Style) -> String {
    let (plan, numbers) = (&outcome.plan, &outcome.numbers);
    let counts = &numbers.counts;
    let mut lines = Vec::new();
    let took = seconds(counts.took);
    let (done, of) = (counts.done, counts.of);
    lines.extend(paragraph(
        0,
        &format!(
            "{done} of {of} clusters at {} with {} nodes each, in {took}.",
            plan.version.number, plan.nodes
        ),
    ));
    let measured = done - numbers.were_there.min(done);
    if measured > 0 {
        let [p50, p99, slowest] = [numbers.p50, numbers.p99, numbers.slowest].map(seconds);
        lines.extend(paragraph(
            0,
            &format!(
                "Per cluster: p50 {p50}, p99 {p99}, slowest {slowest}; {} at a time.",
                plan.at_once
            ),
        ));
    }
    if numbers.were_there > 0 {
        lines.extend(paragraph(
            0,
            &format!("{} were there already, and are not measured.", numbers.were_there),
        ));
    }
    lines.extend(answers(&outcome.answers));
    lines.extend(ending(&outcome.ending).into_iter().map(|line| style.bad(&line)));
    lines.push(String::new());
    lines.join("\n")
}

/// How quickly the API answered meanwhile.
fn answers(answers: &Answers) -> Vec<String> {
    if answers.asked == 0 {
        return Vec::new();
    }
    let milliseconds = |took: Duration| format!("{:.1} ms", took.as_secs_f64() * 1_000.0);
    let [p50, p99, slowest] = [answers.p50, answers.p99, answers.slowest].map(milliseconds);
    let failed = match answers.failed {
        0 => String::new(),
        failed => format!(", {failed} of them errors"),
    };
    let asked = answers.asked;
    paragraph(
        0,
        &format!("The API answered meanwhile in p50 {p50}, p99 {p99}, at most {slowest} ({asked} times{failed})."),
    )
}

fn ending(ending: &Ending) -> Vec<String> {
    match ending {
        Ending::Played => Vec::new(),
        Ending::Stopped => paragraph(0, "Stopped. The fleet is left as it is; the next run goes on with it."),
        Ending::Refused { reason } => paragraph(0, &format!("Nothing was touched: {reason}.")),
        Ending::Failed { reason } => paragraph(0, &format!("Ended: {reason}. The fleet is left as it is.")),
        Ending::TimedOut { seconds, missing } => {
            let mut lines = paragraph(
                0,
                &format!("Waited {seconds} s in vain. The fleet is left as it is. Missing:"),
            );
            lines.extend(missing.iter().flat_map(|what| paragraph(INDENT, what)));
            lines
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        fleet::{FleetPlan, Numbers},
        render::WIDTH,
    };

    fn outcome(ending: Ending) -> FleetOutcome {
        FleetOutcome {
            plan: FleetPlan::new(200, 3, 16).unwrap(),
            ending,
            numbers: Numbers {
                counts: Counts {
                    of: 200,
                    asked: 200,
                    control_planes: 150,
                    nodes: 450,
                    done: 150,
                    took: Duration::from_secs(90),
                },
                p50: Duration::from_millis(5_100),
                p99: Duration::from_millis(8_300),
                slowest: Duration::from_secs(9),
                were_there: 0,
            },
            answers: Answers {
                asked: 90,
                failed: 0,
                p50: Duration::from_micros(300),
                p99: Duration::from_millis(40),
                slowest: Duration::from_millis(55),
            },
        }
    }

    #[test]
    fn progress_is_one_line() {
        let line = counts_line(&outcome(Ending::Played).numbers.counts);
        assert_eq!(
            line,
            "   90.0s  ███████░░░ 150/200 done, 200 asked for, 150 control planes, 450 nodes"
        );
    }

    #[test]
    fn numbers_are_told() {
        let version = FleetPlan::new(1, 1, 1).unwrap().version.number;
        let expected = format!(
            "150 of 200 clusters at {version} with 3 nodes each, in 90.0s.\nPer cluster: p50 5.1s, p99 8.3s, slowest 9.0s; \
             16 at a time.\nThe API answered meanwhile in p50 0.3 ms, p99 40.0 ms, at most 55.0 ms (90\ntimes).\n"
        );
        assert_eq!(outcome_text(&outcome(Ending::Played), Style::default()), expected);
        assert!(!outcome(Ending::Played).is_success());
        let mut refused = outcome(Ending::Played);
        refused.answers.failed = 2;
        let told = outcome_text(&refused, Style::default());
        assert!(told.contains("(90\ntimes, 2 of them errors)."), "{told}");
        let late = Ending::TimedOut {
            seconds: 60,
            missing: vec!["cluster f001: ".to_owned() + &"word ".repeat(40)],
        };
        let told = outcome_text(&outcome(late), Style::default());
        assert!(
            told.contains("in vain") && told.lines().all(|line| line.chars().count() <= WIDTH),
            "{told}"
        );
    }
}
