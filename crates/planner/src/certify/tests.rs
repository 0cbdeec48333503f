//! Certificates of paths.

use serde_json::json;

use super::*;
use crate::{policy, version::Scheme};

fn version(text: &str) -> Version {
    Version::parse(Scheme::Kubernetes, text).expect("versions of tests are good")
}

/// Three instances of everything, and a pool of two nodes.
fn start(kubelet: &str) -> State {
    let (state, _) = State::read(&json!({
        "controlPlane": {
            "kubeApiServers": ["v1.35.1", "v1.35.1", "v1.35.1"],
            "kubeControllerManager": ["v1.35.1", "v1.35.1"],
            "kubeScheduler": ["v1.35.1", "v1.35.1"],
            "etcd": ["3.6.4", "3.6.4", "3.6.4"],
        },
        "pools": [
            {"name": "workers", "kubelets": [kubelet, kubelet], "kubeProxies": [kubelet, kubelet]},
            {"name": "held", "kubelets": ["v1.35.1"], "paused": true},
        ],
    }))
    .expect("a good state");
    state
}

fn pool(name: &str, to: &str) -> Move {
    Move::Pool {
        name: name.to_owned(),
        kubernetes: version(to),
        version: None,
    }
}

fn choice() -> Choice {
    Choice::of([policy::named("kubernetes").expect("there is one")])
}

fn hop(to: &str) -> Vec<Vec<Move>> {
    vec![
        vec![Move::ApiServers(version(to))],
        vec![Move::ControllerManager(version(to)), Move::Scheduler(version(to))],
        vec![pool("workers", to)],
    ]
}

#[test]
fn a_hop_in_order_is_certified_with_every_state_on_the_way() {
    let path = Path {
        start: start("v1.35.1"),
        steps: hop("v1.36.4"),
    };
    let certificate = certify(&path, &choice()).expect("nothing forbids it");
    // The start, three API servers, nine pairs of controllers but the first, two nodes.
    assert_eq!(certificate.states_checked, 1 + 3 + 8 + 2);
    let tightest = certificate.tightest_margin.expect("something was compared");
    assert_eq!((tightest.minors, tightest.rule), (0, "K-17"));
}

#[test]
fn nodes_before_the_control_plane_are_refused_at_the_first_node() {
    let path = Path {
        start: start("v1.35.1"),
        steps: vec![vec![pool("workers", "v1.36.4")]],
    };
    let Err(Refusal::BadState { step, report, .. }) = certify(&path, &choice()) else {
        panic!("nodes came first");
    };
    assert_eq!(step, 1);
    assert!(
        report.violations.iter().any(|violation| violation.rule == "K-03"),
        "{report:?}"
    );
}

#[test]
fn a_state_in_the_middle_is_found() {
    // Controllers move while API servers are on their way: only the states between show it.
    let path = Path {
        start: start("v1.35.1"),
        steps: vec![vec![
            Move::ApiServers(version("v1.36.4")),
            Move::ControllerManager(version("v1.36.4")),
        ]],
    };
    let Err(Refusal::BadState { moved, report, .. }) = certify(&path, &choice()) else {
        panic!("a controller is newer than an API server");
    };
    assert_eq!(moved, [0, 1]);
    assert_eq!(report.violations[0].rule, "K-17");
}

#[test]
fn pools_that_stay_count() {
    let mut path = Path {
        start: start("v1.35.1"),
        steps: Vec::new(),
    };
    for to in ["v1.36.4", "v1.37.0", "v1.38.0", "v1.39.0"] {
        path.steps.extend(hop(to));
    }
    let Err(Refusal::BadState { step, report, .. }) = certify(&path, &choice()) else {
        panic!("the pool that is held is four minors behind");
    };
    assert_eq!(step, 10);
    assert!(
        report
            .violations
            .iter()
            .any(|violation| violation.subject == "pools/held")
    );
}

#[test]
fn what_cannot_be_walked_is_refused() {
    let refused = |steps: Vec<Vec<Move>>| {
        let path = Path {
            start: start("v1.35.1"),
            steps,
        };
        certify(&path, &choice()).expect_err("it cannot be walked").to_string()
    };
    assert_eq!(
        refused(vec![vec![pool("nobody", "v1.35.2")]]),
        "step 1 moves pool \"nobody\", which is not there"
    );
    assert_eq!(
        refused(vec![vec![pool("held", "v1.35.2")]]),
        "step 1 moves pool \"held\", which is paused: it stays where it is and counts"
    );
    let mut large = start("v1.35.1");
    for name in ["a", "b", "c"] {
        large.pools.push(crate::state::Pool {
            name: name.to_owned(),
            kubelets: vec![version("v1.35.1"); 1000],
            ..crate::state::Pool::default()
        });
    }
    let steps = vec![["a", "b", "c"].map(|name| pool(name, "v1.35.2")).to_vec()];
    let refusal = certify(&Path { start: large, steps }, &choice());
    assert_eq!(refusal, Err(Refusal::TooManyStates));
}
