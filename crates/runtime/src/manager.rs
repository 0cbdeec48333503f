//! The manager: owns the client, the shared watches, the controllers and the lease, and runs them together until it
//! is told to stop. It decides the order of start and shutdown and nothing about any object.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use futures::{FutureExt as _, future::BoxFuture};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::Client;
use thiserror::Error;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use hyperplane_objects::Kind;
use hyperplane_seams::{Clock, Random};

use crate::{
    admin::Admin,
    client_service::wrap,
    context::Context,
    controller::ControllerBuilder,
    events::{self, Publisher, Recorder},
    fence::{Fence, FenceLayer},
    groups::Groups,
    identity::IdentityMode,
    inbox::Inbox,
    lease::{LeaseKeeper, LeaseSettings},
    ledger::Ledger,
    metrics::Metrics,
    outbound::{OutboundLayer, OutboundLimits},
    reconciler::Reconciler,
    runner::Runner,
    store::{SharedStore, Store, lock},
    stores::Stores,
    tasks::Panicked,
    watch::{Selection, Watch},
    writer::{Writer, field_manager},
};

/// How long runs under way may take to finish at shutdown; Kubernetes kills a pod after 30 seconds by default.
pub const DRAIN: Duration = Duration::from_secs(20);
/// Everything that a manager is told from outside.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The product's name: the prefix of every field manager and the source of events.
    pub name: String,
    /// Tells this process from others of the same name; it is part of the names of events.
    pub instance: String,
    /// Wall time.
    pub clock: Clock,
    /// All jitter follows from it.
    pub seed: u64,
    /// The lease to hold before writing; without one this process writes freely.
    pub lease: Option<LeaseSettings>,
    /// How tenants' identities reach the server.
    pub identity_mode: IdentityMode,
    /// What this process may ask of the server.
    pub limits: OutboundLimits,
    /// How long runs may take to finish at shutdown.
    pub drain: Duration,
    /// The objects that this process is for; all of them where nothing is said.
    pub only: Option<Only>,
}

/// Which objects of its controllers a manager is for, where several share a cluster. Those of others are read, and never
/// run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Only {
    /// The annotation that tells.
    pub annotation: &'static str,
    /// The value that it must have.
    pub value: String,
}

impl Only {
    /// Whether metadata of an object say that it is one of those.
    pub fn selects(&self, meta: &ObjectMeta) -> bool {
        let annotations = meta.annotations.as_ref();
        annotations.and_then(|all| all.get(self.annotation)) == Some(&self.value)
    }
}

impl Settings {
    /// Settings with the usual limits, without a lease, for a real cluster.
    pub fn new(name: impl Into<String>, instance: impl Into<String>, clock: Clock, seed: u64) -> Self {
        Self {
            name: name.into(),
            instance: instance.into(),
            clock,
            seed,
            lease: None,
            identity_mode: IdentityMode::Impersonation,
            limits: OutboundLimits::default(),
            drain: DRAIN,
            only: None,
        }
    }
}

/// Why a manager stopped by itself. Both are defects.
#[derive(Debug, Error)]
pub enum ManagerError {
    /// A task that must run for ever ended.
    #[error("{0} ended by itself; the process must be restarted")]
    Ended(String),
    /// A task panicked.
    #[error("{task} panicked: {message}; the process must be restarted")]
    Panicked {
        /// Which one.
        task: String,
        /// What it said.
        message: String,
    },
}

impl From<Panicked> for ManagerError {
    fn from(panicked: Panicked) -> Self {
        Self::Panicked {
            task: panicked.task,
            message: panicked.message,
        }
    }
}

/// Runs controllers. See the crate's description for an example.
pub struct Manager {
    settings: Settings,
    /// As it was given: for the lease, which must not queue behind anything.
    client: Client,
    reader: Client,
    writer: Client,
    fence: Fence,
    metrics: Metrics,
    stores: Arc<Stores>,
    ledger: Arc<Mutex<Ledger>>,
    inboxes: Arc<Mutex<Vec<Arc<Inbox>>>>,
    recorder: Recorder,
    publisher: Publisher,
    watches: Mutex<Vec<(String, BoxFuture<'static, ()>)>>,
    runners: Vec<Runner>,
    started: Instant,
}

impl Manager {
    /// A manager without controllers. Must be called inside a tokio runtime, like everything that makes a client.
    pub fn new(client: Client, settings: Settings) -> Self {
        let fence = match settings.lease {
            Some(_) => Fence::closed(),
            None => Fence::open(),
        };
        let metrics = Metrics::new();
        let outbound = OutboundLayer::new(settings.limits);
        let reader = wrap(&client, &outbound);
        let writer = wrap(&reader, &FenceLayer(fence.clone()));
        let (recorder, publisher) = events::channel(
            writer.clone(),
            settings.clock.clone(),
            &settings.name,
            &settings.instance,
            metrics.clone(),
        );
        Self {
            client,
            reader,
            writer,
            fence,
            metrics,
            stores: Arc::default(),
            ledger: Arc::default(),
            inboxes: Arc::default(),
            recorder,
            publisher,
            watches: Mutex::default(),
            runners: Vec::new(),
            started: Instant::now(),
            settings,
        }
    }

    /// The shared store of a watch; equal watches give the same store.
    pub fn store<K: Kind>(&self, watch: Watch<K>) -> Store<K> {
        let selection = watch.into_selection();
        let description = selection.description();
        self.stores.get_or_insert(&description, |peers| {
            let store = Store::new(description.clone(), &self.settings.name, peers);
            self.add_watch(selection, store.shared().clone(), &description);
            store
        })
    }

    fn add_watch(&self, selection: Selection, store: SharedStore, description: &str) {
        let random = self.random(&format!("watch/{description}"));
        let run = selection.run(self.reader.clone(), store, random, self.metrics.clone());
        lock(&self.watches).push((format!("watch {description}"), Box::pin(run)));
    }

    /// Begins to describe a controller. The name is part of its field manager, `<product>/<name>`, and must stay the
    /// same for ever: fields owned under another name would be nobody's.
    pub fn controller<R: Reconciler>(
        &mut self,
        name: &str,
        watch: Watch<R::Object>,
        reconciler: R,
    ) -> ControllerBuilder<'_, R> {
        ControllerBuilder::new(self, name, watch, reconciler)
    }

    /// Health, metrics and diagnostics as a service from request to response; the binary binds it to a socket.
    pub fn admin(&self) -> Admin {
        Admin::new(
            self.stores.clone(),
            self.inboxes.clone(),
            self.fence.clone(),
            self.metrics.clone(),
        )
    }

    /// The metrics of this manager.
    pub fn metrics(&self) -> Metrics {
        self.metrics.clone()
    }

    /// The right to write, for others in this process that must share it.
    pub fn fence(&self) -> Fence {
        self.fence.clone()
    }

    /// Runs everything until `stop`, then shuts down in order: no new runs, the old ones finish, events are written,
    /// the lease is released. Dropping the future instead is like a crash.
    pub fn run(self, stop: CancellationToken) -> BoxFuture<'static, Result<(), ManagerError>> {
        async move {
            let mut groups = self.start();
            let result = tokio::select! {
                biased;
                () = stop.cancelled() => Ok(()),
                ended = groups.next() => Err(match ended {
                    Ok(name) => ManagerError::Ended(name),
                    Err(panicked) => panicked.into(),
                }),
            };
            groups.shut_down().await;
            result
        }
        .boxed()
    }

    fn start(self) -> Groups {
        let mut groups = Groups::default();
        let watches = self.watches.into_inner().unwrap_or_else(PoisonError::into_inner);
        for (name, run) in watches {
            groups.watches.spawn(name, |_| run);
        }
        let has_controllers = !self.runners.is_empty();
        for runner in self.runners {
            let name = format!("controller {}", runner.inbox.name);
            groups.controllers.spawn(name, |stop| runner.run(stop));
        }
        // Where there are only watches nobody tells anything, and the publisher would end for want of notes.
        if has_controllers {
            groups.events.spawn("events", |stop| self.publisher.run(stop));
        }
        if let Some(lease) = self.settings.lease {
            let keeper = LeaseKeeper::new(lease, self.client, self.settings.clock, self.fence, self.metrics);
            groups.lease.spawn("lease", |stop| keeper.run(stop));
        }
        groups
    }

    pub(crate) fn new_inbox(&self, name: &str) -> Arc<Inbox> {
        let random = self.random(&format!("queue/{name}"));
        let inbox = Arc::new(Inbox::new(name, random, self.metrics.controller(name)));
        lock(&self.inboxes).push(inbox.clone());
        inbox
    }

    pub(crate) fn context(&self, controller: &str) -> Context {
        let writer = Writer {
            client: self.writer.clone(),
            controller: controller.into(),
            field_manager: field_manager(&self.settings.name, controller),
            stores: self.stores.clone(),
            ledger: self.ledger.clone(),
            started: self.started,
            metrics: self.metrics.clone(),
            is_unconfirmed: Arc::default(),
        };
        let clock = self.settings.clock.clone();
        Context::new(clock, self.settings.identity_mode, writer, self.recorder.clone())
    }

    pub(crate) fn recorder(&self) -> Recorder {
        self.recorder.clone()
    }

    /// Jitter for one user, independent of all others.
    pub(crate) fn random(&self, user: &str) -> Random {
        Random::named(self.settings.seed, user)
    }

    pub(crate) fn only(&self) -> Option<Only> {
        self.settings.only.clone()
    }

    pub(crate) const fn drain(&self) -> Duration {
        self.settings.drain
    }

    pub(crate) fn add_runner(&mut self, runner: Runner) {
        self.runners.push(runner);
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use http::{Request, Response};
    use k8s_openapi::api::core::v1::ConfigMap;
    use kube::client::Body;
    use serde_json::json;
    use tower::service_fn;

    use super::*;
    use hyperplane_seams::Identity;

    use crate::fence::Leadership;

    /// Method, impersonated user and body of each request.
    type Log = Arc<Mutex<Vec<(String, String, String)>>>;

    /// A client whose server notes everything, and answers with one ConfigMap or a list of it.
    fn client(log: &Log) -> Client {
        let log = log.clone();
        let service = service_fn(move |request: Request<Body>| {
            let log = log.clone();
            async move {
                let (parts, body) = request.into_parts();
                let user = parts.headers.get("impersonate-user");
                let user = user.map(|user| user.to_str().unwrap().to_owned()).unwrap_or_default();
                let body = String::from_utf8(body.collect_bytes().await.unwrap().to_vec()).unwrap();
                lock(&log).push((parts.method.to_string(), user, body));
                let object = json!({"metadata": {"name": "a", "namespace": "n", "resourceVersion": "1"}});
                let list = json!({"metadata": {"resourceVersion": "1"}, "items": [object]});
                let is_one = parts.uri.path().ends_with("/a");
                let answer = if is_one { object } else { list };
                Ok::<_, Infallible>(Response::new(Body::from(answer.to_string().into_bytes())))
            }
        });
        Client::new(service, "default")
    }

    fn settings(lease: Option<LeaseSettings>) -> Settings {
        let clock = Clock::anchored(jiff::Timestamp::UNIX_EPOCH);
        Settings {
            lease,
            ..Settings::new("test", "one", clock, 1)
        }
    }

    fn config_map() -> ConfigMap {
        hyperplane_objects::read(json!({"metadata": {"name": "a", "namespace": "n"}})).unwrap()
    }

    #[tokio::test(start_paused = true)]
    async fn tenants_are_written_for_in_their_own_name() {
        let log = Log::default();
        let manager = Manager::new(client(&log), settings(None));
        let context = manager.context("widget");
        context.apply(&config_map()).await.unwrap();
        let tenant = context.acting_as(Identity::new("tenant", "control-plane").unwrap());
        tenant.apply(&config_map()).await.unwrap();
        let users: Vec<String> = lock(&log).iter().map(|(_, user, _)| user.clone()).collect();
        assert_eq!(users, ["", "system:serviceaccount:tenant:control-plane"]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_deletion_means_one_object_and_not_its_name() {
        let log = Log::default();
        let context = Manager::new(client(&log), settings(None)).context("widget");
        let mut object = config_map();
        assert!(
            context.delete(&object).await.is_err(),
            "an object that was never read has no uid"
        );
        object.metadata.uid = Some("one".to_owned());
        context.delete(&object).await.unwrap();
        let body: serde_json::Value = serde_json::from_str(&lock(&log)[0].2).unwrap();
        assert_eq!(
            body,
            json!({"propagationPolicy": "Background", "preconditions": {"uid": "one"}})
        );
    }

    #[tokio::test(start_paused = true)]
    async fn without_the_lease_nothing_is_written_on_any_path() {
        let log = Log::default();
        let lease = LeaseSettings::new("system", "test", "one");
        let manager = Manager::new(client(&log), settings(Some(lease)));
        let context = manager.context("widget");
        let tenant = context.acting_as(Identity::new("tenant", "control-plane").unwrap());
        let api: kube::Api<ConfigMap> = kube::Api::namespaced(context.client().clone(), "n");
        assert!(context.apply(&config_map()).await.is_err());
        assert!(tenant.apply(&config_map()).await.is_err());
        assert!(api.delete("a", &kube::api::DeleteParams::default()).await.is_err());
        assert!(lock(&log).is_empty());
        assert!(api.get("a").await.is_ok(), "reading is free");
        assert_eq!(manager.fence().leadership(), Leadership::Unknown);
    }

    #[tokio::test(start_paused = true)]
    async fn a_manager_may_only_watch() {
        let manager = Manager::new(client(&Log::default()), settings(None));
        let store = manager.store(Watch::<ConfigMap>::all());
        let stop = CancellationToken::new();
        let run = manager.run(stop.clone());
        let look = async {
            while !store.is_synced() {
                tokio::task::yield_now().await;
            }
            tokio::time::sleep(Duration::from_hours(1)).await;
            stop.cancel();
        };
        let (ended, ()) = tokio::join!(run, look);
        assert!(ended.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn a_task_that_ends_by_itself_ends_the_manager() {
        let manager = Manager::new(client(&Log::default()), settings(None));
        let store = manager.store(Watch::<ConfigMap>::all());
        store.add_index("broken", |_| panic!("on purpose"));
        let error = manager.run(CancellationToken::new()).await.unwrap_err();
        let expected = "watch /api/v1/configmaps panicked: on purpose; the process must be restarted";
        assert_eq!(error.to_string(), expected);
    }
}
