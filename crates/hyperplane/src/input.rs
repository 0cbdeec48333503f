//! Files that commands read: whole, of a bounded size, and from standard input where that is asked for. What is in them is
//! not known here.

use std::{
    fs,
    io::{self, Read as _},
    path::Path,
};

use anyhow::{Context as _, bail};
use serde_json::Value;

use crate::failing::wrong_use;

/// The largest file that is read: all objects of the largest cluster, many times over.
const LARGEST: u64 = 64 << 20;

/// The name of standard input.
const STANDARD_INPUT: &str = "-";

/// Refuses to read standard input for more than one of these.
pub(crate) fn once<'a>(paths: impl IntoIterator<Item = &'a Path>) -> anyhow::Result<()> {
    let standard = paths.into_iter().filter(|path| *path == Path::new(STANDARD_INPUT));
    let count = standard.count();
    if count > 1 {
        return Err(wrong_use(
            "standard input can be read once",
            format!("it is named {count} times"),
            "give the others as files",
        ));
    }
    Ok(())
}

/// A file in messages.
pub(crate) fn title(path: &Path) -> String {
    match path.to_str() {
        Some(STANDARD_INPUT) => "standard input".to_owned(),
        _ => path.display().to_string(),
    }
}

/// All of a file without which there is nothing to do.
pub(crate) fn needed(path: &Path) -> anyhow::Result<String> {
    read(path).map_err(|error| {
        let what = format!("{} cannot be read", title(path));
        wrong_use(what, format!("{error:#}"), "give a file that can be read")
    })
}

/// All of a file. Whoever asks says what to do where that fails.
pub(crate) fn text(path: &Path) -> anyhow::Result<String> {
    read(path).with_context(|| format!("{} cannot be read", title(path)))
}

/// The documents of a text in YAML or JSON, those that say nothing left out. Of a mistake only the line is told: objects
/// may be secret.
pub(crate) fn documents(text: &str) -> Result<Vec<Value>, Line> {
    // JSON may hold tabs where YAML does not allow them.
    let as_json: Result<Vec<Value>, _> = serde_json::Deserializer::from_str(text).into_iter().collect();
    let documents: Vec<Value> = match as_json {
        Ok(documents) => documents,
        Err(error) if text.trim_start().starts_with('{') => return Err(Line(error.line() as u64)),
        Err(_) => serde_saphyr::from_multiple(text).map_err(|error| {
            let location = error.without_snippet().location();
            Line(location.map_or(0, |location| location.line()))
        })?,
    };
    Ok(documents.into_iter().filter(|document| !document.is_null()).collect())
}

/// A line that is wrong, counted from one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Line(u64);

impl Line {
    /// That a file cannot be taken.
    pub(crate) fn of(self, path: &Path) -> anyhow::Error {
        wrong_use(
            format!("{} is neither YAML nor JSON", title(path)),
            "a line makes no sense",
            format!("look at line {}", self.0),
        )
    }
}

fn read(path: &Path) -> anyhow::Result<String> {
    let mut text = String::new();
    let limited = |reader: &mut dyn io::Read, text: &mut String| reader.take(LARGEST + 1).read_to_string(text);
    if path == Path::new(STANDARD_INPUT) {
        limited(&mut io::stdin().lock(), &mut text)?;
    } else {
        limited(&mut fs::File::open(path)?, &mut text)?;
    }
    if text.len() as u64 > LARGEST {
        bail!("it is larger than {} MiB", LARGEST >> 20);
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn documents_come_as_yaml_and_as_json() {
        for text in [
            "a: 1\n---\n---\nb: 2\n",
            "{\"a\": 1}\n{\"b\":\t2}\n",
            "null\n{\"a\": 1} {\"b\": 2}",
        ] {
            assert_eq!(documents(text).unwrap(), [json!({"a": 1}), json!({"b": 2})], "{text}");
        }
        assert_eq!(documents("").unwrap(), Vec::<Value>::new());
        for text in ["a: [", "{\"a\": "] {
            assert!(documents(text).is_err(), "{text}");
        }
    }

    #[test]
    fn standard_input_is_read_once() {
        let check = |paths: &[&str]| once(paths.iter().map(Path::new)).is_ok();
        assert!(check(&[]) && check(&["-"]) && check(&["a", "-", "a"]));
        assert!(!check(&["-", "a", "-"]));
    }
}
