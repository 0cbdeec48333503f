//! Reads state files.

use std::path::Path;

use anyhow::anyhow;
use hyperplane_planner::state::State;
use serde_json::Value;

use crate::{
    failing::{both, wrong_content, wrong_use},
    input,
};

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
        (Err(one), Err(other)) => Err(both(&one, &other)),
    }
}

/// Reads a state file, in YAML or JSON. What one that comes after another leaves out stays as it is.
fn state(path: &Path, before: Option<&State>) -> anyhow::Result<Read> {
    let name = input::title(path);
    let text = input::needed(path)?;
    let value = value(&text).map_err(|error| {
        let what = format!("{name} is neither YAML nor JSON");
        wrong_use(what, error.to_string(), "look at the line that is named")
    })?;
    let read = match before {
        Some(before) => State::read_after(&value, before),
        None => State::read(&value),
    };
    match read {
        Ok((state, unread)) => Ok(Read { state, unread }),
        Err(errors) => Err(wrong_content(format!("{name} is not a state"), errors)),
    }
}

fn value(text: &str) -> anyhow::Result<Value> {
    if text.trim_start().starts_with('{') {
        return Ok(serde_json::from_str(text)?);
    }
    // The lines around a mistake would come after it, and what to do is told last.
    serde_saphyr::from_str(text).map_err(|error| anyhow!("{}", error.without_snippet()))
}
