//! A hosted cluster with machines: who may let them in, and what is told of the way between them and their control plane.

use std::time::Duration;

use hyperplane_api::{constants::conditions::hosted_control_plane as types, hypershift::node_pool::NodePool};
use hyperplane_runtime::{Identity, IdentityLayer, IdentityMode};
use hyperplane_twin::{Fault, FaultKind, FaultSelector, Faults, HEARTBEAT};
use k8s_openapi::api::{
    authorization::v1::SelfSubjectAccessReview,
    core::v1::{Node, Pod},
};
use kube::{
    Api, Client, ResourceExt,
    api::{ListParams, LogParams, PostParams},
};
use serde_json::json;

use crate::{
    ground::{Ground, Process, USERS, merge, single},
    manifests::{pool, release},
};

const VERSION: &str = "1.36.4";
/// Both ways between control plane and nodes.
const WAYS: [&str; 2] = [
    types::DATA_PLANE_CONNECTION_AVAILABLE.as_str(),
    types::CONTROL_PLANE_CONNECTION_AVAILABLE.as_str(),
];

/// A cluster with one pool, whose nodes are ready.
async fn with_nodes(ground: &Ground, count: u64) -> Process {
    let operators = ground.start().await;
    let mut manifest = single();
    let platform = json!({"type": "KubeVirt", "kubevirt": {}});
    merge(
        &mut manifest,
        &json!({"spec": {"platform": platform, "release": {"image": release(VERSION)}}}),
    );
    ground.cluster("one", manifest).await;
    ground.until_condition("one", "Available", "True").await;
    // Machines that nothing is heard of are not replaced, so that they can come back.
    let patient = json!({"spec": {"management": {"autoRepair": false}}});
    ground
        .create::<NodePool>(Some(USERS), pool("alpha", VERSION, count, &patient))
        .await;
    let nodes: Api<Node> = Api::all(ground.hosted("one").await);
    let ready = async || {
        let all = nodes.list(&ListParams::default()).await.ok()?.items;
        let is_ready = |node: &Node| {
            let conditions = node.status.iter().flat_map(|status| status.conditions.iter().flatten());
            conditions
                .into_iter()
                .any(|condition| condition.type_ == "Ready" && condition.status == "True")
        };
        (all.len() == usize::try_from(count).unwrap() && all.iter().all(is_ready)).then_some(())
    };
    ground.until("nodes that are ready", ready).await;
    operators
}

#[tokio::test(start_paused = true)]
async fn both_ways_between_control_plane_and_nodes_are_told_of() {
    let faults = Faults::default();
    let ground = Ground::with(81, |settings| {
        settings.machines.heartbeat = Some(HEARTBEAT);
        settings.faults = faults.clone();
    })
    .await;
    let operators = with_nodes(&ground, 2).await;
    for way in WAYS {
        ground.until_condition("one", way, "True").await;
    }
    faults.set(vec![Fault {
        selector: FaultSelector {
            machine: "alpha".to_owned(),
            ..FaultSelector::default()
        },
        kind: FaultKind::Silent {
            from: Duration::ZERO,
            until: None,
        },
    }]);
    let [to_nodes, from_nodes] = WAYS;
    let told = ground.until_condition("one", to_nodes, "False").await;
    assert_eq!(told.reason, "LogsAccessFailed");
    assert!(told.message.contains("10250: i/o timeout"), "{told:?}");
    let told = ground.until_condition("one", from_nodes, "False").await;
    assert_eq!(told.reason, "ConnectionCheckStale");
    faults.set(Vec::new());
    for way in WAYS {
        ground.until_condition("one", way, "True").await;
    }
    operators.stop().await;
}

#[tokio::test(start_paused = true)]
async fn containers_of_both_clusters_have_logs() {
    let ground = Ground::new(82).await;
    let operators = with_nodes(&ground, 1).await;
    let pods: Api<Pod> = Api::namespaced(ground.hosted("one").await, "kube-system");
    let agents = ListParams::default().labels("app=konnectivity-agent");
    let agent = async || {
        let mut all = pods.list(&agents).await.ok()?.items;
        let log = pods.logs(&all.pop()?.name_any(), &LogParams::default()).await.ok()?;
        log.contains("It is ready.").then_some(log)
    };
    let log = ground.until("the log of an agent", agent).await;
    assert!(log.contains("/proxy-agent --logtostderr=true"), "{log}");
    let inside: Api<Pod> = ground.api(Some("clusters-one"));
    let servers = inside
        .list(&ListParams::default().labels("app=kube-apiserver"))
        .await
        .unwrap();
    let container = LogParams {
        container: Some("kube-apiserver".to_owned()),
        tail_lines: Some(1),
        ..LogParams::default()
    };
    let log = inside.logs(&servers.items[0].name_any(), &container).await.unwrap();
    assert!(log.ends_with("It is ready.\n"), "{log}");
    operators.stop().await;
}

/// The account of the approver in a hosted cluster, and what it is needed for there: everything else fails in silence, or
/// only under load.
#[tokio::test(start_paused = true)]
async fn the_approver_may_do_what_it_does_and_no_more() {
    let ground = Ground::new(83).await;
    // That nodes join shows that requests can be watched and approved.
    let operators = with_nodes(&ground, 1).await;
    let account = Identity::new("kube-system", "machine-approver").unwrap();
    let administrator = ground.hosted("one").await;
    let approver = IdentityLayer::new(account, IdentityMode::Impersonation).around(&administrator);
    let certificates = "certificates.k8s.io";
    let requests = "certificatesigningrequests";
    let (client, serving) = (
        "kubernetes.io/kube-apiserver-client-kubelet",
        "kubernetes.io/kubelet-serving",
    );
    let mut needs = Vec::new();
    for verb in ["get", "list", "watch"] {
        needs.push((certificates, requests, "", verb, ""));
        needs.push(("", "nodes", "", verb, ""));
    }
    for verb in ["patch", "update"] {
        needs.push((certificates, requests, "approval", verb, ""));
    }
    for signer in [client, serving] {
        needs.push((certificates, "signers", "", "approve", signer));
    }
    for verb in ["create", "patch"] {
        needs.push(("", "events", "", verb, ""));
        needs.push(("events.k8s.io", "events", "", verb, ""));
    }
    for need in needs {
        assert!(may(&approver, need).await, "{need:?}");
    }
    for other in [
        (certificates, requests, "", "create", ""),
        (certificates, requests, "", "delete", ""),
        (
            certificates,
            "signers",
            "",
            "approve",
            "kubernetes.io/kube-apiserver-client",
        ),
        (certificates, "signers", "", "sign", client),
        ("", "nodes", "", "patch", ""),
        ("", "secrets", "", "get", ""),
    ] {
        assert!(!may(&approver, other).await, "{other:?}");
    }
    operators.stop().await;
}

type Need<'a> = (&'a str, &'a str, &'a str, &'a str, &'a str);

async fn may(client: &Client, (group, resource, subresource, verb, name): Need<'_>) -> bool {
    let attributes =
        json!({"group": group, "resource": resource, "subresource": subresource, "verb": verb, "name": name});
    let review = hyperplane_objects::read(json!({"spec": {"resourceAttributes": attributes}})).unwrap();
    let reviews: Api<SelfSubjectAccessReview> = Api::all(client.clone());
    let review = reviews.create(&PostParams::default(), &review).await.unwrap();
    review.status.unwrap().allowed
}
