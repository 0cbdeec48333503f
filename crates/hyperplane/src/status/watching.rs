//! A picture that is kept up to date: drawn over on a terminal, and told by what changes elsewhere.

use std::{io::Write, time::Duration};

use hyperplane_insight::render::{Look, Style};
use jiff::Timestamp;

use super::{Arguments, Picture, look, looking::Looking, print};
use crate::{
    printing::Format,
    signals::Signals,
    system::{self, Screen},
};

/// How long it is between two looks.
const PAUSE: Duration = Duration::from_secs(1);
/// Moves to the first place of a terminal, and clears what is behind.
const HOME: &str = "\u{1b}[H\u{1b}[J";

/// Looks until a signal comes. A look that fails is told, and the next one comes all the same.
pub(super) async fn watch(arguments: &Arguments, looking: &Looking, output: &mut impl Write) -> anyhow::Result<()> {
    let mut signals = Signals::new()?;
    let screen = system::screen();
    let mut last: Option<(Picture, Timestamp)> = None;
    loop {
        let looked = tokio::select! {
            looked = look(arguments, looking) => looked,
            () = signals.next() => return Ok(()),
        };
        let is_first = last.is_none();
        match looked {
            Ok((picture, now)) => {
                show(arguments, last.as_ref(), (&picture, now), screen, output)?;
                last = Some((picture, now));
            }
            Err(error) if is_first => return Err(error),
            Err(error) => tracing::warn!(error = format!("{error:#}"), "The last look failed."),
        }
        tokio::select! {
            () = tokio::time::sleep(PAUSE) => {}
            () = signals.next() => return Ok(()),
        }
    }
}

/// Shows one look after another.
fn show(
    arguments: &Arguments,
    last: Option<&(Picture, Timestamp)>,
    (picture, now): (&Picture, Timestamp),
    screen: Screen,
    output: &mut impl Write,
) -> anyhow::Result<()> {
    let is_text = matches!(arguments.output, Format::Table | Format::Wide);
    let is_new = last.is_none_or(|(last, _)| last != picture);
    if screen.is_terminal && is_text {
        // Ages go on, also where nothing else does.
        write!(output, "{HOME}")?;
        return print(arguments, picture, now, screen, output);
    }
    match last {
        _ if !is_new => Ok(()),
        Some((last, _)) if is_text => {
            let look = Look {
                style: Style::Plain,
                is_wide: arguments.output == Format::Wide,
            };
            // Both at the same moment: that time goes by is no change.
            for line in changes(&last.text(now, look), &picture.text(now, look)) {
                writeln!(output, "{now:.0} {line}")?;
            }
            Ok(output.flush()?)
        }
        _ => print(arguments, picture, now, screen, output),
    }
}

/// Lines that were not there before, with a plus, and those that are gone, with a minus.
fn changes(before: &str, after: &str) -> Vec<String> {
    let lines = |text: &str| -> Vec<String> { text.lines().map(str::to_owned).collect() };
    let (old, new) = (lines(before), lines(after));
    let gone = old
        .iter()
        .filter(|line| !new.contains(line))
        .map(|line| format!("- {line}"));
    let come = new
        .iter()
        .filter(|line| !old.contains(line))
        .map(|line| format!("+ {line}"));
    gone.chain(come).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_changes_is_told() {
        let before = "State  Starting\n\netcd  no\n";
        let after = "State  Available\n\netcd  no\n";
        assert_eq!(changes(before, after), ["- State  Starting", "+ State  Available"]);
        assert!(changes(after, after).is_empty());
    }
}
