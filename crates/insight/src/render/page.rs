//! Lines that fit: words with their paint, wrapped with an indent, and what terminals make of them. What comes from objects
//! is cleaned here: it must neither break lines nor steer a terminal.

use super::{Look, Style};

/// The least room that words have, however deep they are indented.
const LEAST_ROOM: usize = 24;

/// How a word is painted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Paint {
    Plain,
    Bold,
    Dim,
    Good,
    Bad,
    Moving,
}

impl Paint {
    const fn code(self) -> Option<&'static str> {
        match self {
            Self::Plain => None,
            Self::Bold => Some("1"),
            Self::Dim => Some("2"),
            Self::Good => Some("32"),
            Self::Bad => Some("31"),
            Self::Moving => Some("33"),
        }
    }
}

/// Text with its paint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) text: String,
    pub(super) paint: Paint,
}

impl Span {
    pub(super) fn new(text: impl AsRef<str>, paint: Paint) -> Self {
        Self {
            text: clean(text.as_ref()),
            paint,
        }
    }

    pub(super) fn plain(text: impl AsRef<str>) -> Self {
        Self::new(text, Paint::Plain)
    }

    pub(super) fn width(&self) -> usize {
        width(&self.text)
    }
}

/// Lines in the making.
#[derive(Debug)]
pub(super) struct Page {
    pub(super) look: Look,
    lines: Vec<Vec<Span>>,
}

impl Page {
    pub(super) const fn new(look: Look) -> Self {
        Self {
            look,
            lines: Vec::new(),
        }
    }

    /// An empty line, unless it would be the first, or the second in a row.
    pub(super) fn blank(&mut self) {
        if self.lines.last().is_some_and(|last| !last.is_empty()) {
            self.lines.push(Vec::new());
        }
    }

    /// A line as it is: whoever makes it has seen to its width.
    pub(super) fn line(&mut self, spans: Vec<Span>) {
        self.lines.push(spans);
    }

    /// A title over what follows.
    pub(super) fn title(&mut self, text: &str) {
        self.blank();
        self.line(vec![Span::new(text, Paint::Bold)]);
    }

    /// Words in lines that fit: the first begins with one indent, the others with another.
    pub(super) fn words(&mut self, first: &str, rest: &str, spans: &[Span]) {
        let (first, rest) = (self.bounded(first), self.bounded(rest));
        for line in wrapped(spans, self.look.width(), width(&first), width(&rest)) {
            let is_first = line.0;
            let indent = if is_first { &first } else { &rest };
            let mut all = vec![Span::new(indent, Paint::Dim)];
            all.extend(line.1);
            self.line(all);
        }
    }

    /// An indent that leaves room for words.
    fn bounded(&self, indent: &str) -> String {
        cut(indent, self.look.width() - LEAST_ROOM)
    }

    /// All lines as one text.
    pub(super) fn finish(self) -> String {
        let mut text = String::new();
        for line in self.lines {
            let last = line.iter().rposition(|span| !span.text.trim_end().is_empty());
            for (place, span) in line.iter().enumerate().take(last.map_or(0, |last| last + 1)) {
                let shown = if Some(place) == last {
                    span.text.trim_end()
                } else {
                    &span.text
                };
                push(&mut text, shown, span.paint, self.look.style);
            }
            text.push('\n');
        }
        text
    }
}

fn push(text: &mut String, shown: &str, paint: Paint, style: Style) {
    match paint.code().filter(|_| style == Style::Colour && !shown.is_empty()) {
        Some(code) => {
            for part in ["\u{1b}[", code, "m", shown, "\u{1b}[0m"] {
                text.push_str(part);
            }
        }
        None => text.push_str(shown),
    }
}

/// Words in lines; each says whether it is the first.
fn wrapped(spans: &[Span], width_of_page: usize, first: usize, rest: usize) -> Vec<(bool, Vec<Span>)> {
    let mut lines: Vec<Vec<Span>> = Vec::new();
    let mut column = 0;
    for span in spans {
        let room = width_of_page - first.max(rest);
        let words = span.text.split_whitespace().flat_map(|word| pieces(word, room));
        for word in words {
            let indent = if lines.len() <= 1 { first } else { rest };
            let length = width(&word);
            let fits = indent + column + 1 + length <= width_of_page;
            match lines.last_mut() {
                Some(line) if fits && column > 0 => {
                    line.push(Span::new(format!(" {word}"), span.paint));
                    column += 1 + length;
                }
                _ => {
                    lines.push(vec![Span::new(word, span.paint)]);
                    column = length;
                }
            }
        }
    }
    lines
        .into_iter()
        .enumerate()
        .map(|(place, line)| (place == 0, line))
        .collect()
}

/// A word as it is, or what of it fits into a line each.
fn pieces(word: &str, room: usize) -> Vec<String> {
    let mut pieces = vec![String::new()];
    let mut column = 0;
    for one in word.chars() {
        let length = width_of(one);
        if column + length > room && column > 0 {
            pieces.push(String::new());
            column = 0;
        }
        column += length;
        if let Some(last) = pieces.last_mut() {
            last.push(one);
        }
    }
    pieces
}

/// A text that fits into so many columns, with a sign that it was cut.
pub(super) fn cut(text: &str, room: usize) -> String {
    if width(text) <= room {
        return text.to_owned();
    }
    let mut kept = String::new();
    let mut column = 1;
    for one in text.chars() {
        column += width_of(one);
        if column > room {
            break;
        }
        kept.push(one);
    }
    kept.push('…');
    kept
}

/// How many columns a text takes.
pub(super) fn width(text: &str) -> usize {
    text.chars().map(width_of).sum()
}

/// East Asian letters and pictures take two columns (Unicode, annex 11), everything else one.
fn width_of(one: char) -> usize {
    let is_wide = matches!(u32::from(one),
        0x1100..=0x115f | 0x2e80..=0xa4cf | 0xac00..=0xd7a3 | 0xf900..=0xfaff | 0xfe30..=0xfe6f | 0xff00..=0xff60
        | 0xffe0..=0xffe6 | 0x1f300..=0x1faff | 0x20000..=0x3fffd);
    if is_wide { 2 } else { 1 }
}

/// A text without what would break lines, steer a terminal, or turn the direction of reading.
fn clean(text: &str) -> String {
    let is_steering = |one: char| {
        one.is_control() || matches!(one, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    text.chars()
        .map(|one| if is_steering(one) { ' ' } else { one })
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn page(first: &str, rest: &str, words: &str, style: Style) -> String {
        let mut page = Page::new(Look { style, is_wide: false });
        page.words(first, rest, &[Span::new(words, Paint::Bad)]);
        page.finish()
    }

    #[test]
    fn nothing_steers_a_terminal() {
        let text = page("", "", "a\u{1b}[31mb\nc\u{202e}d", Style::Plain);
        assert_eq!(text, "a [31mb c d\n");
        let coloured = page("", "", "a", Style::Colour);
        assert_eq!(coloured, "\u{1b}[31ma\u{1b}[0m\n");
    }

    #[test]
    fn what_is_cut_says_so() {
        assert_eq!(cut("abcdef", 6), "abcdef");
        assert_eq!(cut("abcdef", 5), "abcd…");
        assert_eq!(cut("漢字漢字", 5), "漢字…");
    }

    proptest! {
        #[test]
        fn lines_fit_and_no_letter_is_lost(
            words in "\\PC{0,300}", first in "[ │├─]{0,90}", rest in "[ │]{0,90}"
        ) {
            let text = page(&first, &rest, &words, Style::Plain);
            for line in text.lines() {
                prop_assert!(width(line) <= super::super::NARROW, "{line:?}");
            }
            let letters = |text: &str| text.chars().filter(char::is_ascii_alphanumeric).collect::<String>();
            prop_assert_eq!(letters(&text), letters(&words));
        }
    }
}
