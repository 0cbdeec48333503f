//! Each rule is broken once, and once not: a judge who never objects is none.

use std::time::Duration;

use serde_json::json;

use super::*;
use crate::{
    history::{Asked, bounds},
    rest::left_over,
    snapshot::Hosted,
};

/// A pool of two nodes with room for one more and none less, at rest.
fn usual() -> Snapshot {
    let owned = json!({"hypershift.openshift.io/nodePool": "clusters/a"});
    let made = json!({"template": {"spec": {"bootstrap": {"dataSecretName": "data"},
        "infrastructureRef": {"name": "template"}, "version": "1.35.8"}}});
    let machine = |name: &str| {
        json!({
            "metadata": {"name": name, "uid": name, "annotations": owned, "labels": {"cluster.x-k8s.io/set-name": "s"}},
            "spec": {"version": "1.35.8", "bootstrap": {"dataSecretName": "data"}},
            "status": {"conditions": [{"type": "Available", "status": "True"}]},
        })
    };
    let instance = |name: &str| json!({"metadata": {"name": name, "annotations": {"cluster.x-k8s.io/cloned-from-name": "template"}}});
    let node = |name: &str| {
        json!({"metadata": {"name": name, "uid": name}, "spec": {},
            "status": {"conditions": [{"type": "Ready", "status": "True"}]}})
    };
    let both =
        |make: &dyn Fn(&str) -> Value| -> Objects { ["one", "two"].map(|name| (name.to_owned(), make(name))).into() };
    Snapshot {
        at: Duration::from_hours(1),
        now: "2027-01-15T08:00:00Z".parse().unwrap(),
        pools: [(
            "a".to_owned(),
            json!({"metadata": {"name": "a"}, "spec": {"replicas": 2}}),
        )]
        .into(),
        deployments: [("a".to_owned(), json!({"spec": made}))].into(),
        sets: [("s".to_owned(), json!({"spec": made}))].into(),
        machines: both(&machine),
        instances: both(&instance),
        hosted: Some(Hosted {
            nodes: both(&node),
            ..Hosted::default()
        }),
        cluster: json!({"status": {"controlPlaneVersion": {"history": [{"version": "1.35.8", "state": "Completed"}]}}}),
        ..Snapshot::default()
    }
}

/// What is wrong with a moment after the usual one.
fn judged(prepare: impl FnOnce(&mut History, &mut Snapshot), change: impl FnOnce(&mut Snapshot)) -> Vec<String> {
    let (mut history, mut before) = (History::default(), usual());
    prepare(&mut history, &mut before);
    history.note(&before);
    history.keep(std::rc::Rc::new(before.clone()));
    let mut now = before;
    now.at += Duration::from_secs(2);
    change(&mut now);
    history.note(&now);
    broken(&history, &now)
}

/// Which rules are broken.
fn rules(wrong: &[String]) -> BTreeSet<&str> {
    wrong.iter().filter_map(|text| Some(text.split_once(':')?.0)).collect()
}

fn leave(object: &mut Value) {
    object["metadata"]["deletionTimestamp"] = json!("2027-01-15T07:59:00Z");
}

fn add(now: &mut Snapshot, name: &str) {
    let mut machine = now.machines["one"].clone();
    (machine["metadata"]["name"], machine["metadata"]["uid"]) = (json!(name), json!(name));
    now.machines.insert(name.to_owned(), machine);
}

fn pod(now: &mut Snapshot) {
    let pod = json!({"metadata": {"namespace": "default", "name": "web"}, "spec": {"nodeName": "one"}});
    now.hosted.as_mut().unwrap().pods.insert("default/web".to_owned(), pod);
}

#[test]
fn nothing_is_wrong_where_nothing_happens() {
    assert_eq!(judged(|_, _| {}, |_| {}), Vec::<String>::new());
}

type Change = fn(&mut Snapshot);

#[test]
fn each_rule_has_its_breach() {
    let breaches: [(&str, Change); 12] = [
        ("surge", |now| {
            add(now, "three");
            add(now, "four");
        }),
        ("unavailable", |now| leave(now.machines.get_mut("one").unwrap())),
        ("unasked", |now| leave(now.machines.get_mut("one").unwrap())),
        ("skew", |now| {
            add(now, "three");
            now.machines.get_mut("three").unwrap()["spec"]["version"] = json!("1.36.0");
        }),
        ("skew", |now| {
            add(now, "three");
            now.machines.get_mut("three").unwrap()["spec"]["version"] = json!("1.31.0");
        }),
        ("marks", |now| {
            add(now, "three");
            let labels = &mut now.machines.get_mut("three").unwrap()["metadata"]["labels"];
            labels["managed.hypershift.openshift.io.example.com/tier"] = json!("b");
        }),
        ("nodes", |now| drop(now.hosted.as_mut().unwrap().nodes.remove("one"))),
        ("names", |now| {
            now.machines.get_mut("one").unwrap()["metadata"]["uid"] = json!("other");
        }),
        ("finalizers", |now| drop(now.machines.remove("one"))),
        ("rolls", |now| {
            now.deployments.get_mut("a").unwrap()["spec"]["template"]["spec"]["version"] = json!("1.36.0");
        }),
        ("marks", |now| {
            let labels = &mut now.machines.get_mut("one").unwrap()["metadata"]["labels"];
            labels["managed.hypershift.openshift.io.example.com/tier"] = json!("b");
        }),
        ("repairs", |now| leave(now.machines.get_mut("one").unwrap())),
    ];
    for (rule, breach) in breaches {
        let prepare = |_: &mut History, before: &mut Snapshot| {
            if rule == "repairs" {
                add(before, "three");
                for machine in before.machines.values_mut() {
                    let ill = |type_: &str| json!({"type": type_, "status": "False"});
                    machine["status"]["conditions"] = json!([ill("HealthCheckSucceeded"), ill("OwnerRemediated")]);
                }
            }
        };
        let wrong = judged(prepare, breach);
        assert!(rules(&wrong).contains(rule), "{rule}: {wrong:?}");
    }
}

#[test]
fn what_users_close_stays_closed() {
    let cordon = |history: &mut History, _: &mut Snapshot| {
        history.asked.cordoned.insert("one".to_owned());
    };
    assert_eq!(rules(&judged(cordon, |_| {})), BTreeSet::from(["cordons"]));
    let closed = |now: &mut Snapshot| {
        now.hosted.as_mut().unwrap().nodes.get_mut("one").unwrap()["spec"]["unschedulable"] = json!(true);
    };
    assert_eq!(judged(cordon, closed), Vec::<String>::new());
}

#[test]
fn instances_end_empty_or_late() {
    let going = |history: &mut History, before: &mut Snapshot| {
        history.asked.deleted.insert("one".to_owned());
        leave(before.machines.get_mut("one").unwrap());
        before.machines.get_mut("one").unwrap()["spec"]["deletion"] = json!({"nodeDrainTimeoutSeconds": 300});
        pod(before);
    };
    let end = |now: &mut Snapshot| leave(now.instances.get_mut("one").unwrap());
    assert_eq!(rules(&judged(going, end)), BTreeSet::from(["drains"]));
    let late = |now: &mut Snapshot| {
        now.now += jiff::SignedDuration::from_mins(5);
        end(now);
    };
    assert_eq!(judged(going, late), Vec::<String>::new());
    let empty = |now: &mut Snapshot| {
        now.hosted.as_mut().unwrap().pods.clear();
        end(now);
    };
    assert_eq!(judged(going, empty), Vec::<String>::new());
}

#[test]
fn instances_that_are_needed_stay() {
    let hooked = |history: &mut History, before: &mut Snapshot| {
        history.asked.deleted.insert("one".to_owned());
        let machine = before.machines.get_mut("one").unwrap();
        leave(machine);
        machine["metadata"]["annotations"][HOOK] = json!("tests");
    };
    let end = |now: &mut Snapshot| leave(now.instances.get_mut("one").unwrap());
    assert_eq!(rules(&judged(hooked, end)), BTreeSet::from(["hooks"]));
    let free = |now: &mut Snapshot| {
        now.machines.get_mut("one").unwrap()["metadata"]["annotations"][HOOK] = json!(null);
        end(now);
    };
    assert_eq!(judged(hooked, free), Vec::<String>::new());
}

#[test]
fn outdated_machines_stay_where_users_replace_them() {
    let outdated = |history: &mut History, before: &mut Snapshot| {
        history.asked.may_roll.insert("a".to_owned());
        before.deployments.get_mut("a").unwrap()["spec"]["template"]["spec"]["version"] = json!("1.35.1");
        before.pools.get_mut("a").unwrap()["spec"]["management"]["replace"] = json!({"strategy": "OnDelete"});
    };
    let leave_one: Change = |now| leave(now.machines.get_mut("one").unwrap());
    assert_eq!(rules(&judged(outdated, leave_one)), BTreeSet::from(["unasked"]));
}

#[test]
fn what_was_asked_for_is_not_wrong() {
    let leave_one: Change = |now| leave(now.machines.get_mut("one").unwrap());
    let deleted = |history: &mut History, _: &mut Snapshot| {
        history.asked.deleted.insert("one".to_owned());
    };
    assert_eq!(judged(deleted, leave_one), Vec::<String>::new());
    let shrunk = |now: &mut Snapshot| {
        now.pools.get_mut("a").unwrap()["spec"]["replicas"] = json!(1);
        leave_one(now);
    };
    assert_eq!(judged(|_, _| {}, shrunk), Vec::<String>::new());
    let surged: Change = |now| add(now, "three");
    assert_eq!(judged(|_, _| {}, surged), Vec::<String>::new());
}

#[test]
fn nodes_at_rest_have_the_version_that_was_asked_for() {
    let mut now = usual();
    let pool = now.pools.get_mut("a").unwrap();
    pool["spec"]["release"]["image"] = json!("registry.example.com/release:v1.35.8");
    pool["status"]["version"] = json!("1.35.8");
    let of_versions = |now: &Snapshot| {
        let wrong = left_over(&Asked::default(), now);
        wrong.into_iter().filter(|text| text.starts_with("versions")).count()
    };
    for node in now.hosted.as_mut().unwrap().nodes.values_mut() {
        node["status"]["nodeInfo"]["kubeletVersion"] = json!("v1.35.8");
    }
    assert_eq!(of_versions(&now), 0);
    now.pools.get_mut("a").unwrap()["spec"]["release"]["image"] = json!("registry.example.com/release:v1.35.7");
    assert_eq!(of_versions(&now), 3, "two nodes and the pool");
    now.pools.get_mut("a").unwrap()["spec"]["release"]["image"] = json!("registry.example.com/release:v1.36.0");
    assert_eq!(of_versions(&now), 0, "the control plane is not there yet");
}

#[test]
fn bounds_are_those_of_the_documentation() {
    for (update, desired, expected) in [
        (json!({}), 3, (1, 0)),
        (json!({"maxSurge": 0}), 3, (0, 1)),
        (json!({"maxSurge": "50%", "maxUnavailable": "25%"}), 3, (2, 0)),
        (json!({"maxSurge": "0%", "maxUnavailable": "10%"}), 3, (0, 1)),
        (json!({"maxSurge": 2, "maxUnavailable": 1}), 3, (2, 1)),
    ] {
        assert_eq!(bounds(&update, desired), expected, "{update}");
    }
}
