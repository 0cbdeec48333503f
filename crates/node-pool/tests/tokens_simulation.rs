//! The tokens of a pool over a day, between the operator and the embedded API server on virtual time: when they are
//! replaced, and that the metric counts each time once.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails where it stands")]

#[path = "../../machines/tests/simulation/faults.rs"]
mod faults;
#[path = "../../machines/tests/simulation/ground.rs"]
mod ground;
#[path = "support/manifests.rs"]
mod manifests;
#[path = "../../api/tests/support/samples.rs"]
mod samples;

use std::{collections::BTreeMap, time::Duration};

use http::Method;
use hyperplane_api::{
    constants::{
        annotations, groups,
        objects::{bundles, copies, keys},
        ours,
    },
    hypershift::{hosted_cluster::HostedCluster, hosted_control_plane::HostedControlPlane, node_pool::NodePool},
};
use hyperplane_node_pool::{NodePoolSettings, ServedTemplates, manager_rules, register};
use hyperplane_runtime::{Admin, Clock, Entropy, Manager, Settings};
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::{Api, ResourceExt as _};
use serde_json::{Value, json};
use tokio::{sync::watch, time::sleep};
use tokio_util::sync::{CancellationToken, DropGuard};

use self::{
    faults::with_lag,
    ground::{Ground, all, create, delete, patch_status, rule},
};

/// The namespace of the control plane.
const PLANE: &str = "clusters-blue";
const HALF_AN_HOUR: Duration = Duration::from_mins(30);

/// A management cluster with one pool, and the operator at work on it.
struct World {
    ground: Ground,
    admin: Admin,
    /// The operator hears of Secrets only later while this is so.
    lag: watch::Sender<bool>,
    _stop: DropGuard,
}

impl World {
    async fn new() -> Self {
        let clock = Clock::anchored("2027-01-15T08:00:00Z".parse().unwrap());
        let ground = Ground::new(&clock).await;
        prepare(&ground).await;
        let mut rules = manager_rules();
        let every = ["create", "delete", "get", "list", "patch", "update", "watch"];
        rules.push(rule(&["configmaps", "secrets"], &every));
        let (lag, is_lagging) = watch::channel(false);
        let client = with_lag(ground.manager(rules).await, "secrets", is_lagging);
        let mut manager = Manager::new(client, Settings::new("hyperplane", "test", clock, 1));
        let settings = NodePoolSettings {
            served: ServedTemplates::ALL,
            entropy: Entropy::seeded(7),
            boot_image: None,
        };
        register(&mut manager, settings);
        let (admin, stop) = (manager.admin(), CancellationToken::new());
        let run = manager.run(stop.clone());
        tokio::spawn(async move { run.await.unwrap() });
        let world = Self {
            ground,
            admin,
            lag,
            _stop: stop.drop_guard(),
        };
        sleep(Duration::from_mins(1)).await;
        world
    }

    fn secrets(&self) -> Api<Secret> {
        Api::namespaced(self.ground.admin.clone(), PLANE)
    }

    /// The Secret of the one token that there is.
    async fn token(&self) -> Secret {
        let mut secrets = all(&self.secrets()).await;
        secrets.retain(|secret| annotations::IGNITION_CONFIG.is_true(secret));
        assert_eq!(secrets.len(), 1, "{secrets:?}");
        secrets.remove(0)
    }

    /// What the metric says.
    fn rotations(&self) -> u64 {
        let page = self.admin.respond(&Method::GET, "/metrics").into_body();
        let mut lines = page.lines();
        let count = lines.find_map(|line| line.strip_prefix("ign_server_token_rotation_total "));
        count.expect("the metric is on the page").parse().unwrap()
    }
}

/// Everything that a pool needs, and the pool.
async fn prepare(ground: &Ground) {
    let groups = [
        groups::HYPERSHIFT,
        groups::HYPERPLANE,
        groups::CLUSTER_API,
        groups::INFRASTRUCTURE,
        groups::AGENT_PROVIDER,
    ];
    let is_needed = |definition: &Value| groups.iter().any(|group| definition["spec"]["group"] == *group);
    ground.define(is_needed).await;
    ground.namespaces(&["clusters", PLANE]).await;
    let admin = &ground.admin;
    let ours = |name: &str| json!({"name": name, "namespace": PLANE, "labels": BTreeMap::from([ours::label()])});
    let pull_secret = json!({"metadata": ours(copies::PULL_SECRET), "stringData": {keys::PULL_SECRET: "{}"}});
    create::<Secret>(admin, Some(PLANE), pull_secret).await;
    let ssh_keys = json!({"metadata": ours(copies::SSH_KEY), "stringData": {keys::SSH_KEY: "ssh-ed25519 AAAA a@b"}});
    create::<Secret>(admin, Some(PLANE), ssh_keys).await;
    let authority = json!({"metadata": ours(bundles::IGNITION), "data": {keys::CA_CERTIFICATE: "certificate"}});
    create::<ConfigMap>(admin, Some(PLANE), authority).await;
    create::<HostedControlPlane>(admin, Some(PLANE), manifests::control_plane()).await;
    let cluster = manifests::cluster(&json!({"metadata": {"uid": null}}));
    create::<HostedCluster>(admin, Some("clusters"), cluster.clone()).await;
    let clusters: Api<HostedCluster> = Api::namespaced(admin.clone(), "clusters");
    patch_status(&clusters, "blue", cluster["status"].clone()).await;
    let pool = manifests::pool(&json!({"metadata": {"uid": null, "generation": null}}));
    create::<NodePool>(admin, Some("clusters"), pool).await;
}

fn text(secret: &Secret, key: &str) -> Option<String> {
    let value = secret.data.as_ref()?.get(key)?;
    Some(String::from_utf8(value.0.clone()).unwrap())
}

#[tokio::test(start_paused = true)]
async fn every_token_of_a_day_is_counted_once() {
    let world = World::new().await;
    assert_eq!(world.rotations(), 0, "the first takes nobody's place");
    let mut tokens = vec![text(&world.token().await, keys::TOKEN).unwrap()];
    for half_hours in 1..=48_u64 {
        sleep(HALF_AN_HOUR).await;
        let secret = world.token().await;
        let token = text(&secret, keys::TOKEN).unwrap();
        if tokens.last() != Some(&token) {
            assert_eq!(text(&secret, keys::OLD_TOKEN), tokens.last().cloned());
            tokens.push(token);
        }
        assert_eq!(world.rotations(), half_hours / 11, "after {half_hours} half hours");
        assert_eq!(tokens.len() as u64, 1 + half_hours / 11);
    }
    assert_eq!(world.ground.refusals(), [""; 0]);
}

/// The operator looks again before it sees what it wrote: the token that it replaced seems to be there, and due.
#[tokio::test(start_paused = true)]
async fn a_token_that_seems_to_be_due_again_is_neither_replaced_nor_counted_twice() {
    let world = World::new().await;
    let first = text(&world.token().await, keys::TOKEN);
    sleep(10 * HALF_AN_HOUR).await;
    world.lag.send_replace(true);
    let position = world.ground.position();
    sleep(2 * HALF_AN_HOUR).await;
    let secret = world.token().await;
    let name = secret.name_any();
    let refused = format!("\"patch\" \"secrets\" null \"{name}\" 409");
    let writes = world.ground.writes_since(position);
    assert!(writes.contains(&refused), "it was to look again: {writes:?}");
    assert_eq!(text(&secret, keys::OLD_TOKEN), first);
    assert_eq!(world.rotations(), 1);
    world.lag.send_replace(false);
    sleep(2 * HALF_AN_HOUR).await;
    assert_eq!(world.token().await.data, secret.data);
    assert_eq!(world.rotations(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_token_that_somebody_took_away_is_made_anew_and_not_counted() {
    let world = World::new().await;
    let first = world.token().await;
    delete(&world.secrets(), &first.name_any()).await;
    sleep(Duration::from_mins(1)).await;
    let second = world.token().await;
    assert_ne!(text(&second, keys::TOKEN), text(&first, keys::TOKEN));
    assert_eq!(text(&second, keys::OLD_TOKEN), None);
    assert_eq!(world.rotations(), 0);
}
