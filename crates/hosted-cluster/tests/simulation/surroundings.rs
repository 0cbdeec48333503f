//! What control planes take from the cluster that hosts them: zones, closed networks, and whose they are where several
//! managers share it.

use hyperplane_api::{
    constants::{annotations, ours},
    hypershift::hosted_control_plane::HostedControlPlane,
};
use k8s_openapi::api::{
    core::v1::Node,
    discovery::v1::EndpointSlice,
    networking::v1::{NetworkPolicy, ServiceCIDR},
};
use kube::{
    Api,
    api::{Patch, PatchParams},
};
use serde_json::{Value, json};

use crate::world::World;

const INSIDE: &str = "clusters-blue";

async fn node(world: &World, number: u8, zone: &str, taints: Value) {
    let node = json!({
        "metadata": {"name": format!("node-{number}"), "labels": {"topology.kubernetes.io/zone": zone}},
        "spec": {"podCIDR": format!("10.244.{number}.0/24"), "podCIDRs": [format!("10.244.{number}.0/24")],
            "taints": taints},
    });
    world.create::<Node>(None, node).await;
}

/// What nobody in the namespace of the control plane reaches, but for those who must.
async fn closed(world: &World) -> Vec<String> {
    let policy = world.get::<NetworkPolicy>(INSIDE, "management-kas").await.unwrap();
    let rules = policy.spec.unwrap().egress.unwrap().into_iter();
    let peers = rules.flat_map(|rule| rule.to.unwrap_or_default());
    let blocks = peers.filter_map(|peer| peer.ip_block?.except);
    blocks.flatten().collect()
}

#[tokio::test(start_paused = true)]
async fn networks_of_the_management_cluster_are_closed_and_followed() {
    let world = World::new().await;
    for number in 0..4 {
        node(&world, number, "a", json!([])).await;
    }
    let slice = json!({
        "metadata": {"name": "kubernetes", "labels": {"kubernetes.io/service-name": "kubernetes"}},
        "addressType": "IPv4", "endpoints": [{"addresses": ["192.0.2.10"]}],
    });
    world.create::<EndpointSlice>(Some("default"), slice).await;
    world.cluster("blue", json!({})).await;
    let process = world.start();
    world.settle().await;
    let before = closed(&world).await;
    for network in ["10.244.0.0/22", "10.96.0.0/12", "10.128.0.0/14", "192.0.2.10/32"] {
        assert!(before.iter().any(|found| found == network), "{network}: {before:?}");
    }
    let moved = json!({"endpoints": [{"addresses": ["198.51.100.7"]}]});
    world.patch::<EndpointSlice>("default", "kubernetes", moved).await;
    let more = json!({"metadata": {"name": "more"}, "spec": {"cidrs": ["10.112.0.0/16"]}});
    world.create::<ServiceCIDR>(None, more).await;
    world.settle().await;
    let after = closed(&world).await;
    assert!(after.iter().any(|found| found == "198.51.100.7/32"), "{after:?}");
    assert!(after.iter().any(|found| found == "10.112.0.0/16"), "{after:?}");
    assert!(!after.iter().any(|found| found == "192.0.2.10/32"), "{after:?}");
    assert_eq!(world.refusals(), [] as [&str; 0]);
    process.stop().await;
}

#[tokio::test(start_paused = true)]
async fn zones_count_where_control_planes_can_run() {
    let world = World::new().await;
    let master = json!([{"key": "node-role.kubernetes.io/control-plane", "effect": "NoSchedule"}]);
    let reserved = json!([{"key": annotations::CLUSTER.as_str(), "value": INSIDE, "effect": "NoSchedule"}]);
    node(&world, 0, "masters", master).await;
    node(&world, 1, "a", json!([])).await;
    node(&world, 2, "b", json!([])).await;
    node(&world, 3, "c", reserved).await;
    let cordon = Patch::Merge(json!({"spec": {"unschedulable": true}}));
    let nodes: Api<Node> = Api::all(world.client.clone());
    nodes.patch("node-2", &PatchParams::default(), &cordon).await.unwrap();
    world.cluster("blue", json!({})).await;
    world.cluster("red", json!({})).await;
    let selector = json!({"topology.kubernetes.io/zone": "nowhere"});
    world
        .cluster("green", json!({"spec": {"nodeSelector": selector}}))
        .await;
    let process = world.start();
    world.settle().await;
    for (name, expected) in [("blue", "2"), ("red", "1"), ("green", "0")] {
        let control_plane = world.control_plane(name).await.unwrap();
        assert_eq!(ours::RENDER_ZONES.of(&control_plane), Some(expected), "{name}");
    }
    process.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_manager_leaves_clusters_of_other_scopes_alone() {
    let world = World::new().await;
    let scoped = |scope: &str| json!({"metadata": {"annotations": {annotations::SCOPE.as_str(): scope}}});
    world.cluster("blue", scoped("one")).await;
    world.cluster("red", scoped("two")).await;
    world.cluster("green", json!({})).await;
    let process = world.start_for(Some("one"));
    world.settle().await;
    assert_eq!(world.ours::<HostedControlPlane>().await, ["clusters-blue/blue"]);
    let control_plane = world.control_plane("blue").await.unwrap();
    assert_eq!(
        annotations::SCOPE.of(&control_plane),
        Some("one"),
        "operators of tenants read it there"
    );
    for name in ["red", "green"] {
        let cluster = world.hosted_cluster(name).await;
        assert!(
            cluster.metadata.finalizers.is_none() && cluster.status.is_none(),
            "{name}"
        );
    }
    let other = world.start_for(Some("two"));
    world.settle().await;
    assert!(world.control_plane("red").await.is_some());
    process.stop().await;
    other.stop().await;
}
