//! Columns that fit: one of them takes the room that the others leave, and is wrapped.

use super::page::{Page, Paint, Span, cut, width};

/// The space between columns.
const GAP: usize = 2;
/// The least that the wrapped column has.
const LEAST_WRAPPED: usize = 16;
/// The least that any other column has, when names are very long.
const LEAST: usize = 6;

/// Rows under titles. The last column is the one that is wrapped.
#[derive(Debug)]
pub(super) struct Table {
    titles: Vec<&'static str>,
    rows: Vec<Vec<Span>>,
    is_cut: bool,
}

impl Table {
    pub(super) fn new(titles: &[&'static str]) -> Self {
        Self {
            titles: titles.to_vec(),
            rows: Vec::new(),
            is_cut: false,
        }
    }

    /// Every row is one line: what does not fit into it is left out.
    pub(super) const fn in_single_lines(mut self) -> Self {
        self.is_cut = true;
        self
    }

    /// Adds a row. Cells that are missing are empty.
    pub(super) fn row(&mut self, mut cells: Vec<Span>) {
        cells.resize(self.titles.len(), Span::plain(""));
        self.rows.push(cells);
    }

    /// Prints it with an indent.
    pub(super) fn print(self, page: &mut Page, indent: usize) {
        let widths = self.widths(page.look.width() - indent);
        let titles: Vec<Span> = self.titles.iter().map(|title| Span::new(title, Paint::Bold)).collect();
        let room = widths.last().copied().unwrap_or_default();
        for mut row in std::iter::once(titles).chain(self.rows) {
            if let Some(last) = row.last_mut().filter(|_| self.is_cut) {
                last.text = cut(&last.text, room);
            }
            print_row(page, indent, &widths, &row);
        }
    }

    /// What each column gets of the room.
    fn widths(&self, room: usize) -> Vec<usize> {
        let column = |place: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(place)).map(Span::width);
            cells.chain([width(self.titles[place])]).max().unwrap_or(0)
        };
        let mut widths: Vec<usize> = (0..self.titles.len()).map(column).collect();
        let Some((last, others)) = widths.split_last_mut() else {
            return widths;
        };
        let gaps = GAP * others.len();
        let wanted = (*last).min(LEAST_WRAPPED);
        while others.iter().sum::<usize>() + gaps + wanted > room {
            match others.iter_mut().max() {
                Some(widest) if *widest > LEAST => *widest -= 1,
                _ => break,
            }
        }
        let left = room.saturating_sub(others.iter().sum::<usize>() + gaps);
        *last = (*last).min(left).max(1);
        widths
    }
}

fn print_row(page: &mut Page, indent: usize, widths: &[usize], row: &[Span]) {
    let Some((wrapped, fixed)) = row.split_last() else {
        return;
    };
    let mut line = vec![Span::plain(" ".repeat(indent))];
    let mut column = indent;
    for (cell, room) in fixed.iter().zip(widths) {
        let shown = cut(&cell.text, *room);
        let padding = room - width(&shown) + GAP;
        line.push(Span::new(shown, cell.paint));
        line.push(Span::plain(" ".repeat(padding)));
        column += room + GAP;
    }
    let room = widths.last().copied().unwrap_or(1);
    let mut pieces = pieces(&wrapped.text, room).into_iter();
    line.extend(pieces.next().map(|piece| Span::new(piece, wrapped.paint)));
    page.line(line);
    for piece in pieces {
        let piece = Span::new(piece, wrapped.paint);
        page.line(vec![Span::plain(" ".repeat(column)), piece]);
    }
}

/// A cell in lines of its own.
fn pieces(text: &str, room: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let mut rest = word.to_owned();
        while width(&rest) > room {
            let mut head: String = rest.clone();
            while width(&head) > room {
                head.pop();
            }
            if head.is_empty() {
                return lines;
            }
            rest = rest.split_off(head.len());
            lines.push(head);
        }
        match lines.last_mut() {
            Some(line) if width(line) + 1 + width(&rest) <= room => {
                line.push(' ');
                line.push_str(&rest);
            }
            _ => lines.push(rest),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{super::Look, *};

    #[test]
    fn the_last_column_is_wrapped_under_itself() {
        let mut table = Table::new(&["NAME", "MESSAGE"]);
        table.row(vec![Span::plain("etcd"), Span::plain("word ".repeat(20))]);
        let mut page = Page::new(Look::PLAIN);
        table.print(&mut page, 2);
        let text = page.finish();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "  NAME  MESSAGE");
        assert!(lines[1].starts_with("  etcd  word word"));
        assert!(lines[2].starts_with("        word"));
        assert!(lines.iter().all(|line| line.len() <= 80));
    }

    proptest! {
        #[test]
        fn rows_fit(cells in proptest::collection::vec("\\PC{0,120}", 0..40)) {
            let mut table = Table::new(&["ONE", "TWO", "THREE", "FOUR"]);
            for row in cells.chunks(4) {
                table.row(row.iter().map(Span::plain).collect());
            }
            let mut page = Page::new(Look::PLAIN);
            table.print(&mut page, 2);
            for line in page.finish().lines() {
                prop_assert!(width(line) <= super::super::NARROW, "{line:?}");
            }
        }
    }
}
