//! One watch: what it selects, and the loop that feeds a store from kube's `watcher` and outlives every error.
//! Knows nothing of controllers.

use std::{marker::PhantomData, time::Duration};

use futures::{StreamExt, TryStreamExt, stream::BoxStream};
use hyperplane_objects::{Kind, KindNames};
use k8s_openapi::NamespaceResourceScope;
use kube::{
    Api, Client, Resource,
    runtime::watcher::{self, Event, watcher},
};
use tokio::time::Instant;

use hyperplane_seams::Random;

use crate::{
    erased::{RawObject, Watched},
    metrics::Metrics,
    store::SharedStore,
};

/// People hear of a watch that fails from this many failures in a row.
const REPORT_FROM: u32 = 3;
/// The first pause after a failed watch.
const RETRY_BASE: Duration = Duration::from_millis(800);
/// The longest pause; a server that comes back is noticed within this time.
const RETRY_LIMIT: Duration = Duration::from_secs(30);
/// How far a pause moves to either side, in percent.
const RETRY_SPREAD_PERCENT: u32 = 20;
/// A watch that held this long begins again with the first pause.
const HEALTHY_AFTER: Duration = Duration::from_mins(2);

/// What to watch. Equal selections of one kind share one watch per manager.
pub struct Watch<K> {
    selection: Selection,
    kind: PhantomData<fn() -> K>,
}

/// What to watch, without the type of the kind.
#[derive(Clone)]
pub(crate) struct Selection {
    names: KindNames,
    namespace: Option<String>,
    config: watcher::Config,
}

impl<K: Kind> Watch<K> {
    /// All objects of the kind, in all namespaces.
    pub fn all() -> Self {
        Self::within(None)
    }

    fn within(namespace: Option<String>) -> Self {
        Self {
            selection: Selection {
                names: KindNames::of::<K>(),
                namespace,
                config: watcher::Config::default(),
            },
            kind: PhantomData,
        }
    }

    /// Only objects that a label selector matches. Kinds that others fill, such as Secrets, are never watched whole.
    pub fn labels(mut self, selector: &str) -> Self {
        self.selection.config = self.selection.config.labels(selector);
        self
    }

    /// Only objects that a field selector matches.
    pub fn fields(mut self, selector: &str) -> Self {
        self.selection.config = self.selection.config.fields(selector);
        self
    }

    /// Ends and renews the watch after this many seconds; a dead connection is noticed five seconds later.
    pub fn timeout_seconds(mut self, seconds: u32) -> Self {
        self.selection.config = self.selection.config.timeout(seconds);
        self
    }

    pub(crate) fn into_selection(self) -> Selection {
        self.selection
    }
}

impl<K: Kind + Resource<Scope = NamespaceResourceScope>> Watch<K> {
    /// All objects of the kind in one namespace.
    pub fn namespace(namespace: impl Into<String>) -> Self {
        Self::within(Some(namespace.into()))
    }
}

impl Selection {
    /// Kind and selection in one line; it identifies the watch within a manager.
    pub(crate) fn description(&self) -> String {
        let mut text = self.names.url_path(self.namespace.as_deref());
        if self.names.is_metadata_only {
            text.push_str(" (metadata)");
        }
        if let Some(selector) = &self.config.label_selector {
            text.push_str(" labels:");
            text.push_str(selector);
        }
        if let Some(selector) = &self.config.field_selector {
            text.push_str(" fields:");
            text.push_str(selector);
        }
        text
    }

    /// Feeds the store for as long as it is polled.
    pub(crate) async fn run(self, client: Client, store: SharedStore, mut random: Random, metrics: Metrics) {
        let kind = self.names.resource.kind.clone();
        let mut pauses = Pauses::default();
        loop {
            let mut events = self.events(client.clone());
            // Each round of this loop begins with a full list. A stream that ends in good order is resumed by kube at
            // once; where a server ends each one immediately, the outbound rate is what holds us back.
            while let Some(result) = events.next().await {
                match result {
                    Ok(event) => {
                        pauses.note(&event);
                        store.take(event);
                    }
                    Err(error) => {
                        metrics.watch_restarted(&kind);
                        // A server that restarts is back with one of the next attempts.
                        if pauses.failures < REPORT_FROM {
                            tracing::debug!(%kind, error = %error, "Watch failed and will be retried.");
                        } else {
                            tracing::warn!(%kind, error = %error, "Watch failed and will be retried.");
                        }
                        store.note_restart(error.to_string());
                        tokio::time::sleep(pauses.next(&mut random)).await;
                        if is_gone(&error) {
                            break;
                        }
                    }
                }
            }
        }
    }

    /// What kube's watcher tells, with objects as they were sent.
    fn events(&self, client: Client) -> BoxStream<'static, Result<Event<RawObject>, watcher::Error>> {
        let config = self.config.clone();
        if self.names.is_metadata_only {
            let events = watcher(self.api::<true>(client), config);
            events.map_ok(Watched::erase).boxed()
        } else {
            let events = watcher(self.api::<false>(client), config);
            events.map_ok(Watched::erase).boxed()
        }
    }

    fn api<const METADATA_ONLY: bool>(&self, client: Client) -> Api<Watched<METADATA_ONLY>> {
        match &self.namespace {
            Some(namespace) => Api::namespaced_with(client, namespace, &self.names.resource),
            None => Api::all_with(client, &self.names.resource),
        }
    }
}

/// Which namespaces an operator serves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    /// All of them, in one process.
    Everywhere,
    /// One: the operator has rights in no other.
    Namespace(String),
}

impl Scope {
    /// The watch of a kind in these namespaces.
    pub fn watch<K: Kind + Resource<Scope = NamespaceResourceScope>>(&self) -> Watch<K> {
        match self {
            Self::Everywhere => Watch::all(),
            Self::Namespace(namespace) => Watch::namespace(namespace),
        }
    }
}

impl<K> Clone for Watch<K> {
    fn clone(&self) -> Self {
        Self {
            selection: self.selection.clone(),
            kind: PhantomData,
        }
    }
}

/// The growing pauses between attempts.
#[derive(Default)]
struct Pauses {
    failures: u32,
    last: Option<Instant>,
}

impl Pauses {
    /// The start of a list proves nothing: it is announced before the request is made.
    const fn note<K>(&mut self, event: &Event<K>) {
        if !matches!(event, Event::Init) {
            self.failures = 0;
        }
    }

    fn next(&mut self, random: &mut Random) -> Duration {
        if self.last.is_some_and(|last| last.elapsed() > HEALTHY_AFTER) {
            self.failures = 0;
        }
        self.last = Some(Instant::now());
        let pause = (RETRY_BASE * 2_u32.pow(self.failures.min(10))).min(RETRY_LIMIT);
        self.failures += 1;
        random.spread(pause, RETRY_SPREAD_PERCENT)
    }
}

/// A version that is too old may come as the HTTP answer to the watch request. kube's watcher lists again only if it
/// comes inside the stream, and would repeat the same request for ever.
fn is_gone(error: &watcher::Error) -> bool {
    matches!(error, watcher::Error::WatchStartFailed(kube::Error::Api(status)) if status.code == 410)
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::{Node, Pod, Secret};
    use kube::core::PartialObjectMeta;

    use super::*;

    #[test]
    fn descriptions_tell_selections_apart() {
        assert_eq!(Watch::<Node>::all().into_selection().description(), "/api/v1/nodes");
        assert_eq!(
            Watch::<Secret>::namespace("a")
                .labels("x=y")
                .into_selection()
                .description(),
            "/api/v1/namespaces/a/secrets labels:x=y"
        );
        assert_eq!(
            Watch::<PartialObjectMeta<Pod>>::all()
                .fields("spec.nodeName=n")
                .into_selection()
                .description(),
            "/api/v1/pods (metadata) fields:spec.nodeName=n"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn pauses_grow_to_a_limit_and_start_over_after_a_healthy_time() {
        let (mut pauses, mut random) = (Pauses::default(), Random::seeded(1));
        let mut longest = Duration::ZERO;
        for _ in 0..12 {
            longest = longest.max(pauses.next(&mut random));
        }
        assert!(longest > RETRY_LIMIT / 2 && longest <= RETRY_LIMIT * 121 / 100);
        tokio::time::advance(HEALTHY_AFTER * 2).await;
        assert!(pauses.next(&mut random) < Duration::from_secs(1));
    }
}
