//! Machines on another cluster, which is a server of its own: what is kept there, what is told when it refuses, and that
//! neither a life nor an end of a cluster hangs on it.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use http::Request;
use hyperplane_access::User;
use hyperplane_api::{
    cluster_api::machine::Machine,
    hypershift::{hosted_cluster::HostedCluster, hosted_control_plane::HostedControlPlane},
};
use hyperplane_runtime::{BoxError, Reach};
use k8s_openapi::api::{
    core::v1::{Event, Namespace, Node, Secret},
    networking::v1::{NetworkPolicy, ServiceCIDR},
    rbac::v1::{ClusterRole, ClusterRoleBinding, Role, RoleBinding},
};
use kube::{
    Api, Client,
    api::{DeleteParams, ListParams},
    client::Body,
};
use serde_json::{Value, json};
use tokio::time::sleep;
use tower::{Service as _, service_fn};

use crate::world::{HOME, MANAGER, World};

const INSIDE: &str = "clusters-blue";
const MACHINES: &str = "machines";
const POLICY: &str = "virt-launcher-blue-elsewhere";
const CONDITION: &str = "ValidKubeVirtInfraNetworkPolicyRBAC";
const KUBECONFIG: &str = "{apiVersion: v1, kind: Config, current-context: a, \
    contexts: [{name: a, context: {cluster: a, user: a}}], \
    clusters: [{name: a, cluster: {server: 'https://infra.example.com:6443'}}], users: [{name: a, user: {token: t}}]}";

/// How the other cluster is disposed.
#[derive(Clone, Copy)]
enum Mood {
    Answers,
    Refuses,
    Silent,
}

/// The management cluster, the cluster with the machines, and how that one is disposed.
struct Pair {
    world: World,
    infra: World,
    mood: Arc<Mutex<Mood>>,
}

impl Pair {
    async fn new(user: User) -> Self {
        let infra = World::new().await;
        let name = |name: &str| json!({"metadata": {"name": name}});
        infra.create::<Namespace>(None, name(MACHINES)).await;
        let node = json!({"metadata": {"name": "node"}, "spec": {"podCIDR": "10.244.1.0/24",
            "podCIDRs": ["10.244.1.0/24"]}});
        infra.create::<Node>(None, node).await;
        let mood = Arc::new(Mutex::new(Mood::Answers));
        let mut world = World::new().await;
        world.elsewhere = reach(&infra, user, &mood);
        world.secret(HOME, "infra", json!({"kubeconfig": KUBECONFIG})).await;
        Self { world, infra, mood }
    }

    fn set(&self, mood: Mood) {
        *self.mood.lock().unwrap() = mood;
    }

    async fn cluster(&self) {
        let credentials =
            json!({"infraKubeConfigSecret": {"name": "infra", "key": "kubeconfig"}, "infraNamespace": MACHINES});
        let platform = json!({"type": "KubeVirt", "kubevirt": {"credentials": credentials}});
        let spec = json!({"infraID": "blue-elsewhere", "platform": platform});
        self.world.cluster("blue", json!({"spec": spec})).await;
    }

    async fn policy(&self) -> Option<NetworkPolicy> {
        self.infra.get(MACHINES, POLICY).await
    }

    /// Status and reason of what is told of the policy.
    async fn told(&self) -> (String, String) {
        let mut conditions = self.world.conditions("blue").await;
        let (status, reason, _) = conditions.remove(CONDITION).unwrap();
        (status, reason)
    }

    async fn is_gone(&self) -> bool {
        self.world.get::<HostedCluster>(HOME, "blue").await.is_none()
    }
}

fn told(status: &str, reason: &str) -> (String, String) {
    (status.to_owned(), reason.to_owned())
}

/// The way of the operator, which is one user there.
fn reach(infra: &World, user: User, mood: &Arc<Mutex<Mood>>) -> Reach {
    let (server, mood) = (infra.server.in_process(user), Arc::clone(mood));
    let service = service_fn(move |request: Request<Body>| {
        let (mut server, mood) = (server.clone(), *mood.lock().unwrap());
        async move {
            match mood {
                Mood::Answers => server.call(request).await.map_err(BoxError::from),
                Mood::Refuses => Err("connection refused".into()),
                Mood::Silent => std::future::pending().await,
            }
        }
    });
    let client = Client::new(service, "default");
    Reach::by(move |config| {
        assert_eq!(config.cluster_url.host(), Some("infra.example.com"));
        Ok(client.clone())
    })
}

fn operator() -> User {
    User::service_account(MANAGER.0, MANAGER.1, "1234")
}

fn closed(policy: NetworkPolicy) -> Vec<String> {
    let rules = policy.spec.unwrap().egress.unwrap().into_iter();
    let peers = rules.flat_map(|rule| rule.to.unwrap_or_default());
    peers.filter_map(|peer| peer.ip_block?.except).flatten().collect()
}

#[tokio::test(start_paused = true)]
async fn the_policy_is_where_the_machines_are_and_stays_as_it_is_to_be() {
    let pair = Pair::new(operator()).await;
    pair.cluster().await;
    let process = pair.world.start();
    pair.world.settle().await;
    assert_eq!(closed(pair.policy().await.unwrap()), ["10.96.0.0/12", "10.244.1.0/24"]);
    assert_eq!(pair.told().await, told("True", "AsExpected"));
    assert!(pair.world.get::<NetworkPolicy>(INSIDE, "virt-launcher").await.is_none());
    assert_eq!(pair.world.refusals(), [] as [&str; 0]);

    let (here, there) = (pair.world.position(), pair.infra.position());
    sleep(Duration::from_hours(5)).await;
    process.stop().await;
    let process = pair.world.start();
    sleep(Duration::from_hours(1)).await;
    assert_eq!(pair.world.writes_since(here), [] as [&str; 0]);
    assert_eq!(pair.infra.writes_since(there), [] as [&str; 0]);

    pair.infra.delete::<NetworkPolicy>(MACHINES, POLICY).await;
    sleep(Duration::from_mins(6)).await;
    assert!(pair.policy().await.is_some());
    let opened = json!({"spec": {"egress": [{}]}});
    pair.infra.patch::<NetworkPolicy>(MACHINES, POLICY, opened).await;
    let ranges = json!({"metadata": {"name": "more"}, "spec": {"cidrs": ["10.112.0.0/16"]}});
    pair.infra.create::<ServiceCIDR>(None, ranges).await;
    sleep(Duration::from_mins(6)).await;
    let found = closed(pair.policy().await.unwrap());
    assert_eq!(found, ["10.96.0.0/12", "10.112.0.0/16", "10.244.1.0/24"]);
    process.stop().await;
}

/// Gives a right to a guest of the other cluster.
async fn grant(infra: &World, name: &str, rules: Value) {
    let metadata = json!({"name": name});
    infra
        .create::<ClusterRole>(None, json!({"metadata": metadata, "rules": rules}))
        .await;
    let binding = json!({
        "metadata": metadata,
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name},
        "subjects": [{"kind": "ServiceAccount", "name": "guest", "namespace": MACHINES}],
    });
    infra.create::<ClusterRoleBinding>(None, binding).await;
}

#[tokio::test(start_paused = true)]
async fn rights_that_are_missing_are_told_and_taken_up_when_they_come() {
    let pair = Pair::new(User::service_account(MACHINES, "guest", "1")).await;
    pair.cluster().await;
    let process = pair.world.start();
    pair.world.settle().await;
    let unwritten = told("False", "InfraClusterNetworkPolicyCreateFailed");
    assert_eq!(pair.told().await, unwritten);
    assert!(pair.world.control_plane("blue").await.is_some(), "nothing waits for it");
    let events = pair
        .world
        .api::<Event>(HOME)
        .list(&ListParams::default())
        .await
        .unwrap();
    let is_told = |event: &&Event| event.reason.as_deref() == Some("InsufficientNetworkPolicyRBAC");
    assert_eq!(events.items.iter().filter(is_told).count(), 1);
    let position = pair.world.position();
    sleep(Duration::from_hours(2)).await;
    assert_eq!(pair.world.writes_since(position), [] as [&str; 0]);

    let metadata = json!({"name": "guest", "namespace": MACHINES});
    let verbs = ["get", "create", "patch", "delete"];
    let rules = json!([{"apiGroups": ["networking.k8s.io"], "resources": ["networkpolicies"], "verbs": verbs}]);
    pair.infra
        .create::<Role>(Some(MACHINES), json!({"metadata": metadata, "rules": rules}))
        .await;
    let binding = json!({
        "metadata": metadata,
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "guest"},
        "subjects": [{"kind": "ServiceAccount", "name": "guest", "namespace": MACHINES}],
    });
    pair.infra.create::<RoleBinding>(Some(MACHINES), binding).await;
    sleep(Duration::from_mins(2)).await;
    assert_eq!(closed(pair.policy().await.unwrap()), [] as [&str; 0]);
    assert_eq!(pair.told().await, told("False", "InfraClusterNetworkReadFailed"));

    let list = |group: &str, resource: &str| json!({"apiGroups": [group], "resources": [resource], "verbs": ["list"]});
    let rules = json!([
        list("", "nodes"),
        list("networking.k8s.io", "servicecidrs"),
        list("discovery.k8s.io", "endpointslices"),
    ]);
    grant(&pair.infra, "reader", rules).await;
    sleep(Duration::from_mins(2)).await;
    assert_eq!(closed(pair.policy().await.unwrap()).len(), 2);
    assert_eq!(pair.told().await, told("True", "AsExpected"));

    let bindings: Api<ClusterRoleBinding> = Api::all(pair.infra.client.clone());
    drop(bindings.delete("reader", &DeleteParams::default()).await.unwrap());
    sleep(Duration::from_mins(7)).await;
    assert_eq!(pair.told().await, told("False", "InfraClusterNetworkReadFailed"));
    let found = closed(pair.policy().await.unwrap());
    assert_eq!(found.len(), 2, "what is closed stays closed");
    process.stop().await;
}

#[tokio::test(start_paused = true)]
async fn what_somebody_else_made_is_neither_changed_nor_removed() {
    let pair = Pair::new(operator()).await;
    let theirs = json!({"metadata": {"name": POLICY}, "spec": {"podSelector": {}, "policyTypes": ["Ingress"]}});
    pair.infra.create::<NetworkPolicy>(Some(MACHINES), theirs).await;
    let before = pair.policy().await;
    pair.cluster().await;
    let process = pair.world.start();
    pair.world.settle().await;
    assert_eq!(
        pair.told().await,
        told("False", "InfraClusterNetworkPolicyCreateFailed")
    );
    pair.world.delete::<HostedCluster>(HOME, "blue").await;
    sleep(Duration::from_mins(5)).await;
    assert!(pair.is_gone().await);
    assert_eq!(pair.policy().await, before);
    process.stop().await;
}

#[tokio::test(start_paused = true)]
async fn the_policy_outlives_the_machines_and_goes_before_the_credentials() {
    let pair = Pair::new(operator()).await;
    pair.cluster().await;
    let process = pair.world.start();
    pair.world.settle().await;
    let machine = json!({"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Machine",
        "metadata": {"name": "worker-1", "namespace": INSIDE, "finalizers": ["example.com/held"]},
        "spec": {"clusterName": "blue-elsewhere", "bootstrap": {"dataSecretName": "data"}, "infrastructureRef":
            {"apiGroup": "infrastructure.cluster.x-k8s.io", "kind": "KubevirtMachine", "name": "worker-1"}}});
    pair.world.create::<Machine>(Some(INSIDE), machine).await;
    pair.world.delete::<HostedCluster>(HOME, "blue").await;
    sleep(Duration::from_mins(5)).await;
    assert!(pair.policy().await.is_some(), "a machine is left");
    // The user takes the original away; the copy is enough.
    pair.world.delete::<Secret>(HOME, "infra").await;
    pair.set(Mood::Refuses);
    let let_go = json!({"metadata": {"finalizers": null}});
    pair.world.patch::<Machine>(INSIDE, "worker-1", let_go).await;
    sleep(Duration::from_mins(3)).await;
    let conditions = pair.world.conditions("blue").await;
    let (_, reason, message) = &conditions["Progressing"];
    assert_eq!(reason, "Deleting");
    assert!(
        message.contains("the cluster with the machines") && message.contains("refused"),
        "{message}"
    );
    assert_eq!(
        pair.told().await,
        told("Unknown", "InfraClusterNetworkPolicyCreateFailed")
    );
    let copy = pair.world.get::<Secret>(INSIDE, "kubevirt-infra-credentials").await;
    assert!(copy.is_some(), "it is needed yet");
    process.crash().await;
    pair.set(Mood::Answers);
    let process = pair.world.start();
    sleep(Duration::from_mins(5)).await;
    assert!(pair.is_gone().await && pair.policy().await.is_none());
    assert!(pair.world.namespace(INSIDE).await.is_none());
    process.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_cluster_that_does_not_answer_holds_nothing_up_for_ever() {
    for mood in [Mood::Refuses, Mood::Silent] {
        let pair = Pair::new(operator()).await;
        pair.cluster().await;
        let process = pair.world.start();
        pair.world.settle().await;
        assert!(pair.policy().await.is_some());
        pair.set(mood);
        sleep(Duration::from_mins(7)).await;
        assert_eq!(pair.told().await, told("False", "InfraClusterNetworkReadFailed"));
        pair.world.delete::<HostedCluster>(HOME, "blue").await;
        sleep(Duration::from_mins(5)).await;
        process.crash().await;
        let process = pair.world.start();
        sleep(Duration::from_mins(4)).await;
        assert!(!pair.is_gone().await, "it is asked for ten minutes");
        assert!(pair.world.control_plane("blue").await.is_some());
        sleep(Duration::from_mins(5)).await;
        assert!(pair.is_gone().await);
        assert_eq!(pair.world.ours::<HostedControlPlane>().await, [] as [&str; 0]);
        assert!(pair.policy().await.is_some(), "nobody could take it away");
        process.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_crash_anywhere_leaves_no_policy_behind() {
    let pair = Pair::new(operator()).await;
    for attempt in 0..12_u32 {
        pair.cluster().await;
        // Each gets a little further before its cluster is deleted, and again before it ends.
        cut_short(&pair.world, attempt * 37).await;
        pair.world.delete::<HostedCluster>(HOME, "blue").await;
        cut_short(&pair.world, attempt * 23).await;
        let process = pair.world.start();
        sleep(Duration::from_mins(5)).await;
        assert!(pair.is_gone().await && pair.policy().await.is_none(), "{attempt}");
        process.stop().await;
    }
}

/// Starts a process that crashes after a while.
async fn cut_short(world: &World, pace: u32) {
    let process = world.start();
    for _ in 0..pace {
        tokio::task::yield_now().await;
    }
    sleep(Duration::from_millis(u64::from(pace))).await;
    process.crash().await;
}
