//! DaemonSets, Jobs and nodes.

use std::{
    collections::BTreeSet,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use futures::FutureExt as _;
use hyperplane_twin::{Fault, FaultKind, FaultSelector, NodeError, Programs, Twin, TwinError};
use k8s_openapi::api::{
    apps::v1::{DaemonSet, Deployment},
    batch::v1::Job,
    core::v1::Node,
};
use kube::{
    Api, ResourceExt,
    api::{ListParams, PostParams},
};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::support::{self, NAMESPACE, World, deployment, from, is_active, is_ready, names};

#[tokio::test(start_paused = true)]
async fn every_node_has_its_daemon() {
    let world = World::with(|settings| settings.nodes.count = 5).await;
    let set = json!({"metadata": {"name": "agent"}, "spec": {
        "selector": {"matchLabels": {"app": "agent"}},
        "template": {"metadata": {"labels": {"app": "agent"}}, "spec": {"containers": [{"name": "main", "image": "a:1"}]}}}});
    world.create::<DaemonSet>(set).await;
    let is_done = |set: &DaemonSet| {
        set.status
            .as_ref()
            .is_some_and(|status| status.number_available == Some(5))
    };
    world.until(NAMESPACE, "agent", is_done).await;
    let pods = world.pods(NAMESPACE, "app=agent").await;
    let nodes: BTreeSet<_> = pods
        .iter()
        .filter_map(|pod| pod.spec.as_ref()?.node_name.clone())
        .collect();
    assert_eq!(nodes.len(), 5);
    let nodes: Api<Node> = Api::all(world.client.clone());
    let nodes = nodes.list(&ListParams::default()).await.unwrap().items;
    assert_eq!(names(&nodes), ["twin-0", "twin-1", "twin-2", "twin-3", "twin-4"]);
}

#[tokio::test(start_paused = true)]
async fn a_job_ends() {
    let world = World::new().await;
    let job = json!({"metadata": {"name": "once"}, "spec": {"template": {"spec": {
        "restartPolicy": "Never", "containers": [{"name": "main", "image": "a:1"}]}}}});
    world.create::<Job>(job).await;
    let is_done = |job: &Job| job.status.as_ref().is_some_and(|status| status.succeeded == Some(1));
    world.until(NAMESPACE, "once", is_done).await;
}

/// A program that fails until it is started for the third time, and takes longer than a container would be given.
#[tokio::test(start_paused = true)]
async fn a_job_of_ours_ends_as_its_program_does() {
    let starts = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&starts);
    let programs = Programs::default().run_by(move |program| {
        assert_eq!(program.arguments, ["once"]);
        let attempt = counted.fetch_add(1, Ordering::SeqCst);
        let work = async move {
            tokio::time::sleep(Duration::from_mins(3)).await;
            if attempt < 2 { Err("not yet".to_owned()) } else { Ok(()) }
        };
        Some(work.boxed())
    });
    let world = World::with(|settings| settings.programs = programs).await;
    let job = json!({"metadata": {"name": "once"}, "spec": {"template": {"spec": {"restartPolicy": "Never", "containers":
        [{"name": "main", "image": "a:1", "command": ["hyperplane"], "args": ["once"]}]}}}});
    world.create::<Job>(job).await;
    let is_done = |job: &Job| job.status.as_ref().is_some_and(|status| status.succeeded == Some(1));
    world.until(NAMESPACE, "once", is_done).await;
    assert_eq!(starts.load(Ordering::SeqCst), 3);
    let job = world.api::<Job>(NAMESPACE).get("once").await.unwrap();
    assert_eq!(job.status.unwrap().failed, Some(2));
}

#[tokio::test(start_paused = true)]
async fn pods_leave_a_node_that_is_gone() {
    let world = World::new().await;
    world.create::<Deployment>(deployment("web", 3, "web:1")).await;
    let is_done = |deployment: &Deployment| {
        deployment
            .status
            .as_ref()
            .is_some_and(|status| status.available_replicas == Some(3))
    };
    world.until(NAMESPACE, "web", is_done).await;
    let node = world.pods(NAMESPACE, "app=web").await[0]
        .spec
        .as_ref()
        .unwrap()
        .node_name
        .clone()
        .unwrap();
    let selector = FaultSelector {
        node: node.clone(),
        ..FaultSelector::default()
    };
    world.faults.set(vec![Fault {
        selector,
        kind: FaultKind::NodeGone,
    }]);
    world.pass(Duration::from_mins(10)).await;
    let pods = world.pods(NAMESPACE, "app=web").await;
    let serving: Vec<_> = pods.iter().filter(|pod| is_active(pod) && is_ready(pod)).collect();
    assert_eq!(serving.len(), 3);
    assert!(
        serving
            .iter()
            .all(|pod| pod.spec.as_ref().unwrap().node_name.as_ref() != Some(&node))
    );
    world.faults.set(Vec::new());
    world.pass(Duration::from_mins(5)).await;
    let pods = world.pods(NAMESPACE, "app=web").await;
    assert!(pods.len() == 3 && pods.iter().all(is_ready), "{:?}", names(&pods));
}

#[tokio::test(start_paused = true)]
async fn a_twin_stands_beside_no_other_machine() {
    let world = World::new().await;
    let client = support::server(&world.clock).await;
    let node: Node = from(json!({"metadata": {"name": "real"}}));
    let nodes: Api<Node> = Api::all(client.clone());
    nodes.create(&PostParams::default(), &node).await.unwrap();
    let error = Twin::new(client, support::settings(&world.clock))
        .run(CancellationToken::new())
        .await
        .unwrap_err();
    assert!(matches!(error, TwinError::Nodes(NodeError::Foreign(name)) if name == node.name_any()));
}
