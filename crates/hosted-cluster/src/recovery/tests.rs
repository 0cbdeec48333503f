//! What is decided, as tables of pods and Jobs.

use serde_json::{Value, json};

use super::*;
use crate::testing::cluster;

fn object<K: serde::de::DeserializeOwned>(value: Value) -> K {
    hyperplane_objects::read(value).unwrap()
}

fn set(replicas: i32, ready: i32) -> Arc<StatefulSet> {
    Arc::new(object(
        json!({"metadata": {"name": "etcd"}, "spec": {"replicas": replicas, "serviceName": "etcd-discovery",
        "selector": {}, "template": {}}, "status": {"replicas": replicas, "readyReplicas": ready}}),
    ))
}

/// A pod by one word: `ready`, `starting`, `leaving`, or a container that waits, such as `etcd:CrashLoopBackOff:3`. What is
/// ready is so since eight, or with `ready@9` since nine; containers failed at half past eight.
fn pod(number: usize, word: &str) -> Pod {
    let is_ready = if word.starts_with("ready") { "True" } else { "False" };
    let since = if word == "ready@9" {
        "2027-01-15T09:00:00Z"
    } else {
        "2027-01-15T08:00:00Z"
    };
    let mut pod = json!({
        "metadata": {"name": format!("etcd-{number}"), "uid": format!("uid-{number}")},
        "status": {"conditions": [{"type": "Ready", "status": is_ready, "lastTransitionTime": since}]},
    });
    if word.starts_with("leaving") {
        pod["metadata"]["deletionTimestamp"] = "2027-01-15T08:00:00Z".into();
    }
    let word = word.trim_start_matches("leaving ");
    if let [container, reason, restarts] = word.split(':').collect::<Vec<_>>()[..] {
        let restarts: i32 = restarts.parse().unwrap();
        let state = match reason {
            "running" => json!({"running": {}}),
            reason => json!({"waiting": {"reason": reason}}),
        };
        let status = json!([{"name": container, "image": "", "imageID": "", "ready": false, "restartCount": restarts,
            "state": state, "lastState": {"terminated": {"exitCode": 1, "finishedAt": "2027-01-15T08:30:00Z"}}}]);
        let list = if container == "reset-member" {
            "initContainerStatuses"
        } else {
            "containerStatuses"
        };
        pod["status"][list] = status;
    }
    object(pod)
}

fn etcd(words: &[&str]) -> Etcd {
    let ready = words.iter().filter(|word| word.starts_with("ready")).count();
    Etcd {
        set: Some(set(3, i32::try_from(ready).unwrap())),
        pods: words
            .iter()
            .enumerate()
            .map(|(number, word)| pod(number, word))
            .collect(),
        ..Etcd::default()
    }
}

fn lost() -> PersistentVolumeClaim {
    object(json!({"metadata": {"name": "data-etcd-1"}, "status": {"phase": "Lost"}}))
}

/// The member on which a recovery starts.
fn started(etcd: &Etcd) -> Option<String> {
    match decide(etcd) {
        Recovery::Start(member) => Some(member.name),
        Recovery::Idle => None,
        other => panic!("{other:?}"),
    }
}

#[test]
fn one_member_that_keeps_failing_is_brought_back() {
    let cases: [(&[&str], Option<&str>); 16] = [
        (&["ready", "ready", "ready"], None),
        (&["ready", "starting", "ready"], None),
        (&["ready", "etcd:CrashLoopBackOff:3", "ready"], Some("etcd-1")),
        (&["ready", "ready", "reset-member:CrashLoopBackOff:9"], Some("etcd-2")),
        (&["etcd:CrashLoopBackOff:4", "ready", "ready"], Some("etcd-0")),
        // It may still pass by itself, or it is not the member that fails, or nobody knows what is wrong with it.
        (&["ready", "etcd:CrashLoopBackOff:2", "ready"], None),
        (&["ready", "etcd:running:7", "ready"], None),
        (&["ready", "etcd-defrag:CrashLoopBackOff:9", "ready"], None),
        (&["ready", "etcd:ImagePullBackOff:9", "ready"], None),
        (&["ready", "etcd:PodInitializing:9", "ready"], None),
        // It goes already.
        (&["ready", "leaving etcd:CrashLoopBackOff:9", "ready"], None),
        // The others have no quorum, or could lose it.
        (&["starting", "etcd:CrashLoopBackOff:9", "ready"], None),
        (&["etcd:CrashLoopBackOff:9", "etcd:CrashLoopBackOff:9", "ready"], None),
        (&["leaving", "etcd:CrashLoopBackOff:9", "ready"], None),
        // It did not fail since the others are a quorum.
        (&["ready", "etcd:CrashLoopBackOff:9", "ready@9"], None),
        // One has no pod.
        (&["ready", "etcd:CrashLoopBackOff:9"], None),
    ];
    for (words, expected) in cases {
        assert_eq!(started(&etcd(words)).as_deref(), expected, "{words:?}");
    }
}

#[test]
fn a_member_whose_volume_is_lost_is_brought_back() {
    for (words, expected) in [
        (["ready", "starting", "ready"], Some("etcd-1")),
        (["ready", "leaving", "ready"], None),
        (["ready", "ready", "ready"], None),
        (["starting", "starting", "ready"], None),
    ] {
        let mut etcd = etcd(&words);
        etcd.claim = Some(lost());
        assert_eq!(started(&etcd).as_deref(), expected, "{words:?}");
    }
}

#[test]
fn pods_are_looked_at_only_while_one_of_several_is_not_ready() {
    for (replicas, ready, expected) in [(3, 3, false), (3, 2, true), (3, 1, false), (1, 0, false), (5, 4, true)] {
        let set = set(replicas, ready);
        assert_eq!(lacks_one(&set), expected, "{ready} of {replicas}");
        let etcd = Etcd {
            set: Some(set),
            ..Etcd::default()
        };
        assert_eq!(look_again(Some(&etcd)).is_some(), expected);
    }
    assert_eq!(look_again(None), None);
}

fn job(condition: Option<&str>) -> Arc<Job> {
    let conditions: Vec<Value> = condition
        .map(|type_| json!({"type": type_, "status": "True", "message": "too often"}))
        .into_iter()
        .collect();
    let container = json!({"name": "etcd-recovery", "args": ["etcd-recover-member", "--name=etcd-1", "--uid=uid-1"]});
    Arc::new(object(json!({
        "metadata": {"name": "etcd-recovery"},
        "spec": {"template": {"spec": {"containers": [container]}}},
        "status": {"conditions": conditions},
    })))
}

#[test]
fn a_job_is_followed_to_its_end() {
    const FAILING: [&str; 3] = ["ready", "etcd:CrashLoopBackOff:5", "ready"];
    const STARTING: [&str; 3] = ["ready", "starting", "ready"];
    const WHOLE: [&str; 3] = ["ready", "ready", "ready"];
    const NEXT: [&str; 3] = ["etcd:CrashLoopBackOff:5", "ready", "ready"];
    let name = || "etcd-1".to_owned();
    for (condition, words, expected) in [
        (None, FAILING, Recovery::Running(name())),
        (None, WHOLE, Recovery::Running(name())),
        (Some("FailureTarget"), FAILING, Recovery::Running(name())),
        (Some("Complete"), STARTING, Recovery::Joining(name())),
        (Some("Complete"), WHOLE, Recovery::Over),
        (Some("Complete"), NEXT, Recovery::Over),
    ] {
        let mut etcd = etcd(&words);
        etcd.job = Some(job(condition));
        assert_eq!(decide(&etcd), expected, "{condition:?} {words:?}");
    }
    for (condition, words, expected) in [
        (Some("Failed"), FAILING, "could not bring etcd-1 back (too often)"),
        (Some("Failed"), WHOLE, "could not bring etcd-1 back (too often)"),
        (Some("Complete"), FAILING, "etcd-1 keeps failing without its data, too"),
    ] {
        let mut etcd = etcd(&words);
        etcd.job = Some(job(condition));
        match decide(&etcd) {
            Recovery::Failed(why) => assert!(why.contains(expected), "{why}"),
            other => panic!("{condition:?} {words:?}: {other:?}"),
        }
    }
}

#[test]
fn a_job_that_goes_is_neither_followed_nor_made_again() {
    let mut etcd = etcd(&["ready", "etcd:CrashLoopBackOff:5", "ready"]);
    etcd.job = Some(job(Some("Failed")));
    let job = Arc::make_mut(etcd.job.as_mut().unwrap());
    job.metadata.deletion_timestamp = Some(object(json!("2027-01-15T08:00:00Z")));
    assert_eq!(decide(&etcd), Recovery::Idle);
}

#[test]
fn only_several_members_of_ours_can_be_brought_back() {
    for (change, expected) in [
        (
            json!({"spec": {"controllerAvailabilityPolicy": "HighlyAvailable"}}),
            true,
        ),
        (
            json!({"spec": {"controllerAvailabilityPolicy": "SingleReplica"}}),
            false,
        ),
        (
            json!({"spec": {"controllerAvailabilityPolicy": "HighlyAvailable", "etcd": {"managementType": "Unmanaged",
                "unmanaged": {"endpoint": "https://etcd.example.com:2379", "tls": {"clientSecret": {"name": "a"}}}}}}),
            false,
        ),
    ] {
        assert_eq!(is_possible(&cluster(&change)), expected, "{change}");
    }
}
