//! Machines are made, rolled, scaled and removed; at rest nothing is written.

use hyperplane_api::cluster_api::{
    cluster::Cluster, machine::Machine, machine_deployment::MachineDeployment, machine_set::MachineSet,
    machine_status::MachinePhase,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::ResourceExt as _;
use serde_json::json;

use crate::world::{World, other_data};

#[tokio::test(start_paused = true)]
async fn machines_become_nodes_and_then_nothing_is_written() {
    let world = World::settled(3, json!({})).await;
    for (name, machine) in world.machines().await {
        let status = machine.status.unwrap();
        assert_eq!(status.phase, Some(MachinePhase::Running));
        assert_eq!(status.node_ref.unwrap().name.as_str(), name);
        assert_eq!(status.node_info.unwrap().kubelet_version, "v1.36.2");
        assert_eq!(
            machine.spec.provider_id.as_deref(),
            Some(format!("kubevirt://{name}").as_str())
        );
        let bad: Vec<_> = status
            .conditions
            .iter()
            .filter(|found| found.status == "Unknown")
            .collect();
        assert!(bad.is_empty(), "{bad:?}");
    }
    for instance in world.instances().await {
        let [owner] = instance.owner_references() else {
            panic!("one owner: {instance:?}");
        };
        assert_eq!((owner.kind.as_str(), owner.controller), ("Machine", Some(true)));
    }
    for (name, node) in world.nodes().await {
        assert_eq!(node.annotations()["cluster.x-k8s.io/machine"], name);
        assert_eq!(node.annotations()["cluster.x-k8s.io/owner-kind"], "MachineSet");
    }
    let status = world.deployment().await.status.unwrap();
    assert_eq!(
        (status.available_replicas, status.up_to_date_replicas),
        (Some(3), Some(3))
    );
    assert_eq!(status.versions.len(), 1);
    let position = world.ground.position();
    world.pass(900).await;
    assert_eq!(world.ground.writes_since(position), [""; 0]);
    assert_eq!(world.ground.refusals(), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn another_template_replaces_machines_within_bounds() {
    let world = World::settled(3, json!({})).await;
    let before = world.names().await;
    world.change::<MachineDeployment>("pool", other_data("two")).await;
    let mut is_done = false;
    for _ in 0..600 {
        world.pass(1).await;
        let machines = world.machines().await;
        assert!(machines.len() <= 4, "{machines:?}");
        let working = machines
            .values()
            .filter(|machine| machine.metadata.deletion_timestamp.is_none());
        let with_node =
            working.filter(|machine| machine.status.as_ref().is_some_and(|status| status.node_ref.is_some()));
        assert!(with_node.count() >= 3, "fewer work than have to");
        is_done = machines.len() == 3 && !machines.keys().any(|name| before.contains(name));
        if is_done {
            break;
        }
    }
    assert!(is_done, "{:?}", world.names().await);
    world.pass(60).await;
    assert_eq!(world.nodes().await.len(), 3);
    assert_eq!(world.instances().await.len(), 3);
    let deployment = world.deployment().await;
    assert_eq!(
        deployment.annotations()["machinedeployment.clusters.x-k8s.io/revision"],
        "2"
    );
    let mut sets: Vec<(i32, String)> = world
        .sets()
        .await
        .iter()
        .map(|set| {
            let secret = set.spec.template.spec.bootstrap.data_secret_name.clone();
            (set.spec.replicas.unwrap(), secret.unwrap())
        })
        .collect();
    sets.sort();
    assert_eq!(sets, [(0, "one".to_owned()), (3, "two".to_owned())]);
    // One more revision, and the oldest is forgotten.
    world.change::<MachineDeployment>("pool", other_data("three")).await;
    world.pass(400).await;
    assert_eq!(world.sets().await.len(), 2);
    assert_eq!(world.ground.refusals(), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn on_delete_replaces_only_what_somebody_deletes() {
    let strategy = json!({"spec": {"rollout": {"strategy": {"type": "OnDelete"}}}});
    let world = World::settled(2, strategy).await;
    let before = world.names().await;
    world.change::<MachineDeployment>("pool", other_data("two")).await;
    world.pass(120).await;
    assert_eq!(world.names().await, before);
    world.delete::<Machine>(&before[0]).await;
    world.pass(120).await;
    let after = world.machines().await;
    assert_eq!(after.len(), 2);
    assert!(after.contains_key(&before[1]) && !after.contains_key(&before[0]));
    let secret = |machine: &Machine| machine.spec.bootstrap.data_secret_name.clone().unwrap();
    let mut secrets: Vec<String> = after.values().map(secret).collect();
    secrets.sort();
    assert_eq!(secrets, ["one", "two"]);
}

#[tokio::test(start_paused = true)]
async fn a_deployment_goes_with_everything_that_it_made() {
    let world = World::settled(2, json!({})).await;
    world
        .change::<MachineDeployment>("pool", json!({"spec": {"replicas": 0}}))
        .await;
    world.pass(120).await;
    assert!(world.machines().await.is_empty());
    assert!(world.instances().await.is_empty() && world.nodes().await.is_empty());
    world
        .change::<MachineDeployment>("pool", json!({"spec": {"replicas": 2}}))
        .await;
    world.pass(120).await;
    assert_eq!(world.nodes().await.len(), 2);
    world.delete::<MachineDeployment>("pool").await;
    world.pass(120).await;
    assert!(world.machines().await.is_empty() && world.sets().await.is_empty());
    assert!(world.instances().await.is_empty() && world.nodes().await.is_empty());
    let left = world.here::<MachineDeployment>().get_opt("pool").await.unwrap();
    assert!(left.is_none(), "{left:?}");
    assert_eq!(world.ground.refusals(), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn an_instance_that_the_cache_has_not_shown_goes_with_its_machine() {
    let world = World::unheard(1).await;
    world
        .change::<MachineDeployment>("pool", json!({"spec": {"replicas": 0}}))
        .await;
    world.pass(180).await;
    assert!(world.machines().await.is_empty());
    assert!(world.instances().await.is_empty(), "nobody would ever end it");
}

#[tokio::test(start_paused = true)]
async fn what_keeps_machines_from_being_made_is_told() {
    let world = World::settled(1, json!({})).await;
    let template = json!({"spec": {"replicas": 2, "template": {"spec": {"infrastructureRef": {"name": "missing"}}}}});
    world.change::<MachineDeployment>("pool", template).await;
    world.pass(60).await;
    let scaling = |conditions: Vec<Condition>| {
        let found = conditions.into_iter().find(|found| found.type_ == "ScalingUp").unwrap();
        format!("{} {}", found.status, found.message)
    };
    let told = "KubevirtMachineTemplate missing";
    let sets = world.sets().await.into_iter();
    let sets: Vec<String> = sets.map(|set| scaling(set.status.unwrap().conditions)).collect();
    assert!(
        sets.iter().any(|set| set.starts_with("True") && set.contains(told)),
        "{sets:?}"
    );
    let deployment = scaling(world.deployment().await.status.unwrap().conditions);
    assert!(
        deployment.starts_with("True") && deployment.contains(told),
        "{deployment}"
    );
    let position = world.ground.position();
    world.pass(300).await;
    let mut writes = world.ground.writes_since(position);
    writes.retain(|write| !write.contains("\"events\""));
    assert_eq!(writes, [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn a_paused_cluster_is_left_alone() {
    let world = World::settled(1, json!({})).await;
    world.change::<Cluster>("c", json!({"spec": {"paused": true}})).await;
    world.pass(10).await;
    world
        .change::<MachineDeployment>("pool", json!({"spec": {"replicas": 2}}))
        .await;
    let name = world.names().await.remove(0);
    world.delete::<Machine>(&name).await;
    world.pass(300).await;
    assert_eq!(world.names().await, [name.as_str()]);
    assert_eq!(world.nodes().await[&name].spec.as_ref().unwrap().unschedulable, None);
    world.change::<Cluster>("c", json!({"spec": {"paused": false}})).await;
    world.pass(120).await;
    let after = world.names().await;
    assert!(after.len() == 2 && !after.contains(&name), "{after:?}");
}

#[tokio::test(start_paused = true)]
async fn what_lost_its_owner_is_taken_over() {
    let world = World::settled(2, json!({})).await;
    let (machines, sets) = (world.names().await, world.sets().await);
    let orphan = json!({"metadata": {"ownerReferences": null}});
    world.change::<Machine>(&machines[0], orphan.clone()).await;
    world.change::<MachineSet>(&sets[0].name_any(), orphan).await;
    world.pass(60).await;
    assert_eq!(world.names().await, machines, "nobody was replaced");
    let found = world.machines().await;
    assert_eq!(found[&machines[0]].owner_references()[0].uid, sets[0].uid().unwrap());
    let found = world.sets().await;
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].owner_references()[0].kind, "MachineDeployment");
    assert_eq!(world.ground.refusals(), [""; 0]);
}
