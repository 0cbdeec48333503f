//! The controller runner of the whole product, on kube's client and watcher.
//!
//! A [`Manager`] owns the client, the shared watches, the controllers and the lease. A [`Reconciler`] is handed one
//! object at a time and makes the world match it; it never learns why it runs, and may be dropped at any await.
//!
//! - **Watches** are shared: one per kind and selection ([`Watch`]), cached in order ([`Store`]), with indices.
//! - **Triggers** are level-based: a change adds keys to an ordered [`queue`]; nothing is lost, nothing runs twice at
//!   a time, nothing starves, failures back off, wide fan-outs are spread.
//! - **Writes** are server-side applies that are skipped when nothing would change ([`Context::apply`]), and pass a
//!   [`Fence`]: without the lease, caches stay warm and nothing is written.
//! - **Failures** have one table ([`Failure`], [`Disposition`]).
//! - **Time and randomness** are parameters ([`Clock`], [`Settings::seed`]); on paused tokio time, a seed gives the
//!   same trace of requests every time.
//!
//! The crate knows no kind in particular.
//!
//! ```no_run
//! use std::{collections::BTreeMap, sync::Arc};
//!
//! use hyperplane_runtime::{
//!     Clock, Context, Failure, LeaseSettings, Manager, Next, Reconciler, Settings, Store, Watch,
//! };
//! use k8s_openapi::{
//!     api::core::v1::{ConfigMap, Namespace, Secret},
//!     apimachinery::pkg::apis::meta::v1::ObjectMeta,
//! };
//! use kube::{Client, Resource, ResourceExt};
//! use tokio_util::sync::CancellationToken;
//!
//! /// Every namespace gets a ConfigMap that counts its Secrets.
//! struct SecretCount {
//!     secrets: Store<Secret>,
//! }
//!
//! impl Reconciler for SecretCount {
//!     type Object = Namespace;
//!
//!     async fn reconcile(&self, context: &Context, namespace: Arc<Namespace>) -> Result<Next, Failure> {
//!         let count = self.secrets.namespace(namespace.name_any()).all().len();
//!         let report = ConfigMap {
//!             metadata: ObjectMeta {
//!                 name: Some("secret-count".to_owned()),
//!                 namespace: Some(namespace.name_any()),
//!                 labels: Some(BTreeMap::from([("app".to_owned(), "secret-count".to_owned())])),
//!                 owner_references: namespace.controller_owner_ref(&()).map(|owner| vec![owner]),
//!                 ..ObjectMeta::default()
//!             },
//!             data: Some(BTreeMap::from([("count".to_owned(), count.to_string())])),
//!             ..ConfigMap::default()
//!         };
//!         context.apply(&report).await?;
//!         Ok(Next::OnChange)
//!     }
//! }
//!
//! # async fn example(client: Client, now: fn() -> jiff::Timestamp) -> Result<(), hyperplane_runtime::ManagerError> {
//! let mut settings = Settings::new("example", "pod-1", Clock::reading(now), 42);
//! settings.lease = Some(LeaseSettings::new("example-system", "example", "pod-1"));
//! let mut manager = Manager::new(client, settings);
//! let secrets = manager.store(Watch::<Secret>::all().labels("counted=true"));
//! manager
//!     .controller("secret-count", Watch::<Namespace>::all(), SecretCount { secrets })
//!     .owns(Watch::<ConfigMap>::all().labels("app=secret-count"))
//!     .watches(Watch::<Secret>::all().labels("counted=true"), |secret| {
//!         secret.namespace().map(hyperplane_runtime::ObjectKey::cluster).into_iter().collect()
//!     })
//!     .register();
//! let stop = CancellationToken::new();
//! manager.run(stop).await
//! # }
//! ```

mod admin;
mod api;
mod cache;
mod client_service;
pub mod conditions;
mod context;
mod controller;
mod election;
mod endpoint;
mod erased;
mod events;
mod failure;
mod fence;
mod finalizer;
mod groups;
mod identity;
mod inbox;
mod intake;
mod lease;
mod ledger;
mod manager;
mod metrics;
mod object_key;
mod outbound;
mod ownership;
pub mod queue;
mod reach;
mod reconciler;
mod remote;
mod runner;
mod saga;
mod store;
mod stores;
mod tasks;
mod trigger;
mod watch;
mod writer;

pub use admin::Admin;
pub use api::Api;
pub use context::Context;
pub use controller::ControllerBuilder;
pub use events::{EVENT_INTERVAL, EventType};
pub use failure::{BoxError, Disposition, Failure, Meaning};
pub use fence::{Fence, FenceLayer, FenceService, Fenced, Leadership};
// Operators know no crate of the ground but this one.
pub use hyperplane_seams::{Clock, Entropy, Identity, InvalidIdentity, Random};
pub use identity::{IdentityLayer, IdentityMode, IdentityService};
pub use inbox::{ControllerStatus, ObjectStatus};
pub use lease::{LEASE_DURATION, LeaseSettings};
pub use manager::{DRAIN, Manager, ManagerError, Only, Settings};
pub use metrics::Metrics;
pub use object_key::ObjectKey;
pub use outbound::{OutboundLayer, OutboundLimits, OutboundService, TimedOut};
pub use reach::{Reach, ReachError};
pub use reconciler::{Next, Reconciler, gap_of_sum};
pub use remote::{Manifest, Remote};
pub use runner::{CONCURRENCY, DEADLINE, RESYNC};
pub use saga::{Progress, Saga, Step};
pub use store::{NamespaceStore, Store, WatchStatus};
pub use watch::{Scope, Watch};
pub use writer::{Applied, field_manager};
