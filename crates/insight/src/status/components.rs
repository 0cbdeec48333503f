//! The components of a control plane, one row each.

use hyperplane_api::constants::conditions::control_plane_component as types;
use hyperplane_components::{catalogue, manager_catalogue};
use jiff::Timestamp;
use serde::Serialize;

use crate::{
    kind::Kind,
    object::{Object, Truth},
    scene::{Place, Scene},
    walk::{WAITING, unmet, without_notes},
};

/// One component.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ComponentRow {
    /// Its name.
    pub name: String,
    /// The version that runs everywhere.
    pub version: Option<String>,
    /// Whether it serves; none where it is not known.
    pub is_available: Option<bool>,
    /// Whether every replica runs what is asked for; none where it is not known.
    pub is_rolled_out: Option<bool>,
    /// What it waits for.
    pub message: Option<String>,
    /// Since when.
    pub since: Option<Timestamp>,
}

/// All components, those that others rest on first; none where they are not known.
pub(super) fn of(scene: &Scene, namespace: &str) -> Option<Vec<ComponentRow>> {
    let all = scene
        .list(Kind::ControlPlaneComponent, &Place::namespace(namespace))
        .ok()?;
    let mut sorted: Vec<&Object> = all.iter().collect();
    sorted.sort_by_key(|component| (place(component.name()), component.name()));
    Some(sorted.into_iter().map(row).collect())
}

/// Where a component stands in the catalogues, which list what others rest on first; others come last.
fn place(name: &str) -> usize {
    let known = manager_catalogue().iter().chain(catalogue());
    let mut names = known.map(|component| component.name);
    names.position(|known| known == name).unwrap_or(usize::MAX)
}

fn row(component: &Object) -> ComponentRow {
    let holds = |type_: &str| match component.condition(type_)?.status {
        Truth::True => Some(true),
        Truth::False => Some(false),
        Truth::Unknown => None,
    };
    let unmet = unmet(component);
    ComponentRow {
        name: component.name().to_owned(),
        version: component.text("/status/version").map(str::to_owned),
        is_available: holds(types::AVAILABLE.as_str()),
        is_rolled_out: holds(types::ROLLOUT_COMPLETE.as_str()),
        // How far its rollout is says more than that it does not serve.
        message: unmet.last().map(|found| brief(found.words())),
        since: unmet.first().and_then(|found| found.since),
    }
}

/// What a component waits for, without saying that it waits.
fn brief(words: &str) -> String {
    let words = without_notes(words);
    words.strip_prefix(WAITING).unwrap_or(words).to_owned()
}
