//! Stories that are stopped or killed, that find something in their way, or that wait in vain.

use std::time::Duration;

use hyperplane_api::hypershift::hosted_cluster::HostedCluster;
use hyperplane_demo::{Ending, Event, Plan, StepId, manifests};
use kube::{
    Api,
    api::{Patch, PatchParams},
};
use serde_json::json;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::ground::{Ground, told, told_with};

fn clusters(ground: &Ground) -> Api<HostedCluster> {
    Api::namespaced(ground.client(), "clusters")
}

#[tokio::test(start_paused = true)]
async fn a_story_begins_again_wherever_the_last_one_was_killed() {
    let ground = Ground::instant(3).await;
    let stage = ground.stage();
    for moment in [2, 6, 15] {
        let killed = timeout(Duration::from_secs(moment), told(&stage)).await;
        assert!(killed.is_err(), "it was over before {moment} s");
    }
    let (outcome, text) = told(&stage).await;
    assert!(outcome.is_success(), "{text}");
    assert_eq!(outcome.steps[0].id, StepId::Clear, "{text}");
    assert!(text.contains("is there from an earlier run"), "{text}");
}

#[tokio::test(start_paused = true)]
async fn a_story_that_is_stopped_leaves_the_cluster_as_it_is() {
    let ground = Ground::instant(4).await;
    let stop = CancellationToken::new();
    let (outcome, text) = told_with(&ground.stage(), &stop, |event| {
        if matches!(event, Event::StepStarted(start) if start.id == StepId::Upgrade) {
            stop.cancel();
        }
    })
    .await;
    assert_eq!(outcome.ending, Ending::Stopped, "{text}");
    assert!(!outcome.is_success() && text.contains("is left as it is"), "{text}");
    assert!(!outcome.steps.last().unwrap().is_over, "{text}");
    let cluster = clusters(&ground).get("demo").await.unwrap();
    assert!(cluster.metadata.deletion_timestamp.is_none());
}

#[tokio::test(start_paused = true)]
async fn a_cluster_of_somebody_else_is_not_touched() {
    let ground = Ground::without_operators(5, None).await;
    let stop = CancellationToken::new();
    let (_, text) = told_with(&ground.stage(), &stop, |event| {
        if matches!(event, Event::StepStarted(start) if start.id == StepId::Join) {
            stop.cancel();
        }
        if matches!(event, Event::Stands(_)) {
            stop.cancel();
        }
    })
    .await;
    let unmark = Patch::Merge(json!({"metadata": {"labels": {"hyperplane.dev/demo": null}}}));
    clusters(&ground)
        .patch("demo", &PatchParams::default(), &unmark)
        .await
        .expect(&text);
    let (outcome, text) = told(&ground.stage()).await;
    assert!(matches!(outcome.ending, Ending::Refused { .. }), "{text}");
    assert!(text.contains("no demo made it") && outcome.steps.is_empty(), "{text}");
    assert!(
        clusters(&ground)
            .get("demo")
            .await
            .unwrap()
            .metadata
            .deletion_timestamp
            .is_none()
    );
}

#[tokio::test(start_paused = true)]
async fn who_waits_in_vain_says_for_what() {
    let ground = Ground::without_operators(6, None).await;
    let mut stage = ground.stage();
    stage.patience = Duration::from_mins(1);
    let (outcome, text) = told(&stage).await;
    let Ending::TimedOut { seconds, missing } = &outcome.ending else {
        panic!("{text}");
    };
    assert_eq!(*seconds, 60);
    assert!(
        missing.join("\n").contains("HostedCluster: Available is not told yet"),
        "{text}"
    );
    assert!(text.contains("Waited 60 s in vain"), "{text}");
}

/// People are told to apply the file; the story then finds a cluster that it knows as its own.
#[test]
fn the_manifests_are_marked() {
    let text = manifests(&Plan::new("demo").unwrap());
    assert_eq!(text.matches("hyperplane.dev/demo").count(), 3, "{text}");
}
