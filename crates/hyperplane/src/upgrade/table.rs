//! A report as text that fits into eighty columns. Pure.

use hyperplane_planner::blocker::{Blocker, Moment, Report};

use crate::printing::paragraph;

const INDENT: &str = "  ";

/// The whole report.
pub(super) fn print(report: &Report) -> String {
    let mut text = String::new();
    let verdict = if report.ok { "OK" } else { "NOT OK" };
    let counts = [
        (report.violations.len(), "violation"),
        (report.warnings.len(), "warning"),
        (report.unknown.len(), "unknown"),
    ];
    let counts: Vec<String> = counts.iter().map(|(count, word)| counted(*count, word)).collect();
    paragraph(&mut text, "", &format!("{verdict}: {}", counts.join(", ")));
    paragraph(&mut text, "", &format!("Judged by {}", report.policies.join(", ")));
    for (title, findings) in [
        ("VIOLATION", &report.violations),
        ("UNKNOWN", &report.unknown),
        ("WARNING", &report.warnings),
    ] {
        for finding in findings {
            text.push('\n');
            print_one(&mut text, title, finding);
        }
    }
    text
}

fn counted(count: usize, word: &str) -> String {
    let plural = if count == 1 || word == "unknown" { "" } else { "s" };
    format!("{count} {word}{plural}")
}

fn print_one(text: &mut String, title: &str, finding: &Blocker) {
    let moment = match finding.state {
        Moment::Before => "as it is",
        Moment::After => "as it would be",
        Moment::Transition => "on the way",
    };
    let head = format!(
        "{title} {} {} · {} · {moment}",
        finding.rule, finding.reason, finding.subject
    );
    paragraph(text, "", &head);
    paragraph(text, INDENT, &sentence(&finding.message));
    for disagreement in &finding.disagreements {
        let line = format!(
            "{}: {} ({})",
            disagreement.policy, disagreement.verdict, disagreement.source
        );
        paragraph(text, "    ", &line);
    }
    paragraph(text, INDENT, &format!("-> {}", finding.remedy));
}

/// A message as a sentence. Versions and names of components are written as they are.
fn sentence(message: &str) -> String {
    let is_word = message
        .split(' ')
        .next()
        .is_some_and(|word| word.chars().all(char::is_alphabetic) && !is_component(word));
    let mut characters = message.chars();
    match characters.next() {
        Some(first) if is_word => format!("{}{}", first.to_uppercase(), characters.as_str()),
        _ => message.to_owned(),
    }
}

/// Names of components are written as they are.
fn is_component(word: &str) -> bool {
    ["kube", "etcd", "cloud"].iter().any(|begin| word.starts_with(begin))
}
