//! Nodes are emptied through the eviction API of a real server: budgets hold, are named, and are waited for as long as
//! was asked for. Cordons of ours are undone, those of others never.

use hyperplane_api::cluster_api::{machine::Machine, machine_deployment::MachineDeployment};
use kube::ResourceExt as _;
use serde_json::{Value, json};

use crate::world::World;

const MARK: &str = "hyperplane.dev/cordoned-for";

fn patience(seconds: u32) -> Value {
    json!({"spec": {"template": {"spec": {"deletion": {"nodeDrainTimeoutSeconds": seconds}}}}})
}

fn labelled(app: &str) -> Value {
    json!({"labels": {"app": app}})
}

/// What the Machine says of its deletion.
async fn deleting(world: &World, name: &str) -> String {
    let machine = world.here::<Machine>().get(name).await.unwrap();
    let conditions = machine.status.unwrap().conditions;
    let found = conditions.into_iter().find(|found| found.type_ == "Deleting").unwrap();
    format!("{} {}: {}", found.status, found.reason, found.message)
}

async fn is_open(world: &World, node: &str) -> bool {
    let nodes = world.nodes().await;
    let spec = nodes[node].spec.as_ref().unwrap();
    spec.unschedulable != Some(true)
}

async fn scale_to_zero(world: &World) {
    let none = json!({"spec": {"replicas": 0}});
    world.change::<MachineDeployment>("pool", none).await;
}

/// A machine waits for a pod that a budget holds, names both, and is gone with its node once that lets go.
async fn goes_once_its_budget_allows_it(world: &World, name: &str, pod: &str) {
    world.pass(60).await;
    let words = deleting(world, name).await;
    let held = format!("pod shop/{pod} is held by PodDisruptionBudget shop/db");
    assert!(words.ends_with(&held), "{words}");
    world.allow("db", 1).await;
    world.pass(90).await;
    assert!(world.machines().await.is_empty() && world.nodes().await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_budget_in_the_way_is_named_and_given_up_in_time() {
    let (world, name) = World::of_one(patience(600)).await;
    world.budget("db", "db", 0).await;
    world.run_pod(&name, "db-0", labelled("db")).await;
    world.run_pod(&name, "web-0", labelled("web")).await;
    world.run_pod(&name, "agent", world.of_daemon_set().await).await;
    scale_to_zero(&world).await;
    world.pass(60).await;
    assert_eq!(
        world.pods().await,
        ["agent", "db-0"],
        "only the one without a budget went"
    );
    let words = deleting(&world, &name).await;
    assert_eq!(
        words,
        format!(
            "True DrainingNode: Waiting for pods to leave node {name}: \
             pod shop/db-0 is held by PodDisruptionBudget shop/db"
        )
    );
    assert!(!is_open(&world, &name).await);
    assert_eq!(world.nodes().await[&name].annotations()[MARK], name);
    let position = world.ground.position();
    world.pass(400).await;
    assert_eq!(world.names().await, [name.as_str()], "it has ten minutes");
    let mut writes = world.ground.writes_since(position);
    // The runner counts that it waits.
    writes.retain(|write| !write.contains("\"events\""));
    assert_eq!(writes, [""; 0], "a look that finds nothing new writes nothing");
    world.pass(180).await;
    assert!(world.machines().await.is_empty() && world.nodes().await.is_empty());
    let told = world.events("DrainTimedOut").await;
    assert!(
        told.len() == 1 && told[0].contains("shop/db-0") && told[0].contains("600"),
        "{told:?}"
    );
    assert_eq!(world.events("FailedDrainNode").await.len(), 1);
    assert_eq!(world.ground.refusals(), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn a_budget_that_is_spent_is_waited_for_and_two_are_one_too_many() {
    let (world, name) = World::of_one(json!({})).await;
    world.budget("db", "db", 0).await;
    world.budget("also-db", "db", 1).await;
    world.run_pod(&name, "db-0", labelled("db")).await;
    scale_to_zero(&world).await;
    world.pass(60).await;
    let words = deleting(&world, &name).await;
    assert!(
        words.contains("PodDisruptionBudgets shop/also-db and shop/db: a pod may belong to one only"),
        "{words}"
    );
    world.delete_budget("also-db").await;
    goes_once_its_budget_allows_it(&world, &name, "db-0").await;
    assert!(world.pods().await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn an_eviction_that_nobody_answers_is_named_and_keeps_no_other_pod() {
    let (world, name) = World::of_one(patience(300)).await;
    for pod in ["a-web", "slow-1", "slow-2", "slow-3", "slow-4", "z-web"] {
        world.run_pod(&name, pod, labelled("web")).await;
    }
    scale_to_zero(&world).await;
    world.pass(15).await;
    let machine = world.here::<Machine>().get(&name).await.unwrap();
    let deletion = machine.status.unwrap().deletion.unwrap();
    assert!(deletion.node_drain_start_time.is_some(), "its time has begun");
    world.pass(165).await;
    assert_eq!(world.pods().await, ["slow-1", "slow-2", "slow-3", "slow-4"]);
    let words = deleting(&world, &name).await;
    assert!(
        words.contains("shop/slow-") && words.contains("nothing within 10 seconds"),
        "{words}"
    );
    world.pass(240).await;
    assert!(world.machines().await.is_empty(), "{}", deleting(&world, &name).await);
    assert_eq!(world.events("DrainTimedOut").await.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn pods_on_a_node_whose_kubelet_is_silent_are_told_to_go_and_not_waited_for() {
    let (world, name) = World::of_one(json!({})).await;
    world.report(&name, "Unknown").await;
    // Nobody is there to end them.
    world.run_pod(&name, "silent-0", labelled("web")).await;
    world.run_pod(&name, "silent-1", labelled("web")).await;
    world.budget("db", "db", 0).await;
    world.run_pod(&name, "silent-db", labelled("db")).await;
    world.attach(&name, &["disk"]).await;
    scale_to_zero(&world).await;
    // Budgets hold on silent nodes, too.
    goes_once_its_budget_allows_it(&world, &name, "silent-db").await;
    assert_eq!(world.pods().await.len(), 3, "they ended with the instance");
}

#[tokio::test(start_paused = true)]
async fn many_pods_that_ended_hide_none_that_runs() {
    let (world, name) = World::of_one(patience(600)).await;
    for number in 0..510 {
        let pod = format!("a-{number:03}");
        world.run_pod(&name, &pod, labelled("job")).await;
        world.complete_pod(&pod).await;
    }
    world.budget("db", "db", 0).await;
    world.run_pod(&name, "z-db", labelled("db")).await;
    scale_to_zero(&world).await;
    world.pass(60).await;
    let words = deleting(&world, &name).await;
    assert!(words.contains("shop/z-db"), "{words}");
}

#[tokio::test(start_paused = true)]
async fn a_cordon_of_others_stays_and_ours_goes_with_a_machine_that_was_let_go() {
    let world = World::settled(2, json!({})).await;
    let names = world.names().await;
    world
        .change_node(&names[1], json!({"spec": {"unschedulable": true}}))
        .await;
    world.budget("db", "db", 0).await;
    world.run_pod(&names[0], "db-0", labelled("db")).await;
    world.delete::<Machine>(&names[0]).await;
    world.pass(60).await;
    assert!(!is_open(&world, &names[0]).await && !is_open(&world, &names[1]).await);
    let free = json!({"metadata": {"finalizers": null}});
    world.change::<Machine>(&names[0], free).await;
    world.pass(60).await;
    assert!(is_open(&world, &names[0]).await, "our cordon is left behind");
    assert!(!world.nodes().await[&names[0]].annotations().contains_key(MARK));
    assert!(!is_open(&world, &names[1]).await, "we undid a cordon of others");
    let instances = world.instances().await;
    let is_left = instances.iter().any(|instance| instance.name_any() == names[0]);
    assert!(!is_left, "its instance is nobody's");
}

#[tokio::test(start_paused = true)]
async fn hooks_and_volumes_are_waited_for() {
    let timeout = json!({"spec": {"template": {"spec": {"deletion": {"nodeVolumeDetachTimeoutSeconds": 300}}}}});
    let (world, name) = World::of_one(timeout).await;
    let hooks =
        ["pre-drain", "pre-terminate"].map(|hook| format!("{hook}.delete.hook.machine.cluster.x-k8s.io/backup"));
    let both = json!({"metadata": {"annotations": {(hooks[0].as_str()): "", (hooks[1].as_str()): ""}}});
    world.change::<Machine>(&name, both).await;
    world.attach(&name, &["disk"]).await;
    world.run_pod(&name, "web-0", labelled("web")).await;
    scale_to_zero(&world).await;
    world.pass(60).await;
    assert!(deleting(&world, &name).await.contains("WaitingForPreDrainHook"));
    assert_eq!(world.pods().await, ["web-0"]);
    let remove = |hook: &str| json!({"metadata": {"annotations": {hook: null}}});
    world.change::<Machine>(&name, remove(&hooks[0])).await;
    world.pass(60).await;
    assert!(world.pods().await.is_empty());
    assert!(deleting(&world, &name).await.contains("WaitingForVolumeDetach"));
    world.pass(300).await;
    assert!(deleting(&world, &name).await.contains("WaitingForPreTerminateHook"));
    assert_eq!(world.instances().await.len(), 1);
    world.change::<Machine>(&name, remove(&hooks[1])).await;
    world.pass(60).await;
    assert!(world.machines().await.is_empty() && world.instances().await.is_empty());
    assert_eq!(world.ground.refusals(), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn volumes_of_pods_that_stay_are_not_waited_for() {
    let (world, name) = World::of_one(json!({})).await;
    world.volume("logs", "v-1").await;
    let volumes = json!([{"name": "logs", "persistentVolumeClaim": {"claimName": "logs"}}]);
    world
        .run_pod_with(&name, "agent", world.of_daemon_set().await, json!({"volumes": volumes}))
        .await;
    world
        .attach(&name, &["kubernetes.io/csi/csi.example.com^v-1", "other"])
        .await;
    scale_to_zero(&world).await;
    world.pass(60).await;
    let words = deleting(&world, &name).await;
    assert!(words.ends_with("volumes to come off the node: other"), "{words}");
    world.attach(&name, &["kubernetes.io/csi/csi.example.com^v-1"]).await;
    world.attach_unlisted(&name, "logs").await;
    world.attach_unlisted(&name, "data").await;
    world.pass(60).await;
    let words = deleting(&world, &name).await;
    assert!(words.ends_with("volumes to come off the node: data"), "{words}");
    world.detach(&name, "data").await;
    world.pass(60).await;
    assert!(world.machines().await.is_empty() && world.nodes().await.is_empty());
}
