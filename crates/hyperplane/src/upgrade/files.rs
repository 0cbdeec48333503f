//! Reads state files.

use std::{
    fs,
    io::{self, Read as _},
    path::Path,
};

use anyhow::{Context as _, anyhow, bail};
use hyperplane_planner::state::State;
use serde_json::Value;

/// The largest file that is read: a state of the largest cluster, many times over.
const LARGEST: u64 = 64 << 20;

/// A state, and the fields of its file that nobody knows.
pub(super) struct Read {
    pub(super) state: State,
    pub(super) unread: Vec<String>,
}

/// The name of standard input.
const STANDARD_INPUT: &str = "-";

/// Reads one state file, or two. What is wrong with either of them is told at once.
pub(super) fn states(before: &Path, after: Option<&Path>) -> anyhow::Result<(Read, Option<Read>)> {
    if after == Some(before) && before == Path::new(STANDARD_INPUT) {
        bail!("standard input can be read once: give one of the two states as a file");
    }
    let was = state(before, None);
    let is = after.map(|path| state(path, was.as_ref().ok().map(|read| &read.state)));
    match (was, is.transpose()) {
        (Ok(before), Ok(after)) => Ok((before, after)),
        (Err(error), Ok(_)) | (Ok(_), Err(error)) => Err(error),
        (Err(one), Err(other)) => Err(anyhow!("{one:#}\nerror: {other:#}")),
    }
}

/// Reads a state file, in YAML or JSON. What one that comes after another leaves out stays as it is.
fn state(path: &Path, before: Option<&State>) -> anyhow::Result<Read> {
    let name = match path.to_str() {
        Some(STANDARD_INPUT) => "standard input".to_owned(),
        _ => path.display().to_string(),
    };
    let text = text(path).with_context(|| format!("{name} cannot be read"))?;
    let value = value(&text).with_context(|| format!("{name} is neither YAML nor JSON"))?;
    let read = match before {
        Some(before) => State::read_after(&value, before),
        None => State::read(&value),
    };
    match read {
        Ok((state, unread)) => Ok(Read { state, unread }),
        Err(errors) => {
            let errors: Vec<String> = errors.iter().map(|error| format!("\n  {error}")).collect();
            Err(anyhow!("{name} is not a state:{}", errors.concat()))
        }
    }
}

fn text(path: &Path) -> anyhow::Result<String> {
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

fn value(text: &str) -> anyhow::Result<Value> {
    if text.trim_start().starts_with('{') {
        return Ok(serde_json::from_str(text)?);
    }
    Ok(serde_saphyr::from_str(text)?)
}
