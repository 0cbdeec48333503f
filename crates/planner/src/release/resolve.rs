//! From the image that a cluster asks for to the release that it means. It owns the order in which places are asked;
//! images that must be pulled to be understood are not known here.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    sync::{Arc, LazyLock, Mutex, PoisonError},
};

use hyperplane_api::hyperplane::distribution_release::{DistributionRelease, DistributionReleaseSpec};
use sha2::{Digest as _, Sha256};

use super::{Release, ReleaseError};
use crate::catalogue::{self, UnknownRelease};

/// The most releases that a shelf keeps; with more objects it begins anew.
const MOST_KEPT: usize = 1024;

/// Everything that is built in, by its image, so that nobody needs a copy.
static BUILT_IN: LazyLock<BTreeMap<&'static str, Arc<Release>>> = LazyLock::new(|| {
    let releases = catalogue::releases().iter();
    let named = releases.filter_map(|release| Some((release.image.as_deref()?, Arc::new(release.clone()))));
    named.collect()
});

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
    find(image, objects, written)
}

/// Releases that were read from objects, kept as long as the objects stay what they are: they are asked for again and
/// again, for every cluster.
#[derive(Debug, Default)]
pub struct Shelf(Mutex<BTreeMap<String, Kept>>);

/// What was read from an object of a version.
type Kept = (String, Result<Resolved, ResolveError>);

impl Shelf {
    /// Finds the release of an image, as [`resolve`] does.
    pub fn resolve<'a>(
        &self,
        image: &str,
        objects: impl IntoIterator<Item = &'a DistributionRelease>,
    ) -> Result<Resolved, ResolveError> {
        find(image, objects, |object| self.read(object))
    }

    /// The releases of those objects that can be used.
    pub fn releases<'a>(&self, objects: impl IntoIterator<Item = &'a DistributionRelease>) -> Vec<Arc<Release>> {
        let read = objects.into_iter().filter_map(|object| self.read(object).ok());
        read.map(|resolved| resolved.release).collect()
    }

    fn read(&self, object: &DistributionRelease) -> Result<Resolved, ResolveError> {
        let meta = &object.metadata;
        let Some((uid, version)) = meta.uid.as_ref().zip(meta.resource_version.as_ref()) else {
            return written(object);
        };
        // What it guards is valid after every statement.
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((of, found)) = kept.get(uid)
            && of == version
        {
            return found.clone();
        }
        let found = written(object);
        if kept.len() >= MOST_KEPT {
            kept.clear();
        }
        kept.insert(uid.clone(), (version.clone(), found.clone()));
        found
    }
}

fn find<'a>(
    image: &str,
    objects: impl IntoIterator<Item = &'a DistributionRelease>,
    read: impl Fn(&DistributionRelease) -> Result<Resolved, ResolveError>,
) -> Result<Resolved, ResolveError> {
    let has_image = |object: &&DistributionRelease| {
        let of_object = object.spec.image.as_ref();
        of_object.is_some_and(|of_object| of_object.as_str() == image)
    };
    let found: Vec<&DistributionRelease> = objects.into_iter().filter(has_image).collect();
    match found.as_slice() {
        [] => built_in(image),
        [one] => read(one),
        several => Err(ResolveError::Ambiguous {
            image: image.to_owned(),
            names: several.iter().map(|object| name(object)).collect(),
        }),
    }
}

fn built_in(image: &str) -> Result<Resolved, ResolveError> {
    let release = match BUILT_IN.get(image) {
        Some(release) => release.clone(),
        None => Arc::new(catalogue::by_image(image)?.clone()),
    };
    // What is built in is said by its image alone: the catalogue never changes what a published release consists of.
    Ok(Resolved {
        release,
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
        DistributionRelease::new(name, hyperplane_objects::read(&spec).unwrap())
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

    #[test]
    fn what_is_built_in_is_there_once() {
        let image = "hyperplane.dev/kubernetes:v1.36.4";
        let [one, two] = [(); 2].map(|()| resolve(image, []).unwrap().release);
        assert!(Arc::ptr_eq(&one, &two));
    }

    #[test]
    fn a_shelf_reads_an_object_again_only_when_it_changed() {
        let shelf = Shelf::default();
        let mut mine = object("mine", "a/b:1", "1.0.0");
        mine.metadata.uid = Some("uid".to_owned());
        mine.metadata.resource_version = Some("1".to_owned());
        let release = |object: &DistributionRelease| shelf.resolve("a/b:1", [object]).unwrap().release;
        let first = release(&mine);
        assert!(Arc::ptr_eq(&first, &release(&mine)));
        assert!(Arc::ptr_eq(&first, &shelf.releases([&mine])[0]));
        mine.spec = object("mine", "a/b:1", "1.0.1").spec;
        mine.metadata.resource_version = Some("2".to_owned());
        assert_eq!(release(&mine).version.number(), "1.0.1");
        // One that no server gave a version is read every time.
        let unknown = object("other", "a/b:1", "1.0.2");
        assert_eq!(release(&unknown).version.number(), "1.0.2");
        assert_eq!(shelf.resolve("a/b:1", [&unknown]), resolve("a/b:1", [&unknown]));
    }
}
