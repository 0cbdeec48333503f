//! Words, bars and tables in eighty columns. Pure.

use std::time::Duration;

/// Columns.
pub const WIDTH: usize = 80;

/// Whether there are colours. Whoever knows the terminal and `NO_COLOR` decides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Style {
    /// Whether there are colours.
    pub is_coloured: bool,
}

impl Style {
    pub(crate) fn good(self, text: &str) -> String {
        self.paint("32", text)
    }

    pub(crate) fn bad(self, text: &str) -> String {
        self.paint("31", text)
    }

    pub(crate) fn faint(self, text: &str) -> String {
        self.paint("2", text)
    }

    pub(crate) fn strong(self, text: &str) -> String {
        self.paint("1", text)
    }

    fn paint(self, code: &str, text: &str) -> String {
        if self.is_coloured {
            format!("\u{1b}[{code}m{text}\u{1b}[0m")
        } else {
            text.to_owned()
        }
    }
}

/// A text in so many columns: cut where it is too long, and filled up where it is too short.
pub(crate) fn fit(text: &str, width: usize) -> String {
    let length = text.chars().count();
    if length <= width {
        return format!("{text}{}", " ".repeat(width - length));
    }
    let kept: String = text.chars().take(width.saturating_sub(1)).collect();
    format!("{kept}…")
}

/// Words in lines that fit, each behind the same indent.
pub(crate) fn paragraph(indent: usize, words: &str) -> Vec<String> {
    let room = WIDTH - indent;
    let mut lines: Vec<String> = Vec::new();
    let mut line = String::new();
    let pieces = words.split_whitespace().flat_map(|word| {
        let letters: Vec<char> = word.chars().collect();
        letters
            .chunks(room)
            .map(|piece| piece.iter().collect())
            .collect::<Vec<String>>()
    });
    for piece in pieces {
        let length = line.chars().count() + usize::from(!line.is_empty()) + piece.chars().count();
        if length > room {
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(&piece);
    }
    if !line.is_empty() {
        lines.push(line);
    }
    lines
        .iter()
        .map(|line| format!("{}{line}", " ".repeat(indent)))
        .collect()
}

/// A bar for a part of a whole.
pub(crate) fn bar(done: usize, of: usize, width: usize) -> String {
    let full = (done.min(of) * width).checked_div(of).unwrap_or(0);
    format!("{}{}", "█".repeat(full), "░".repeat(width - full))
}

/// A duration as people read it.
pub(crate) fn seconds(duration: Duration) -> String {
    let seconds = duration.as_secs_f64();
    if seconds < 600.0 {
        format!("{seconds:.1}s")
    } else {
        format!("{}m{:02}s", duration.as_secs() / 60, duration.as_secs() % 60)
    }
}

/// Rows below a head, in columns that are as wide as they have to be; what does not fit into a line is cut.
pub(crate) fn table(head: &[&str], rows: &[Vec<String>]) -> Vec<String> {
    let head: Vec<String> = head.iter().map(|&word| word.to_owned()).collect();
    let lines: Vec<&Vec<String>> = std::iter::once(&head).chain(rows).collect();
    let width_of = |column: usize| {
        let cells = lines.iter().filter_map(|line| line.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..head.len()).map(width_of).collect();
    let written = lines.iter().map(|line| {
        let cells = line.iter().zip(&widths).map(|(cell, width)| fit(cell, *width));
        let text = cells.collect::<Vec<String>>().join("  ");
        fit(text.trim_end(), WIDTH).trim_end().to_owned()
    });
    written.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_fits() {
        let long = "word ".repeat(50) + &"a".repeat(200);
        for indent in [0, 8, 30] {
            let lines = paragraph(indent, &long);
            assert!(
                lines
                    .iter()
                    .all(|line| line.chars().count() <= WIDTH && line.starts_with(&" ".repeat(indent)))
            );
            let letters = lines.concat().matches('a').count();
            assert_eq!(letters, 200);
        }
        assert_eq!(fit("short", 7), "short  ");
        assert_eq!(fit("too long", 5), "too …");
        let wide = table(&["A", "B"], &[vec!["a".repeat(60), "b".repeat(60)]]);
        assert!(wide.iter().all(|line| line.chars().count() <= WIDTH));
    }

    #[test]
    fn bars_are_as_long_as_what_is_done() {
        assert_eq!(bar(0, 4, 4), "░░░░");
        assert_eq!(bar(3, 4, 4), "███░");
        assert_eq!(bar(9, 4, 4), "████");
        assert_eq!(bar(0, 0, 4), "░░░░");
    }

    #[test]
    fn durations_are_short() {
        assert_eq!(seconds(Duration::from_millis(1_250)), "1.2s");
        assert_eq!(seconds(Duration::from_secs(3_605)), "60m05s");
    }

    #[test]
    fn colours_are_asked_for() {
        assert_eq!(Style::default().good("yes"), "yes");
        assert_eq!(Style { is_coloured: true }.bad("no"), "\u{1b}[31mno\u{1b}[0m");
    }
}
