//! How results of commands are printed: for people in eighty columns, for programs as they are. Pure but for the writing.

use std::{fmt::Write as _, io::Write};

use clap::ValueEnum;
use serde::Serialize;

/// Columns.
pub(crate) const WIDTH: usize = 80;

/// How to print a report. It is one thing, which has no name and always all of its width.
#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum Output {
    /// For people.
    Table,
    /// For programs.
    Json,
    /// For both.
    Yaml,
}

impl Output {
    /// Prints a result; its table is made only for people.
    pub(crate) fn print(
        self,
        result: &impl Serialize,
        table: impl FnOnce() -> String,
        output: &mut impl Write,
    ) -> anyhow::Result<()> {
        let text = match self {
            Self::Table => table(),
            Self::Json => format!("{}\n", serde_json::to_string_pretty(result)?),
            Self::Yaml => hyperplane_objects::yaml_text(result)?,
        };
        output.write_all(text.as_bytes())?;
        output.flush()?;
        Ok(())
    }
}

/// How to print objects, as kubectl's users know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people, in eighty columns
    Table,
    /// For people with room
    Wide,
    /// For programs
    Json,
    /// For both
    Yaml,
    /// Kind and name, a line each
    Name,
}

/// What is printed of objects. Only what is asked for is made.
pub(crate) struct Printed<'a, T> {
    /// Everything.
    pub(crate) result: &'a T,
    /// For people; with more columns where there is room.
    pub(crate) table: &'a dyn Fn(bool) -> String,
    /// Kinds and names, such as `hostedcluster.hypershift.openshift.io/one`.
    pub(crate) names: &'a dyn Fn() -> Vec<String>,
}

impl Format {
    /// Prints objects.
    pub(crate) fn print<T: Serialize>(self, printed: &Printed<'_, T>, output: &mut impl Write) -> anyhow::Result<()> {
        let text = match self {
            Self::Table => (printed.table)(false),
            Self::Wide => (printed.table)(true),
            Self::Json => format!("{}\n", serde_json::to_string_pretty(printed.result)?),
            Self::Yaml => hyperplane_objects::yaml_text(printed.result)?,
            Self::Name => (printed.names)().iter().fold(String::new(), |mut text, name| {
                text.push_str(name);
                text.push('\n');
                text
            }),
        };
        output.write_all(text.as_bytes())?;
        output.flush()?;
        Ok(())
    }
}

/// Words in lines that fit, with the same indent each.
pub(crate) fn paragraph(text: &mut String, indent: &str, words: &str) {
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

    const INDENT: &str = "  ";

    #[test]
    fn lines_fit() {
        let mut text = String::new();
        paragraph(&mut text, INDENT, &"word ".repeat(100));
        assert!(text.lines().all(|line| line.len() <= WIDTH && line.starts_with(INDENT)));
        assert_eq!(text.split_whitespace().count(), 100);
    }

    #[test]
    fn objects_are_printed_as_they_are_asked_for() {
        let printed = Printed {
            result: &serde_json::json!({"name": "one"}),
            table: &|is_wide| format!("wide: {is_wide}\n"),
            names: &|| vec!["nodepool/one".to_owned(), "nodepool/two".to_owned()],
        };
        for (format, expected) in [
            (Format::Table, "wide: false\n"),
            (Format::Wide, "wide: true\n"),
            (Format::Json, "{\n  \"name\": \"one\"\n}\n"),
            (Format::Yaml, "name: one\n"),
            (Format::Name, "nodepool/one\nnodepool/two\n"),
        ] {
            let mut output = Vec::new();
            format.print(&printed, &mut output).unwrap();
            assert_eq!(String::from_utf8(output).unwrap(), expected);
        }
    }

    #[test]
    fn long_names_are_broken() {
        let mut text = String::new();
        paragraph(&mut text, INDENT, &format!("pools/{}", "a".repeat(200)));
        assert!(text.lines().all(|line| line.len() <= WIDTH));
        assert_eq!(text.matches('a').count(), 200);
    }
}
