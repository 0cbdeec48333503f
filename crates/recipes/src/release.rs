//! Which release is meant: an image, the version of plain Kubernetes, or the newest one that is known.

use std::sync::Arc;

use clap::Args;
use hyperplane_planner::{
    catalogue,
    release::{Release, ResolveError, resolve},
    version::Scheme,
};

use crate::{
    given::Given,
    judge::{Judge, list},
};

pub(crate) const IMAGE: &str = "--release-image";
pub(crate) const VERSION: &str = "--version";

/// The release that is asked for.
#[derive(Args, Clone, Debug, Default)]
pub struct ReleaseFlags {
    /// The image of the release
    #[arg(long, value_name = "IMAGE")]
    pub release_image: Option<String>,
    /// The version of Kubernetes, such as 1.35.8, in place of an image
    #[arg(long, value_name = "VERSION")]
    pub version: Option<String>,
}

/// A release by its image.
#[derive(Clone, Debug)]
pub(crate) struct Chosen {
    pub(crate) image: String,
    /// What it consists of, where that is known.
    pub(crate) release: Option<Arc<Release>>,
    /// The flag that chose it.
    pub(crate) flag: &'static str,
}

impl ReleaseFlags {
    /// Whether nothing was asked for.
    pub fn is_empty(&self) -> bool {
        self.release_image.is_none() && self.version.is_none()
    }

    /// The release that is meant; without any flag the newest one that can be hosted.
    pub(crate) fn choose(&self, given: &Given, judge: &mut Judge) -> Chosen {
        let chosen = match (&self.release_image, &self.version) {
            (Some(image), None) => by_image(image, given, judge),
            (Some(image), Some(_)) => {
                judge.wrong(VERSION, format!("cannot go with {IMAGE}: leave one of them"));
                by_image(image, given, judge)
            }
            (None, Some(version)) => by_version(version, given, judge),
            (None, None) => newest(given),
        };
        judge_hosted(&chosen, given, judge);
        chosen
    }
}

/// A release by an image that somebody has already.
pub(crate) fn by_image(image: &str, given: &Given, judge: &mut Judge) -> Chosen {
    let release = match resolve(image, &given.releases) {
        Ok(resolved) => Some(resolved.release),
        // What has to be pulled to be understood, or is known elsewhere only.
        Err(ResolveError::Unknown(_)) if !image.starts_with(catalogue::IMAGE_PREFIX) => {
            judge.note(format!(
                "nothing is known here of {image}: its versions were not judged"
            ));
            None
        }
        Err(error) => {
            judge.wrong(IMAGE, error.to_string());
            None
        }
    };
    Chosen {
        image: image.to_owned(),
        release,
        flag: IMAGE,
    }
}

fn by_version(version: &str, given: &Given, judge: &mut Judge) -> Chosen {
    let number = version.trim_start_matches('v');
    let is_it = |release: &&Release| release.version.number() == number && release.image.is_some();
    let read = given
        .releases
        .iter()
        .filter_map(|object| Release::from_spec(&object.spec).ok());
    let written: Vec<Release> = read.collect();
    let found = match catalogue::by_version(version) {
        Ok(release) => Some(release.clone()),
        Err(error) => written.iter().find(is_it).cloned().or_else(|| {
            judge.wrong(VERSION, error.to_string());
            None
        }),
    };
    Chosen {
        image: found
            .as_ref()
            .and_then(|release| release.image.clone())
            .unwrap_or_default(),
        release: found.map(Arc::new),
        flag: VERSION,
    }
}

fn newest(given: &Given) -> Chosen {
    let releases = catalogue::releases();
    let hosted = |release: &&Release| {
        given
            .hosted
            .as_ref()
            .is_none_or(|hosted| hosted.contains(&minor(release)))
    };
    let release = releases.iter().rev().find(hosted).or(releases.last());
    let release = release
        .expect("the catalogue is part of the program, and a test reads it")
        .clone();
    Chosen {
        image: release
            .image
            .clone()
            .expect("every release of the catalogue has an image"),
        release: Some(Arc::new(release)),
        flag: VERSION,
    }
}

/// The management cluster says which minors of Kubernetes it knows.
fn judge_hosted(chosen: &Chosen, given: &Given, judge: &mut Judge) {
    let (Some(release), Some(hosted)) = (&chosen.release, &given.hosted) else {
        return;
    };
    if release.scheme() == Scheme::Kubernetes && !hosted.contains(&minor(release)) {
        judge.wrong(
            chosen.flag,
            format!(
                "the management cluster cannot host {}: it hosts {}",
                release.version,
                list(hosted)
            ),
        );
    }
}

fn minor(release: &Release) -> String {
    format!("{}.{}", release.version.major(), release.version.minor())
}
