use hyperplane_planner::check::{Choice, check};
use serde_json::{Value, json};

use super::{super::Moves, *};

const SERVED: &str = "2030-01-01T00:00:00Z";

fn image(version: &str) -> String {
    format!("hyperplane.dev/kubernetes:v{version}")
}

fn cluster(asked: &str, history: &[(&str, &str)]) -> HostedCluster {
    let updates: Vec<Value> = history
        .iter()
        .map(|(state, version)| json!({"state": state, "version": version, "image": image(version), "startedTime": SERVED}))
        .collect();
    let services: Vec<Value> = Vec::new();
    hyperplane_objects::read(json!({
        "metadata": {"name": "blue", "namespace": "clusters"},
        "spec": {"release": {"image": image(asked)}, "platform": {"type": "KubeVirt"}, "services": services,
            "pullSecret": {"name": "p"}},
        "status": {
            "conditions": [{"type": "Available", "status": "True", "reason": "A", "message": "", "lastTransitionTime": SERVED}],
            "controlPlaneVersion": {"desired": {"image": image(asked), "version": asked}, "history": updates},
        },
    }))
    .unwrap()
}

fn pool(name: &str, asked: &str, status: &Value) -> NodePool {
    hyperplane_objects::read(json!({
        "metadata": {"name": name, "namespace": "clusters"},
        "spec": {"clusterName": "blue", "release": {"image": image(asked)}, "replicas": 2,
            "management": {"upgradeType": "Replace"}, "platform": {"type": "KubeVirt"}},
        "status": status,
    }))
    .unwrap()
}

fn machine(pool: &str, version: &str) -> Machine {
    let info = json!({"architecture": "amd64", "bootID": "", "containerRuntimeVersion": "", "kernelVersion": "",
        "kubeProxyVersion": "", "kubeletVersion": format!("v{version}"), "machineID": "", "operatingSystem": "",
        "osImage": "", "systemUUID": ""});
    hyperplane_objects::read(json!({
        "metadata": {"name": "m", "namespace": "clusters-blue", "annotations": {
            annotations::NODE_POOL.as_str(): format!("clusters/{pool}"), annotations::RELEASE_VERSION.as_str(): version}},
        "spec": {"clusterName": "blue", "bootstrap": {}, "infrastructureRef": {"apiGroup": "a.b", "kind": "C", "name": "d"}},
        "status": {"nodeInfo": info},
    }))
    .unwrap()
}

fn live(cluster: HostedCluster, pools: Vec<NodePool>, machines: Vec<Machine>) -> Live {
    Live {
        cluster,
        pools,
        machines: Some(machines),
        releases: Some(Vec::new()),
    }
}

fn numbers(versions: &[Version]) -> Vec<&str> {
    versions.iter().map(Version::number).collect()
}

#[test]
fn a_control_plane_on_its_way_has_both_versions() {
    let history = [("Partial", "1.36.4"), ("Completed", "1.35.8"), ("Completed", "1.34.11")];
    let state = of(&live(cluster("1.36.4", &history), Vec::new(), Vec::new()));
    assert_eq!(numbers(&state.control_plane.kube_api_servers), ["1.36.4", "1.35.8"]);
    assert_eq!(state.distribution.version.as_ref().map(Version::number), Some("1.35.8"));
    assert_eq!(state.health.control_plane, Some(true));
    assert!(!state.control_plane.etcd.is_empty(), "the catalogue knows it");
    let fresh = of(&live(cluster("1.36.4", &[]), Vec::new(), Vec::new()));
    assert_eq!(numbers(&fresh.control_plane.kube_api_servers), ["1.36.4"]);
}

#[test]
fn nodes_are_well_where_all_are_or_none_is_wanted_and_unknown_where_nobody_knows() {
    let told = |status: &str, reason: &str| {
        json!({"conditions": [{"type": "AllNodesHealthy", "status": status, "reason": reason, "message": "",
            "lastTransitionTime": SERVED}]})
    };
    for (all, expected) in [
        (vec![told("True", "AsExpected")], Some(true)),
        (vec![told("False", "NodeNotReady")], Some(false)),
        // A pool with `replicas: 0`.
        (
            vec![told("True", "AsExpected"), told("False", "AsExpected")],
            Some(true),
        ),
        // A pool whose hosts join by themselves, before anybody looked at the nodes of the cluster.
        (vec![told("Unknown", "StatusUnknown")], None),
        (vec![told("True", "AsExpected"), Value::Null], None),
    ] {
        let pools = all.iter().map(|status| pool("a", "1.36.4", status)).collect();
        let state = of(&live(cluster("1.36.4", &[]), pools, Vec::new()));
        assert_eq!(state.health.nodes_ready, expected, "{all:?}");
    }
}

#[test]
fn nodes_are_known_by_machines_then_by_status_then_by_what_is_asked_for() {
    let told = json!({"nodesInfo": {"nodeVersions": [
        {"ocpVersion": "1.35.8", "kubeletVersion": "v1.35.8", "readyNodeCount": 1, "unreadyNodeCount": 1}]}});
    let pools = vec![
        pool("a", "1.36.4", &told),
        pool("b", "1.36.4", &told),
        pool("c", "1.36.4", &Value::Null),
    ];
    let machines = vec![
        machine("a", "1.34.11"),
        machine("a", "1.36.4"),
        machine("other", "1.33.9"),
    ];
    let state = of(&live(cluster("1.36.4", &[("Completed", "1.36.4")]), pools, machines));
    let kubelets: Vec<Vec<&str>> = state.pools.iter().map(|pool| numbers(&pool.kubelets)).collect();
    assert_eq!(
        kubelets,
        [vec!["1.34.11", "1.36.4"], vec!["1.35.8", "1.35.8"], vec!["1.36.4"]]
    );
    assert_eq!(state.pools[0].max_surge.as_deref(), Some("1"));
}

#[test]
fn what_may_not_be_read_is_known_by_status_or_unknown_and_never_a_pass() {
    let told = json!({"replicas": 2, "nodesInfo": {"nodeVersions": [
        {"ocpVersion": "1.35.8", "kubeletVersion": "v1.35.8", "readyNodeCount": 2, "unreadyNodeCount": 0}]}});
    let pools = vec![
        pool("told", "1.36.4", &told),
        pool("silent", "1.36.4", &Value::Null),
        pool("empty", "1.36.4", &json!({"replicas": 0})),
    ];
    let mut seen = live(cluster("1.36.4", &[("Completed", "1.36.4")]), pools, Vec::new());
    assert_eq!(seen.notes(), Vec::<String>::new());
    (seen.machines, seen.releases) = (None, None);
    let notes = seen.notes();
    assert!(
        notes[0].contains("clusters-blue") && notes[0].contains("machines.cluster.x-k8s.io"),
        "{notes:?}"
    );
    assert!(notes[1].contains("hyperplane-release-reader"), "{notes:?}");
    let state = of(&seen);
    let kubelets: Vec<Vec<&str>> = state.pools.iter().map(|pool| numbers(&pool.kubelets)).collect();
    assert_eq!(kubelets, [vec!["1.35.8", "1.35.8"], vec![], vec!["1.36.4"]]);
    let judged = |state: &State| check(state, None, &Choice::default_for_pools(Scheme::Kubernetes));
    let report = judged(&state);
    assert!(
        report.unknown.iter().any(|found| found.subject == "pools/silent"),
        "{report:#?}"
    );
    // A release that is not built in may be anything, and so may the whole control plane.
    let mut foreign = cluster("1.36.4", &[("Partial", "1.36.4"), ("Completed", "1.35.8")]);
    let plane = foreign.status.as_mut().unwrap().control_plane_version.as_mut().unwrap();
    plane.history[0].image = "example.com/own:1".to_owned();
    let mut seen = live(foreign, Vec::new(), Vec::new());
    assert_eq!(of(&seen).control_plane.kube_api_servers.len(), 2);
    seen.releases = None;
    let state = of(&seen);
    assert!(state.control_plane.kube_api_servers.is_empty());
    assert!(!judged(&state).ok);
}

#[test]
fn what_would_move_is_judged_and_the_rest_stays() {
    let live = live(
        cluster("1.35.8", &[("Completed", "1.35.8")]),
        vec![pool("web", "1.35.8", &Value::Null)],
        vec![machine("web", "1.35.8")],
    );
    let before = live.state();
    assert!(live.after(&before, &Moves::default()).unwrap().is_none());
    let judge = |moves: Moves| {
        let after = live.after(&before, &moves).unwrap();
        check(&before, after.as_ref(), &Choice::default_for_pools(Scheme::Kubernetes))
    };
    let ahead = Moves {
        to: None,
        pools: vec![("web".to_owned(), "1.36.4".to_owned())],
    };
    let report = judge(ahead);
    assert!(
        report.violations.iter().any(|found| found.subject == "pools/web"),
        "{report:#?}"
    );
    let plane = Moves {
        to: Some("v1.36.4".to_owned()),
        pools: Vec::new(),
    };
    assert!(judge(plane).violations.is_empty());
    let unknown = Moves {
        to: Some("1.99.0".to_owned()),
        pools: Vec::new(),
    };
    assert!(
        live.after(&before, &unknown)
            .unwrap_err()
            .to_string()
            .contains("near are")
    );
    let nobody = Moves {
        to: None,
        pools: vec![("db".to_owned(), "1.36.4".to_owned())],
    };
    assert!(
        live.after(&before, &nobody)
            .unwrap_err()
            .to_string()
            .contains("it has web")
    );
}
