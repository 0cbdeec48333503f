//! Proof on invented packages that the judge can say no, and says yes where it should.

use crate::{
    judge::{found_in_lock, found_in_tree, judge},
    map::{self, CRATES, Layer},
    package::{Dependency, Package},
};

const GOOD_MANIFEST: &str = "edition.workspace = true\nlicense.workspace = true\n[lints]\nworkspace = true\n";

fn package(name: &str, dependencies: Vec<Dependency>) -> Package {
    Package {
        name: name.to_owned(),
        dependencies,
        manifest: GOOD_MANIFEST.to_owned(),
    }
}

/// Reads `crate` or `crate/feature/feature`.
fn dependency(text: &str) -> Dependency {
    let mut parts = text.split('/').map(str::to_owned);
    Dependency {
        name: parts.next().expect("a text has a first part"),
        features: parts.collect(),
        ..Dependency::default()
    }
}

/// What is said about a package with one dependency.
fn verdict(name: &str, on: &str) -> String {
    judge(&[package(name, vec![dependency(on)])]).join("; ")
}

#[test]
fn what_the_design_draws_is_allowed() {
    let allowed = [
        ("hyperplane-planner", "hyperplane-api"),
        ("hyperplane-components", "hyperplane-rollout"),
        ("hyperplane-node-pool", "hyperplane-runtime"),
        ("hyperplane-node-pool", "hyperplane-planner"),
        ("hyperplane-twin", "hyperplane-apiserver"),
        ("hyperplane", "hyperplane-node-pool"),
        ("hyperplane", "hyperplane-console"),
        ("xtask", "hyperplane-testbed"),
        ("hyperplane-api", "kube/derive/cel"),
        ("hyperplane-apiserver", "hyper/server"),
        ("hyperplane-console", "axum"),
        ("hyperplane-twin", "hyper-util/client-legacy"),
        ("hyperplane-runtime", "tokio/rt"),
        ("hyperplane-runtime", "kube/client"),
    ];
    for (name, on) in allowed {
        assert_eq!(verdict(name, on), "", "{name} on {on}");
    }
}

#[test]
fn what_the_design_forbids_is_named_with_its_rule() {
    let forbidden = [
        ("hyperplane-api", "hyperplane-planner", "the arrow points the wrong way"),
        (
            "hyperplane-planner",
            "hyperplane-runtime",
            "the arrow points the wrong way",
        ),
        (
            "hyperplane-runtime",
            "hyperplane-node-pool",
            "the arrow points the wrong way",
        ),
        (
            "hyperplane-node-pool",
            "hyperplane-apiserver",
            "the arrow points the wrong way",
        ),
        ("hyperplane-node-pool", "hyperplane-machines", "never each other"),
        ("hyperplane-node-pool", "hyperplane", "is a leaf"),
        ("hyperplane-twin", "hyperplane-console", "is a leaf"),
        ("hyperplane-runtime", "hyperplane-testbed", "make it a dev-dependency"),
        ("hyperplane", "hyperplane-testbed", "make it a dev-dependency"),
        ("hyperplane-api", "tokio", "does no I/O"),
        ("hyperplane-planner", "tower", "does no I/O"),
        ("hyperplane-api", "kube/derive/client", "uses kube's client"),
        ("hyperplane-runtime", "axum", "serves HTTP"),
        ("hyperplane-runtime", "hyper/server", "serves HTTP"),
        ("hyperplane-twin", "hyper-util/server-auto", "serves HTTP"),
        ("hyperplane-twin", "hyper/full", "serves HTTP"),
        ("hyperplane-node-pool", "reqwest", "calls HTTP"),
        ("hyperplane", "hyper-util/client-legacy", "calls HTTP"),
    ];
    for (name, on, rule) in forbidden {
        let verdict = verdict(name, on);
        assert!(verdict.contains(rule), "{name} on {on}: `{verdict}`");
        assert!(verdict.starts_with(name), "{verdict}");
    }
}

#[test]
fn kube_with_default_features_has_a_client() {
    let kube = Dependency {
        has_default_features: true,
        ..dependency("kube")
    };
    assert_eq!(judge(&[package("hyperplane-api", vec![kube])]).len(), 1);
}

#[test]
fn tests_may_depend_on_anything() {
    for on in ["tokio", "hyperplane-testbed", "hyperplane", "hyperplane-machines"] {
        let dependency = Dependency {
            is_for_tests: true,
            ..dependency(on)
        };
        assert_eq!(
            judge(&[package("hyperplane-node-pool", vec![dependency])]),
            Vec::<String>::new(),
            "{on}"
        );
    }
}

#[test]
fn an_unknown_crate_is_told_where_to_go() {
    let violations = judge(&[package("hyperplane-surprise", vec![])]);
    assert_eq!(
        violations,
        ["hyperplane-surprise is not on the map: add it to CRATES in xtask/tests/architecture/map.rs"]
    );
}

#[test]
fn a_manifest_inherits_from_the_workspace() {
    let own_way = Package {
        manifest: "edition = \"2021\"\n".to_owned(),
        ..package("xtask", vec![])
    };
    assert_eq!(judge(&[own_way]).len(), 3);
    let short = "edition.workspace = true\nlicense.workspace = true\nlints.workspace = true\n";
    let short = Package {
        manifest: short.to_owned(),
        ..package("xtask", vec![])
    };
    assert_eq!(judge(&[short]), Vec::<String>::new());
}

#[test]
fn a_tree_and_a_lock_are_searched_for_whole_names() {
    let tree = "hyperplane-api v0.1.0 (/work)\ntokio-util v0.7.0\ntokio v1.0.0 (*)\n";
    assert_eq!(found_in_tree(tree, &["mio", "tokio", "util"]), ["tokio"]);
    let lock = "[[package]]\nname = \"ring-buffer\"\n[[package]]\nname = \"bincode\"\n";
    assert_eq!(found_in_lock(lock, &["bincode", "ring"]), ["bincode"]);
}

#[test]
fn no_crate_is_on_the_map_twice() {
    for (index, (name, layer)) in CRATES.iter().enumerate() {
        assert!(CRATES[..index].iter().all(|(other, _)| other != name), "{name}");
        assert_eq!(map::layer_of(name), Some(*layer));
    }
    assert_eq!(map::layer_of("tokio"), None::<Layer>);
}
