//! The version of a hosted cluster as a whole, told from what we keep in it: there is no version operator inside. Pure.

use std::sync::Arc;

use hyperplane_api::{
    constants::{conditions::hosted_control_plane as types, reasons},
    hypershift::{
        hosted_control_plane::HostedControlPlane,
        version_history::advance,
        version_status::{ClusterVersionStatus, UpdateState, VersionedRelease},
    },
};
use hyperplane_planner::{catalogue, release::Release, version::Version};
use hyperplane_runtime::conditions::{Observation, written};
use jiff::Timestamp;

/// Updates that are offered at most; the schema takes no more.
const MOST_UPDATES: usize = 100;

/// How far the hosted cluster has come with its release.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    /// Everything of it has the release.
    Complete,
    /// Something has not, and why.
    Partial(String),
}

/// The version after a run.
pub(crate) fn version_status(
    control_plane: &HostedControlPlane,
    release: &Release,
    progress: &Progress,
    updates: Vec<VersionedRelease>,
    now: Timestamp,
) -> ClusterVersionStatus {
    let image = &control_plane.spec.release_image;
    let before = control_plane
        .status
        .as_ref()
        .and_then(|status| status.version_status.as_ref());
    let history = before.map(|before| before.history.clone()).unwrap_or_default();
    ClusterVersionStatus {
        desired: VersionedRelease {
            version: release.version.number().to_owned(),
            image: image.clone(),
            channels: release.channels.clone(),
            ..VersionedRelease::default()
        },
        history: advance(
            history,
            image,
            Some(release.version.number()),
            *progress == Progress::Complete,
            &written(now),
        ),
        observed_generation: control_plane.metadata.generation.unwrap_or_default(),
        available_updates: Some(updates),
        conditional_updates: Vec::new(),
    }
}

/// What a version operator would say of itself.
pub(crate) fn conditions(release: &Release, status: &ClusterVersionStatus, progress: &Progress) -> Vec<Observation> {
    let version = release.version.number();
    let expected = reasons::AS_EXPECTED.as_str();
    let from = reasons::FROM_CLUSTER_VERSION.as_str();
    let was_complete = status
        .history
        .iter()
        .any(|update| update.state == UpdateState::Completed);
    let available = types::CLUSTER_VERSION_AVAILABLE.as_str();
    let progressing = types::CLUSTER_VERSION_PROGRESSING.as_str();
    let known = if status.available_updates.is_some() {
        "The releases that are known were looked at"
    } else {
        ""
    };
    vec![
        if was_complete {
            Observation::holds(available, from, format!("Done applying {version}"))
        } else {
            Observation::fails(available, from, format!("{version} was not applied yet"))
        },
        match progress {
            Progress::Complete => Observation::fails(progressing, from, format!("The cluster has version {version}")),
            Progress::Partial(why) => Observation::holds(progressing, from, format!("Going to {version}: {why}")),
        },
        Observation::fails(types::CLUSTER_VERSION_FAILING.as_str(), from, "Nothing failed"),
        Observation::holds(
            types::CLUSTER_VERSION_RELEASE_ACCEPTED.as_str(),
            expected,
            format!("{version} is the target"),
        ),
        Observation::holds(
            types::CLUSTER_VERSION_UPGRADEABLE.as_str(),
            expected,
            "Nothing holds back an upgrade",
        ),
        Observation::holds(types::CLUSTER_VERSION_RETRIEVED_UPDATES.as_str(), expected, known),
    ]
}

/// The same, when a run ended with an error.
pub(crate) fn failing(problem: &str) -> Observation {
    Observation::holds(
        types::CLUSTER_VERSION_FAILING.as_str(),
        reasons::RECONCILE_ERROR.as_str(),
        problem,
    )
}

/// Releases of the same distribution that the cluster can go to next: later patches, and the next minor. A release that
/// says from where it is offered is offered from there alone, and only without risks.
pub(crate) fn updates(release: &Release, written: &[Arc<Release>]) -> Vec<VersionedRelease> {
    let written = written.iter().map(AsRef::as_ref);
    let mut found: Vec<&Release> = catalogue::releases().iter().chain(written).collect();
    found.retain(|candidate| is_next(release, candidate));
    found.sort_by(|left, right| right.version.precedence(&left.version));
    found.dedup_by(|left, right| left.image == right.image);
    found.into_iter().take(MOST_UPDATES).filter_map(offered).collect()
}

fn offered(release: &Release) -> Option<VersionedRelease> {
    Some(VersionedRelease {
        version: release.version.number().to_owned(),
        image: release.image.clone()?,
        channels: release.channels.clone(),
        ..VersionedRelease::default()
    })
}

fn is_next(from: &Release, to: &Release) -> bool {
    if from.distribution != to.distribution
        || from.version.precedence(&to.version).is_ge()
        || to.version.is_pre_release()
    {
        return false;
    }
    let is_offered = |version: &Version| {
        let mut edges = to.edges.iter();
        edges.any(|edge| edge.from.precedence(version).is_eq() && edge.risks.is_empty())
    };
    let is_near = to.version.generation() <= from.version.generation() + 1;
    is_near && (to.edges.is_empty() || is_offered(&from.version))
}

#[cfg(test)]
mod tests {
    use hyperplane_api::hyperplane::distribution_release::DistributionRelease;
    use serde_json::json;

    use super::*;

    #[test]
    fn patches_and_the_next_minor_are_offered() {
        let release = catalogue::by_version("v1.34.1").unwrap();
        let offered = updates(release, &[]);
        assert!(!offered.is_empty() && offered.len() <= MOST_UPDATES);
        for update in &offered {
            assert!(
                update.version.starts_with("1.34.") || update.version.starts_with("1.35."),
                "{update:?}"
            );
            assert_ne!(update.version, "1.34.0");
        }
        assert!(offered.iter().any(|update| update.version.starts_with("1.35.")));
    }

    #[test]
    fn a_release_that_says_from_where_is_offered_only_from_there() {
        let object = |version: &str, from: &str, risks: &serde_json::Value| {
            let spec = json!({
                "distribution": "acme", "version": version, "kubernetesVersion": "v1.36.4",
                "image": format!("example.com/acme:{version}"), "edges": [{"from": from, "risks": risks}],
            });
            DistributionRelease::new(version, hyperplane_objects::read(&spec).unwrap())
        };
        let base = object("1.0.0", "0.9.0", &json!([]));
        let release = Release::from_spec(&base.spec).unwrap();
        let risk = json!([{"name": "Bad", "message": "It is bad."}]);
        let objects = [
            object("1.0.1", "1.0.0", &json!([])),
            object("1.0.2", "1.0.1", &json!([])),
            object("1.0.3", "1.0.0", &risk),
        ];
        let written = objects.map(|object| Arc::new(Release::from_spec(&object.spec).unwrap()));
        let offered = updates(&release, &written);
        let versions: Vec<&str> = offered.iter().map(|update| update.version.as_str()).collect();
        assert_eq!(versions, ["1.0.1"]);
    }
}
