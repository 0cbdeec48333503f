//! A server on a disk that outlives it: it can be closed, killed and opened again, and counts how often its controllers
//! run. Everything on virtual time and from one seed.

use std::{
    pin::Pin,
    sync::{
        Arc, LazyLock,
        atomic::{AtomicU64, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use hyperplane_access::signing::SigningAuthority;
use hyperplane_apiserver::{
    Entropy, Server, Settings, Shared,
    pki::{Credentials, ServingNames},
};
use hyperplane_seams::Clock;
use hyperplane_store::FaultyDisk;
use secrecy::ExposeSecret;
use serde_json::{Value, json};
use tokio::{task::JoinHandle, time::sleep};
use tokio_util::sync::CancellationToken;

use crate::support::World;

/// Where virtual time begins.
const START: &str = "2026-01-02T03:04:05Z";
/// How long controllers get to do what they have to do: their longest pause, and some.
const PATIENCE: Duration = Duration::from_mins(11);

/// What all servers of the process share.
static SHARED: LazyLock<Shared> = LazyLock::new(Shared::new);

/// How a server ends.
#[derive(Clone, Copy, Debug)]
pub(crate) enum End {
    /// In order.
    Close,
    /// At once; what was written is there.
    Kill,
    /// With the power: of what was not synchronised the seed chooses what is there.
    Power(u64),
}

/// A server and what it stands on.
pub(crate) struct Ground {
    pub(crate) disk: FaultyDisk,
    pub(crate) world: World,
    clock: Clock,
    seed: u64,
    opened: u64,
    authority: bool,
    polls: Arc<AtomicU64>,
    tasks: [JoinHandle<()>; 2],
}

impl Ground {
    /// A server that has just begun.
    pub(crate) async fn new() -> Self {
        Self::seeded(1).await
    }

    /// The same, with another seed.
    pub(crate) async fn seeded(seed: u64) -> Self {
        Self::begin(seed, false).await
    }

    /// A server that signs certificates.
    pub(crate) async fn with_authority() -> Self {
        Self::begin(1, true).await
    }

    async fn begin(seed: u64, authority: bool) -> Self {
        let clock = Clock::anchored(START.parse().unwrap());
        let disk = FaultyDisk::new();
        let polls = Arc::default();
        let (server, tasks) = open(&disk, &clock, seed, authority, &polls);
        server.bootstrap().await.unwrap();
        let world = World { server };
        Self {
            disk,
            world,
            clock,
            seed,
            opened: 0,
            authority,
            polls,
            tasks,
        }
    }

    /// Ends the server and opens it again.
    pub(crate) async fn restart(&mut self, end: End) {
        if matches!(end, End::Close) {
            self.world.server.close();
            sleep(Duration::from_millis(1)).await;
        }
        for task in &mut self.tasks {
            task.abort();
            drop(task.await);
        }
        match end {
            End::Close | End::Kill => self.disk.kill(),
            End::Power(seed) => self.disk.lose_power(seed),
        }
        self.opened += 1;
        let seed = self.seed.wrapping_add(self.opened << 32);
        let (server, tasks) = open(&self.disk, &self.clock, seed, self.authority, &self.polls);
        (self.world.server, self.tasks) = (server, tasks);
        self.world.server.bootstrap().await.unwrap();
    }

    /// Lets controllers do what they have to do.
    pub(crate) async fn settle(&self) {
        sleep(PATIENCE).await;
    }

    /// How often the controllers ran.
    pub(crate) fn polls(&self) -> u64 {
        self.polls.load(Ordering::Relaxed)
    }

    /// The last revision that was written.
    pub(crate) async fn revision(&self) -> u64 {
        let list = self.get("/api/v1/namespaces?limit=1").await.unwrap();
        list["metadata"]["resourceVersion"].as_str().unwrap().parse().unwrap()
    }

    /// GET; none where nothing is.
    pub(crate) async fn get(&self, path: &str) -> Option<Value> {
        let (status, answer) = self.world.get(path).await;
        assert!(matches!(status.as_u16(), 200 | 404), "{path}: {answer:#}");
        (status == 200).then_some(answer)
    }

    /// The names of what is in a collection.
    pub(crate) async fn names(&self, path: &str) -> Vec<String> {
        let list = self.get(path).await.unwrap();
        let items = list["items"].as_array().unwrap().iter();
        items
            .map(|item| item["metadata"]["name"].as_str().unwrap().to_owned())
            .collect()
    }

    /// POST, which must succeed.
    pub(crate) async fn create(&self, path: &str, body: &Value) -> Value {
        let (status, answer) = self.world.post(path, body).await;
        assert_eq!(status, 201, "{path}: {answer:#}");
        answer
    }

    /// A merge patch, which must succeed.
    pub(crate) async fn patch(&self, path: &str, body: &Value) -> Value {
        let (status, answer) = self
            .world
            .send("PATCH", path, "application/merge-patch+json", body.to_string())
            .await;
        assert_eq!(status, 200, "{path}: {answer:#}");
        answer
    }

    /// DELETE, which must succeed.
    pub(crate) async fn delete(&self, path: &str) -> Value {
        self.delete_with(path, "").await
    }

    /// DELETE with a propagation policy.
    pub(crate) async fn delete_with(&self, path: &str, policy: &str) -> Value {
        let body = match policy {
            "" => Bytes::new(),
            policy => Bytes::from(json!({"propagationPolicy": policy}).to_string()),
        };
        let (status, answer) = self.world.send("DELETE", path, "application/json", body).await;
        assert_eq!(status, 200, "{path}: {answer:#}");
        answer
    }

    /// A new namespace.
    pub(crate) async fn namespace(&self, name: &str) -> Value {
        self.create("/api/v1/namespaces", &json!({"metadata": {"name": name}}))
            .await
    }
}

/// The condition of an object, as `status reason: message`.
pub(crate) fn condition(object: &Value, kind: &str) -> String {
    let conditions = object["status"]["conditions"].as_array().into_iter().flatten();
    let found = conditions.into_iter().find(|condition| condition["type"] == kind);
    let text = |condition: &Value, field: &str| condition[field].as_str().unwrap_or_default().to_owned();
    found.map_or_else(String::new, |condition| {
        format!(
            "{} {}: {}",
            text(condition, "status"),
            text(condition, "reason"),
            text(condition, "message")
        )
    })
}

/// A reference to an owner.
pub(crate) fn owner(object: &Value, blocks: bool) -> Value {
    json!({
        "apiVersion": object["apiVersion"], "kind": object["kind"], "name": object["metadata"]["name"],
        "uid": object["metadata"]["uid"], "blockOwnerDeletion": blocks,
    })
}

fn open(
    disk: &FaultyDisk,
    clock: &Clock,
    seed: u64,
    authority: bool,
    polls: &Arc<AtomicU64>,
) -> (Server, [JoinHandle<()>; 2]) {
    let entropy = Entropy::seeded(seed);
    let mut settings = Settings::new(clock.clone(), entropy);
    settings.root_certificates.push_str("the root");
    settings.client_certificates.push_str("the clients");
    if authority {
        let names = ServingNames::of_cluster("10.96.0.1".parse().unwrap());
        let cluster = Credentials::generate(&names, clock.now(), &settings.entropy)
            .unwrap()
            .cluster;
        let authority = SigningAuthority::from_pem(&cluster.certificate, cluster.key.expose_secret());
        settings.authority = Some(authority.unwrap());
    }
    let (server, writer, controllers) = Server::open(&SHARED, settings, disk.clone()).unwrap();
    let controllers = Counted {
        inner: Box::pin(controllers.run(CancellationToken::new())),
        polls: Arc::clone(polls),
    };
    let writer = tokio::spawn(async move { drop(writer.run().await) });
    (server, [writer, tokio::spawn(controllers)])
}

/// A future that counts how often it runs.
struct Counted<F> {
    inner: Pin<Box<F>>,
    polls: Arc<AtomicU64>,
}

impl<F: Future> Future for Counted<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        self.polls.fetch_add(1, Ordering::Relaxed);
        self.inner.as_mut().poll(context)
    }
}
