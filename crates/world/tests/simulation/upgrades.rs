//! From release to release: in order, without a gap, and never where it must not go.

use std::{collections::BTreeMap, time::Duration};

use hyperplane_api::{
    constants::{annotations, ours},
    hypershift::hosted_control_plane::HostedControlPlane,
};
use k8s_openapi::api::core::v1::{Namespace, Pod};
use kube::{Api, api::ListParams};
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::{
    ground::{Ground, NEW, OLD, merge, single},
    look::{self, component},
};

const INSIDE: &str = "clusters-one";
const PREFIX: &str = "hyperplane.dev/kubernetes:v";

/// Pods that follow the API server, one step behind each other at most.
const FOLLOWERS: [&str; 2] = ["kube-controller-manager", "kube-scheduler"];

async fn settled(ground: &Ground, image: &str, change: Value) {
    let mut manifest = json!({"spec": {"release": {"image": image}}});
    merge(&mut manifest, &change);
    ground.cluster("one", manifest).await;
    ground.until_condition("one", "Available", "True").await;
    ground.until_version("one", image.rsplit_once(":v").unwrap().1).await;
}

/// Whether each pod runs the new release, by component.
fn are_new(pods: &[Pod]) -> BTreeMap<&str, Vec<bool>> {
    let mut all: BTreeMap<&str, Vec<bool>> = BTreeMap::new();
    for pod in pods {
        all.entry(component(pod)).or_default().push(look::is_of(pod, NEW));
    }
    all
}

/// No pod of a later step is new while one of an earlier step is old.
fn check_order(pods: &[Pod]) {
    let are_new = are_new(pods);
    let all_new = |name: &str| {
        are_new
            .get(name)
            .is_some_and(|found| found.iter().all(|is_new| *is_new))
    };
    let any_new = |name: &str| are_new.get(name).is_some_and(|found| found.contains(&true));
    assert!(!any_new("kube-apiserver") || all_new("etcd"), "{are_new:?}");
    for follower in FOLLOWERS {
        assert!(!any_new(follower) || all_new("kube-apiserver"), "{are_new:?}");
    }
}

/// How many API servers of a control plane get requests.
fn serving(pods: &[Pod]) -> usize {
    let ready = |pod: &&Pod| {
        let conditions = pod.status.iter().flat_map(|status| status.conditions.iter().flatten());
        let mut ready = conditions.filter(|condition| condition.type_ == "Ready");
        ready.any(|condition| condition.status == "True")
    };
    let stays = |pod: &&Pod| pod.metadata.deletion_timestamp.is_none();
    let servers = pods.iter().filter(|pod| component(pod) == "kube-apiserver");
    servers.filter(stays).filter(ready).count()
}

#[tokio::test(start_paused = true)]
async fn a_minor_rolls_in_order_while_every_request_is_answered() {
    let ground = Ground::new(11).await;
    let operators = ground.start().await;
    settled(&ground, OLD, json!({})).await;
    let hosted: Api<Namespace> = Api::all(ground.hosted("one").await);
    ground.change("one", json!({"spec": {"release": {"image": NEW}}})).await;
    let mut requests = 0;
    while !ground.has_version("one", "1.36.4").await {
        hosted.get("kube-system").await.unwrap();
        let pods = ground.pods(INSIDE).await;
        check_order(&pods);
        assert!(serving(&pods) >= 3, "a new server comes before an old one goes");
        requests += 1;
        assert!(requests < 7_200, "{}", ground.story().await);
        sleep(Duration::from_secs(1)).await;
    }
    assert!(requests > 30, "{requests} requests");
    let history = ["1.36.4 Completed".to_owned(), "1.35.8 Completed".to_owned()];
    assert_eq!(ground.histories("one").await, [history.to_vec(), history.to_vec()]);
    assert_eq!(ground.conditions("one").await["Available"].status, "True");
    operators.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_release_of_the_control_plane_alone_leaves_the_cluster_where_it_is() {
    let ground = Ground::new(12).await;
    let operators = ground.start().await;
    settled(&ground, OLD, single()).await;
    let hosted = ground.hosted("one").await;
    let inside = Api::<k8s_openapi::api::apps::v1::DaemonSet>::namespaced(hosted, "kube-system");
    let images = async || {
        let sets = inside.list(&ListParams::default()).await.unwrap();
        let specs = sets
            .into_iter()
            .flat_map(|set| set.spec.unwrap().template.spec.unwrap().containers);
        specs.map(|container| container.image.unwrap()).collect::<Vec<_>>()
    };
    let before = images().await;
    assert!(!before.is_empty());
    ground
        .change("one", json!({"spec": {"controlPlaneRelease": {"image": NEW}}}))
        .await;
    let arrived = async || {
        let [control_plane, _] = ground.histories("one").await;
        (control_plane == ["1.36.4 Completed", "1.35.8 Completed"]).then_some(())
    };
    ground.until("the release of the control plane", arrived).await;
    sleep(Duration::from_mins(5)).await;
    let [_, whole] = ground.histories("one").await;
    assert_eq!(whole, ["1.35.8 Completed"]);
    assert_eq!(images().await, before);
    ground.change("one", json!({"spec": {"release": {"image": NEW}}})).await;
    ground.until_version("one", "1.36.4").await;
    assert_ne!(images().await, before);
    operators.stop().await;
}

#[tokio::test(start_paused = true)]
async fn what_leads_too_far_or_back_is_refused_unless_it_was_declared() {
    let ground = Ground::new(13).await;
    let operators = ground.start().await;
    settled(&ground, &format!("{PREFIX}1.34.11"), single()).await;
    let names = async || {
        let pods = ground.pods(INSIDE).await;
        pods.iter().map(kube::ResourceExt::name_any).collect::<Vec<_>>()
    };
    let before = names().await;
    let refusals = [
        ("1.36.4", "more than one minor ahead"),
        ("1.33.13", "there is no way back to another minor"),
        ("1.34.10", ours::ALLOW_DOWNGRADE_TO.as_str()),
    ];
    for (version, why) in refusals {
        ground
            .change(
                "one",
                json!({"spec": {"release": {"image": format!("{PREFIX}{version}")}}}),
            )
            .await;
        let refused = async || {
            let condition = ground.conditions("one").await.remove("ValidReleaseImage")?;
            (condition.status == "False" && condition.message.contains(why)).then_some(())
        };
        ground.until(why, refused).await;
        sleep(Duration::from_mins(2)).await;
        let control_plane: HostedControlPlane = ground.api(Some(INSIDE)).get("one").await.unwrap();
        assert_eq!(control_plane.spec.release_image, format!("{PREFIX}1.34.11"));
        assert_eq!(names().await, before);
        assert_eq!(ground.conditions("one").await["Progressing"].reason, "Blocked");
    }
    let declared = json!({"metadata": {"annotations": {ours::ALLOW_DOWNGRADE_TO.as_str(): "1.34.10"}}});
    ground.change("one", declared).await;
    ground.until_version("one", "1.34.10").await;
    operators.stop().await;
}

/// What the pods of a component wait for, as their kubelets say it.
async fn waiting(ground: &Ground, name: &str) -> Vec<String> {
    let pods = ground.pods(INSIDE).await;
    let of_component = pods.iter().filter(|pod| component(pod) == name);
    of_component.flat_map(look::waiting).collect()
}

#[tokio::test(start_paused = true)]
async fn a_missing_image_is_waited_for_and_the_rest_goes_on() {
    let missing = "registry.example.com/scheduler:missing";
    let ground = Ground::new(14).await;
    let operators = ground.start().await;
    settled(&ground, NEW, single()).await;
    let overrides = |value: Value| json!({"metadata": {"annotations": {annotations::IMAGE_OVERRIDES.as_str(): value}}});
    let image = format!("kube-scheduler={missing}");
    ground.change("one", overrides(json!(image))).await;
    let told = ground.until_condition("one", "Degraded", "True").await.message;
    assert!(told.contains("kube-scheduler"), "{told}");
    let told = async || {
        waiting(&ground, "kube-scheduler")
            .await
            .pop()
            .filter(|told| told.contains(missing))
    };
    let told: String = ground.until("a word about the image", told).await;
    assert!(
        told.contains("name it as a component of a DistributionRelease"),
        "{told}"
    );
    assert_eq!(rollout(&ground, "kube-scheduler").await, "False");
    assert_eq!(ground.conditions("one").await["Available"].status, "True");
    ground.change("one", overrides(json!(null))).await;
    let healed = async || (rollout(&ground, "kube-scheduler").await == "True").then_some(());
    ground.until("the end of the rollout", healed).await;
    ground.until_condition("one", "Degraded", "False").await;
    operators.stop().await;
}

/// Whether a component is rolled out.
async fn rollout(ground: &Ground, name: &str) -> String {
    let mut components = ground.components(INSIDE).await;
    let conditions = components.remove(name).unwrap().status.unwrap_or_default().conditions;
    let complete = conditions.into_iter().find(|found| found.type_ == "RolloutComplete");
    complete.unwrap().status
}
