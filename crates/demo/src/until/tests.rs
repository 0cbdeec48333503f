use serde_json::json;

use super::*;
use crate::{json::by_name, picture::tests::picture};

type Until = fn(&Picture, &Plan) -> Vec<String>;
type Change<'a> = &'a dyn Fn(&mut Picture);

fn plan() -> Plan {
    Plan::new("demo").unwrap()
}

/// A cluster that serves, with both histories, in a version.
fn cluster(version: &str) -> Value {
    let history = json!({"history": [{"version": version, "state": "Completed"}]});
    json!({
        "metadata": {"name": "demo", "generation": 1},
        "status": {
            "conditions": [
                {"type": "Available", "status": "True"},
                {"type": "Progressing", "status": "False"},
                {"type": "Degraded", "status": "False"},
                {"type": "ControlPlaneConnectionAvailable", "status": "True"},
                {"type": "DataPlaneConnectionAvailable", "status": "True"},
            ],
            "version": history,
            "controlPlaneVersion": history,
        },
    })
}

fn component(name: &str, version: &str) -> Value {
    json!({
        "metadata": {"name": name},
        "status": {"version": version, "conditions": [
            {"type": "Available", "status": "True"}, {"type": "RolloutComplete", "status": "True"}]},
    })
}

fn pool(name: &str, version: &str, skew: &str) -> Value {
    json!({
        "metadata": {"name": name, "generation": 2},
        "status": {"version": version, "conditions": [
            {"type": "SupportedVersionSkew", "status": skew, "observedGeneration": 2, "message": "because"}]},
    })
}

/// The whole cluster in the first version.
fn whole() -> Picture {
    let from = plan().versions.from.number;
    let machines = [
        ("a", "1", "demo-web", from.as_str()),
        ("b", "2", "demo-web", &from),
        ("c", "3", "demo-web", &from),
        ("d", "4", "demo-batch", &from),
        ("e", "5", "demo-batch", &from),
    ];
    Picture {
        cluster: cluster(&from),
        components: by_name(vec![component("etcd", &from)]),
        pools: by_name(vec![pool("demo-web", &from, "True"), pool("demo-batch", &from, "True")]),
        ..picture(&machines)
    }
}

#[test]
fn a_whole_cluster_lacks_nothing() {
    assert_eq!(created(&whole(), &plan()), [""; 0]);
    assert_eq!(joined(&whole(), &plan()), [""; 0]);
    let mut last = whole();
    last.cluster = cluster(&plan().versions.to.number);
    assert_eq!(put_back(&last, &plan()), [""; 0]);
}

#[test]
fn what_is_missing_is_named() {
    let plan = plan();
    let missing = |change: Change<'_>, until: Until| {
        let mut picture = whole();
        change(&mut picture);
        until(&picture, &plan).join("\n")
    };
    let cases: [(Change<'_>, Until, &str); 10] = [
        (&|now| now.cluster = Value::Null, created, "the HostedCluster"),
        (
            &|now| now.components.clear(),
            created,
            "components of the control plane",
        ),
        (
            &|now| now.components = by_name(vec![json!({"metadata": {"name": "etcd"}})]),
            created,
            "component etcd at 1.35.8: nothing is known of it yet",
        ),
        (
            &|now| now.cluster["status"]["conditions"][1]["status"] = json!("True"),
            created,
            "HostedCluster: Progressing=True",
        ),
        (
            &|now| now.cluster["status"]["version"]["history"][0]["state"] = json!("Partial"),
            joined,
            "it tells 1.35.8 Partial",
        ),
        (&|now| now.nodes = None, joined, "3 machines (0 leaving), 0 nodes ready"),
        (
            &|now| drop(now.machines.remove("d")),
            joined,
            "2 nodes of pool batch at 1.35.8: 1 machines",
        ),
        (
            &|now| now.machines.get_mut("a").unwrap()["metadata"]["deletionTimestamp"] = json!("2027"),
            joined,
            "(1 leaving)",
        ),
        (
            &|now| now.pools.get_mut("demo-batch").unwrap()["metadata"]["generation"] = json!(3),
            put_back,
            "it is about the spec before",
        ),
        (
            &|now| now.cluster["status"]["conditions"][4]["status"] = json!("Unknown"),
            put_back,
            "HostedCluster: DataPlaneConnectionAvailable=Unknown",
        ),
    ];
    for (change, until, expected) in cases {
        let missing = missing(change, until);
        assert!(missing.contains(expected), "{expected}: {missing:?}");
    }
    for until in [upgraded, rolled, refused] {
        assert!(!until(&whole(), &plan).is_empty());
    }
    assert!(
        upgraded(&whole(), &plan)
            .join("\n")
            .contains("component etcd at 1.36.3: it has 1.35.8")
    );
}

#[test]
fn long_lists_are_cut() {
    let lines = (0..MOST_LINES + 3).map(|number| number.to_string()).collect();
    assert_eq!(short(lines).last().unwrap(), "and 3 more");
}
