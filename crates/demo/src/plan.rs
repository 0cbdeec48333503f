//! What the story is about: names, sizes and versions. Plain data, and the one rule by which versions are chosen.

use hyperplane_planner::{catalogue, release::Release};
use serde::Serialize;
use thiserror::Error;

/// The namespace of users' clusters.
const NAMESPACE: &str = "clusters";
/// The longest name of a cluster: commands with it fit into a line.
const LONGEST_NAME: usize = 20;

/// What is played.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Plan {
    /// The namespace of the cluster.
    pub namespace: String,
    /// The name of the cluster.
    pub cluster: String,
    /// Which versions it goes through.
    pub versions: Versions,
    /// Whether its control plane has one replica of everything, or as many as it needs to go on serving.
    pub availability: Availability,
    /// The pool that rolls.
    pub web: PoolPlan,
    /// The pool that stays.
    pub batch: PoolPlan,
}

/// How many replicas a control plane has, in the words of HyperShift.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Availability {
    /// One of everything.
    SingleReplica,
    /// Three of what keeps data or serves requests.
    HighlyAvailable,
}

/// A pool of the story.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PoolPlan {
    /// The name of the NodePool.
    pub name: String,
    /// What people call it.
    pub title: String,
    /// How many nodes it has.
    pub replicas: usize,
}

/// Three versions, oldest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Versions {
    /// Where everything begins.
    pub from: Version,
    /// Where the control plane goes, a minor later.
    pub to: Version,
    /// More than the control plane has then.
    pub ahead: Version,
}

/// A version with the image by which it is asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Version {
    /// The version, without a letter in front.
    pub number: String,
    /// The image of the release.
    pub image: String,
}

/// Why a story cannot be planned.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PlanError {
    /// The name cannot be that of a cluster here.
    #[error(
        "{0:?} cannot be the name of the cluster: take at most {LONGEST_NAME} lower-case letters, digits and dashes, with a \
         letter in front and no dash at the end"
    )]
    Name(String),
    /// There are not enough releases.
    #[error(
        "the catalogue has no two releases of neighbouring minors with a newer one behind them: use another release of this program"
    )]
    Releases,
}

impl Plan {
    /// The story of a cluster of this name, with releases of the catalogue.
    pub fn new(cluster: &str) -> Result<Self, PlanError> {
        if !is_name(cluster) {
            return Err(PlanError::Name(cluster.to_owned()));
        }
        Ok(Self {
            namespace: NAMESPACE.to_owned(),
            cluster: cluster.to_owned(),
            versions: Versions::choose(catalogue::releases()).ok_or(PlanError::Releases)?,
            availability: Availability::HighlyAvailable,
            web: PoolPlan::new(cluster, "web", 3),
            batch: PoolPlan::new(cluster, "batch", 2),
        })
    }

    /// The namespace of the control plane.
    pub fn control_plane_namespace(&self) -> String {
        format!("{}-{}", self.namespace, self.cluster)
    }

    /// The Secret with the kubeconfig of the cluster's administrator.
    pub fn kubeconfig_secret(&self) -> String {
        format!("{}-admin-kubeconfig", self.cluster)
    }

    /// The version of an image, where it is one of the story.
    pub(crate) fn version_of(&self, image: &str) -> Option<&str> {
        let all = [&self.versions.from, &self.versions.to, &self.versions.ahead];
        let found = all.into_iter().find(|version| version.image == image);
        found.map(|version| version.number.as_str())
    }

    /// Both pools.
    pub fn pools(&self) -> [&PoolPlan; 2] {
        [&self.web, &self.batch]
    }

    /// How many nodes there are at rest.
    pub fn nodes(&self) -> usize {
        self.pools().iter().map(|pool| pool.replicas).sum()
    }
}

impl PoolPlan {
    /// NodePools of all clusters of a namespace share their names, so that the cluster's is a part of them.
    fn new(cluster: &str, title: &str, replicas: usize) -> Self {
        Self {
            name: format!("{cluster}-{title}"),
            title: title.to_owned(),
            replicas,
        }
    }
}

impl Versions {
    /// The newest release is the one that nobody has yet; the one before it is where the control plane goes, and the newest
    /// of the minor before that is where it comes from. So all three are releases that exist.
    fn choose(releases: &[Release]) -> Option<Self> {
        let (ahead, others) = releases.split_last()?;
        let to = others.last()?;
        let mut before = others.iter().rev();
        let from = before.find(|release| release.version.generation() + 1 == to.version.generation())?;
        Some(Self {
            from: Version::of(from)?,
            to: Version::of(to)?,
            ahead: Version::of(ahead)?,
        })
    }
}

impl Version {
    /// The version of a release, where it has an image.
    pub(crate) fn of(release: &Release) -> Option<Self> {
        Some(Self {
            number: release.version.as_str().trim_start_matches('v').to_owned(),
            image: release.image.clone()?,
        })
    }
}

fn is_name(text: &str) -> bool {
    let is_part = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-';
    text.len() <= LONGEST_NAME
        && text.starts_with(|letter: char| letter.is_ascii_lowercase())
        && !text.ends_with('-')
        && text.chars().all(is_part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_real_and_lead_upwards() {
        let versions = Plan::new("demo").unwrap().versions;
        let release = |version: &Version| catalogue::by_image(&version.image).unwrap();
        let (from, to, ahead) = (release(&versions.from), release(&versions.to), release(&versions.ahead));
        assert_eq!(from.version.generation() + 1, to.version.generation());
        assert!(to.version.precedence(&ahead.version).is_lt());
        assert_eq!(catalogue::latest_patch(&from.version), Some(from));
        assert_eq!(catalogue::releases().last(), Some(ahead));
    }

    #[test]
    fn a_minor_that_is_new_is_the_one_ahead() {
        let releases = catalogue::releases();
        let newest = releases.last().unwrap();
        let first = releases
            .iter()
            .position(|release| release.version.same_minor(&newest.version))
            .unwrap();
        let versions = Versions::choose(&releases[..=first]).unwrap();
        assert_eq!(versions.to, Version::of(&releases[first - 1]).unwrap());
        assert_eq!(versions.ahead, Version::of(&releases[first]).unwrap());
        assert_eq!(Versions::choose(&releases[..2]), None);
        assert_eq!(Versions::choose(&[]), None);
    }

    #[test]
    fn names_are_checked_before_anything_is_asked_for() {
        for name in ["demo", "a", "a-1"] {
            assert_eq!(Plan::new(name).unwrap().web.name, format!("{name}-web"));
        }
        for name in ["", "-a", "a-", "1a", "Demo", "a.b", "a_b", &"a".repeat(21)] {
            let error = Plan::new(name).unwrap_err().to_string();
            assert!(error.contains("at most 20"), "{error}");
        }
    }
}
