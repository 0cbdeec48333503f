//! The built-in catalogue of plain Kubernetes releases, `hyperplane.dev/kubernetes:vX.Y.Z`. It owns which releases exist
//! and what is in them; it does not know which of them a cluster may take.

mod format;
#[cfg(test)]
mod tests;

use std::{cmp::Ordering, sync::LazyLock};

use hyperplane_api::hyperplane::distribution_release::DistributionRelease;

use self::format::Catalogue;
use crate::{
    release::{Release, object_name},
    version::{Scheme, Version},
};

/// The distribution of every release in the catalogue.
pub const DISTRIBUTION: &str = "kubernetes";

/// What the image of every release in the catalogue begins with; the version follows. Nothing is pulled from there.
pub const IMAGE_PREFIX: &str = "hyperplane.dev/kubernetes:";

/// How many releases an error offers in place of one that does not exist.
const MOST_NEAR: usize = 3;

const TEXT: &str = include_str!("catalogue/kubernetes.yaml");

static CATALOGUE: LazyLock<Catalogue> = LazyLock::new(|| {
    hyperplane_objects::read_yaml(TEXT).expect("the file is part of the program, and a test reads it")
});

static RELEASES: LazyLock<Vec<Release>> = LazyLock::new(|| {
    let read = |spec| Release::from_spec(&spec).expect("a test reads every release");
    CATALOGUE.specs().into_iter().map(read).collect()
});

/// Every release, oldest first.
pub fn releases() -> &'static [Release] {
    &RELEASES
}

/// Every release as the object that a user would write, oldest first.
pub fn objects() -> Vec<DistributionRelease> {
    let specs = CATALOGUE.specs().into_iter();
    specs
        .map(|spec| DistributionRelease::new(&object_name(&spec), spec))
        .collect()
}

/// The release of an image such as `hyperplane.dev/kubernetes:v1.36.4`.
pub fn by_image(image: &str) -> Result<&'static Release, UnknownRelease> {
    if let Some(found) = releases()
        .iter()
        .find(|release| release.image.as_deref() == Some(image))
    {
        return Ok(found);
    }
    Err(unknown(image, image.strip_prefix(IMAGE_PREFIX)))
}

/// The release of a version such as `v1.36.4`, with or without the `v`.
pub fn by_version(version: &str) -> Result<&'static Release, UnknownRelease> {
    let parsed = Version::parse(Scheme::Kubernetes, version).ok();
    let same = |release: &&Release| {
        parsed
            .as_ref()
            .is_some_and(|wanted| wanted.precedence(&release.version) == Ordering::Equal)
    };
    releases()
        .iter()
        .find(same)
        .ok_or_else(|| unknown(version, Some(version)))
}

/// The newest release with the minor of a version, whatever its patch.
pub fn latest_patch(version: &Version) -> Option<&'static Release> {
    releases()
        .iter()
        .rev()
        .find(|release| release.kubernetes.same_minor(version))
}

/// No release of the catalogue has that image or version.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{wanted:?} is not in the catalogue of Kubernetes releases{}; near are {}", hint(*.has_form), near.join(", "))]
pub struct UnknownRelease {
    /// What was asked for.
    pub wanted: String,
    /// Whether it has the form of an image or version of the catalogue.
    pub has_form: bool,
    /// Images of the releases that come closest, nearest first.
    pub near: Vec<String>,
}

fn hint(has_form: bool) -> &'static str {
    if has_form {
        ""
    } else {
        ", whose images are hyperplane.dev/kubernetes:vX.Y.Z"
    }
}

fn unknown(wanted: &str, version: Option<&str>) -> UnknownRelease {
    let version = version.and_then(|text| Version::parse(Scheme::Kubernetes, text).ok());
    UnknownRelease {
        wanted: wanted.to_owned(),
        has_form: version.is_some(),
        near: near(version.as_ref()),
    }
}

/// The releases closest to a version by minor and then by patch, or the newest of all where there is no version.
fn near(version: Option<&Version>) -> Vec<String> {
    let mut candidates: Vec<&Release> = releases().iter().rev().collect();
    if let Some(version) = version {
        // Stable: of two that are equally far, the newer one comes first.
        candidates.sort_by_key(|release| {
            let minors = release.kubernetes.generation().abs_diff(version.generation());
            let patches = release.kubernetes.patch().abs_diff(version.patch());
            (minors, patches)
        });
    }
    candidates
        .into_iter()
        .take(MOST_NEAR)
        .filter_map(|release| release.image.clone())
        .collect()
}
