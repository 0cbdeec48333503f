//! The life of one cluster: created as its platform and its wishes ask for, at rest, deleted.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use hyperplane_api::{
    constants::{annotations, ours},
    hyperplane::distribution_release::DistributionRelease,
};
use hyperplane_world::Roles;
use k8s_openapi::api::{apps::v1::Deployment, core::v1::Namespace};
use kube::{Api, ResourceExt as _, api::ListParams};
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::{
    ground::{Ground, USERS, single},
    look::component,
};

const INSIDE: &str = "clusters-one";

/// What works without the API server of its control plane, or before it.
const INDEPENDENT: [&str; 5] = [
    "capi-provider",
    "control-plane-operator",
    "control-plane-pki-operator",
    "ignition-server",
    "router",
];

#[tokio::test(start_paused = true)]
async fn a_cluster_comes_up_in_order_and_rests() {
    let ground = Ground::new(1).await;
    let operators = ground.start().await;
    ground.cluster("one", json!({})).await;
    ground.until_condition("one", "Available", "True").await;
    ground.until_version("one", "1.36.4").await;
    comes_in_order(&ground).await;
    let hosted: Api<Namespace> = Api::all(ground.hosted("one").await);
    assert!(hosted.list(&ListParams::default()).await.unwrap().items.len() > 3);
    sleep(Duration::from_mins(10)).await;
    let mark = ground.written();
    // Longer than it takes until everything is looked at again without a reason.
    sleep(Duration::from_mins(75)).await;
    assert_eq!(ground.since(mark), []);
    operators.stop().await;
    let operators = ground.start().await;
    sleep(Duration::from_mins(5)).await;
    assert_eq!(ground.since(mark), [], "after a restart");
    operators.stop().await;
}

/// etcd is complete before the API server is made, and that before everything that needs it.
async fn comes_in_order(ground: &Ground) {
    let components = ground.components(INSIDE).await;
    let completed = |name: &str| {
        let conditions = &components[name].status.as_ref().unwrap().conditions;
        let complete = conditions
            .iter()
            .find(|found| found.type_ == "RolloutComplete")
            .unwrap();
        assert_eq!(complete.status, "True", "{name}");
        complete.last_transition_time.0
    };
    let deployments: Api<Deployment> = ground.api(Some(INSIDE));
    for deployment in deployments.list(&ListParams::default()).await.unwrap() {
        let name = deployment.name_any();
        let before = match name.as_str() {
            "kube-apiserver" => "etcd",
            name if INDEPENDENT.contains(&name) => continue,
            _ => "kube-apiserver",
        };
        let made = deployment.metadata.creation_timestamp.unwrap().0;
        assert!(completed(before) <= made, "{name} before {before}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_small_cluster_has_one_of_each_and_leaves_nothing_behind() {
    let ground = Ground::new(2).await;
    let before = kept(&ground).await;
    let operators = ground.start().await;
    ground.cluster("one", single()).await;
    ground.until_condition("one", "Available", "True").await;
    ground.until_version("one", "1.36.4").await;
    let mut pods: BTreeMap<String, usize> = BTreeMap::new();
    for pod in ground.pods(INSIDE).await {
        *pods.entry(component(&pod).to_owned()).or_default() += 1;
    }
    assert!(pods.len() > 5 && pods.values().all(|count| *count == 1), "{pods:?}");
    ground.delete("one").await;
    ground.until_gone("one").await;
    sleep(Duration::from_mins(5)).await;
    let after = kept(&ground).await;
    assert_eq!(after.difference(&before).collect::<Vec<_>>(), Vec::<&String>::new());
    operators.stop().await;
}

/// The names of everything that does not go by itself.
pub async fn kept(ground: &Ground) -> BTreeSet<String> {
    let names = ground.everything().await.into_keys();
    names.filter(|name| !name.starts_with("events ")).collect()
}

#[tokio::test(start_paused = true)]
async fn machines_of_every_provider_can_be_asked_for() {
    let image = |name: &str| format!("registry.example.com/{name}:v1");
    let platforms = [
        (
            "KubeVirt",
            json!({"type": "KubeVirt", "kubevirt": {}}),
            annotations::CAPI_PROVIDER_KUBEVIRT_IMAGE,
        ),
        (
            "Agent",
            json!({"type": "Agent", "agent": {"agentNamespace": USERS}}),
            annotations::CAPI_PROVIDER_AGENT_IMAGE,
        ),
    ];
    for (name, platform, provider) in platforms {
        let ground = Ground::new(3).await;
        let operators = ground.start().await;
        // Images that are in no release of the catalogue exist because somebody says so.
        let carried = json!({"manager": {"image": image("manager")}, "provider": {"image": image("provider")}});
        let release = json!({
            "metadata": {"name": "extras"},
            "spec": {"distribution": "extras", "version": "v1.0.0", "kubernetesVersion": "v1.36.4", "components": carried},
        });
        ground.create::<DistributionRelease>(None, release).await;
        let images = json!({
            annotations::CAPI_MANAGER_IMAGE.as_str(): image("manager"),
            provider.as_str(): image("provider"),
        });
        let change = json!({"metadata": {"annotations": images}, "spec": {"platform": platform}});
        ground.cluster("one", combined(&[single(), change])).await;
        ground.until_condition("one", "Available", "True").await;
        ground.until_version("one", "1.36.4").await;
        let components = ground.components(INSIDE).await;
        for expected in ["capi-provider", "machine-approver"] {
            assert!(components.contains_key(expected), "{name}: {expected}");
        }
        assert!(!components.contains_key("cluster-api"), "{name}: its work is ours");
        operators.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn operators_of_its_own_end_where_shared_ones_do() {
    let ground = Ground::new(4).await;
    let manager = ground.start().await;
    let dedicated = json!({"metadata": {"annotations": {ours::TENANT_OPERATORS.as_str(): "dedicated"}}});
    ground.cluster("one", combined(&[single(), dedicated])).await;
    ground
        .until_object::<k8s_openapi::api::core::v1::ServiceAccount>(INSIDE, "control-plane-operator")
        .await;
    let namespace = || INSIDE.to_owned();
    let own = [
        ground.start_roles(Roles::Pki { namespace: namespace() }).await,
        ground
            .start_roles(Roles::Config {
                namespace: namespace(),
                only_release: None,
            })
            .await,
        ground
            .start_roles(Roles::ControlPlane {
                namespace: namespace(),
                only_release: None,
            })
            .await,
    ];
    ground.until_condition("one", "Available", "True").await;
    ground.until_version("one", "1.36.4").await;
    let components = ground.components(INSIDE).await;
    for expected in [
        "control-plane-operator",
        "control-plane-pki-operator",
        "hosted-cluster-config-operator",
    ] {
        assert!(components.contains_key(expected), "{expected}");
    }
    sleep(Duration::from_mins(10)).await;
    let mark = ground.written();
    sleep(Duration::from_mins(20)).await;
    assert_eq!(ground.since(mark), []);
    ground.delete("one").await;
    ground.until_gone("one").await;
    manager.stop().await;
    for process in own {
        process.stop().await;
    }
}

fn combined(changes: &[Value]) -> Value {
    let mut all = json!({});
    for change in changes {
        crate::ground::merge(&mut all, change);
    }
    all
}
