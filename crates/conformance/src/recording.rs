//! Recorded answers: what the real server said, with what varies replaced. It reads and writes files, one line per
//! answer so that a change of one shows as one line; it compares nothing.

use std::{collections::BTreeMap, fmt::Write as _, fs, io, path::Path};

use thiserror::Error;

use crate::answer::Answer;

/// The answers to the steps of each case, by its id.
pub type Recording = BTreeMap<String, Vec<Answer>>;

/// Why a recording cannot be read or written.
#[derive(Debug, Error)]
pub enum Error {
    /// The file cannot be reached.
    #[error("{path} cannot be reached; record it by running conformance_real with HYPERPLANE_BLESS=1")]
    File {
        /// Which.
        path: String,
        /// Why.
        source: io::Error,
    },
    /// The file is no recording.
    #[error("{path} is no recording")]
    Format {
        /// Which.
        path: String,
        /// Why.
        source: serde_json::Error,
    },
}

/// Reads a recording. One that was never made is empty, and every case then says that its answers are missing.
pub fn read(path: &Path) -> Result<Recording, Error> {
    match fs::read_to_string(path) {
        Ok(text) => serde_json::from_str(&text).map_err(|source| Error::Format {
            path: path.display().to_string(),
            source,
        }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Recording::new()),
        Err(source) => Err(file_error(path, source)),
    }
}

/// Writes a recording.
pub fn write(path: &Path, recording: &Recording) -> Result<(), Error> {
    fs::write(path, render(recording)).map_err(|source| file_error(path, source))
}

fn file_error(path: &Path, source: io::Error) -> Error {
    Error::File {
        path: path.display().to_string(),
        source,
    }
}

fn render(recording: &Recording) -> String {
    let mut text = String::from("{");
    for (number, (id, answers)) in recording.iter().enumerate() {
        let separator = if number == 0 { "" } else { "," };
        let lines: Vec<_> = answers.iter().map(|answer| format!("  {}", json(answer))).collect();
        write!(text, "{separator}\n{}: [\n{}\n]", json(&id), lines.join(",\n")).expect("a text takes any text");
    }
    text + "\n}\n"
}

fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).expect("texts, numbers and JSON values are JSON")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::answer::Content;

    #[test]
    fn what_is_written_is_read_again() {
        let answer = |content| Answer {
            status: 200,
            headers: [("a".to_owned(), vec!["b".to_owned()])].into(),
            content,
        };
        let answers = vec![
            answer(Content::Json(json!({"x": [1, "ä\n"]}))),
            answer(Content::Empty),
            answer(Content::Text("t".to_owned())),
            answer(Content::Events(vec![json!({})])),
        ];
        let recording = Recording::from([("one".to_owned(), answers), ("two".to_owned(), vec![])]);
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("r.json");
        assert_eq!(read(&path).unwrap(), Recording::new());
        write(&path, &recording).unwrap();
        assert_eq!(read(&path).unwrap(), recording);
    }
}
