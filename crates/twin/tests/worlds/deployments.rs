//! Deployments: they roll within their bounds, and budgets hold evictions back.

use std::time::Duration;

use k8s_openapi::api::{
    apps::v1::{Deployment, ReplicaSet},
    core::v1::{Endpoints, Pod, Service},
    discovery::v1::EndpointSlice,
    policy::v1::PodDisruptionBudget,
};
use kube::{
    ResourceExt,
    api::{DeleteParams, EvictParams, ListParams},
};
use serde_json::json;

use crate::support::{NAMESPACE, World, deployment, is_active, is_ready};

fn is_done(deployment: &Deployment) -> bool {
    let (wanted, status) = (deployment.spec.as_ref().unwrap().replicas, deployment.status.as_ref());
    status.is_some_and(|status| {
        status.observed_generation == deployment.metadata.generation
            && (status.replicas, status.updated_replicas, status.available_replicas) == (wanted, wanted, wanted)
    })
}

/// How often users changed what they want, and the number of the template.
fn numbers(deployment: &Deployment) -> (Option<i64>, Option<&str>) {
    let revision = deployment.annotations().get("deployment.kubernetes.io/revision");
    (deployment.metadata.generation, revision.map(String::as_str))
}

#[tokio::test(start_paused = true)]
async fn a_template_rolls_within_its_bounds() {
    let world = World::new().await;
    world.create::<Deployment>(deployment("web", 4, "web:1")).await;
    let first = world.until(NAMESPACE, "web", is_done).await;
    assert_eq!(
        numbers(&first),
        (Some(1), Some("1")),
        "only users change what they want"
    );
    let image = json!({"spec": {"template": {"spec": {"containers": [{"name": "main", "image": "web:2"}]}}}});
    world.patch::<Deployment>("web", image).await;
    for _ in 0..400 {
        let pods = world.pods(NAMESPACE, "app=web").await;
        let ready = pods.iter().filter(|pod| is_ready(pod) && is_active(pod)).count();
        let active = pods.iter().filter(|pod| is_active(pod)).count();
        assert!(ready >= 3 && active <= 5, "{ready} of {active} are ready");
        world.pass(Duration::from_millis(100)).await;
    }
    let second = world.until(NAMESPACE, "web", is_done).await;
    assert_eq!(numbers(&second), (Some(2), Some("2")));
    let pods = world.pods(NAMESPACE, "app=web").await;
    let images = pods
        .iter()
        .filter(|pod| is_active(pod))
        .map(|pod| pod.spec.as_ref().unwrap().containers[0].image.clone());
    assert!(images.into_iter().all(|image| image.as_deref() == Some("web:2")));
    let sets = world
        .api::<ReplicaSet>(NAMESPACE)
        .list(&ListParams::default())
        .await
        .unwrap()
        .items;
    assert_eq!(sets.len(), 2, "the set before is kept, for those who go back");
}

#[tokio::test(start_paused = true)]
async fn a_budget_holds_evictions_back() {
    let world = World::new().await;
    world.create::<Deployment>(deployment("web", 3, "web:1")).await;
    let budget = json!({"metadata": {"name": "web"}, "spec": {
        "minAvailable": 2, "selector": {"matchLabels": {"app": "web"}}}});
    world.create::<PodDisruptionBudget>(budget).await;
    world.until(NAMESPACE, "web", is_done).await;
    let allowed = |budget: &PodDisruptionBudget| budget.status.as_ref().and_then(|status| status.disruptions_allowed);
    world.until(NAMESPACE, "web", |budget| allowed(budget) == Some(1)).await;
    let pods = world.pods(NAMESPACE, "app=web").await;
    let api = world.api::<Pod>(NAMESPACE);
    api.evict(&pods[0].name_any(), &EvictParams::default()).await.unwrap();
    let refused = api
        .evict(&pods[1].name_any(), &EvictParams::default())
        .await
        .unwrap_err();
    assert!(matches!(refused, kube::Error::Api(status) if status.code == 429));
    world.until(NAMESPACE, "web", |budget| allowed(budget) == Some(1)).await;
    api.evict(&pods[1].name_any(), &EvictParams::default()).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn scaling_and_deleting_leave_nothing_behind() {
    let world = World::new().await;
    world.create::<Deployment>(deployment("web", 2, "web:1")).await;
    world.until(NAMESPACE, "web", is_done).await;
    for replicas in [5, 1] {
        world
            .patch::<Deployment>("web", json!({"spec": {"replicas": replicas}}))
            .await;
        world.until(NAMESPACE, "web", is_done).await;
    }
    world
        .api::<Deployment>(NAMESPACE)
        .delete("web", &DeleteParams::default())
        .await
        .unwrap();
    world.pass(Duration::from_mins(5)).await;
    assert!(world.pods(NAMESPACE, "app=web").await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_service_knows_who_is_behind_it() {
    let world = World::new().await;
    world.create::<Deployment>(deployment("web", 2, "web:1")).await;
    let service = json!({"metadata": {"name": "web"}, "spec": {
        "type": "LoadBalancer", "selector": {"app": "web"}, "ports": [{"port": 80, "targetPort": 8080}]}});
    world.create::<Service>(service).await;
    let service = world
        .until(NAMESPACE, "web", |service: &Service| address(service).is_some())
        .await;
    assert!(address(&service).unwrap().starts_with("127."));
    world.until(NAMESPACE, "web", is_done).await;
    world.pass(Duration::from_secs(5)).await;
    let labels = ListParams::default().labels("kubernetes.io/service-name=web");
    let slices = world.api::<EndpointSlice>(NAMESPACE).list(&labels).await.unwrap().items;
    let endpoints: Vec<_> = slices
        .iter()
        .flat_map(|slice| slice.endpoints.iter().flatten())
        .collect();
    assert_eq!(endpoints.len(), 2);
    assert!(
        endpoints
            .iter()
            .all(|endpoint| endpoint.conditions.as_ref().unwrap().ready == Some(true))
    );
    assert!(
        world
            .api::<Endpoints>(NAMESPACE)
            .get_opt("web")
            .await
            .unwrap()
            .is_none(),
        "slices are enough"
    );
}

fn address(service: &Service) -> Option<String> {
    service
        .status
        .as_ref()?
        .load_balancer
        .as_ref()?
        .ingress
        .as_ref()?
        .first()?
        .ip
        .clone()
}
