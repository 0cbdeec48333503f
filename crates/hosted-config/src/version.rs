//! The version of a hosted cluster as a whole, told from what we keep in it: there is no version operator inside. Pure.

use hyperplane_api::{
    constants::{conditions::hosted_control_plane as types, reasons},
    hyperplane::distribution_release::DistributionRelease,
    hypershift::{
        hosted_control_plane::HostedControlPlane,
        version_status::{ClusterVersionStatus, ClusterVersionUpdate, UpdateState, VersionedRelease},
    },
};
use hyperplane_planner::{
    catalogue,
    release::{Release, resolve},
    version::Version,
};
use hyperplane_runtime::conditions::Observation;
use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;

/// Entries of the history that are kept.
const MOST_HISTORY: usize = 100;
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
            release.version.number(),
            *progress == Progress::Complete,
            whole_seconds(now),
        ),
        observed_generation: control_plane.metadata.generation.unwrap_or_default(),
        available_updates: Some(updates),
        conditional_updates: Vec::new(),
    }
}

fn advance(
    mut history: Vec<ClusterVersionUpdate>,
    image: &str,
    version: &str,
    is_complete: bool,
    now: Timestamp,
) -> Vec<ClusterVersionUpdate> {
    if history.first().is_none_or(|newest| newest.image != image) {
        if let Some(newest) = history.first_mut() {
            newest.completion_time.get_or_insert(Time(now));
        }
        history.insert(
            0,
            ClusterVersionUpdate {
                state: UpdateState::Partial,
                version: Some(version.to_owned()),
                image: image.to_owned(),
                started_time: Time(now),
                completion_time: None,
                verified: false,
                accepted_risks: None,
            },
        );
        history.truncate(MOST_HISTORY);
    }
    if let Some(newest) = history.first_mut()
        && is_complete
        && newest.state != UpdateState::Completed
    {
        newest.state = UpdateState::Completed;
        newest.completion_time = Some(Time(now));
    }
    history
}

/// The wire carries whole seconds; a fraction would differ from what comes back.
fn whole_seconds(now: Timestamp) -> Timestamp {
    Timestamp::from_second(now.as_second()).unwrap_or(now)
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
pub(crate) fn updates<'a>(
    release: &Release,
    objects: impl IntoIterator<Item = &'a DistributionRelease>,
) -> Vec<VersionedRelease> {
    let written: Vec<Release> = objects
        .into_iter()
        .filter_map(|object| resolve(object.spec.image.as_ref()?.as_str(), [object]).ok())
        .map(|resolved| resolved.release.as_ref().clone())
        .collect();
    let mut found: Vec<&Release> = catalogue::releases().iter().chain(&written).collect();
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
    use serde_json::json;

    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::constant(second, 0)
    }

    fn told(history: &[ClusterVersionUpdate]) -> Vec<(String, bool, i64, Option<i64>)> {
        let seconds = |time: &Time| time.0.as_second();
        let told = history.iter().map(|update| {
            let is_complete = update.state == UpdateState::Completed;
            let ended = update.completion_time.as_ref().map(seconds);
            (update.image.clone(), is_complete, seconds(&update.started_time), ended)
        });
        told.collect()
    }

    #[test]
    fn history_tells_what_began_and_what_ended() {
        let first = advance(Vec::new(), "a", "1.0.0", false, at(10));
        assert_eq!(told(&first), [("a".to_owned(), false, 10, None)]);
        let same = advance(first.clone(), "a", "1.0.0", false, at(20));
        assert_eq!(same, first);
        let complete = advance(same, "a", "1.0.0", true, at(30));
        assert_eq!(told(&complete), [("a".to_owned(), true, 10, Some(30))]);
        let again = advance(complete.clone(), "a", "1.0.0", false, at(40));
        assert_eq!(again, complete, "what was reached once stays reached");
        let next = advance(again, "b", "1.0.1", false, at(50));
        let over = advance(next, "c", "1.0.2", true, at(60));
        assert_eq!(
            told(&over),
            [
                ("c".to_owned(), true, 60, Some(60)),
                ("b".to_owned(), false, 50, Some(60)),
                ("a".to_owned(), true, 10, Some(30)),
            ]
        );
    }

    #[test]
    fn history_has_an_end() {
        let mut history = Vec::new();
        for number in 0..150_i64 {
            history = advance(history, &number.to_string(), "1.0.0", true, at(number));
        }
        assert_eq!(history.len(), MOST_HISTORY);
        assert_eq!(history[0].image, "149");
    }

    #[test]
    fn patches_and_the_next_minor_are_offered() {
        let release = catalogue::by_version("v1.34.1").unwrap();
        let offered = updates(release, []);
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
            DistributionRelease::new(version, serde_json::from_value(spec).unwrap())
        };
        let base = object("1.0.0", "0.9.0", &json!([]));
        let release = Release::from_spec(&base.spec).unwrap();
        let risk = json!([{"name": "Bad", "message": "It is bad."}]);
        let objects = [
            object("1.0.1", "1.0.0", &json!([])),
            object("1.0.2", "1.0.1", &json!([])),
            object("1.0.3", "1.0.0", &risk),
        ];
        let offered = updates(&release, &objects);
        let versions: Vec<&str> = offered.iter().map(|update| update.version.as_str()).collect();
        assert_eq!(versions, ["1.0.1"]);
    }
}
