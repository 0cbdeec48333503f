//! What one version of a distribution is, with every version in it read by the scheme of its distribution. Where a
//! release comes from, and who may take it, is not known here.

mod check;
mod file;
mod resolve;
#[cfg(test)]
mod tests;

use std::{cmp::Ordering, collections::BTreeMap};

use hyperplane_api::hyperplane::{
    distribution_release::DistributionReleaseSpec, release_content::OsImage, release_graph::ReleaseRisk,
    release_requirements::KubeletRequirements,
};

pub use self::{
    file::{FileError, object_name, read},
    resolve::{ResolveError, Resolved, Shelf, resolve},
};
use crate::version::{Scheme, Version};

/// A release.
#[derive(Clone, Debug, PartialEq)]
pub struct Release {
    /// The distribution.
    pub distribution: String,
    /// The version of the distribution.
    pub version: Version,
    /// The version of Kubernetes in it. Many releases may have the same.
    pub kubernetes: Version,
    /// The image by which clusters ask for it.
    pub image: Option<String>,
    /// The day after which nobody mends it any more: year, month, day.
    pub end_of_life: Option<(u16, u8, u8)>,
    /// The update channels that carry it.
    pub channels: Vec<String>,
    /// Components by name.
    pub components: BTreeMap<String, Component>,
    /// Images of operating systems.
    pub os_images: Vec<OsImage>,
    /// The row of the support matrix of operating systems.
    pub support_matrix_row: Option<String>,
    /// Extensions that move with it.
    pub extensions: Vec<Extension>,
    /// Which versions of providers go with it.
    pub providers: Vec<Pairing>,
    /// The minors of Kubernetes that clusters may have while their manager has this release; empty means unsaid.
    pub compatible_kubernetes: Vec<Version>,
    /// What every node must offer.
    pub nodes: Nodes,
    /// Fields of the kubelet configuration that it asks for or forbids.
    pub kubelet: KubeletRequirements,
    /// What is acknowledged before entering or leaving.
    pub gates: Vec<Gate>,
    /// From where it is offered; empty means that no graph says.
    pub edges: Vec<Edge>,
}

impl Release {
    /// Reads a spec. Every field that is wrong is named, all at once.
    pub fn from_spec(spec: &DistributionReleaseSpec) -> Result<Self, Vec<ReleaseError>> {
        check::read(spec)
    }

    /// The scheme of the distribution's own versions.
    pub fn scheme(&self) -> Scheme {
        self.version.scheme()
    }

    /// The version of a component, where it has one that can be ordered.
    pub fn component_version(&self, name: &str) -> Option<&Version> {
        self.components.get(name)?.version.as_ref()
    }
}

/// A component of a release.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Component {
    /// Its version as it was written.
    pub text: Option<String>,
    /// Its version, where the text can be read as one.
    pub version: Option<Version>,
    /// Its image.
    pub image: Option<String>,
}

/// How much users notice of the upgrade of an extension.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Impact {
    /// Nothing.
    None,
    /// Hardly anything.
    Low,
    /// A part of the extension pauses.
    Medium,
    /// Workloads pause.
    High,
}

impl Impact {
    /// Whether an administrator must have said yes to it.
    pub fn needs_acknowledgement(self) -> bool {
        self >= Self::Medium
    }
}

/// An extension that moves with a release.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extension {
    /// Its name.
    pub name: String,
    /// The version that belongs to the release.
    pub version: Version,
    /// How much users notice of its upgrade.
    pub impact: Impact,
}

/// Which versions of a provider go with a release.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pairing {
    /// The provider.
    pub provider: String,
    /// The oldest version that does.
    pub lowest: Option<Version>,
    /// The end of those that do.
    pub highest: Option<UpperBound>,
}

/// The upper end of a range of versions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UpperBound {
    /// The last version that is in the range.
    Last(Version),
    /// The first version that is not.
    Before(Version),
}

/// How a version of a provider stands to a release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PairingVerdict {
    /// It serves the release.
    Serves,
    /// It is too old for the release.
    TooOld,
    /// It is too new for the release.
    TooNew,
}

impl Pairing {
    /// How a version of the provider stands to the release.
    pub fn judge(&self, version: &Version) -> PairingVerdict {
        let is_too_old = self
            .lowest
            .as_ref()
            .is_some_and(|lowest| version.precedence(lowest) == Ordering::Less);
        let is_too_new = self.highest.as_ref().is_some_and(|highest| match highest {
            UpperBound::Last(last) => version.precedence(last) == Ordering::Greater,
            UpperBound::Before(first) => version.precedence(first) != Ordering::Less,
        });
        match (is_too_old, is_too_new) {
            (true, _) => PairingVerdict::TooOld,
            (_, true) => PairingVerdict::TooNew,
            _ => PairingVerdict::Serves,
        }
    }
}

/// What every node must offer before its kubelet may have a release.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Nodes {
    /// The oldest kernel: major and minor.
    pub min_kernel: Option<(u64, u64)>,
    /// The oldest version of control groups.
    pub cgroup: Option<u64>,
    /// The lowest level of x86-64 processors.
    pub cpu_level: Option<u64>,
}

/// At which end of a move a gate stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GatePoint {
    /// Before a cluster goes to the release.
    Entering,
    /// Before a cluster goes on from the release.
    Leaving,
}

/// Something that is acknowledged by name before a cluster moves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gate {
    /// What is acknowledged.
    pub name: String,
    /// What to look at first.
    pub message: String,
    /// Where to read more.
    pub url: Option<String>,
    /// Where it stands.
    pub point: GatePoint,
    /// Whether it holds back moves within the minor too.
    pub holds_patches: bool,
    /// From where it counts when entering; empty means from everywhere.
    pub origins: Vec<Origin>,
}

impl Gate {
    /// Whether the gate, at its end of a move, holds that move back.
    pub fn holds_back(&self, from: &Version, to: &Version) -> bool {
        let is_in_scope = self.holds_patches || !from.same_minor(to);
        let is_from_there = self.origins.is_empty() || self.origins.iter().any(|origin| origin.covers(from));
        is_in_scope && is_from_there
    }
}

/// One version, or all of a minor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// All versions of the minor of this one.
    Minor(Version),
    /// This version alone.
    Exactly(Version),
}

impl Origin {
    /// Whether a version is among them.
    pub fn covers(&self, version: &Version) -> bool {
        match self {
            Self::Minor(minor) => minor.same_minor(version),
            Self::Exactly(one) => one.precedence(version) == Ordering::Equal,
        }
    }
}

/// From where an update to a release is offered.
#[derive(Clone, Debug, PartialEq)]
pub struct Edge {
    /// The version that a cluster has.
    pub from: Version,
    /// What may go wrong; empty means that it is offered to all.
    pub risks: Vec<ReleaseRisk>,
}

/// A field of a release that is wrong. Always a mistake of whoever wrote it: trying again does not help.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {problem}")]
pub struct ReleaseError {
    /// Where, such as `spec.providers[0].minVersion`.
    pub path: String,
    /// What is wrong, and what to write instead.
    pub problem: String,
}
