//! The life of a namespace: it begins with a service account and the certificate of the cluster, and ends when
//! everything in it is gone.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use hyperplane_store::{Event, EventKind, Key, Observer, Snapshot};
use hyperplane_wire::{Failure, Reason, delete_options::DeleteOptions};
use serde_json::{Value, json};
use tokio::sync::Notify;

use super::{
    change,
    conditions::{self, Condition},
};
use crate::{call::Call, core::Core, metadata, object::Object, registry::Served};

/// The collection of namespaces.
pub(crate) const NAMESPACES: &str = "namespaces";
/// The ConfigMap with which pods check who the server is.
const ROOT_CERTIFICATES: &str = "kube-root-ca.crt";
/// What the certificate is for, as upstream says it.
const ROOT_CERTIFICATES_NOTE: &str = "Contains a CA bundle that can be used to verify the kube-apiserver when using \
                                      internal endpoints such as the internal service IP or kubernetes.default.svc. No \
                                      other usage is guaranteed across distributions of Kubernetes clusters.";
/// The finalizer of a namespace, in its specification.
const FINALIZER: &str = "kubernetes";

/// Which namespaces have to be looked at.
#[derive(Debug, Default)]
pub(crate) struct Namespaces {
    state: Mutex<State>,
    wake: Notify,
}

#[derive(Debug, Default)]
struct State {
    active: BTreeSet<Box<str>>,
    pending: BTreeSet<Box<str>>,
}

impl Namespaces {
    /// The next namespace to look at; waits for one.
    async fn next(&self) -> Box<str> {
        loop {
            let woken = self.wake.notified();
            if let Some(name) = self.state().pending.pop_first() {
                return name;
            }
            woken.await;
        }
    }

    /// Looks at a namespace again.
    fn again(&self, name: Box<str>) {
        self.state().pending.insert(name);
        self.wake.notify_one();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Observer<Object> for Namespaces {
    fn reset(&self, snapshot: &Snapshot<Object>) {
        let mut state = State::default();
        for collection in snapshot.collections() {
            for entry in snapshot.range(collection, None, None) {
                state.put(&entry.key, entry.payload.facts().is_deleting);
            }
        }
        *self.state() = state;
        self.wake.notify_one();
    }

    fn committed(&self, events: &[Arc<Event<Object>>]) {
        let mut state = self.state();
        for event in events {
            match event.kind {
                EventKind::Created | EventKind::Updated => {
                    state.put(&event.entry.key, event.entry.payload.facts().is_deleting);
                }
                EventKind::Deleted => state.delete(&event.entry.key),
            }
        }
        if !state.pending.is_empty() {
            self.wake.notify_one();
        }
    }
}

impl State {
    fn put(&mut self, key: &Key, is_deleting: bool) {
        if &*key.collection == NAMESPACES {
            if is_deleting {
                self.active.remove(&*key.name);
            } else {
                self.active.insert((*key.name).into());
            }
            self.pending.insert((*key.name).into());
        } else if !key.namespace.is_empty() && !self.active.contains(&*key.namespace) {
            // Written while the namespace went: it must go too.
            self.pending.insert((*key.namespace).into());
        }
    }

    fn delete(&mut self, key: &Key) {
        if &*key.collection == NAMESPACES {
            self.active.remove(&*key.name);
            self.pending.insert((*key.name).into());
        } else if !key.namespace.is_empty() {
            let is_ours = matches!(&*key.collection, "serviceaccounts" | "configmaps");
            if is_ours || !self.active.contains(&*key.namespace) {
                self.pending.insert((*key.namespace).into());
            }
        }
    }
}

/// Looks after namespaces for ever. `certificates` is the bundle that pods trust.
pub(crate) async fn run(core: &Core, namespaces: &Namespaces, certificates: &str) {
    loop {
        let name = namespaces.next().await;
        match look_at(core, &name, certificates).await {
            Ok(()) => {}
            Err(failure) if matches!(failure.reason, Reason::NotFound | Reason::AlreadyExists) => {}
            Err(failure) => {
                tracing::warn!(error = %failure, namespace = %name, "A namespace was not looked after; it is tried again.");
                tokio::time::sleep(core.limits.retry_pause).await;
                namespaces.again(name);
            }
        }
    }
}

async fn look_at(core: &Core, name: &str, certificates: &str) -> Result<(), Failure> {
    let snapshot = core.store.snapshot();
    match snapshot.get(&Key::new(NAMESPACES, "", name)) {
        None => empty(core, name).await.map(|_| ()),
        Some(entry) if entry.payload.facts().is_deleting => terminate(core, name).await,
        Some(_) => furnish(core, name, certificates).await,
    }
}

/// Gives a namespace what every pod in it needs.
async fn furnish(core: &Core, namespace: &str, certificates: &str) -> Result<(), Failure> {
    let account =
        json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default", "namespace": namespace}});
    ensure(core, "serviceaccounts", account, |_| true).await?;
    let bundle = json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {
            "name": ROOT_CERTIFICATES, "namespace": namespace,
            "annotations": {"kubernetes.io/description": ROOT_CERTIFICATES_NOTE},
        },
        "data": {"ca.crt": certificates},
    });
    ensure(core, "configmaps", bundle, |object| {
        object.pointer("/data/ca.crt") == Some(&json!(certificates))
    })
    .await
}

/// Creates an object of the core group, or puts it right.
async fn ensure(core: &Core, plural: &str, object: Value, is_right: impl Fn(&Value) -> bool) -> Result<(), Failure> {
    let Some(served) = core.registry.get().find("", "v1", plural).cloned() else {
        return Ok(());
    };
    let (namespace, name) = (
        metadata::text(&object, "namespace").to_owned(),
        metadata::text(&object, "name").to_owned(),
    );
    let call = Call::internal(&served, &namespace, &name, "");
    match Core::find(&core.store.snapshot(), &served, &namespace, &name) {
        Some(entry) if is_right(&served.show(&entry, entry.revision)) => Ok(()),
        Some(_) => core.update(&call, object).await.map(|_| ()),
        None => core.create(&call, object).await.map(|_| ()),
    }
}

/// What is left in a namespace.
#[derive(Debug, Default)]
struct Remains {
    /// How many objects, by resource.
    objects: BTreeMap<String, usize>,
    /// How many objects, by the finalizer that holds them.
    finalizers: BTreeMap<String, usize>,
}

/// Deletes everything in a namespace, and says what is left.
async fn empty(core: &Core, namespace: &str) -> Result<Remains, Failure> {
    let registry = core.registry.get();
    let resources: Vec<Arc<Served>> = registry
        .stored()
        .into_iter()
        .filter(|served| served.resource.is_namespaced())
        .cloned()
        .collect();
    let mut remains = Remains::default();
    for served in resources {
        let keys: Vec<Key> = core
            .store
            .snapshot()
            .range(&served.resource.collection, Some(namespace), None)
            .map(|entry| entry.key.clone())
            .collect();
        for key in keys {
            delete(core, &served, &key).await?;
        }
        remains.count(core, &served, namespace);
    }
    Ok(remains)
}

async fn delete(core: &Core, served: &Arc<Served>, key: &Key) -> Result<(), Failure> {
    let call = Call::internal(served, &key.namespace, &key.name, "");
    match core.delete(&call, &DeleteOptions::default()).await {
        Err(failure) if failure.reason == Reason::NotFound => Ok(()),
        other => other.map(|_| ()),
    }
}

impl Remains {
    fn count(&mut self, core: &Core, served: &Served, namespace: &str) {
        let snapshot = core.store.snapshot();
        for entry in snapshot.range(&served.resource.collection, Some(namespace), None) {
            *self
                .objects
                .entry(format!("{}.{}", served.resource.plural, served.resource.group))
                .or_default() += 1;
            for finalizer in &entry.payload.facts().finalizers {
                *self.finalizers.entry(finalizer.to_string()).or_default() += 1;
            }
        }
    }

    fn listed(counts: &BTreeMap<String, usize>, verb: &str) -> String {
        let parts: Vec<String> = counts
            .iter()
            .map(|(name, count)| format!("{name} {verb} {count} resource instances"))
            .collect();
        parts.join(", ")
    }

    /// What the status says about it, in upstream's words.
    fn conditions(&self) -> [Condition; 5] {
        let clear = |kind, reason, message: &str| Condition::new(kind, false, reason, message);
        [
            clear(
                "NamespaceDeletionDiscoveryFailure",
                "ResourcesDiscovered",
                "All resources successfully discovered",
            ),
            clear(
                "NamespaceDeletionGroupVersionParsingFailure",
                "ParsedGroupVersions",
                "All legacy kube types successfully parsed",
            ),
            clear(
                "NamespaceDeletionContentFailure",
                "ContentDeleted",
                "All content successfully deleted, may be waiting on finalization",
            ),
            if self.objects.is_empty() {
                clear(
                    "NamespaceContentRemaining",
                    "ContentRemoved",
                    "All content successfully removed",
                )
            } else {
                let message = format!("Some resources are remaining: {}", Self::listed(&self.objects, "has"));
                Condition::new("NamespaceContentRemaining", true, "SomeResourcesRemain", &message)
            },
            if self.finalizers.is_empty() {
                clear(
                    "NamespaceFinalizersRemaining",
                    "ContentHasNoFinalizers",
                    "All content-preserving finalizers finished",
                )
            } else {
                let message = format!(
                    "Some content in the namespace has finalizers remaining: {}",
                    Self::listed(&self.finalizers, "in")
                );
                Condition::new("NamespaceFinalizersRemaining", true, "SomeFinalizersRemain", &message)
            },
        ]
    }
}

/// Ends a namespace: everything in it goes, then it goes itself.
async fn terminate(core: &Core, namespace: &str) -> Result<(), Failure> {
    let remains = empty(core, namespace).await?;
    let Some(served) = core.registry.get().find("", "v1", NAMESPACES).cloned() else {
        return Ok(());
    };
    let now = metadata::time(core.clock.now());
    change(core, &Call::internal(&served, "", namespace, "status"), &|object| {
        conditions::set(object, &remains.conditions(), &now);
    })
    .await?;
    if !remains.objects.is_empty() {
        return Ok(());
    }
    change(core, &Call::internal(&served, "", namespace, "finalize"), &|object| {
        if let Some(Value::Array(finalizers)) = object.pointer_mut("/spec/finalizers") {
            finalizers.retain(|finalizer| finalizer != FINALIZER);
        }
    })
    .await
}
