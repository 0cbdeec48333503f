use serde_json::json;

use super::*;
use crate::{
    claims::testing::{Told, fails, whole},
    picture::tests::{machine, node},
    record::tests::seen,
};

/// A story in which a node at the end is another one.
fn with_node(name: &str, change: &dyn Fn(&mut Value)) -> Told {
    let mut told = whole();
    change(told.end().nodes.as_mut().unwrap().get_mut(name).unwrap());
    told
}

#[test]
fn a_node_of_web_that_stayed_is_found() {
    let told = with_node("web-x", &|node| node["metadata"]["uid"] = json!("web-a"));
    fails(&told, "web-renewed", "[\"web-a\"] are still there");
}

#[test]
fn a_node_of_web_that_is_old_or_not_ready_is_found() {
    let old = with_node("web-x", &|node| {
        node["status"]["nodeInfo"]["kubeletVersion"] = json!("v1.35.8");
    });
    fails(&old, "web-renewed", "Node web-x has \"1.35.8\"");
    let unready = with_node("web-x", &|node| {
        node["status"]["conditions"][0]["status"] = json!("False");
    });
    fails(&unready, "web-renewed", "serves: false");
    let mut fewer = whole();
    fewer.end().nodes.as_mut().unwrap().remove("web-x");
    fails(&fewer, "web-renewed", "2 nodes of 3");
}

#[test]
fn a_moment_with_too_few_nodes_is_found() {
    let mut told = whole();
    told.see(
        StepId::Roll,
        Kind::Node,
        "web-x",
        seen("web-x", "", "1.36.3", false, State::Present),
    );
    told.see(
        StepId::Roll,
        Kind::Node,
        "web-x",
        seen("web-x", "", "1.36.3", true, State::Present),
    );
    fails(&told, "web-never-short", "2 served at one moment, at least 3");
    // With a pace that allows it, the same is good.
    let pool = told.after(StepId::Roll).pools.get_mut("demo-web").unwrap();
    pool["spec"]["management"] = json!({"replace": {"rollingUpdate": {"maxUnavailable": 1}}});
    assert!(told.judge("web-never-short").held);
}

#[test]
fn a_pace_is_a_number_or_a_percentage() {
    let pool = |value: Value| json!({"spec": {"replicas": 3, "management": {"replace": {"rollingUpdate": {"maxUnavailable": value}}}}});
    let cases = [
        (json!(0), Some(3)),
        (json!(2), Some(1)),
        (json!("50%"), Some(2)),
        (json!("half"), None),
    ];
    for (value, expected) in cases {
        assert_eq!(least(&pool(value.clone())), expected, "{value}");
    }
    assert_eq!(least(&json!({"spec": {"replicas": 3}})), Some(3));
}

#[test]
fn a_roll_that_nobody_saw_proves_nothing() {
    let mut told = whole();
    told.record
        .sightings
        .retain(|sighting| sighting.step != StepId::Roll || sighting.kind != Kind::Node);
    fails(&told, "web-never-short", "0 changes were seen");
}

#[test]
fn a_node_of_batch_that_was_replaced_or_moved_is_found() {
    let replaced = with_node("batch-d", &|node| node["metadata"]["uid"] = json!("other"));
    fails(&replaced, "batch-kept", "other");
    let moved = with_node("batch-d", &|node| {
        node["status"]["nodeInfo"]["kubeletVersion"] = json!("v1.36.3");
    });
    fails(&moved, "batch-kept", "Node batch-d has \"1.36.3\"");
}

#[test]
fn a_machine_of_batch_that_the_roll_touched_is_found() {
    let mut told = whole();
    told.after(StepId::Roll).machines.get_mut("batch-d").unwrap()["metadata"]["generation"] = json!(2);
    fails(&told, "roll-left-batch", "or changed");
    let mut told = whole();
    for state in [State::Present, State::Gone] {
        told.see(
            StepId::Roll,
            Kind::Machine,
            "brief",
            seen("brief", "clusters/demo-batch", "1.35.8", false, state),
        );
    }
    fails(&told, "roll-left-batch", "Machine brief was seen");
}

#[test]
fn a_machine_without_node_and_a_node_without_machine_are_found() {
    let mut told = whole();
    told.end().machines.insert("new".to_owned(), {
        let mut machine = machine("new", "new", "demo-web", "1.36.3");
        machine["status"] = json!({});
        machine
    });
    fails(&told, "machines-are-nodes", "Machine new has no Node");
    let mut told = whole();
    told.end()
        .nodes
        .as_mut()
        .unwrap()
        .insert("alone".to_owned(), node("alone", "alone", "1.35.8"));
    fails(&told, "machines-are-nodes", "Node alone has no Machine");
    let mut told = whole();
    told.end().machines.get_mut("web-x").unwrap()["status"]["nodeRef"]["name"] = json!("web-y");
    fails(
        &told,
        "machines-are-nodes",
        "names Node \"web-y\", and so does another one",
    );
    let mut told = whole();
    told.end().machines.get_mut("web-x").unwrap()["metadata"]["deletionTimestamp"] = json!("2027");
    fails(&told, "machines-are-nodes", "Machine web-x is leaving");
    told.end().nodes = None;
    fails(&told, "machines-are-nodes", "did not tell");
}

#[test]
fn a_pool_that_tells_what_is_not_so_is_found() {
    let changes: [&dyn Fn(&mut Value); 3] = [
        &|pool| pool["status"]["nodesInfo"]["nodeVersions"][0]["readyNodeCount"] = json!(2),
        &|pool| pool["status"]["replicas"] = json!(4),
        &|pool| pool["status"]["version"] = json!("1.35.8"),
    ];
    for change in changes {
        let mut told = whole();
        change(told.end().pools.get_mut("demo-web").unwrap());
        fails(&told, "pools-tell-truth", "NodePool demo-web tells");
    }
}

#[test]
fn a_kubelet_that_was_ahead_for_a_moment_is_found() {
    let mut told = whole();
    told.see(
        StepId::Ahead,
        Kind::Node,
        "brief",
        seen("brief", "", "1.36.4", false, State::Present),
    );
    fails(&told, "never-ahead", "Node brief was seen with 1.36.4");
    let mut told = whole();
    told.see(
        StepId::Upgrade,
        Kind::Node,
        "early",
        seen("early", "", "1.36.3", false, State::Present),
    );
    fails(&told, "never-ahead", "Node early was seen with 1.36.3");
}
