//! The release of a cluster: that it can be found, that it is whole, and that there is a way to it from where the cluster
//! is.

use std::{cmp::Ordering, sync::Arc};

use hyperplane_api::{
    constants::{annotations, ours},
    hypershift::{
        hosted_cluster::HostedCluster,
        version_status::{UpdateState, VersionedRelease},
    },
};
use hyperplane_components::{Infrastructure, Inputs, Objects, RENDER_REVISION, missing_images};
use hyperplane_planner::{
    catalogue,
    release::{Release, resolve as find},
    version::{Scheme, Version},
};
use hyperplane_platforms::{Problem, Rule};

use super::Case;
use crate::build;

const RESOLVES: Rule = Rule {
    name: "release-resolves",
    asks: "a release image must be one that a DistributionRelease has, or that is built in",
};
const WHOLE: Rule = Rule {
    name: "release-whole",
    asks: "a release must carry the image of every component that its distribution requires",
};
const WINDOW: Rule = Rule {
    name: "release-window",
    asks: "a release must have a version that this manager can host",
};
const DISTRIBUTION: Rule = Rule {
    name: "release-distribution",
    asks: "a cluster stays with its distribution",
};
const DOWNGRADE: Rule = Rule {
    name: "release-downgrade",
    asks: "a cluster does not go back, except to a patch of its minor that was declared",
};
const SKIP: Rule = Rule {
    name: "release-skip",
    asks: "a cluster goes from one minor to the next, and leaves none out",
};

pub(super) const RULES: &[Rule] = &[RESOLVES, WHOLE, WINDOW, DISTRIBUTION, DOWNGRADE, SKIP];

/// The minors of OpenShift that can be hosted, counted through the majors: 4.14 to 5.1.
const OPENSHIFT: std::ops::RangeInclusive<u64> = 14..=24;

/// The two releases of a cluster.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ReleasePair {
    /// Of what is seen inside of the hosted cluster.
    pub(crate) cluster: Arc<Release>,
    /// Of what runs on the management cluster.
    pub(crate) control_plane: Arc<Release>,
}

/// The image of the release that runs on the management cluster.
pub(crate) fn control_plane_image(cluster: &HostedCluster) -> &str {
    let own = cluster.spec.control_plane_release.as_ref();
    own.unwrap_or(&cluster.spec.release).image.as_str()
}

fn control_plane_field(cluster: &HostedCluster) -> &'static str {
    match cluster.spec.control_plane_release {
        Some(_) => "spec.controlPlaneRelease.image",
        None => "spec.release.image",
    }
}

/// Finds both releases.
pub(super) fn resolve(case: &Case<'_>) -> Result<ReleasePair, Vec<Problem>> {
    let objects = || case.seen.releases.iter().map(AsRef::as_ref);
    let one = |field: &str, image: &str| {
        find(image, objects()).map(|found| found.release).map_err(|error| {
            Problem::new(
                &RESOLVES,
                field,
                error.to_string(),
                "use the image of a release that exists",
            )
        })
    };
    let image = case.cluster.spec.release.image.as_str();
    let of_cluster = one("spec.release.image", image);
    let of_control_plane = match &case.cluster.spec.control_plane_release {
        Some(release) => one("spec.controlPlaneRelease.image", release.image.as_str()),
        None => of_cluster.clone(),
    };
    match (of_cluster, of_control_plane) {
        (Ok(cluster), Ok(control_plane)) => Ok(ReleasePair { cluster, control_plane }),
        (one, other) => {
            let mut problems: Vec<Problem> = [one.err(), other.err()].into_iter().flatten().collect();
            problems.dedup();
            Err(problems)
        }
    }
}

/// Judges both releases.
pub(super) fn judge(case: &Case<'_>, pair: &ReleasePair, problems: &mut Vec<Problem>) {
    problems.extend(whole(case, pair));
    if annotations::SKIP_RELEASE_IMAGE_VALIDATION.of(case.cluster).is_some() {
        return;
    }
    let status = case.cluster.status.as_ref();
    let whole = status.and_then(|status| status.version.as_ref()).map(|version| Past {
        desired: &version.desired,
        completed: version
            .history
            .iter()
            .find(|update| update.state == UpdateState::Completed)
            .and_then(|update| update.version.as_deref()),
    });
    let own = status
        .and_then(|status| status.control_plane_version.as_ref())
        .map(|version| Past {
            desired: &version.desired,
            completed: version
                .history
                .iter()
                .find(|update| update.state == UpdateState::Completed)
                .map(|update| update.version.as_str()),
        });
    let target = Target {
        case,
        field: "spec.release.image",
        image: case.cluster.spec.release.image.as_str(),
        release: &pair.cluster,
    };
    target.judge(whole.as_ref(), problems);
    if case.cluster.spec.control_plane_release.is_some() || own.is_some() {
        let target = Target {
            case,
            field: control_plane_field(case.cluster),
            image: control_plane_image(case.cluster),
            release: &pair.control_plane,
        };
        let mut of_control_plane = Vec::new();
        target.judge(own.or(whole).as_ref(), &mut of_control_plane);
        of_control_plane.retain(|problem| !problems.contains(problem));
        problems.extend(of_control_plane);
    }
}

fn whole(case: &Case<'_>, pair: &ReleasePair) -> Option<Problem> {
    let control_plane = build::preview(case);
    let management = case.settings.facts.management(&control_plane);
    let missing = missing_images(&Inputs {
        control_plane: &control_plane,
        release: &pair.control_plane,
        cluster_release: &pair.cluster,
        infrastructure: &Infrastructure::default(),
        management: &management,
        objects: &Objects::default(),
        revision: RENDER_REVISION,
        newest_revision: RENDER_REVISION,
    });
    (!missing.is_empty()).then(|| {
        Problem::new(
            &WHOLE,
            control_plane_field(case.cluster),
            format!("{} lacks {}", pair.control_plane.version, missing.join(", ")),
            "use a release that is complete, or add the images to its DistributionRelease",
        )
    })
}

/// Where a cluster is, by its status.
struct Past<'a> {
    /// Where it was last sent.
    desired: &'a VersionedRelease,
    /// Where it last arrived.
    completed: Option<&'a str>,
}

/// Where a cluster is to go.
struct Target<'a> {
    case: &'a Case<'a>,
    field: &'static str,
    image: &'a str,
    release: &'a Release,
}

impl Target<'_> {
    fn judge(&self, past: Option<&Past<'_>>, problems: &mut Vec<Problem>) {
        // What runs already is not refused: a newer manager keeps older clusters.
        if past.is_some_and(|past| past.desired.image == self.image) {
            return;
        }
        problems.extend(self.window());
        let Some(past) = past else { return };
        if let Some(problem) = self.distribution(past) {
            problems.push(problem);
            return;
        }
        let version = |text: &str| Version::parse(self.release.scheme(), text).ok();
        let Some(desired) = version(&past.desired.version) else {
            return;
        };
        problems.extend(self.downgrade(&desired));
        let arrived = past.completed.and_then(version).unwrap_or(desired);
        problems.extend(self.skip(&arrived));
    }

    fn problem(&self, rule: &Rule, what: String, remedy: impl Into<String>) -> Problem {
        Problem::new(rule, self.field, what, remedy)
    }

    fn window(&self) -> Option<Problem> {
        let version = &self.release.version;
        let (is_inside, window) = if version.scheme() == Scheme::OpenShift {
            (OPENSHIFT.contains(&version.generation()), "4.14 to 5.1".to_owned())
        } else {
            kubernetes_window(&self.release.kubernetes)
        };
        (!is_inside).then(|| {
            let what = format!("{version} is outside of what this manager can host: {window}");
            self.problem(
                &WINDOW,
                what,
                "choose a release inside, or use a manager that knows this one",
            )
        })
    }

    fn distribution(&self, past: &Past<'_>) -> Option<Problem> {
        let objects = self.case.seen.releases.iter().map(AsRef::as_ref);
        let before = find(&past.desired.image, objects).ok()?.release;
        (before.distribution != self.release.distribution).then(|| {
            let what = format!(
                "it is of {}, and the cluster of {}",
                self.release.distribution, before.distribution
            );
            self.problem(&DISTRIBUTION, what, "choose a release of the same distribution")
        })
    }

    fn downgrade(&self, desired: &Version) -> Option<Problem> {
        let version = &self.release.version;
        if version.precedence(desired) != Ordering::Less {
            return None;
        }
        let declared = ours::ALLOW_DOWNGRADE_TO.of(self.case.cluster);
        let is_declared = declared
            .and_then(|text| Version::parse(version.scheme(), text).ok())
            .is_some_and(|declared| declared.precedence(version) == Ordering::Equal);
        if is_declared && version.same_minor(desired) {
            return None;
        }
        let what = format!("{version} is older than {desired}, which the cluster has or goes to");
        let remedy = if version.same_minor(desired) {
            format!(
                "choose a newer release, or set the annotation {} to {version}",
                ours::ALLOW_DOWNGRADE_TO
            )
        } else {
            "choose a newer release: there is no way back to another minor".to_owned()
        };
        Some(self.problem(&DOWNGRADE, what, remedy))
    }

    fn skip(&self, arrived: &Version) -> Option<Problem> {
        let version = &self.release.version;
        let is_skip = version.generation() > arrived.generation() + 1;
        is_skip.then(|| {
            let what = format!("{version} is more than one minor ahead of {arrived}, where the cluster has arrived");
            self.problem(&SKIP, what, "go through the minors between them, one by one")
        })
    }
}

/// The minors of Kubernetes that can be hosted are those that are built in.
fn kubernetes_window(version: &Version) -> (bool, String) {
    let releases = catalogue::releases();
    let bounds = releases.first().zip(releases.last());
    let Some((first, last)) = bounds else {
        return (false, "none".to_owned());
    };
    let (first, last) = (&first.kubernetes, &last.kubernetes);
    let is_inside = (first.generation()..=last.generation()).contains(&version.generation());
    (
        is_inside,
        format!("Kubernetes {} to {}", first.minor_text(), last.minor_text()),
    )
}
