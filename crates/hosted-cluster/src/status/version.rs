//! The versions of a cluster as a whole: what is reported from inside of it, or, before anything is, what can be told from
//! outside.

use hyperplane_api::hypershift::{
    version_history::{MOST_HISTORY, advance},
    version_status::{ClusterVersionStatus, VersionedRelease},
};
use hyperplane_runtime::conditions::written;

use super::Report;

/// The versions of a cluster.
pub(super) fn of(report: &Report<'_>, before: Option<&ClusterVersionStatus>) -> Option<ClusterVersionStatus> {
    let reported = report.control_plane().and_then(|status| status.version_status.clone());
    let version = match reported {
        Some(reported) => with_older(reported, before),
        None => made_up(report, before)?,
    };
    Some(ClusterVersionStatus {
        // A null would not be kept where it is required.
        available_updates: Some(version.available_updates.unwrap_or_default()),
        ..version
    })
}

/// What was reached before the first word from inside came stays in the history.
fn with_older(mut reported: ClusterVersionStatus, before: Option<&ClusterVersionStatus>) -> ClusterVersionStatus {
    let before = before.map_or(&[][..], |before| &before.history);
    if let Some(oldest) = reported.history.last() {
        let (image, start) = (oldest.image.clone(), oldest.started_time.0);
        let older = before.iter().skip_while(|entry| entry.started_time.0 >= start);
        // The release that inside begins with may have been begun earlier from outside.
        let older = older.skip_while(|entry| entry.image == image);
        reported.history.extend(older.cloned());
        reported.history.truncate(MOST_HISTORY);
    }
    reported
}

/// Without a word from inside: the release that was asked for is on its way, and has arrived when the control plane says
/// so. Where the management side has a release of its own its arrival says nothing about the other one; upstream takes the
/// one for the other. Nothing is made up before the cluster may be carried out.
fn made_up(report: &Report<'_>, before: Option<&ClusterVersionStatus>) -> Option<ClusterVersionStatus> {
    let control_plane = report.seen.control_plane.as_ref();
    let Some(control_plane) = control_plane else {
        return before.cloned();
    };
    let spec = &control_plane.spec;
    let image = &spec.release_image;
    let is_one = spec.control_plane_release_image.as_ref().is_none_or(|own| own == image);
    let desired = VersionedRelease {
        version: version_text(report, image, before),
        image: image.clone(),
        ..VersionedRelease::default()
    };
    let history = before.map(|before| before.history.clone()).unwrap_or_default();
    let reached = control_plane
        .status
        .as_ref()
        .and_then(|status| status.release_image.as_ref());
    let version = Some(desired.version.as_str()).filter(|version| !version.is_empty());
    let history = advance(
        history,
        image,
        version,
        is_one && reached == Some(image),
        &written(report.now),
    );
    Some(ClusterVersionStatus {
        desired,
        history,
        observed_generation: report.cluster.metadata.generation.unwrap_or_default(),
        available_updates: None,
        conditional_updates: Vec::new(),
    })
}

/// The version of an image: of the release that was found for it, or as it was known before.
fn version_text(report: &Report<'_>, image: &str, before: Option<&ClusterVersionStatus>) -> String {
    let pair = report.verdict.releases.as_ref();
    let is_wanted = report.cluster.spec.release.image.as_str() == image;
    let found = pair.filter(|_| is_wanted).map(|pair| pair.cluster.version.as_str());
    let known = before
        .filter(|before| before.desired.image == image)
        .map(|before| before.desired.version.as_str());
    let text = found.or(known).unwrap_or_default();
    // Statuses hold versions that begin with a number.
    text.strip_prefix('v').unwrap_or(text).to_owned()
}
