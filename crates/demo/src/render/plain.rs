//! Progress as plain lines, each written once: for pipes and logs.

use std::io::{self, Write};

use super::text::{Style, paragraph, seconds};
use crate::{claims::ClaimReport, progress::Event};

/// Where texts begin: behind the time.
const INDENT: usize = 10;

/// Writes progress as lines.
pub struct Plain<W> {
    output: W,
    style: Style,
}

impl<W: Write> Plain<W> {
    /// Writes to an output.
    pub fn new(output: W, style: Style) -> Self {
        Self { output, style }
    }

    /// Writes what is told.
    pub fn take(&mut self, event: &Event) -> io::Result<()> {
        for line in lines(event, self.style) {
            writeln!(self.output, "{line}")?;
        }
        self.output.flush()
    }
}

/// The lines of an event. How everything stands is not among them: what changed was told already.
fn lines(event: &Event, style: Style) -> Vec<String> {
    match event {
        Event::StepStarted(start) => {
            let title = format!("{}/{} {}", start.number, start.of, start.title);
            let title = with_time(&seconds(start.at), &title).into_iter();
            let title = title.map(|line| style.strong(&line));
            let commands = commands(&start.commands).into_iter().map(|line| style.faint(&line));
            std::iter::once(String::new()).chain(title).chain(commands).collect()
        }
        Event::Noted(moment) => with_time(&seconds(moment.at), &moment.text),
        Event::StepEnded { took, .. } => {
            vec![style.good(&format!("{}done in {}", " ".repeat(INDENT), seconds(*took)))]
        }
        Event::Judged(claim) => judged(claim, style),
        Event::Stands(_) => Vec::new(),
    }
}

/// A claim, with what speaks against it if it does not hold.
pub(super) fn judged(claim: &ClaimReport, style: Style) -> Vec<String> {
    if claim.held {
        let lines = with_time("holds", &claim.claim).into_iter();
        return lines.map(|line| style.good(&line)).collect();
    }
    let mut lines = with_time("FAILS", &claim.claim);
    lines.extend(paragraph(INDENT, &format!("{}: {}", claim.id, claim.evidence)));
    lines.iter().map(|line| style.bad(line)).collect()
}

/// Commands as people type them; lines that are too long would break when they are copied, so they are left whole.
pub(super) fn commands(commands: &[String]) -> Vec<String> {
    let line = |command: &String| {
        let prompt = if command.starts_with(' ') { " " } else { "$" };
        format!("  {prompt} {command}")
    };
    commands.iter().map(line).collect()
}

/// A text behind a time.
fn with_time(time: &str, text: &str) -> Vec<String> {
    let mut lines = paragraph(INDENT, text);
    if let Some(first) = lines.first_mut() {
        *first = format!("{time:>8}  {}", first.trim_start());
    }
    lines
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::{
        plan::Plan,
        progress::{Moment, StepStart},
        render::WIDTH,
        story::{StepId, steps},
    };

    fn written(events: &[Event]) -> String {
        let mut output = Vec::new();
        let mut plain = Plain::new(&mut output, Style::default());
        for event in events {
            plain.take(event).unwrap();
        }
        String::from_utf8(output).unwrap()
    }

    fn claim(held: bool) -> Event {
        Event::Judged(ClaimReport {
            id: "api-answers",
            claim: "The hosted API server answers its administrator in 1.36.3.".to_owned(),
            how: "GET /version.".to_owned(),
            held,
            evidence: "gitVersion is v1.35.8".to_owned(),
        })
    }

    #[test]
    fn a_story_is_told_line_by_line() {
        let plan = Plan::new("demo").unwrap();
        let step = steps(&plan, "demo.yaml").remove(2);
        let events = [
            Event::StepStarted(StepStart {
                id: step.id,
                number: 3,
                of: 7,
                title: step.title,
                commands: step.commands,
                at: Duration::from_millis(12_300),
            }),
            Event::Stands(Box::default()),
            Event::Noted(Moment {
                at: Duration::from_secs(14),
                step: step.id,
                text: "etcd serves in 1.36.3".to_owned(),
            }),
            Event::StepEnded {
                id: StepId::Upgrade,
                took: Duration::from_millis(5_500),
            },
            claim(true),
            claim(false),
        ];
        let expected = r#"
   12.3s  3/7 Upgrade the control plane to 1.36.3; nodes stay
  $ kubectl -n clusters patch hostedcluster demo --type merge \
      -p '{"spec":{"release":{"image":"hyperplane.dev/kubernetes:v1.36.3"}}}'
   14.0s  etcd serves in 1.36.3
          done in 5.5s
   holds  The hosted API server answers its administrator in 1.36.3.
   FAILS  The hosted API server answers its administrator in 1.36.3.
          api-answers: gitVersion is v1.35.8
"#;
        assert_eq!(written(&events), expected);
    }

    #[test]
    fn commands_of_the_story_fit() {
        for name in ["demo", &"a".repeat(20)] {
            let plan = Plan::new(name).unwrap();
            for step in steps(&plan, "docs/examples/demo.yaml") {
                let lines = commands(&step.commands);
                let widest = lines.iter().map(|line| line.chars().count()).max().unwrap_or(0);
                assert!(widest <= WIDTH, "{widest}: {lines:?}");
                assert!(step.title.chars().count() + INDENT + 5 <= WIDTH, "{}", step.title);
            }
        }
    }
}
