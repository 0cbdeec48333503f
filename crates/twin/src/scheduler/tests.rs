//! Placement as a table: a cluster of four nodes in two zones, and what becomes of a pod in it.

use std::sync::Arc;

use k8s_openapi::api::core::v1::{Namespace, Node, Pod};
use serde_json::{Value, json};

use super::*;

fn node(name: &str, zone: &str, more: &Value) -> Arc<Node> {
    let mut node = json!({
        "metadata": {"name": name, "labels": {
            "kubernetes.io/hostname": name, "topology.kubernetes.io/zone": zone,
        }},
        "spec": {}, "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "10"}},
    });
    if let Some(fields) = more.as_object() {
        for (field, value) in fields {
            node["spec"][field] = value.clone();
        }
    }
    Arc::new(hyperplane_objects::read(&node).unwrap())
}

fn nodes() -> Vec<Arc<Node>> {
    vec![
        node("a1", "a", &json!({})),
        node("a2", "a", &json!({})),
        node("b1", "b", &json!({})),
        node(
            "b2",
            "b",
            &json!({"taints": [{"key": "only", "value": "db", "effect": "NoSchedule"}]}),
        ),
    ]
}

fn pod(name: &str, spec: Value) -> Pod {
    let mut pod = json!({"metadata": {"name": name, "namespace": "n", "labels": {"app": "web"}}});
    pod["spec"] = spec;
    pod["spec"]["containers"] = spec_containers(&pod["spec"]);
    hyperplane_objects::read(&pod).unwrap()
}

fn spec_containers(spec: &Value) -> Value {
    if spec["containers"].is_array() {
        return spec["containers"].clone();
    }
    json!([{"name": "c", "resources": {"requests": {"cpu": "1", "memory": "1Gi"}}}])
}

fn on(node: &str, spec: Value) -> Assigned {
    Assigned {
        pod: Arc::new(pod(&format!("on-{node}"), spec)),
        node: node.to_owned(),
    }
}

fn outcome(pod: &Pod, assigned: Vec<Assigned>) -> String {
    let namespace: Namespace =
        hyperplane_objects::read(json!({"metadata": {"name": "n", "labels": {"team": "x"}}})).unwrap();
    let mut cluster = Cluster::new(nodes(), vec![Arc::new(namespace)]);
    for assigned in assigned {
        cluster.add(assigned);
    }
    place(pod, &cluster).unwrap_or_else(|refusal| refusal.to_string())
}

fn anti_affinity(key: &str) -> Value {
    json!({"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
        {"labelSelector": {"matchLabels": {"app": "web"}}, "topologyKey": key}]}}})
}

fn spread(skew: i64) -> Value {
    json!({"topologySpreadConstraints": [{"maxSkew": skew, "topologyKey": "topology.kubernetes.io/zone",
        "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {"matchLabels": {"app": "web"}}}]})
}

const HOST: &str = "kubernetes.io/hostname";
const ZONE: &str = "topology.kubernetes.io/zone";

/// What it is about, what a pod asks for, what is there, and what becomes of the pod.
type Case = (&'static str, Value, Vec<Assigned>, &'static str);

fn check(cases: Vec<Case>) {
    for (name, spec, assigned, expected) in cases {
        assert_eq!(outcome(&pod("new", spec), assigned), expected, "{name}");
    }
}

#[test]
fn pods_go_where_they_fit() {
    let many = || (0..10).map(|_| on("a1", json!({"containers": []}))).collect::<Vec<_>>();
    check(vec![
        ("nothing asked", json!({}), vec![], "a1"),
        ("an emptier node is better", json!({}), vec![on("a1", json!({}))], "a2"),
        (
            "a node is full of pods",
            json!({"nodeSelector": {HOST: "a1"}}),
            many(),
            "0/4 nodes are available: 1 Too many pods, 1 node(s) had untolerated taint(s), 2 node(s) didn't match Pod's node affinity/selector.",
        ),
        (
            "a taint keeps it away",
            json!({"nodeSelector": {HOST: "b2"}}),
            vec![],
            "0/4 nodes are available: 1 node(s) had untolerated taint(s), 3 node(s) didn't match Pod's node affinity/selector.",
        ),
        (
            "a taint is tolerated",
            json!({"nodeSelector": {HOST: "b2"},
            "tolerations": [{"key": "only", "operator": "Equal", "value": "db"}]}),
            vec![],
            "b2",
        ),
        (
            "too large",
            json!({"containers": [{"name": "c", "resources": {"requests": {"cpu": "5"}}}]}),
            vec![],
            "0/4 nodes are available: 1 node(s) had untolerated taint(s), 3 Insufficient cpu.",
        ),
    ]);
}

#[test]
fn pods_keep_their_distance() {
    check(vec![
        (
            "not beside its like",
            anti_affinity(HOST),
            vec![on("a1", json!({})), on("a2", json!({}))],
            "b1",
        ),
        (
            "not in the zone of its like",
            anti_affinity(ZONE),
            vec![on("a2", json!({}))],
            "b1",
        ),
        (
            "no zone is left",
            anti_affinity(ZONE),
            vec![on("a2", json!({})), on("b1", json!({}))],
            "0/4 nodes are available: 1 node(s) had untolerated taint(s), 3 node(s) didn't match pod anti-affinity rules.",
        ),
        (
            "somebody wants to be alone",
            json!({}),
            vec![on("a1", anti_affinity(ZONE)), on("b1", anti_affinity(ZONE))],
            "0/4 nodes are available: 1 node(s) had untolerated taint(s), 3 node(s) didn't satisfy existing pods anti-affinity rules.",
        ),
        (
            "spread over zones",
            spread(1),
            vec![on("a1", json!({})), on("a2", json!({}))],
            "b1",
        ),
        (
            "a wider skew is fine",
            spread(3),
            vec![on("b1", json!({})), on("b1", json!({}))],
            "a1",
        ),
    ]);
}

#[test]
fn pods_are_selective() {
    check(vec![
        (
            "fields select nodes",
            json!({"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution":
            {"nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["b1"]}]}]}}}}),
            vec![],
            "b1",
        ),
        (
            "wishes count",
            json!({"affinity": {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution":
            [{"weight": 100, "preference": {"matchExpressions": [{"key": ZONE, "operator": "In", "values": ["b"]}]}}]}}}),
            vec![],
            "b1",
        ),
        (
            "ports are taken",
            json!({"nodeSelector": {HOST: "a1"}, "containers": [
            {"name": "c", "ports": [{"containerPort": 1, "hostPort": 1}]}]}),
            vec![on(
                "a1",
                json!({"containers": [{"name": "c", "ports": [{"containerPort": 1, "hostPort": 1}]}]}),
            )],
            "0/4 nodes are available: 1 node(s) didn't have free ports for the requested pod ports, 1 node(s) had untolerated taint(s), 2 node(s) didn't match Pod's node affinity/selector.",
        ),
    ]);
}

#[test]
fn affinity_needs_company_except_for_the_first() {
    let together = json!({"affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
        {"labelSelector": {"matchLabels": {"app": "web"}}, "topologyKey": ZONE}]}}});
    assert_eq!(outcome(&pod("first", together.clone()), vec![]), "a1");
    assert_eq!(outcome(&pod("second", together), vec![on("b1", json!({}))]), "b1");
    let others = json!({"affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
        {"labelSelector": {"matchLabels": {"app": "db"}}, "topologyKey": ZONE, "namespaceSelector": {"matchLabels": {"team": "x"}}}]}}});
    let refusal = outcome(&pod("lonely", others), vec![on("b1", json!({}))]);
    assert!(refusal.contains("didn't match pod affinity rules"), "{refusal}");
}

#[test]
fn requests_count_init_containers_and_sidecars() {
    let container = |cpu: &str| json!({"name": "c", "resources": {"requests": {"cpu": cpu}}});
    let mut sidecar = container("500m");
    sidecar["restartPolicy"] = json!("Always");
    let pod = pod(
        "p",
        json!({
            "initContainers": [sidecar, container("2")], "containers": [container("1"), container("250m")],
        }),
    );
    assert_eq!(resources::requests(&pod)["cpu"], 2_500);
}

#[test]
fn without_nodes_it_says_so() {
    let refusal = place(&pod("p", json!({})), &Cluster::default()).unwrap_err();
    assert_eq!(refusal.to_string(), "no nodes available to schedule pods");
}
