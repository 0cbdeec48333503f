//! A value as YAML text, laid out as Go's library does it, so that answers compare byte by byte: lists stand below
//! their key without indentation, long lines are folded, texts with line breaks are blocks. How a single text is
//! written is decided in `scalar`, the order of keys in `order`.

mod order;
mod scalar;

use serde_json::{Map, Value};

use self::scalar::Style;

/// A space behind this column becomes a line break.
const WIDTH: usize = 80;
/// What is inside stands this much further to the right.
const STEP: usize = 2;
/// A longer key is announced by a question mark.
const MAXIMUM_KEY_BYTES: usize = 128;

/// Writes a value, ending with a line break.
pub(crate) fn write(value: &Value) -> String {
    let mut writer = Writer::default();
    match value {
        Value::Object(map) if !map.is_empty() => writer.map(map, 0),
        Value::Array(items) if !items.is_empty() => writer.list(items, 0),
        other => writer.leaf(other, STEP),
    }
    writer.end_line();
    writer.out
}

#[derive(Default)]
struct Writer {
    out: String,
    column: usize,
}

impl Writer {
    fn push(&mut self, character: char) {
        self.out.push(character);
        self.column = if character == '\n' { 0 } else { self.column + 1 };
    }

    fn push_text(&mut self, text: &str) {
        text.chars().for_each(|character| self.push(character));
    }

    fn end_line(&mut self) {
        if self.column > 0 {
            self.push('\n');
        }
    }

    /// Begins a line at an indentation, unless the writer stands there already.
    fn begin_line(&mut self, indentation: usize) {
        if self.column != indentation || !self.is_blank_line() {
            self.end_line();
        }
        while self.column < indentation {
            self.push(' ');
        }
    }

    /// Whether the line has nothing yet but indentation and the dashes of lists.
    fn is_blank_line(&self) -> bool {
        self.out.ends_with(['\n', ' ']) || self.out.is_empty()
    }

    fn map(&mut self, map: &Map<String, Value>, indentation: usize) {
        let mut entries: Vec<(&String, &Value)> = map.iter().collect();
        entries.sort_by(|left, right| order::compare(left.0, right.0));
        for (index, (key, value)) in entries.into_iter().enumerate() {
            if index > 0 {
                self.end_line();
            }
            self.begin_line(indentation);
            if key.len() > MAXIMUM_KEY_BYTES || key.contains(scalar::BREAKS) {
                self.push_text("? ");
                self.text(key, indentation + STEP, true);
                self.end_line();
                self.begin_line(indentation);
                self.push_text(": ");
                self.inline(value, indentation + STEP);
            } else {
                self.key(key);
                self.push(':');
                self.below_key(value, indentation);
            }
        }
    }

    fn list(&mut self, items: &[Value], indentation: usize) {
        for (index, item) in items.iter().enumerate() {
            if index > 0 {
                self.end_line();
            }
            self.begin_line(indentation);
            self.push_text("- ");
            self.inline(item, indentation + STEP);
        }
    }

    /// What stands behind a dash or colon of its own, on the same line.
    fn inline(&mut self, value: &Value, indentation: usize) {
        match value {
            Value::Object(map) if !map.is_empty() => self.map(map, indentation),
            Value::Array(items) if !items.is_empty() => self.list(items, indentation),
            other => self.leaf(other, indentation),
        }
    }

    fn below_key(&mut self, value: &Value, indentation: usize) {
        match value {
            Value::Object(map) if !map.is_empty() => {
                self.end_line();
                self.map(map, indentation + STEP);
            }
            Value::Array(items) if !items.is_empty() => {
                self.end_line();
                self.list(items, indentation);
            }
            other => {
                self.push(' ');
                self.leaf(other, indentation + STEP);
            }
        }
    }

    fn leaf(&mut self, value: &Value, indentation: usize) {
        match value {
            Value::Object(_) => self.push_text("{}"),
            Value::Array(_) => self.push_text("[]"),
            Value::String(text) => self.text(text, indentation, true),
            Value::Number(number) => self.push_text(&scalar::number(number)),
            other => self.push_text(&other.to_string()),
        }
    }

    fn key(&mut self, key: &str) {
        match scalar::style(key) {
            Style::Plain => self.push_text(key),
            Style::Single => self.single_quoted(key, 0, false),
            Style::Double | Style::Block => self.double_quoted(key, 0, false),
        }
    }

    fn text(&mut self, text: &str, indentation: usize, folds: bool) {
        match scalar::style(text) {
            Style::Plain => self.plain(text, indentation, folds),
            Style::Single => self.single_quoted(text, indentation, folds),
            Style::Double => self.double_quoted(text, indentation, folds),
            Style::Block => self.block(text, indentation),
        }
    }

    /// Writes the characters of a text, with a line break for a single space that stands too far to the right.
    fn folded(&mut self, text: &str, indentation: usize, folds: bool, mut write: impl FnMut(&mut Self, char)) {
        let mut follows_space = false;
        let mut characters = text.char_indices().peekable();
        while let Some((at, character)) = characters.next() {
            let next = characters.peek().map(|(_, next)| *next);
            let can_fold = folds && !follows_space && self.column > WIDTH && at > 0 && next.is_some();
            if character == ' ' && can_fold && next != Some(' ') {
                self.end_line();
                self.begin_line(indentation);
            } else {
                write(self, character);
            }
            follows_space = character == ' ';
        }
    }

    fn plain(&mut self, text: &str, indentation: usize, folds: bool) {
        self.folded(text, indentation, folds, Self::push);
    }

    fn single_quoted(&mut self, text: &str, indentation: usize, folds: bool) {
        self.push('\'');
        self.folded(text, indentation, folds, |writer, character| {
            if character == '\'' {
                writer.push('\'');
            }
            writer.push(character);
        });
        self.push('\'');
    }

    fn double_quoted(&mut self, text: &str, indentation: usize, folds: bool) {
        self.push('"');
        let mut follows_space = false;
        let mut characters = text.char_indices().peekable();
        while let Some((at, character)) = characters.next() {
            let next = characters.peek().map(|(_, next)| *next);
            let can_fold = folds && !follows_space && self.column > WIDTH && at > 0 && next.is_some();
            if character == ' ' && can_fold {
                self.end_line();
                self.begin_line(indentation);
                if next == Some(' ') {
                    self.push('\\');
                }
            } else if let Some(escape) = scalar::escape(character) {
                self.push_text(&escape);
            } else {
                self.push(character);
            }
            follows_space = character == ' ';
        }
        self.push('"');
    }

    /// The lines of a text as they are; what follows the bar says how it begins and ends.
    fn block(&mut self, text: &str, indentation: usize) {
        self.push('|');
        if text.starts_with([' ', '\n']) {
            self.push_text(&STEP.to_string());
        }
        if !text.ends_with('\n') {
            self.push('-');
        } else if text == "\n" || text.ends_with("\n\n") {
            self.push('+');
        }
        self.push('\n');
        for line in text.split_inclusive('\n') {
            if line != "\n" {
                self.begin_line(indentation);
            }
            self.push_text(line);
        }
    }
}

#[cfg(test)]
mod tests;
