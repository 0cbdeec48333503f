//! From the image that a cluster asks for to the release that it means. It owns the order in which places are asked;
//! images that must be pulled to be understood are not known here.

use std::{fmt::Write as _, sync::Arc};

use hyperplane_api::hyperplane::distribution_release::{DistributionRelease, DistributionReleaseSpec};
use sha2::{Digest as _, Sha256};

use super::{Release, ReleaseError};
use crate::catalogue::{self, UnknownRelease};

/// What an image means.
#[derive(Clone, Debug, PartialEq)]
pub struct Resolved {
    /// The release.
    pub release: Arc<Release>,
    /// What tells this content from any other under the same image, such as `sha256:…`.
    pub pin: String,
}

/// Why an image means nothing that can be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ResolveError {
    /// A DistributionRelease has the image, and a mistake.
    #[error("DistributionRelease {name} cannot be used: {}", list(.errors))]
    Invalid {
        /// The name of the object.
        name: String,
        /// Every field that is wrong.
        errors: Vec<ReleaseError>,
    },
    /// More than one DistributionRelease has the image.
    #[error("DistributionReleases {} all have spec.image {image}: leave it to one of them", names.join(", "))]
    Ambiguous {
        /// The image.
        image: String,
        /// The names of the objects.
        names: Vec<String>,
    },
    /// Nothing has the image.
    #[error("no DistributionRelease has this spec.image, and {0}")]
    Unknown(#[from] UnknownRelease),
}

/// Finds the release of an image: the DistributionRelease whose `spec.image` it is, or else the built-in one.
pub fn resolve<'a>(
    image: &str,
    objects: impl IntoIterator<Item = &'a DistributionRelease>,
) -> Result<Resolved, ResolveError> {
    let has_image = |object: &&DistributionRelease| {
        let of_object = object.spec.image.as_ref();
        of_object.is_some_and(|of_object| of_object.as_str() == image)
    };
    let found: Vec<&DistributionRelease> = objects.into_iter().filter(has_image).collect();
    match found.as_slice() {
        [] => built_in(image),
        [one] => written(one),
        several => Err(ResolveError::Ambiguous {
            image: image.to_owned(),
            names: several.iter().map(|object| name(object)).collect(),
        }),
    }
}

fn built_in(image: &str) -> Result<Resolved, ResolveError> {
    let release = catalogue::by_image(image)?;
    // What is built in is said by its image alone: the catalogue never changes what a published release consists of.
    Ok(Resolved {
        release: Arc::new(release.clone()),
        pin: digest(image.as_bytes()),
    })
}

fn written(object: &DistributionRelease) -> Result<Resolved, ResolveError> {
    let release = Release::from_spec(&object.spec).map_err(|errors| ResolveError::Invalid {
        name: name(object),
        errors,
    })?;
    Ok(Resolved {
        release: Arc::new(release),
        pin: content_digest(&object.spec),
    })
}

fn name(object: &DistributionRelease) -> String {
    object.metadata.name.clone().unwrap_or_default()
}

fn content_digest(spec: &DistributionReleaseSpec) -> String {
    let text = serde_json::to_vec(spec).expect("a spec has only text keys and finite numbers");
    digest(&text)
}

fn digest(content: &[u8]) -> String {
    let mut text = "sha256:".to_owned();
    for byte in Sha256::digest(content) {
        write!(text, "{byte:02x}").expect("writing to a String does not fail");
    }
    text
}

fn list(errors: &[ReleaseError]) -> String {
    let texts: Vec<String> = errors.iter().map(ToString::to_string).collect();
    texts.join("; ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(name: &str, image: &str, version: &str) -> DistributionRelease {
        let spec = json!({"distribution": "acme", "version": version, "kubernetesVersion": "v1.36.4", "image": image});
        DistributionRelease::new(name, serde_json::from_value(spec).unwrap())
    }

    #[test]
    fn an_object_comes_before_what_is_built_in() {
        let image = "hyperplane.dev/kubernetes:v1.36.4";
        let built_in = resolve(image, []).unwrap();
        assert_eq!(built_in.release.distribution, "kubernetes");
        let mine = object("mine", image, "1.0.0");
        let found = resolve(image, [&mine]).unwrap();
        assert_eq!(found.release.distribution, "acme");
        assert_ne!(found.pin, built_in.pin);
    }

    #[test]
    fn the_pin_follows_the_content_and_not_the_name() {
        let one = object("one", "example.com/a:1", "1.0.0");
        let same = object("two", "example.com/a:1", "1.0.0");
        let other = object("one", "example.com/a:1", "1.0.1");
        let pin = |object: &DistributionRelease| resolve("example.com/a:1", [object]).unwrap().pin;
        assert_eq!(pin(&one), pin(&same));
        assert_ne!(pin(&one), pin(&other));
    }

    #[test]
    fn two_objects_with_one_image_are_named() {
        let (one, two) = (object("one", "a/b:1", "1.0.0"), object("two", "a/b:1", "1.0.1"));
        let error = resolve("a/b:1", [&one, &two]).unwrap_err().to_string();
        assert!(
            error.contains("one, two") && error.contains("leave it to one"),
            "{error}"
        );
    }

    #[test]
    fn an_image_that_nothing_has_is_told_what_is_near() {
        let error = resolve("hyperplane.dev/kubernetes:v1.36.99", [])
            .unwrap_err()
            .to_string();
        assert!(error.contains("v1.36.4"), "{error}");
    }
}
