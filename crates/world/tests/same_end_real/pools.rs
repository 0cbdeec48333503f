//! Node pools on both servers: made, rolled, marked, emptied against a budget, held behind their control plane, deleted.
//! After each step everything on both is equal, and so are the nodes of the hosted cluster.

use std::{collections::BTreeMap, fmt::Debug, thread, time::Duration};

use hyperplane_world::Roles;
use k8s_openapi::api::{
    apps::v1::Deployment,
    core::v1::{ConfigMap, Event, Pod},
    policy::v1::PodDisruptionBudget,
};
use kube::{
    Api, Resource,
    api::{DeleteParams, ListParams, PostParams},
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};
use tokio::{
    runtime::Builder,
    sync::mpsc::{UnboundedSender, unbounded_channel},
    time::sleep,
};
use tokio_util::sync::CancellationToken;

use crate::{
    NAME,
    both::{
        embedded,
        manifests::{budget, machine_config, pace, pool, release, to_release, workload},
        users::{NAMESPACE, Users, cluster, control_plane_namespace},
    },
    objects::collect,
    real::Real,
    samples::merge,
    site::Site,
};

/// Of the pools in the beginning.
const OLD: &str = "1.34.11";
/// Of the control plane.
const PLANE: &str = "1.35.8";
/// More than the control plane has.
const AHEAD: &str = "1.36.4";
/// Virtual time in which everything has followed that follows from what was waited for: twice the longest interval at
/// which anything is looked at.
const REST: Duration = Duration::from_mins(4);
/// On nodes that were made after their pool was told to have it.
const TIER: &str = "example.com/tier";
/// A taint of the same nodes.
const COLOR: &str = "example.com/color";

/// What users do, and wait for.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// A cluster, and two pools of two nodes.
    Make,
    /// One pool gets another release; it rolls, and nothing else.
    Roll,
    /// One pool gets labels, taints and a further node, and keeps its nodes as they are; the other one gets a
    /// MachineConfig, and rolls.
    Mark,
    /// One pool goes to zero against a budget, when its time is over; the other one is asked to go ahead of its control
    /// plane, and waits.
    Hold,
    /// The pools go.
    DeletePools,
    /// The cluster goes.
    DeleteCluster,
}

const STEPS: [Step; 6] = [
    Step::Make,
    Step::Roll,
    Step::Mark,
    Step::Hold,
    Step::DeletePools,
    Step::DeleteCluster,
];

#[test]
#[ignore = "needs a real control plane: cargo xtask test"]
fn pools_end_the_same_on_both_servers() {
    // Virtual time needs the processor only, and real time mostly waits: they pass beside each other.
    let (moments, mut expected) = unbounded_channel();
    let paused = Builder::new_current_thread().enable_all().start_paused(true).build();
    let embedded = thread::spawn(move || paused.unwrap().block_on(live_on_embedded(&moments)));
    let running = Builder::new_multi_thread().worker_threads(2).enable_all().build();
    running.unwrap().block_on(async {
        let real = Real::start().await;
        for step in STEPS {
            step.take(&real.site).await;
            let expected = expected.recv().await.expect("the embedded server gets as far");
            real.until_equal(&format!("{step:?}"), &expected).await;
        }
        real.stop().await;
    });
    embedded.join().unwrap();
}

/// Sends everything that there is after each step.
async fn live_on_embedded(moments: &UnboundedSender<BTreeMap<String, Value>>) {
    let (embedded, network) = embedded::start().await;
    let users = Users::settle(embedded.administrator()).await;
    let operators = embedded.operators("test", &network, Roles::All).await.unwrap();
    let site = Site { users, network };
    let before = collect(&site).await;
    let running = tokio::spawn(operators.run(CancellationToken::new()));
    for step in STEPS {
        step.take(&site).await;
        sleep(REST).await;
        if moments.send(collect(&site).await).is_err() {
            return; // The other side has failed, and says why.
        }
    }
    running.abort();
    let after = collect(&site).await;
    let more: Vec<&String> = after.keys().filter(|title| !before.contains_key(*title)).collect();
    let of_users = format!("ConfigMap {NAMESPACE}/motd");
    assert_eq!(more, [&of_users], "only what users made is left");
}

impl Step {
    async fn take(self, site: &Site) {
        match self {
            Self::Make => make(site).await,
            Self::Roll => roll(site).await,
            Self::Mark => mark(site).await,
            Self::Hold => hold(site).await,
            Self::DeletePools => delete_pools(site).await,
            Self::DeleteCluster => {
                site.users.delete_cluster(NAME).await;
                site.users.until_gone(NAME).await;
                return;
            }
        }
        site.look_inside(&format!("{self:?}")).await;
    }
}

async fn make(site: &Site) {
    let platform = json!({"type": "KubeVirt", "kubevirt": {"generateID": "abcdefghijk"}});
    let manifest = cluster(NAME, &release(PLANE), &platform, "SingleReplica");
    site.users.create_cluster(manifest).await;
    // All at once: what is shown here is where a roll ends. How it goes on the way is simulated elsewhere.
    let mut change = pace(&json!("100%"), &json!(0));
    merge(&mut change, &json!({"spec": {"nodeDrainTimeout": "10s"}}));
    for name in ["alpha", "beta"] {
        create(&site.pools(), pool(name, OLD, 2, &change)).await;
    }
    site.users.until_complete(NAME, PLANE).await;
    for name in ["alpha", "beta"] {
        site.until_nodes(name, OLD, 2).await;
    }
}

async fn roll(site: &Site) {
    let (alpha, beta) = (site.names("alpha").await, site.names("beta").await);
    site.change_pool("alpha", &to_release(PLANE)).await;
    let after = site.until_nodes("alpha", PLANE, 2).await;
    assert!(after.is_disjoint(&alpha), "{alpha:?} became {after:?}");
    assert_eq!(site.names("beta").await, beta);
}

async fn mark(site: &Site) {
    let (alpha, beta) = (site.names("alpha").await, site.names("beta").await);
    let taint = json!({"key": COLOR, "value": "blue", "effect": "NoSchedule"});
    let marks = json!({"spec": {"taints": [taint], "nodeLabels": {TIER: "a"}, "replicas": 3}});
    site.change_pool("alpha", &marks).await;
    let configs: Api<ConfigMap> = Api::namespaced(site.users.client.clone(), NAMESPACE);
    create(&configs, machine_config("motd", "hello")).await;
    site.change_pool("beta", &json!({"spec": {"config": [{"name": "motd"}]}}))
        .await;
    let after = site.until_nodes("alpha", PLANE, 3).await;
    assert!(after.is_superset(&alpha), "{alpha:?} became {after:?}");
    let renewed = async || {
        let names = site.until_nodes("beta", OLD, 2).await;
        names.is_disjoint(&beta).then_some(())
    };
    site.users.until("other nodes of pool beta", renewed).await;
    assert_eq!(site.names("alpha").await, after, "only beta was asked to roll");
    for (name, node) in site.nodes().await.unwrap() {
        let (is_new, node) = (after.contains(&name) && !alpha.contains(&name), json!(node));
        assert_eq!(node["metadata"]["labels"][TIER] == "a", is_new, "{node}");
        assert_eq!(node["spec"]["taints"].to_string().contains(COLOR), is_new, "{node}");
    }
}

async fn hold(site: &Site) {
    let beta = site.names("beta").await;
    let client = site.hosted().await.unwrap();
    let mut manifest = workload(1);
    let on_marked = json!({"spec": {"template": {"spec": {"nodeSelector": {TIER: "a"}}}}});
    merge(&mut manifest, &on_marked);
    create(
        &Api::<PodDisruptionBudget>::namespaced(client.clone(), "default"),
        budget(0),
    )
    .await;
    create(&Api::<Deployment>::namespaced(client.clone(), "default"), manifest).await;
    let pods: Api<Pod> = Api::namespaced(client, "default");
    let runs = async || {
        let all = pods.list(&ListParams::default()).await.unwrap().items;
        let phase = |pod: &Pod| pod.status.as_ref()?.phase.clone();
        all.iter()
            .any(|pod| phase(pod).as_deref() == Some("Running"))
            .then_some(())
    };
    site.users.until("a pod that must not go", runs).await;
    site.change_pool("alpha", &json!({"spec": {"replicas": 0}})).await;
    site.change_pool("beta", &to_release(AHEAD)).await;
    let message = site.until_condition("beta", "SupportedVersionSkew", "False").await;
    assert!(message.contains("Nodes do not roll"), "{message}");
    site.until_nodes("alpha", PLANE, 0).await;
    let events: Api<Event> = Api::namespaced(site.users.client.clone(), &control_plane_namespace(NAME));
    let told = async || {
        let all = events.list(&ListParams::default()).await.unwrap().items;
        let is_it = |event: &Event| {
            let message = event.message.as_deref().unwrap_or_default();
            event.reason.as_deref() == Some("DrainTimedOut") && message.contains("PodDisruptionBudget default/web")
        };
        all.iter().any(is_it).then_some(())
    };
    site.users.until("an event of the drain that was given up", told).await;
    assert_eq!(site.names("beta").await, beta);
}

async fn delete_pools(site: &Site) {
    for name in ["alpha", "beta"] {
        site.pools().delete(name, &DeleteParams::default()).await.unwrap();
    }
    let gone = async || {
        let is_none = site
            .pools()
            .list(&ListParams::default())
            .await
            .unwrap()
            .items
            .is_empty();
        (is_none && site.nodes().await?.is_empty()).then_some(())
    };
    site.users.until("the end of all pools and nodes", gone).await;
}

async fn create<K>(api: &Api<K>, manifest: Value)
where
    K: Resource + Clone + Debug + Serialize + DeserializeOwned,
{
    let object = hyperplane_objects::read(manifest).unwrap();
    api.create(&PostParams::default(), &object).await.unwrap();
}
