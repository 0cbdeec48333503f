//! A report as text that fits into eighty columns. Pure.

use std::fmt::Write as _;

use hyperplane_planner::blocker::{Blocker, Moment, Report};

/// Columns.
const WIDTH: usize = 80;
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

/// Words in lines, with the same indent each.
fn paragraph(text: &mut String, indent: &str, words: &str) {
    let mut column = 0;
    let room = WIDTH - indent.len();
    let words = words.split_whitespace().flat_map(|word| pieces(word, room));
    for word in words {
        let word = &*word;
        let length = word.chars().count();
        if column == 0 || column + 1 + length > WIDTH {
            let line_end = if column == 0 { "" } else { "\n" };
            write!(text, "{line_end}{indent}{word}").expect("a string takes everything");
            column = indent.len() + length;
        } else {
            write!(text, " {word}").expect("a string takes everything");
            column += 1 + length;
        }
    }
    text.push('\n');
}

/// A word as it is, or what of it fits into a line each: names may be long.
fn pieces(word: &str, room: usize) -> Vec<String> {
    let characters: Vec<char> = word.chars().collect();
    characters.chunks(room).map(|piece| piece.iter().collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_fit() {
        let mut text = String::new();
        paragraph(&mut text, INDENT, &"word ".repeat(100));
        assert!(text.lines().all(|line| line.len() <= WIDTH && line.starts_with(INDENT)));
        assert_eq!(text.split_whitespace().count(), 100);
    }

    #[test]
    fn long_names_are_broken() {
        let mut text = String::new();
        paragraph(&mut text, INDENT, &format!("pools/{}", "a".repeat(200)));
        assert!(text.lines().all(|line| line.len() <= WIDTH));
        assert_eq!(text.matches('a').count(), 200);
    }
}
