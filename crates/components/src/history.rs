//! Which versions a control plane has had: when it began to go to each, and when every component had reached it.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use hyperplane_api::{
    constants::conditions::control_plane_component::ROLLOUT_COMPLETE,
    hypershift::{
        control_plane_component::ControlPlaneComponentStatus,
        version_history::MOST_HISTORY,
        version_status::{
            ControlPlaneUpdate, ControlPlaneVersionStatus, ReleaseVersion, UpdateState, VersionedRelease,
        },
    },
};
use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;

use crate::{
    catalogue::{catalogue, manager_catalogue},
    dependencies::holds,
    images,
    inputs::Inputs,
};

/// What an entry is worth when one has to go: newest, oldest and last completed ones stay; the first and last completed
/// of a minor rather than others; a try that led to another minor rather than one within a minor; and newer ones.
const MOST_IMPORTANT: f64 = 1000.0;
const EDGE_OF_MINOR: f64 = 30.0;
const PARTIAL_OF_MINOR: f64 = 20.0;
const PARTIAL_OF_PATCH: f64 = -20.0;
const PER_PLACE: f64 = -1.01;

/// The versions of a control plane, given what they were and what its components report. Nothing changes unless the
/// release or the completion of the rollout does.
pub fn control_plane_version(
    inputs: &Inputs<'_>,
    reports: &BTreeMap<String, ControlPlaneComponentStatus>,
    before: Option<&ControlPlaneVersionStatus>,
    now: Timestamp,
) -> ControlPlaneVersionStatus {
    let desired = VersionedRelease {
        version: inputs.desired_version().to_owned(),
        image: inputs.release_image().to_owned(),
        channels: inputs.release.channels.clone(),
        ..VersionedRelease::default()
    };
    let history = before.map(|before| before.history.clone()).unwrap_or_default();
    ControlPlaneVersionStatus {
        history: prune(merge(history, &desired, is_complete(inputs, reports), now)),
        desired,
        observed_generation: inputs.control_plane.metadata.generation,
    }
}

/// Whether every component that the control plane has runs the wanted version everywhere.
fn is_complete(inputs: &Inputs<'_>, reports: &BTreeMap<String, ControlPlaneComponentStatus>) -> bool {
    let all = catalogue().iter().chain(manager_catalogue());
    let mut present = all.filter(|component| images::exists(component, inputs));
    present.all(|component| {
        let report = reports.get(component.name);
        report.is_some_and(|report| {
            report.version.as_deref() == Some(inputs.desired_version()) && holds(report, ROLLOUT_COMPLETE)
        })
    })
}

fn merge(
    mut history: Vec<ControlPlaneUpdate>,
    desired: &VersionedRelease,
    is_complete: bool,
    now: Timestamp,
) -> Vec<ControlPlaneUpdate> {
    let is_same =
        |entry: &ControlPlaneUpdate| entry.image == desired.image && entry.version.as_str() == desired.version;
    if !history.first().is_some_and(is_same) {
        let entry = ControlPlaneUpdate {
            state: UpdateState::Partial,
            version: ReleaseVersion::stored(&desired.version),
            image: desired.image.clone(),
            started_time: Time(now),
            completion_time: None,
        };
        history.insert(0, entry);
    }
    // What was complete once stays so: a later restart of a component is no step back to an older version.
    if let Some(newest) = history.first_mut()
        && is_complete
        && newest.state != UpdateState::Completed
    {
        newest.state = UpdateState::Completed;
        newest.completion_time = Some(Time(now));
    }
    history
}

fn prune(mut history: Vec<ControlPlaneUpdate>) -> Vec<ControlPlaneUpdate> {
    while history.len() > MOST_HISTORY {
        let worth = |index: &usize| worth(&history, *index);
        let least = (0..history.len()).min_by(|one, other| worth(one).total_cmp(&worth(other)));
        let Some(least) = least else { break };
        history.remove(least);
    }
    history
}

fn worth(history: &[ControlPlaneUpdate], index: usize) -> f64 {
    let is_completed = |entry: &ControlPlaneUpdate| entry.state == UpdateState::Completed;
    let minor = |entry: &ControlPlaneUpdate| {
        let mut parts = entry.version.as_str().splitn(3, '.').map(str::to_owned);
        (parts.next(), parts.next())
    };
    let entry = &history[index];
    let same_minor: Vec<usize> = (0..history.len())
        .filter(|other| is_completed(&history[*other]) && minor(&history[*other]) == minor(entry))
        .collect();
    let last_completed = history.iter().position(is_completed);
    let neighbours = [index.checked_sub(1), index.checked_add(1)];
    let mut neighbours = neighbours.into_iter().flatten().filter_map(|other| history.get(other));
    let leads_elsewhere = neighbours.any(|other| minor(other) != minor(entry));

    let mut worth = 0.0;
    if index == 0 || index + 1 == history.len() || last_completed == Some(index) {
        worth += MOST_IMPORTANT;
    }
    if same_minor.first() == Some(&index) || same_minor.last() == Some(&index) {
        worth += EDGE_OF_MINOR;
    }
    if !is_completed(entry) {
        worth += if leads_elsewhere {
            PARTIAL_OF_MINOR
        } else {
            PARTIAL_OF_PATCH
        };
    }
    let place = u32::try_from(index).unwrap_or(u32::MAX);
    worth + PER_PLACE * f64::from(place)
}
