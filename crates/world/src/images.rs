//! Which images the simulated machines can pull: those of the releases that are known, and our own.

use std::{collections::BTreeSet, sync::LazyLock};

use hyperplane_api::hyperplane::distribution_release::DistributionRelease;
use hyperplane_planner::catalogue;
use hyperplane_runtime::Store;
use hyperplane_twin::Images;

/// What to do about an image that is not there.
const ADVICE: &str = "simulated machines pull the images of known releases and Hyperplane's own: correct the image, or \
    name it as a component of a DistributionRelease";

/// The images of the releases that are built in.
static CATALOGUE: LazyLock<BTreeSet<&'static str>> = LazyLock::new(|| {
    let components = catalogue::releases()
        .iter()
        .flat_map(|release| release.components.values());
    components.filter_map(|component| component.image.as_deref()).collect()
});

/// The images of the releases that are built in or written as DistributionReleases, and every version of our own: a
/// control plane keeps the version that it was rendered with.
pub fn images(own: &str) -> Images {
    let own = repository(own).to_owned();
    let watched = Images::watched(move |releases: &Store<DistributionRelease>, image: &str| {
        is_built_in(image, &own) || releases.all().iter().any(|release| carries(release, image))
    });
    watched.advising(ADVICE)
}

fn is_built_in(image: &str, own: &str) -> bool {
    repository(image) == own || CATALOGUE.contains(image)
}

fn carries(release: &DistributionRelease, image: &str) -> bool {
    let components = release.spec.components.values();
    let mut images = components.filter_map(|component| component.image.as_ref());
    images.any(|known| known.as_str() == image)
}

/// An image without its tag and its digest. A colon before the last slash belongs to the port of the registry.
fn repository(image: &str) -> &str {
    let name = image.split('@').next().unwrap_or_default();
    match name.rsplit_once(':') {
        Some((repository, tag)) if !tag.contains('/') => repository,
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn images_of_known_releases_and_our_own_are_there() {
        let own = repository("registry.example.com:5000/hyperplane:v2");
        for (image, expected) in [
            ("registry.k8s.io/kube-apiserver:v1.36.4", true),
            ("registry.k8s.io/kube-apiserver:v1.36.99", false),
            ("registry.example.com:5000/hyperplane:v1", true),
            ("registry.example.com:5000/hyperplane", true),
            ("registry.example.com:5000/hyperplane@sha256:0123", true),
            ("registry.example.com:5000/other:v1", false),
            ("registry.example.com:5000", false),
            ("", false),
        ] {
            assert_eq!(is_built_in(image, own), expected, "{image}");
        }
    }

    #[test]
    fn releases_carry_the_images_of_their_components() {
        let release: DistributionRelease = hyperplane_objects::read(json!({
            "metadata": {"name": "one"},
            "spec": {
                "distribution": "acp", "version": "v4.1.0", "kubernetesVersion": "v1.36.4",
                "components": {
                    "etcd": {"image": "registry.example.com/etcd:1"},
                    "coredns": {"version": "v1.12.0"},
                },
            },
        }))
        .unwrap();
        assert!(carries(&release, "registry.example.com/etcd:1"));
        assert!(!carries(&release, "registry.example.com/etcd:2"));
        assert!(!carries(&release, ""));
    }
}
