//! Whether a cluster is on its way, has arrived, or cannot go. Both releases count: the one of the cluster, and the one
//! that only the management side has. (Upstream looks at the first alone, and so misses a control plane that moves.)

use hyperplane_api::hypershift::paused::PauseState;
use hyperplane_api::{
    constants::{conditions::hosted_cluster as types, reasons},
    hypershift::version_status::{ClusterVersionStatus, UpdateState},
};
use hyperplane_runtime::conditions::Observation;

use super::Report;
use crate::validate::control_plane_image;

/// What stands in the way, in sentences; empty if nothing does.
pub(super) fn blocked_by(report: &Report<'_>) -> Option<String> {
    let mut reasons: Vec<String> = report.verdict.blockers().map(ToString::to_string).collect();
    if let PauseState::Paused { text, .. } = report.pause {
        reasons.push(format!("the cluster is paused (pausedUntil {text})"));
    }
    (!reasons.is_empty()).then(|| reasons.join("; "))
}

/// The condition.
pub(super) fn observe(report: &Report<'_>, version: Option<&ClusterVersionStatus>) -> Observation {
    let type_ = types::PROGRESSING.as_str();
    if let Some(reason) = blocked_by(report) {
        return Observation::fails(type_, reasons::BLOCKED.as_str(), reason);
    }
    match on_the_way(report, version) {
        Some(what) => Observation::holds(type_, reasons::PROGRESSING.as_str(), what),
        None => Observation::fails(
            type_,
            reasons::AS_EXPECTED.as_str(),
            "The control plane has the release that is asked for.",
        ),
    }
}

fn on_the_way(report: &Report<'_>, version: Option<&ClusterVersionStatus>) -> Option<String> {
    let wanted = report.cluster.spec.release.image.as_str();
    let reached = version.map(|version| version.desired.image.as_str());
    if reached != Some(wanted) {
        return Some(format!("The cluster goes to {wanted}."));
    }
    let wanted = control_plane_image(report.cluster);
    let own = report
        .control_plane()
        .and_then(|status| status.control_plane_version.as_ref());
    let newest = own.and_then(|version| version.history.first());
    let is_there = newest.is_some_and(|update| update.image == wanted && update.state == UpdateState::Completed);
    (!is_there).then(|| format!("The control plane goes to {wanted}."))
}
