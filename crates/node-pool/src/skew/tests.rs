use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::testing;

fn version(text: &str) -> Version {
    Version::parse(Scheme::Kubernetes, text).unwrap()
}

fn release(text: &str) -> Release {
    let mut release = (*testing::release()).clone();
    release.version = version(text);
    release.kubernetes = version(text);
    release
}

fn plane(versions: &[&str]) -> PlaneVersions {
    let one = |text: &&str| PlaneVersion {
        version: version(text),
        kubernetes: Some(version(text)),
    };
    PlaneVersions {
        known: versions.iter().map(one).collect(),
        unknown: Vec::new(),
    }
}

fn nodes(versions: &[&str]) -> NodeVersions {
    NodeVersions {
        versions: versions.iter().map(|text| version(text)).collect(),
        kubelets: versions.iter().map(|text| version(text)).collect(),
    }
}

fn judged(plane_versions: &[&str], node_versions: &[&str], target: &str) -> SkewVerdict {
    judge(&SkewFacts {
        pool: "workers",
        plane: &plane(plane_versions),
        nodes: &nodes(node_versions),
        reached: None,
        target: &release(target),
    })
}

/// Versions of the control plane, of nodes, and of the target; and whether nodes may go there.
type Row = (&'static [&'static str], &'static [&'static str], &'static str, bool);

#[test]
fn a_pool_follows_its_control_plane() {
    let rows: [Row; 15] = [
        (&["1.36.4"], &[], "1.36.4", true),
        (&["1.36.4"], &["1.35.0"], "1.36.4", true),
        (&["1.36.4"], &["1.36.4"], "1.37.0", false),
        (&["1.36.4"], &[], "1.37.0", false),
        // A patch is enough to be newer.
        (&["1.36.3"], &[], "1.36.4", false),
        (&["1.36.3"], &["1.36.3"], "1.36.4", false),
        (&["1.36.4", "1.36.3"], &["1.36.3"], "1.36.4", false),
        (&["1.36.4"], &["1.36.3"], "1.36.4", true),
        // While the control plane moves, the oldest of it decides.
        (&["1.37.0", "1.36.4"], &["1.36.4"], "1.37.0", false),
        (&["1.37.0"], &["1.36.4"], "1.37.0", true),
        // Three minors are allowed, four are not.
        (&["1.36.4"], &[], "1.33.0", true),
        (&["1.36.4"], &[], "1.32.0", false),
        (&["1.37.0", "1.36.4"], &["1.33.0"], "1.33.0", false),
        // The way out of a bad state is open.
        (&["1.36.4"], &["1.32.0"], "1.36.4", true),
        (&["1.36.4"], &["1.37.0"], "1.36.4", true),
    ];
    for (plane, nodes, target, allows) in rows {
        let verdict = judged(plane, nodes, target);
        assert_eq!(verdict.allows(), allows, "{plane:?} {nodes:?} {target}: {verdict:?}");
    }
}

fn openshift(text: &str) -> Version {
    Version::parse(Scheme::OpenShift, text).unwrap()
}

/// Kubernetes in a minor of OpenShift: thirteen minors more.
fn kubernetes(of: &Version) -> Version {
    version(&format!("1.{}.0", of.generation() + 13))
}

/// Versions of OpenShift: of the control plane, of nodes, of all nodes last, and where they are to go.
fn judged_openshift(plane: &str, nodes: &[&str], reached: Option<&str>, target: &str) -> SkewVerdict {
    let (plane, target) = (openshift(plane), openshift(target));
    let versions: Vec<Version> = nodes.iter().map(|text| openshift(text)).collect();
    let mut release = (*testing::release()).clone();
    release.kubernetes = kubernetes(&target);
    release.version = target;
    judge(&SkewFacts {
        pool: "workers",
        plane: &PlaneVersions {
            known: vec![PlaneVersion {
                kubernetes: Some(kubernetes(&plane)),
                version: plane,
            }],
            unknown: Vec::new(),
        },
        nodes: &NodeVersions {
            kubelets: versions.iter().map(kubernetes).collect(),
            versions,
        },
        reached,
        target: &release,
    })
}

#[test]
fn a_roll_can_be_taken_back_and_an_upgrade_cannot() {
    let rows: [(&[&str], Option<&str>, &str, bool); 7] = [
        (&["4.18.5"], Some("4.18.5"), "4.19.3", true),
        // Half way, back to where all of them were; and on.
        (&["4.18.5", "4.19.3"], Some("4.18.5"), "4.18.5", true),
        (&["4.18.5", "4.19.3"], Some("4.18.5"), "4.19.3", true),
        // Nobody has reached anything yet.
        (&["4.19.3"], None, "4.18.5", true),
        // A minor that all of them have is not left, nor is one below where they were the way back.
        (&["4.19.3"], Some("4.19.3"), "4.18.5", false),
        (&["4.18.5", "4.19.3"], Some("4.18.5"), "4.17.9", false),
        (&["4.19.3"], Some("4.19.3"), "4.19.4", false),
    ];
    for (nodes, reached, target, allows) in rows {
        let verdict = judged_openshift("4.19.3", nodes, reached, target);
        assert_eq!(verdict.allows(), allows, "{nodes:?} {reached:?} {target}: {verdict:?}");
    }
}

#[test]
fn nodes_that_are_too_old_are_told_without_a_roll() {
    let verdict = judged(&["1.36.4"], &["1.32.0", "1.36.4"], "1.36.4");
    assert!(verdict.allows());
    assert_eq!(verdict.observed.len(), 1, "{verdict:?}");
    assert!(!verdict.observed[0].remedy.is_empty());
    assert!(judged(&["1.36.4"], &["1.35.1"], "1.36.4").observed.is_empty());
}

#[test]
fn what_is_not_known_is_no_pass() {
    let verdict = judged(&[], &["1.36.4"], "1.36.4");
    assert!(!verdict.allows() && verdict.refusals[0].is_unknown);
    let unknown = PlaneVersions {
        known: vec![PlaneVersion {
            version: version("1.36.4"),
            kubernetes: None,
        }],
        unknown: Vec::new(),
    };
    let verdict = judge(&SkewFacts {
        pool: "workers",
        plane: &unknown,
        nodes: &NodeVersions::default(),
        reached: None,
        target: &release("1.36.4"),
    });
    assert!(!verdict.allows(), "{verdict:?}");
}

#[test]
fn the_history_tells_which_versions_run() {
    let update = |state: &str, version: &str| {
        json!({"state": state, "version": version, "image": format!("example.com/release:{version}"),
            "startedTime": "2027-01-01T00:00:00Z"})
    };
    let told = |history: &serde_json::Value| {
        let cluster = testing::cluster(&json!({"status": {"controlPlaneVersion": {
            "desired": {"version": "1.37.0", "image": "example.com/release:1.37.0"}, "history": history}}}));
        let versions = plane_versions(&cluster, Scheme::Kubernetes, |_| None);
        versions
            .known
            .iter()
            .map(|one| one.version.to_string())
            .collect::<Vec<_>>()
    };
    let (partial, complete, older) = (
        update("Partial", "1.37.0"),
        update("Completed", "1.36.4"),
        update("Completed", "1.35.1"),
    );
    assert_eq!(told(&json!([partial, complete, older])), ["1.37.0", "1.36.4"]);
    assert_eq!(told(&json!([complete, older])), ["1.36.4"]);
    assert_eq!(told(&json!([partial])), ["1.37.0"]);
    assert_eq!(told(&json!([])), ["1.37.0"]);
}

#[test]
fn a_version_of_the_control_plane_that_nobody_knows_is_no_pass() {
    let update = |state: &str, version: &str| {
        json!({"state": state, "version": version, "image": format!("example.com/release:{version}"),
            "startedTime": "2027-01-01T00:00:00Z"})
    };
    let cluster = testing::cluster(&json!({"status": {"controlPlaneVersion": {
        "desired": {"version": "1.36.4", "image": "example.com/release:1.36.4"},
        "history": [update("Partial", "1.36.4"), update("Completed", "our-own")]}}}));
    let versions = plane_versions(&cluster, Scheme::Kubernetes, |_| None);
    assert_eq!(versions.known.len(), 1);
    assert_eq!(versions.unknown, ["our-own (example.com/release:our-own)"]);
    let verdict = judge(&SkewFacts {
        pool: "workers",
        plane: &versions,
        nodes: &nodes(&["1.36.4"]),
        reached: None,
        target: &release("1.36.4"),
    });
    assert!(!verdict.allows() && verdict.refusals.iter().all(|finding| finding.is_unknown));
    assert!(verdict.refusals[0].message.contains("our-own"), "{verdict:?}");
}

#[test]
fn machines_tell_what_their_nodes_have() {
    let machine = |release: &str, kubelet: &str| testing::machine("one", release, kubelet, true);
    let machines = [machine("1.35.1", "v1.35.1"), machine("1.36.4", "v1.36.4")];
    let found = node_versions(&machines, &testing::release());
    assert_eq!(found.kubelets.len(), 2);
    assert_eq!(found.versions[0].as_str(), "1.35.1");
}

proptest! {
    #[test]
    fn no_roll_leads_beyond_a_patch_of_the_control_plane(plane in prop::collection::vec(0_u64..9, 1..3), target in 0_u64..9) {
        let texts: Vec<String> = plane.iter().map(|patch| format!("1.36.{patch}")).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let verdict = judged(&texts, &[], &format!("1.36.{target}"));
        prop_assert_eq!(verdict.allows(), plane.iter().all(|patch| target <= *patch));
    }

    /// What is allowed is never newer than the oldest API server, nor more than three minors older than the newest.
    #[test]
    fn no_roll_leads_out_of_the_limits(plane in prop::collection::vec(30_u64..38, 1..3), target in 28_u64..40) {
        let (oldest, newest) = (*plane.iter().min().unwrap(), *plane.iter().max().unwrap());
        let texts: Vec<String> = plane.iter().map(|minor| format!("1.{minor}.0")).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let verdict = judged(&texts, &[], &format!("1.{target}.0"));
        prop_assert_eq!(verdict.allows(), target <= oldest && target + 3 >= newest);
    }
}
