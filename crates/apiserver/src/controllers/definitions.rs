//! The life of a definition of custom resources: its names are accepted, its resources are served, then it says that it
//! is established; when it goes, its objects go first.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use hyperplane_kinds::custom;
use hyperplane_store::{Change, Event, EventKind, Expect, Key, Observer, Operation, Revision, Snapshot};
use hyperplane_wire::{Failure, Reason, delete_options::DeleteOptions};
use serde_json::{Value, json};
use tokio::sync::Notify;

use super::{
    conditions::{self, Condition},
    names,
};
use crate::{call::Call, core::Core, metadata, object::Object, registry::Served};

/// The group of definitions.
pub(crate) const GROUP: &str = "apiextensions.k8s.io";
/// The resource of definitions.
pub(crate) const PLURAL: &str = "customresourcedefinitions";
/// Holds a definition until its objects are gone.
pub(crate) const CLEANUP: &str = "customresourcecleanup.apiextensions.k8s.io";
/// Where the server remembers, for itself, since when a definition is served as it is. No client sees it.
const PUBLICATIONS: &str = "#publications";

/// Which definitions have to be looked at.
#[derive(Debug)]
pub(crate) struct Definitions {
    collection: Arc<str>,
    state: Mutex<State>,
    wake: Notify,
}

#[derive(Debug, Default)]
struct State {
    pending: BTreeSet<Box<str>>,
    /// Definitions that go, by the collection of their objects.
    terminating: BTreeMap<Box<str>, Box<str>>,
    /// The generation that is served.
    published: BTreeMap<Box<str>, i64>,
}

impl Definitions {
    /// An observer of the collection in which definitions are stored.
    pub(crate) fn new(collection: Arc<str>) -> Self {
        Self {
            collection,
            state: Mutex::default(),
            wake: Notify::new(),
        }
    }

    /// The next definition to look at; waits for one.
    async fn next(&self) -> Box<str> {
        loop {
            let woken = self.wake.notified();
            if let Some(name) = self.state().pending.pop_first() {
                return name;
            }
            woken.await;
        }
    }

    fn again(&self, name: Box<str>) {
        self.state().pending.insert(name);
        self.wake.notify_one();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Observer<Object> for Definitions {
    fn reset(&self, snapshot: &Snapshot<Object>) {
        let names = snapshot
            .range(&self.collection, None, None)
            .map(|entry| (*entry.key.name).into());
        self.state().pending.extend(names);
        self.wake.notify_one();
    }

    fn committed(&self, events: &[Arc<Event<Object>>]) {
        let mut state = self.state();
        for event in events {
            let key = &event.entry.key;
            if key.collection == self.collection {
                state.pending.insert((*key.name).into());
                // A name that becomes free may be what another definition waits for.
                if event.kind == EventKind::Deleted {
                    let others: Vec<Box<str>> = state.published.keys().cloned().collect();
                    state.pending.extend(others);
                }
            } else if event.kind == EventKind::Deleted
                && let Some(name) = state.terminating.get(&*key.collection).cloned()
            {
                state.pending.insert(name);
            }
        }
        if !state.pending.is_empty() {
            self.wake.notify_one();
        }
    }
}

/// Looks after definitions for ever.
pub(crate) async fn run(core: &Core, definitions: &Definitions) {
    loop {
        let name = definitions.next().await;
        match look_at(core, definitions, &name).await {
            Ok(()) => {}
            Err(failure) if matches!(failure.reason, Reason::NotFound | Reason::Conflict) => {}
            Err(failure) => {
                tracing::warn!(error = %failure, definition = %name, "A definition was not looked after; it is tried again.");
                tokio::time::sleep(core.limits.retry_pause).await;
                definitions.again(name);
            }
        }
    }
}

/// Serves what was established before the server was started, so that no client sees it missing.
pub(crate) fn restore(core: &Core, definitions: &Definitions) {
    let snapshot = core.store.snapshot();
    for entry in snapshot.range(&definitions.collection, None, None) {
        let definition = entry.payload.value(entry.revision);
        if conditions::is_true(&definition, "Established") {
            let since = published_since(&snapshot, &definition).unwrap_or_else(|| snapshot.revision());
            publish(core, definitions, &definition, since);
        }
    }
}

async fn look_at(core: &Core, definitions: &Definitions, name: &str) -> Result<(), Failure> {
    let snapshot = core.store.snapshot();
    let Some(entry) = snapshot.get(&Key::new(Arc::clone(&definitions.collection), "", name)) else {
        core.registry.replace(|registry| registry.without_definition(name));
        let mut state = definitions.state();
        state.published.remove(name);
        state.terminating.retain(|_, definition| **definition != *name);
        return Ok(());
    };
    let definition = entry.payload.value(entry.revision);
    if entry.payload.facts().is_deleting {
        return terminate(core, definitions, &definition).await;
    }
    establish(core, definitions, &snapshot, &definition).await
}

/// Accepts the names, serves the resources, and only then says so.
async fn establish(
    core: &Core,
    definitions: &Definitions,
    snapshot: &Snapshot<Object>,
    definition: &Value,
) -> Result<(), Failure> {
    let others = snapshot
        .range(&definitions.collection, None, None)
        .map(|entry| entry.payload.value(entry.revision));
    let verdict = names::judge(definition, others);
    let is_established = verdict.is_accepted() || conditions::is_true(definition, "Established");
    if is_established && is_new(definitions, definition) {
        let mut accepted = definition.clone();
        accepted["status"]["acceptedNames"] = verdict.accepted_names.clone();
        publish(core, definitions, &accepted, core.store.snapshot().revision());
        remember(core, definition).await;
    }
    let now = metadata::time(core.clock.now());
    change(core, metadata::text(definition, "name"), "status", &|object| {
        object["status"]["acceptedNames"] = verdict.accepted_names.clone();
        let established = if is_established {
            Condition::new(
                "Established",
                true,
                "InitialNamesAccepted",
                "the initial names have been accepted",
            )
        } else {
            Condition::new("Established", false, "NotAccepted", "not all names are accepted")
        };
        conditions::set(object, &[verdict.condition.clone(), established], &now);
    })
    .await
}

fn is_new(definitions: &Definitions, definition: &Value) -> bool {
    let name = metadata::text(definition, "name");
    definitions.state().published.get(name) != Some(&metadata::generation(definition))
}

/// Serves the versions of a definition from now on.
fn publish(core: &Core, definitions: &Definitions, definition: &Value, since: Revision) {
    let name = metadata::text(definition, "name");
    let resources = match custom::resources(definition) {
        Ok(resources) => resources,
        Err(errors) => {
            let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
            tracing::error!(
                definition = name,
                errors = errors.join("; "),
                "A definition cannot be served: replace it."
            );
            return;
        }
    };
    let is_terminating = metadata::is_deleting(definition);
    let served = resources
        .into_iter()
        .map(|resource| Arc::new(Served::custom(resource, since, is_terminating)))
        .collect();
    core.registry.replace(|registry| registry.with_definition(name, served));
    definitions
        .state()
        .published
        .insert(name.into(), metadata::generation(definition));
}

fn publication_key(definition: &Value) -> Key {
    Key::new(PUBLICATIONS, "", metadata::text(definition, "name"))
}

fn published_since(snapshot: &Snapshot<Object>, definition: &Value) -> Option<Revision> {
    let entry = snapshot.get(&publication_key(definition))?;
    let record = entry.payload.value(entry.revision);
    let is_current = record["of"] == json!([metadata::text(definition, "uid"), metadata::generation(definition)]);
    is_current.then_some(Revision(record["since"].as_u64()?))
}

/// Remembers since when a definition is served, so that objects that were written later need no second look after a
/// restart. When this fails they get one.
async fn remember(core: &Core, definition: &Value) {
    let record = json!({
        "apiVersion": "", "kind": "", "metadata": {},
        "of": [metadata::text(definition, "uid"), metadata::generation(definition)],
        "since": core.store.snapshot().revision().0,
    });
    let operation = Operation {
        key: publication_key(definition),
        expect: Expect::Any,
        change: Change::Put(Object::new(&record)),
    };
    if let Err(error) = core.commit(operation).await {
        tracing::debug!(%error, "The publication of a definition was not remembered.");
    }
}

/// Deletes the objects of a definition, then lets go of it.
async fn terminate(core: &Core, definitions: &Definitions, definition: &Value) -> Result<(), Failure> {
    let name = metadata::text(definition, "name");
    if metadata::finalizers(definition).all(|finalizer| finalizer != CLEANUP) {
        return Ok(());
    }
    publish(core, definitions, definition, core.store.snapshot().revision());
    let collection = custom::collection(definition);
    definitions
        .state()
        .terminating
        .insert((*collection).into(), name.into());
    let served = core
        .registry
        .get()
        .stored()
        .into_iter()
        .find(|served| served.resource.collection == collection)
        .cloned();
    if let Some(served) = served {
        delete_all(core, &served).await?;
    }
    if core.store.snapshot().count(&collection) > 0 {
        let now = metadata::time(core.clock.now());
        let condition = Condition::new(
            "Terminating",
            true,
            "InstanceDeletionInProgress",
            "CustomResource deletion is in progress",
        );
        return change(core, name, "status", &|object| {
            conditions::set(object, std::slice::from_ref(&condition), &now);
        })
        .await;
    }
    change(core, name, "", &|object| {
        let kept: Vec<Value> = metadata::finalizers(object)
            .filter(|finalizer| *finalizer != CLEANUP)
            .map(Into::into)
            .collect();
        metadata::set(object, "finalizers", kept);
    })
    .await
}

async fn delete_all(core: &Core, served: &Arc<Served>) -> Result<(), Failure> {
    let snapshot = core.store.snapshot();
    let keys: Vec<Key> = snapshot
        .range(&served.resource.collection, None, None)
        .map(|entry| entry.key.clone())
        .collect();
    for key in keys {
        let call = Call::internal(served, &key.namespace, &key.name, "");
        match core.delete(&call, &DeleteOptions::default()).await {
            Err(failure) if failure.reason != Reason::NotFound => return Err(failure),
            _ => {}
        }
    }
    Ok(())
}

async fn change(
    core: &Core,
    name: &str,
    subresource: &str,
    change: &(dyn Fn(&mut Value) + Send + Sync),
) -> Result<(), Failure> {
    let Some(served) = core.registry.get().find(GROUP, "v1", PLURAL).cloned() else {
        return Ok(());
    };
    super::change(core, &Call::internal(&served, "", name, subresource), change).await
}
