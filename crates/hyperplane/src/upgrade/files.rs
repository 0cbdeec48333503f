//! Reads state files.

use std::path::Path;

use anyhow::{Context as _, anyhow};
use hyperplane_planner::state::State;
use serde_json::Value;

use crate::input;

/// A state, and the fields of its file that nobody knows.
pub(super) struct Read {
    pub(super) state: State,
    pub(super) unread: Vec<String>,
}

/// Reads one state file, or two. What is wrong with either of them is told at once.
pub(super) fn states(before: &Path, after: Option<&Path>) -> anyhow::Result<(Read, Option<Read>)> {
    input::once([before].into_iter().chain(after))?;
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
    let name = input::title(path);
    let text = input::text(path)?;
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

fn value(text: &str) -> anyhow::Result<Value> {
    if text.trim_start().starts_with('{') {
        return Ok(serde_json::from_str(text)?);
    }
    Ok(serde_saphyr::from_str(text)?)
}
