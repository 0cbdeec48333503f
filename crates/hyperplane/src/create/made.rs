//! What was made, as it is told to people and programs. Pure.

use std::fmt::Write as _;

use hyperplane_recipes::Manifest;
use serde::Serialize;
use serde_json::Value;

/// An object that is there now.
#[derive(Clone, Debug)]
pub(super) struct Made {
    pub(super) name: String,
    /// As the server gave it back; nothing where it is sensitive.
    pub(super) object: Option<Value>,
    /// Whether it was there before.
    pub(super) was_there: bool,
}

/// Objects as a list of Kubernetes.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct List<'a> {
    api_version: &'static str,
    kind: &'static str,
    items: Vec<&'a Value>,
}

/// Everything that is not sensitive.
pub(super) fn list(made: &[Made]) -> List<'_> {
    List {
        api_version: "v1",
        kind: "List",
        items: made.iter().filter_map(|made| made.object.as_ref()).collect(),
    }
}

/// A line each, and what comes next.
pub(super) fn table(made: &[Made], next: &str) -> String {
    let mut text = String::new();
    for made in made {
        let word = if made.was_there { "unchanged" } else { "created" };
        writeln!(text, "{} {word}", made.name).expect("a string takes everything");
    }
    crate::printing::paragraph(&mut text, "", next);
    text
}

/// Kind and name as kubectl has them.
pub(super) fn name(manifest: &Manifest) -> String {
    let kind = manifest.kind().to_lowercase();
    let group = manifest.api_version().split_once('/').map(|(group, _)| group);
    let kind = group.map_or_else(|| kind.clone(), |group| format!("{kind}.{group}"));
    format!("{kind}/{}", manifest.name())
}
