//! Nodes of hosted clusters that tell that they live: as often as they are asked to, and no longer than they do.

use std::time::Duration;

use hyperplane_twin::{FaultKind, HEARTBEAT, MachineSettings};
use jiff::Timestamp;
use k8s_openapi::api::{coordination::v1::Lease, core::v1::Node};
use kube::{
    Api, ResourceExt,
    api::{DeleteParams, ListParams},
};

use crate::machines::{Ground, node_is_ready, readiness};

/// Longer than it is looked whether something went wrong.
const RARELY: Duration = Duration::from_secs(25);

fn beating(interval: Duration) -> MachineSettings {
    MachineSettings {
        heartbeat: Some(interval),
        ..MachineSettings::kubevirt()
    }
}

fn leases(ground: &Ground) -> Api<Lease> {
    Api::namespaced(ground.hosted.clone(), "kube-node-lease")
}

async fn renewed(ground: &Ground, node: &str) -> Timestamp {
    let lease = leases(ground).get(node).await.unwrap();
    lease.spec.unwrap().renew_time.unwrap().0
}

#[tokio::test(start_paused = true)]
async fn a_lease_is_renewed_as_often_as_it_is_asked_for() {
    for interval in [HEARTBEAT, RARELY] {
        let ground = Ground::with(beating(interval), |_| {}).await;
        ground.machine("pool-a-1").await;
        ground.node("pool-a-1", node_is_ready).await;
        ground.world.pass(interval).await;
        let revision = async || {
            let lease = leases(&ground).get("pool-a-1").await.unwrap();
            (lease.resource_version(), lease.spec.unwrap().renew_time.unwrap().0)
        };
        let mut seen = vec![revision().await];
        // Looked at more often than anything happens, so that no write is missed.
        for _ in 0..interval.as_secs() * 10 {
            ground.world.pass(Duration::from_secs(1)).await;
            seen.push(revision().await);
        }
        seen.dedup();
        assert_eq!(seen.len(), 11, "{interval:?}: {seen:?}");
        for pair in seen.windows(2) {
            let pause = Duration::try_from(pair[1].1.duration_since(pair[0].1)).unwrap();
            assert!(
                pause >= interval && pause < interval + Duration::from_secs(1),
                "{pause:?}"
            );
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_lease_stands_still_with_its_node_and_goes_with_it() {
    let ground = Ground::with(beating(HEARTBEAT), |_| {}).await;
    ground.machine("pool-a-1").await;
    ground.node("pool-a-1", node_is_ready).await;
    ground.break_machines(FaultKind::Silent {
        from: Duration::ZERO,
        until: None,
    });
    ground.node("pool-a-1", |node| readiness(node) == "Unknown").await;
    let before = renewed(&ground, "pool-a-1").await;
    ground.world.pass(Duration::from_mins(10)).await;
    assert_eq!(renewed(&ground, "pool-a-1").await, before);
    ground.world.faults.set(Vec::new());
    ground.node("pool-a-1", node_is_ready).await;
    ground.world.pass(HEARTBEAT).await;
    assert!(renewed(&ground, "pool-a-1").await > before);

    let machines = ground.machines();
    machines.delete("pool-a-1", &DeleteParams::default()).await.unwrap();
    let nodes: Api<Node> = Api::all(ground.hosted.clone());
    nodes.delete("pool-a-1", &DeleteParams::default()).await.unwrap();
    ground.world.pass(Duration::from_mins(1)).await;
    let left = leases(&ground).list(&ListParams::default()).await.unwrap();
    assert!(left.items.is_empty(), "{left:?}");
}
