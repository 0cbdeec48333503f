//! Reading state files: what is taken, and what is refused with which words.

use serde_json::{Value, json};

use super::*;

fn read(value: &Value) -> State {
    let (state, unread) = State::read(value).expect("a good file");
    assert_eq!(unread, Vec::<String>::new());
    state
}

fn problems(value: &Value) -> Vec<String> {
    let errors = State::read(value).expect_err("a bad file");
    errors.iter().map(ToString::to_string).collect()
}

fn texts(versions: &[Version]) -> Vec<&str> {
    versions.iter().map(Version::as_str).collect()
}

#[test]
fn one_version_is_a_list_of_one() {
    let state = read(&json!({"controlPlane": {
        "kubeApiServers": "v1.36.4", "kubeScheduler": "1.36", "etcd": ["3.5.21-0"], "behindLoadBalancer": false,
    }}));
    assert_eq!(texts(&state.control_plane.kube_api_servers), ["v1.36.4"]);
    assert_eq!(texts(&state.control_plane.kube_scheduler), ["1.36"]);
    assert!(state.control_plane.is_local);
    assert!(
        !State::default().control_plane.is_local,
        "behind a load balancer unless somebody says otherwise"
    );
}

#[test]
fn the_scheme_decides_how_versions_are_read() {
    let state = read(&json!({
        "distribution": {"scheme": "acp", "version": "4.2.0", "row": "v4.2.3"},
        "controlPlane": {"kubeApiServers": ["v1.33.7-3", "v1.33.7"]},
        "pools": [{"name": "a", "versions": ["4.2.0"], "kubelets": ["v1.33.7-1"]}],
    }));
    let (oldest, newest) = state.api_servers().expect("both are there");
    assert_eq!((oldest.as_str(), newest.as_str()), ("v1.33.7", "v1.33.7-3"));
    let openshift = read(&json!({
        "distribution": {"scheme": "openshift", "version": "5.0.1"},
        "controlPlane": {"kubeApiServers": ["v1.36.2"]},
    }));
    assert_eq!(
        openshift.distribution.version.map(|version| version.generation()),
        Some(23)
    );
}

#[test]
fn numbers_that_lost_a_digit_are_refused() {
    assert_eq!(
        problems(&json!({"controlPlane": {"kubeApiServers": [1.3]}})),
        [
            "controlPlane.kubeApiServers[0]: 1.3 is a number, and YAML reads 1.30 as 1.3: write versions in quotes, such as \"1.30\""
        ]
    );
    let state = read(&json!({"controlPlane": {"kubeApiServers": [1.36]}}));
    assert_eq!(texts(&state.control_plane.kube_api_servers), ["1.36"]);
}

#[test]
fn everything_that_is_wrong_is_told_at_once() {
    let problems = problems(&json!({
        "distribution": {"scheme": "slackware"},
        "controlPlane": {"kubeApiServers": ["one"], "behindLoadBalancer": "perhaps"},
        "pools": [{"name": "a", "kubelets": [true]}, {"name": "a"}, 3],
        "nodes": {"minKernel": "new", "cgroup": "none"},
        "ipPools": [{"name": "a", "free": -1}],
    }));
    let paths: Vec<&str> = problems
        .iter()
        .filter_map(|problem| problem.split(": ").next())
        .collect();
    assert_eq!(
        paths,
        [
            "distribution.scheme",
            "controlPlane.kubeApiServers[0]",
            "controlPlane.behindLoadBalancer",
            "pools[0].kubelets[0]",
            "pools[1]",
            "pools[2]",
            "ipPools[0].free",
            "nodes.minKernel",
            "nodes.cgroup",
        ]
    );
}

#[test]
fn unknown_fields_are_named_and_hurt_nobody() {
    let (_, unread) = State::read(&json!({
        "controlPlane": {"kubeApiServer": "v1.36.0"}, "pool": [], "now": "2026-11-16T00:00:00Z",
    }))
    .expect("a good file");
    assert_eq!(unread, ["controlPlane.kubeApiServer", "pool"]);
}

#[test]
fn an_empty_file_is_no_state() {
    assert_eq!(
        problems(&Value::Null),
        ["the file: is empty: describe at least controlPlane.kubeApiServers"]
    );
}

#[test]
fn acknowledgements_are_names_or_a_map() {
    let acks = |value: Value| {
        let state = read(&json!({"acks": value}));
        (state.acks.map(Vec::from_iter), Vec::from_iter(state.open_gates))
    };
    let names = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(acks(json!(null)), (None, names(&[])));
    assert_eq!(acks(json!([])), (Some(names(&[])), names(&[])));
    assert_eq!(acks(json!(["a"])), (Some(names(&["a"])), names(&[])));
    assert_eq!(
        acks(json!({"a": "true", "b": "false", "c": true})),
        (Some(names(&["a", "c"])), names(&["b"]))
    );
    assert_eq!(
        acks(json!([{"name": "a", "acknowledged": true}, {"name": "b", "acknowledged": false}])),
        (Some(names(&["a"])), names(&["b"]))
    );
}

#[test]
fn facts_are_read_as_people_write_them() {
    let state = read(&json!({
        "health": {"controlPlane": "Healthy", "nodesReady": "3/4"},
        "nodes": {"minKernel": "5.14.0-427.el9", "cgroup": "v2", "cpuLevel": "x86-64-v3"},
        "backup": {"result": "Success"},
        "providers": {"vSphere": "1.0.16"},
        "distribution": {
            "upgradeable": {"status": "False", "reason": "Overrides"},
            "history": ["1.36.4", {"version": "1.35.2", "state": "Partial"}],
        },
    }));
    assert_eq!(
        (state.health.control_plane, state.health.nodes_ready),
        (Some(true), Some(false))
    );
    assert_eq!(
        (state.nodes.min_kernel, state.nodes.cgroup, state.nodes.cpu_level),
        (Some((5, 14)), Some(2), Some(3))
    );
    assert!(state.providers.contains_key("vsphere"));
    let complete: Vec<bool> = state.distribution.history.iter().map(|past| past.is_complete).collect();
    assert_eq!(complete, [true, false]);
    let upgradeable = state.distribution.upgradeable.expect("it was said");
    assert_eq!(
        (upgradeable.is_upgradeable, upgradeable.reason.as_deref()),
        (false, Some("Overrides"))
    );
}

#[test]
fn what_a_later_state_leaves_out_stays() {
    let before = read(&json!({
        "distribution": {"scheme": "acp", "version": "4.2.0", "row": "v4.2.3"},
        "controlPlane": {"kubeApiServers": ["v1.33.7-3"], "etcd": ["v3.5.27-260305"]},
        "pools": [{"name": "a", "kubelets": ["v1.33.7-3"]}],
        "manager": {"version": "4.3.0"},
    }));
    let value = json!({"controlPlane": {"kubeApiServers": ["v1.34.5-1"]}, "distribution": {"row": "v4.3.1"}});
    let (after, _) = State::read_after(&value, &before).expect("a good file");
    assert_eq!(texts(&after.control_plane.kube_api_servers), ["v1.34.5-1"]);
    assert_eq!(after.distribution.scheme, Scheme::Acp);
    let local = read(&json!({"controlPlane": {"behindLoadBalancer": false}}));
    let is_local = |value: Value| {
        let (after, _) = State::read_after(&value, &local).expect("a good file");
        after.control_plane.is_local
    };
    assert!(is_local(json!({})));
    assert!(!is_local(json!({"controlPlane": {"behindLoadBalancer": true}})));
    assert_eq!(after.distribution.row.as_deref(), Some("v4.3.1"));
    assert_eq!(
        (
            &after.pools,
            &after.manager,
            &after.control_plane.etcd,
            &after.distribution.version
        ),
        (
            &before.pools,
            &before.manager,
            &before.control_plane.etcd,
            &before.distribution.version
        )
    );
}

#[test]
fn pools_have_a_limit() {
    let pools: Vec<Value> = (0..=1000)
        .map(|number| json!({"name": format!("pool-{number}")}))
        .collect();
    assert_eq!(
        problems(&json!({"pools": pools})),
        ["pools: has more than 1000 entries"]
    );
}
