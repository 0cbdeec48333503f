//! That the catalogue is whole, and that what it says of neighbours fits together.

use std::{cmp::Ordering, collections::BTreeSet};

use regex::Regex;

use super::*;
use crate::release;

/// The components that every release has.
const COMPONENTS: [&str; 10] = [
    "cluster-autoscaler",
    "coredns",
    "etcd",
    "konnectivity-agent",
    "konnectivity-server",
    "kube-apiserver",
    "kube-controller-manager",
    "kube-proxy",
    "kube-scheduler",
    "pause",
];

fn version(text: &str) -> Version {
    Version::parse(Scheme::Kubernetes, text).unwrap()
}

/// Pairs of a release and the one after it, as long as both have the same minor.
fn patch_steps() -> impl Iterator<Item = (&'static Release, &'static Release)> {
    let pairs = releases().windows(2).map(|pair| (&pair[0], &pair[1]));
    pairs.filter(|(before, after)| before.version.same_minor(&after.version))
}

/// The newest release of each minor.
fn newest() -> Vec<&'static Release> {
    let minors = CATALOGUE.minors.iter();
    minors
        .map(|minor| latest_patch(&version(&minor.name)).unwrap())
        .collect()
}

fn assert_not_lower(component: &str, before: &Release, after: &Release) {
    let (old, new) = (before.component_version(component), after.component_version(component));
    let order = old.unwrap().precedence(new.unwrap());
    assert_ne!(
        order,
        Ordering::Greater,
        "{component} from {} to {}",
        before.version,
        after.version
    );
}

#[test]
fn every_release_is_valid_and_complete() {
    for spec in CATALOGUE.specs() {
        let release = Release::from_spec(&spec).unwrap_or_else(|errors| panic!("{}: {errors:?}", spec.version));
        let names: Vec<&str> = release.components.keys().map(String::as_str).collect();
        assert_eq!(names, COMPONENTS, "{}", release.version);
        assert_eq!(release.distribution, DISTRIBUTION);
        assert_eq!(release.version, release.kubernetes);
    }
}

#[test]
fn the_minors_are_those_that_are_promised() {
    let minors: Vec<&str> = CATALOGUE.minors.iter().map(|minor| &*minor.name).collect();
    assert_eq!(minors, ["1.31", "1.32", "1.33", "1.34", "1.35", "1.36"]);
    let newest: Vec<&str> = newest().iter().map(|release| release.version.as_str()).collect();
    assert_eq!(
        newest,
        ["v1.31.14", "v1.32.13", "v1.33.13", "v1.34.11", "v1.35.8", "v1.36.4"]
    );
}

#[test]
fn releases_are_unique_and_in_order() {
    let images: BTreeSet<_> = releases().iter().map(|release| &release.image).collect();
    assert_eq!(images.len(), releases().len());
    for pair in releases().windows(2) {
        assert_eq!(pair[0].version.precedence(&pair[1].version), Ordering::Less);
    }
}

#[test]
fn patches_have_no_gaps_but_the_known_ones() {
    for minor in &CATALOGUE.minors {
        let listed: BTreeSet<u64> = minor.patches.iter().chain(&minor.gaps).copied().collect();
        let last = *minor.patches.last().unwrap();
        assert!(listed.iter().copied().eq(0..=last), "{}", minor.name);
        assert_eq!(listed.len(), minor.patches.len() + minor.gaps.len(), "{}", minor.name);
    }
}

#[test]
fn changes_are_in_order_and_change_something() {
    for minor in &CATALOGUE.minors {
        assert!(minor.changes.is_sorted_by_key(|change| change.since), "{}", minor.name);
        for change in &minor.changes {
            let at = |patch: u64| by_version(&format!("{}.{patch}", minor.name)).unwrap();
            let (before, after) = (at(change.since - 1), at(change.since));
            for name in change.components.keys() {
                assert_ne!(before.components[name], after.components[name], "{} {name}", minor.name);
            }
        }
    }
}

#[test]
fn images_are_well_formed_and_say_their_version() {
    let form = Regex::new(r"^registry\.k8s\.io(/[a-z0-9]+(-[a-z0-9]+)*)+:v?[0-9]+\.[0-9]+(\.[0-9]+)?(-0)?$").unwrap();
    for release in releases() {
        for (name, component) in &release.components {
            let image = component.image.as_deref().unwrap();
            let tag = image.rsplit_once(':').unwrap().1;
            assert!(form.is_match(image), "{image}");
            assert!(tag.starts_with(component.text.as_deref().unwrap()), "{name}: {image}");
            assert!(
                component.version.is_some(),
                "{name} of {} has no order",
                release.version
            );
        }
    }
}

#[test]
fn kubernetes_itself_has_the_version_of_the_release() {
    for release in releases() {
        for name in [
            "kube-apiserver",
            "kube-controller-manager",
            "kube-scheduler",
            "kube-proxy",
        ] {
            assert_eq!(release.component_version(name), Some(&release.version), "{name}");
        }
    }
}

#[test]
fn companions_have_the_minor_of_kubernetes() {
    for release in releases() {
        for name in ["cluster-autoscaler", "konnectivity-server", "konnectivity-agent"] {
            let companion = release.component_version(name).unwrap();
            assert_eq!(
                companion.minor(),
                release.version.minor(),
                "{name} of {}",
                release.version
            );
        }
        let konnectivity = ["konnectivity-server", "konnectivity-agent"].map(|name| release.component_version(name));
        assert_eq!(konnectivity[0], konnectivity[1]);
    }
}

#[test]
fn nothing_goes_down_from_patch_to_patch() {
    for (before, after) in patch_steps() {
        for name in COMPONENTS {
            assert_not_lower(name, before, after);
        }
    }
}

/// Across minors this holds between the newest patches: v1.31.14 has a newer etcd than v1.32.0.
#[test]
fn nothing_goes_down_from_minor_to_minor() {
    for pair in newest().windows(2) {
        for name in COMPONENTS {
            assert_not_lower(name, pair[0], pair[1]);
        }
    }
    let etcd = |release: &str| by_version(release).unwrap().component_version("etcd").unwrap();
    assert_eq!(etcd("v1.31.14").precedence(etcd("v1.32.0")), Ordering::Greater);
}

/// Rule E-01: from below 3.5.26 members that are replaced one by one do not reach 3.6.
#[test]
fn every_minor_can_be_left_safely_at_its_newest_patch() {
    let floor = version("3.5.26");
    for pair in newest().windows(2) {
        let etcd = |release: &'static Release| release.component_version("etcd").unwrap();
        let (old, new) = (etcd(pair[0]), etcd(pair[1]));
        if !old.same_minor(new) {
            assert_ne!(old.precedence(&floor), Ordering::Less, "from {}", pair[0].version);
        }
    }
}

#[test]
fn facts_that_were_read_at_the_tags() {
    for (release, component, image) in [
        ("v1.31.0", "coredns", "registry.k8s.io/coredns/coredns:v1.11.1"),
        ("v1.31.13", "etcd", "registry.k8s.io/etcd:3.5.15-0"),
        ("v1.31.14", "etcd", "registry.k8s.io/etcd:3.5.24-0"),
        ("v1.32.9", "etcd", "registry.k8s.io/etcd:3.5.16-0"),
        ("v1.33.7", "etcd", "registry.k8s.io/etcd:3.5.24-0"),
        ("v1.33.13", "pause", "registry.k8s.io/pause:3.10"),
        ("v1.34.1", "etcd", "registry.k8s.io/etcd:3.6.4-0"),
        ("v1.35.8", "coredns", "registry.k8s.io/coredns/coredns:v1.13.1"),
        ("v1.36.4", "etcd", "registry.k8s.io/etcd:3.6.8-0"),
        ("v1.36.4", "kube-proxy", "registry.k8s.io/kube-proxy:v1.36.4"),
    ] {
        let found = &by_version(release).unwrap().components[component].image;
        assert_eq!(found.as_deref(), Some(image), "{release}");
    }
}

#[test]
fn control_groups_of_the_second_version_are_needed_from_1_35_on() {
    for release in releases() {
        let expected = (release.version.minor() >= 35).then_some(2);
        assert_eq!(release.nodes.cgroup, expected, "{}", release.version);
    }
}

#[test]
fn a_release_is_found_by_image_and_by_version() {
    for release in releases() {
        assert_eq!(by_image(release.image.as_deref().unwrap()), Ok(release));
        assert_eq!(by_version(release.version.as_str()), Ok(release));
        assert_eq!(
            by_version(release.version.as_str().trim_start_matches('v')),
            Ok(release)
        );
    }
    assert_eq!(
        latest_patch(&version("v1.35.0")).map(|release| release.version.as_str()),
        Some("v1.35.8")
    );
    assert_eq!(latest_patch(&version("v1.30.0")), None);
}

#[track_caller]
fn check_unknown(error: &UnknownRelease, expected: &str) {
    assert_eq!(error.to_string(), expected);
}

#[test]
fn an_unknown_release_is_told_with_those_that_are_near() {
    check_unknown(
        &by_image("hyperplane.dev/kubernetes:v1.36.9").unwrap_err(),
        "\"hyperplane.dev/kubernetes:v1.36.9\" is not in the catalogue of Kubernetes releases; near are \
         hyperplane.dev/kubernetes:v1.36.4, hyperplane.dev/kubernetes:v1.36.3, hyperplane.dev/kubernetes:v1.36.2",
    );
    check_unknown(
        &by_version("1.30.2").unwrap_err(),
        "\"1.30.2\" is not in the catalogue of Kubernetes releases; near are \
         hyperplane.dev/kubernetes:v1.31.2, hyperplane.dev/kubernetes:v1.31.3, hyperplane.dev/kubernetes:v1.31.1",
    );
    check_unknown(
        &by_image("example.com/release").unwrap_err(),
        "\"example.com/release\" is not in the catalogue of Kubernetes releases, whose images are \
         hyperplane.dev/kubernetes:vX.Y.Z; near are \
         hyperplane.dev/kubernetes:v1.36.4, hyperplane.dev/kubernetes:v1.36.3, hyperplane.dev/kubernetes:v1.36.2",
    );
    assert!(by_version("v1.36.4-rc.1").is_err());
}

/// What the catalogue holds can be written to a file, changed, and read back.
#[test]
fn the_objects_pass_as_a_file() {
    let text: Vec<String> = objects()
        .iter()
        .map(|object| serde_saphyr::to_string(object).unwrap())
        .collect();
    let read = release::read(&text.join("---\n")).unwrap();
    assert_eq!(read, objects());
    assert_eq!(
        read.last().unwrap().metadata.name.as_deref(),
        Some("kubernetes-v1.36.4")
    );
}
