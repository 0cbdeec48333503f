//! Garbage collection as clients see it.

use serde_json::{Value, json};

use crate::simulation_ground::{End, Ground, owner};

const PATH: &str = "/api/v1/namespaces/default/configmaps";

fn path(name: &str) -> String {
    format!("{PATH}/{name}")
}

/// A ConfigMap that depends on others.
async fn dependent(ground: &Ground, name: &str, owners: &[Value]) -> Value {
    ground
        .create(PATH, &json!({"metadata": {"name": name, "ownerReferences": owners}}))
        .await
}

async fn is_there(ground: &Ground, name: &str) -> bool {
    ground.get(&path(name)).await.is_some()
}

async fn set_finalizers(ground: &Ground, name: &str, finalizers: &[&str]) {
    ground
        .patch(&path(name), &json!({"metadata": {"finalizers": finalizers}}))
        .await;
}

#[tokio::test(start_paused = true)]
async fn what_has_lost_its_owners_goes_and_what_has_one_left_forgets_the_others() {
    let ground = Ground::new().await;
    let (one, two) = (
        dependent(&ground, "one", &[]).await,
        dependent(&ground, "two", &[]).await,
    );
    let of_one = dependent(&ground, "of-one", &[owner(&one, true)]).await;
    dependent(&ground, "of-of-one", &[owner(&of_one, false)]).await;
    dependent(&ground, "of-both", &[owner(&one, true), owner(&two, true)]).await;
    let answer = ground.delete(&path("one")).await;
    assert_eq!(answer["status"], "Success", "nothing holds it back");
    ground.settle().await;
    assert_eq!(ground.names(PATH).await, ["kube-root-ca.crt", "of-both", "two"]);
    let both = ground.get(&path("of-both")).await.unwrap();
    assert_eq!(both["metadata"]["ownerReferences"], json!([owner(&two, true)]));
}

#[tokio::test(start_paused = true)]
async fn an_owner_that_never_was_or_came_back_as_another_counts_for_nothing() {
    let ground = Ground::new().await;
    let first = dependent(&ground, "owner", &[]).await;
    ground.delete(&path("owner")).await;
    dependent(&ground, "owner", &[]).await;
    dependent(&ground, "of-first", &[owner(&first, true)]).await;
    ground.settle().await;
    assert!(!is_there(&ground, "of-first").await);
    assert!(is_there(&ground, "owner").await);
}

#[tokio::test(start_paused = true)]
async fn in_the_foreground_the_leaves_go_first() {
    let ground = Ground::new().await;
    let root = dependent(&ground, "a-root", &[]).await;
    let middle = dependent(&ground, "b-middle", &[owner(&root, true)]).await;
    dependent(&ground, "c-leaf", &[owner(&middle, true)]).await;
    dependent(&ground, "d-loose", &[owner(&root, false)]).await;
    set_finalizers(&ground, "c-leaf", &["x.test/hold"]).await;
    set_finalizers(&ground, "d-loose", &["x.test/hold"]).await;
    let revision = ground.revision().await;
    let answer = ground.delete_with(&path("a-root"), "Foreground").await;
    assert_eq!(answer["metadata"]["finalizers"], json!(["foregroundDeletion"]));
    ground.settle().await;
    for name in ["a-root", "b-middle", "c-leaf", "d-loose"] {
        let held = ground.get(&path(name)).await.unwrap();
        assert!(held["metadata"]["deletionTimestamp"].is_string(), "{held:#}");
    }
    set_finalizers(&ground, "c-leaf", &[]).await;
    ground.settle().await;
    let following = format!("{PATH}?watch=true&resourceVersion={revision}&timeoutSeconds=1");
    let (mut watch, mut gone) = (ground.world.watch(&following).await, Vec::new());
    while let Some(event) = watch.next().await {
        if event["type"] == "DELETED" {
            gone.push(event["object"]["metadata"]["name"].as_str().unwrap().to_owned());
        }
    }
    assert_eq!(gone, ["c-leaf", "b-middle", "a-root"]);
    assert!(
        is_there(&ground, "d-loose").await,
        "it held nobody back, and goes in its own time"
    );
}

#[tokio::test(start_paused = true)]
async fn orphans_stay_and_forget_their_owner() {
    let ground = Ground::new().await;
    let root = dependent(&ground, "root", &[]).await;
    let other = dependent(&ground, "other", &[]).await;
    dependent(&ground, "child", &[owner(&root, true), owner(&other, false)]).await;
    ground.delete_with(&path("root"), "Orphan").await;
    ground.settle().await;
    assert!(!is_there(&ground, "root").await);
    let child = ground.get(&path("child")).await.unwrap();
    assert_eq!(child["metadata"]["ownerReferences"], json!([owner(&other, false)]));
}

#[tokio::test(start_paused = true)]
async fn an_owner_in_another_namespace_counts_for_nothing_and_an_event_says_so() {
    let ground = Ground::new().await;
    let root = dependent(&ground, "root", &[]).await;
    ground.namespace("other").await;
    let reference = owner(&root, false);
    let elsewhere = "/api/v1/namespaces/other/configmaps";
    let child = ground
        .create(
            elsewhere,
            &json!({"metadata": {"name": "child", "ownerReferences": [reference]}}),
        )
        .await;
    ground
        .create(
            "/api/v1/namespaces",
            &json!({"metadata": {"name": "third", "ownerReferences": [reference]}}),
        )
        .await;
    tokio::time::sleep(std::time::Duration::from_secs(1)).await;
    assert_eq!(ground.names(elsewhere).await, ["kube-root-ca.crt"]);
    assert!(
        ground.get("/api/v1/namespaces/third").await.is_some(),
        "no namespace: nobody can tell"
    );
    let events = ground.get("/api/v1/namespaces/other/events").await.unwrap();
    let event = &events["items"][0];
    assert_eq!(event["reason"], "OwnerRefInvalidNamespace");
    assert_eq!(event["involvedObject"]["uid"], child["metadata"]["uid"]);
    let uid = root["metadata"]["uid"].as_str().unwrap();
    let message = format!(
        "ownerRef [v1/ConfigMap, namespace: other, name: root, uid: {uid}] does not exist in namespace \"other\""
    );
    assert_eq!(event["message"], message);
}

#[tokio::test(start_paused = true)]
async fn of_an_unknown_kind_nobody_can_tell_until_it_is_served() {
    let ground = Ground::new().await;
    let other = dependent(&ground, "other", &[]).await;
    ground.delete(&path("other")).await;
    let unknown = json!({"apiVersion": "x.test/v1", "kind": "Leaf", "name": "leaf", "uid": "u"});
    dependent(&ground, "child", &[unknown, owner(&other, false)]).await;
    ground.settle().await;
    assert!(is_there(&ground, "child").await);
    crate::definitions::define(&ground, "leaves", "Leaf").await;
    ground.settle().await;
    assert!(!is_there(&ground, "child").await, "there is no such leaf");
}

#[tokio::test(start_paused = true)]
async fn circles_go() {
    let ground = Ground::new().await;
    for (round, policy) in ["Foreground", "Background", "Orphan"].into_iter().enumerate() {
        for size in 1..=4 {
            let names: Vec<String> = (0..size).map(|number| format!("c{round}-{size}-{number}")).collect();
            let mut made = Vec::new();
            for name in &names {
                made.push(dependent(&ground, name, &[]).await);
            }
            for (index, name) in names.iter().enumerate() {
                let owners = json!([owner(&made[(index + 1) % made.len()], true)]);
                ground
                    .patch(&path(name), &json!({"metadata": {"ownerReferences": owners}}))
                    .await;
            }
            ground.delete_with(&path(&names[0]), policy).await;
            ground.settle().await;
            let left = ground.names(PATH).await.len();
            let expected = if policy == "Orphan" { size - 1 } else { 0 };
            assert_eq!(left, 1 + expected, "{policy} {size}");
            for name in names.iter().skip(1).take(expected) {
                ground.delete_with(&path(name), "Orphan").await;
            }
            ground.settle().await;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn circles_that_wait_for_each_other_from_the_beginning_go_too() {
    let ground = Ground::new().await;
    let (one, two) = (
        dependent(&ground, "one", &[]).await,
        dependent(&ground, "two", &[]).await,
    );
    let leaf = dependent(&ground, "leaf", &[owner(&one, true)]).await;
    set_finalizers(&ground, "leaf", &["x.test/hold"]).await;
    for (name, other) in [("one", &two), ("two", &one)] {
        let owners = json!([owner(other, true)]);
        ground
            .patch(
                &path(name),
                &json!({"metadata": {"ownerReferences": owners, "finalizers": ["x.test/hold"]}}),
            )
            .await;
    }
    for name in ["one", "two"] {
        ground.delete_with(&path(name), "Foreground").await;
    }
    for name in ["one", "two"] {
        let held = ground.get(&path(name)).await.unwrap();
        let rest: Vec<&Value> = held["metadata"]["finalizers"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|name| *name != "x.test/hold")
            .collect();
        ground
            .patch(&path(name), &json!({"metadata": {"finalizers": rest}}))
            .await;
    }
    ground.settle().await;
    assert!(is_there(&ground, "one").await, "its leaf is held");
    assert_eq!(leaf["kind"], "ConfigMap");
    set_finalizers(&ground, "leaf", &[]).await;
    ground.settle().await;
    assert_eq!(ground.names(PATH).await, ["kube-root-ca.crt"]);
}

#[tokio::test(start_paused = true)]
async fn collected_jobs_leave_no_pods_behind() {
    let ground = Ground::new().await;
    let root = dependent(&ground, "root", &[]).await;
    let spec = json!({"template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}});
    let job = json!({"metadata": {"name": "job", "ownerReferences": [owner(&root, false)]}, "spec": spec});
    let job = ground.create("/apis/batch/v1/namespaces/default/jobs", &job).await;
    dependent(&ground, "of-job", &[owner(&job, false)]).await;
    ground.delete(&path("root")).await;
    ground.settle().await;
    assert!(
        !is_there(&ground, "of-job").await,
        "a client that says nothing would orphan it; the collector does not"
    );
}

#[tokio::test(start_paused = true)]
async fn what_gets_another_owner_in_the_same_moment_stays_or_goes_with_it() {
    let ground = Ground::new().await;
    for round in 0..20 {
        let (old, new) = (format!("old-{round}"), format!("new-{round}"));
        let made = (dependent(&ground, &old, &[]).await, dependent(&ground, &new, &[]).await);
        let child = format!("child-{round}");
        dependent(&ground, &child, &[owner(&made.0, false)]).await;
        let adopt = json!({"metadata": {"ownerReferences": [owner(&made.1, false)]}}).to_string();
        let (old, child_path) = (path(&old), path(&child));
        let delete = ground.delete(&old);
        let adopt = ground
            .world
            .send("PATCH", &child_path, "application/merge-patch+json", adopt);
        let (_, (status, _)) = if round % 2 == 0 {
            tokio::join!(delete, adopt)
        } else {
            let (b, a) = tokio::join!(adopt, delete);
            (a, b)
        };
        ground.settle().await;
        assert_eq!(
            is_there(&ground, &child).await,
            status == 200,
            "an adoption that succeeded lasts"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_restart_in_the_middle_changes_nothing() {
    for end in [End::Close, End::Kill, End::Power(7)] {
        let mut ground = Ground::new().await;
        let root = dependent(&ground, "root", &[]).await;
        let waiting = dependent(&ground, "waiting", &[]).await;
        for number in 0..5 {
            dependent(&ground, &format!("child-{number}"), &[owner(&root, false)]).await;
            dependent(&ground, &format!("held-{number}"), &[owner(&waiting, true)]).await;
        }
        ground.delete(&path("root")).await;
        ground.delete_with(&path("waiting"), "Foreground").await;
        ground.restart(end).await;
        ground.settle().await;
        assert_eq!(ground.names(PATH).await, ["kube-root-ca.crt"], "{end:?}");
    }
}

/// Creates an owner of many and deletes it in the foreground. Hands back the revisions that this took.
async fn many(count: usize) -> u64 {
    let ground = Ground::new().await;
    let root = dependent(&ground, "root", &[]).await;
    for number in 0..count {
        dependent(&ground, &format!("child-{number}"), &[owner(&root, true)]).await;
    }
    let before = ground.revision().await;
    ground.delete_with(&path("root"), "Foreground").await;
    ground.settle().await;
    assert_eq!(ground.names(PATH).await, ["kube-root-ca.crt"]);
    let polls = ground.polls();
    assert!(
        polls < 20 * count as u64 + 1000,
        "{polls} runs of the controllers for {count} dependents"
    );
    ground.revision().await - before
}

#[tokio::test(start_paused = true)]
async fn a_thousand_dependents_take_a_thousand_writes() {
    assert_eq!(
        many(1000).await,
        1000 + 2,
        "one each, the mark and the end of the owner"
    );
}

#[tokio::test(start_paused = true)]
#[ignore = "soak: run by cargo xtask soak"]
async fn soak_of_ten_thousand_dependents() {
    assert_eq!(many(10_000).await, 10_002);
}
