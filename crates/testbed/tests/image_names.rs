//! What the test bed calls programs is what releases call them.

use std::collections::BTreeMap;

use hyperplane_planner::catalogue;
use hyperplane_testbed::{
    assets::{KUBERNETES_VERSION, PREVIOUS_KUBERNETES_VERSION},
    image::cluster::{Component, ImageNames},
    parts::{COREDNS_VERSION, KONNECTIVITY_VERSION},
};

/// The images of a release that is built in.
fn images(version: &str) -> ImageNames {
    let release = catalogue::by_version(version).expect("the releases of tests are in the catalogue");
    let images = release.components.iter().filter_map(|(name, component)| {
        let image = component.image.clone()?;
        Some((name.clone(), image))
    });
    images.collect::<BTreeMap<_, _>>()
}

#[test]
fn releases_name_every_program() {
    for version in [KUBERNETES_VERSION, PREVIOUS_KUBERNETES_VERSION] {
        let images = images(version);
        for component in Component::ALL {
            let is_named = images.contains_key(component.name());
            assert_eq!(
                is_named,
                component != Component::Workload,
                "{version}: {component:?} in {images:?}"
            );
        }
    }
}

#[test]
fn what_is_built_has_the_version_that_the_release_names() {
    let images = images(KUBERNETES_VERSION);
    for (name, version) in [
        ("kube-apiserver", &*format!("v{KUBERNETES_VERSION}")),
        ("coredns", COREDNS_VERSION),
        ("konnectivity-agent", KONNECTIVITY_VERSION),
        ("konnectivity-server", KONNECTIVITY_VERSION),
    ] {
        assert!(
            images[name].ends_with(&format!(":{version}")),
            "{name}: {}",
            images[name]
        );
    }
}
