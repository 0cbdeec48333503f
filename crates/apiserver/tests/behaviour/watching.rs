//! Lists and watches over time: bookmarks, ends, those who fall behind, and pages of a state that is gone.

use hyperplane_store::Limits;
use serde_json::{Value, json};

use crate::support::World;

const PATH: &str = "/api/v1/namespaces/default/configmaps";

async fn create(world: &World, name: &str) -> String {
    let (status, created) = world.post(PATH, &json!({"metadata": {"name": name}})).await;
    assert_eq!(status, 201, "{created:#}");
    created["metadata"]["resourceVersion"].as_str().unwrap().to_owned()
}

async fn update(world: &World, name: &str, value: usize) {
    let body = json!({"data": {"value": value.to_string()}}).to_string();
    let (status, answer) = world
        .send("PATCH", &format!("{PATH}/{name}"), "application/merge-patch+json", body)
        .await;
    assert_eq!(status, 200, "{answer:#}");
}

fn few_events() -> Limits {
    Limits {
        ring_events: 8,
        pinned_snapshots: 1,
        pinned_revisions: 8,
        ..Limits::default()
    }
}

#[tokio::test(start_paused = true)]
async fn a_watch_gets_bookmarks_and_ends_when_its_time_is_over() {
    let world = World::new().await;
    let revision = create(&world, "a").await;
    let path = format!("{PATH}?watch=true&resourceVersion={revision}&allowWatchBookmarks=true&timeoutSeconds=150");
    let words = world.watch(&path).await.words().await;
    assert_eq!(
        words,
        ["BOOKMARK", "BOOKMARK", "BOOKMARK"],
        "one a minute, and one shortly before the end"
    );
    let path = format!("{PATH}?watch=true&resourceVersion={revision}&timeoutSeconds=150");
    assert!(
        world.watch(&path).await.words().await.is_empty(),
        "who asks for no bookmarks gets none"
    );
}

#[tokio::test(start_paused = true)]
async fn a_bookmark_claims_what_others_wrote_too() {
    let world = World::new().await;
    let revision = create(&world, "a").await;
    let path = "/api/v1/namespaces/default/secrets";
    let mut watch = world
        .watch(&format!(
            "{path}?watch=true&resourceVersion={revision}&allowWatchBookmarks=true"
        ))
        .await;
    let later = create(&world, "b").await;
    let bookmark = watch.next().await.unwrap();
    assert_eq!(bookmark["object"]["metadata"]["resourceVersion"], later);
}

#[tokio::test(start_paused = true)]
async fn a_watch_that_falls_behind_is_cut_and_the_writer_goes_on() {
    let world = World::with_store_limits(few_events()).await;
    let revision = create(&world, "a").await;
    let mut slow = world
        .watch(&format!("{PATH}?watch=true&resourceVersion={revision}"))
        .await;
    for value in 0..100 {
        update(&world, "a", value).await;
    }
    let mut last = Value::Null;
    while let Some(event) = slow.next().await {
        last = event;
    }
    assert_eq!(last["type"], "ERROR", "{last:#}");
    assert_eq!(last["object"]["code"], 410);
    assert_eq!(last["object"]["reason"], "Expired");
}

#[tokio::test(start_paused = true)]
async fn a_watch_from_a_revision_that_is_gone_says_so_in_the_stream() {
    let world = World::with_store_limits(few_events()).await;
    let revision = create(&world, "a").await;
    for value in 0..100 {
        update(&world, "a", value).await;
    }
    let mut watch = world
        .watch(&format!("{PATH}?watch=true&resourceVersion={revision}"))
        .await;
    assert_eq!(watch.next().await.unwrap()["object"]["code"], 410);
    assert_eq!(watch.next().await, None);
}

#[tokio::test(start_paused = true)]
async fn a_watch_from_the_future_makes_its_client_list_again() {
    let world = World::new().await;
    let mut watch = world.watch(&format!("{PATH}?watch=true&resourceVersion=999999")).await;
    assert_eq!(watch.next().await.unwrap()["object"]["reason"], "Expired");
}

#[tokio::test(start_paused = true)]
async fn pages_are_of_the_state_of_the_first_one_as_long_as_it_is_kept() {
    let world = World::with_store_limits(few_events()).await;
    for name in ["a", "b", "c", "d"] {
        create(&world, name).await;
    }
    let (_, first) = world.get(&format!("{PATH}?limit=2")).await;
    let token = first["metadata"]["continue"].as_str().unwrap();
    world.send("DELETE", &format!("{PATH}/c"), "", "").await;
    let (status, second) = world.get(&format!("{PATH}?limit=2&continue={token}")).await;
    assert_eq!(status, 200, "{second:#}");
    assert_eq!(
        second["items"][0]["metadata"]["name"], "c",
        "it was there when the list began"
    );
    for value in 0..100 {
        update(&world, "a", value).await;
    }
    let (status, expired) = world.get(&format!("{PATH}?limit=2&continue={token}")).await;
    assert_eq!(status, 410, "{expired:#}");
    let fresh = expired["metadata"]["continue"].as_str().unwrap();
    let (status, rest) = world.get(&format!("{PATH}?limit=9&continue={fresh}")).await;
    assert_eq!(status, 200);
    assert_eq!(
        rest["items"][0]["metadata"]["name"], "d",
        "the list goes on from the present state"
    );
}

#[tokio::test(start_paused = true)]
async fn a_list_waits_for_a_revision_that_is_about_to_come() {
    let world = World::new().await;
    let revision: u64 = create(&world, "a").await.parse().unwrap();
    let path = format!(
        "{PATH}?resourceVersion={}&resourceVersionMatch=NotOlderThan",
        revision + 1
    );
    let ((status, list), _) = tokio::join!(world.get(&path), create(&world, "b"));
    assert_eq!(status, 200);
    assert!(
        list["items"]
            .as_array()
            .unwrap()
            .iter()
            .any(|item| item["metadata"]["name"] == "b")
    );
    let (status, failure) = world.get(&format!("{PATH}?resourceVersion=999999")).await;
    assert_eq!(status, 504, "{failure:#}");
    assert_eq!(failure["details"]["causes"][0]["reason"], "ResourceVersionTooLarge");
}
