//! The life of a definition of custom resources: its names are accepted, its resources are served, then it says that it
//! is established; when it goes, its objects go first.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use hyperplane_kinds::custom;
use hyperplane_store::{Change, CommitError, Event, EventKind, Expect, Key, Observer, Operation, Snapshot};
use hyperplane_wire::{Failure, delete_options::DeletionPropagation};
use serde_json::Value;
use tokio::sync::watch;

use super::{
    GATHER, approval,
    conditions::{self, Condition},
    delete, each,
    names::{self, Taken, Verdict},
    pending::{self, Pending},
    publication::{self, PUBLICATIONS, Publication},
};
use crate::{call::Call, core::Core, metadata, object::Object, verbs::create::unavailable};

/// The group of definitions.
pub(crate) const GROUP: &str = "apiextensions.k8s.io";
/// The resource of definitions.
pub(crate) const PLURAL: &str = "customresourcedefinitions";
/// Holds a definition until its objects are gone.
pub(crate) const CLEANUP: &str = "customresourcecleanup.apiextensions.k8s.io";
/// Definitions are looked at one after the other: who comes first gets the name.
const ONE_AT_A_TIME: usize = 1;

/// Which definitions have to be looked at, and what is known of the others.
#[derive(Debug)]
pub(crate) struct Definitions {
    pub(super) collection: Arc<str>,
    state: Mutex<State>,
    pending: Pending<Box<str>>,
    publications: watch::Sender<()>,
}

#[derive(Debug, Default)]
pub(super) struct State {
    /// The names that definitions have, by definition.
    accepted: BTreeMap<Box<str>, Value>,
    /// Definitions that go, by the collection of their objects.
    terminating: BTreeMap<Arc<str>, Box<str>>,
    /// What is served.
    pub published: BTreeMap<Box<str>, Publication>,
}

impl Definitions {
    /// An observer of the collection in which definitions are stored.
    pub(crate) fn new(collection: Arc<str>) -> Self {
        Self {
            collection,
            state: Mutex::default(),
            pending: Pending::default(),
            publications: watch::Sender::new(()),
        }
    }

    /// Tells whenever other resources are served than before.
    pub(super) fn publications(&self) -> watch::Receiver<()> {
        self.publications.subscribe()
    }

    /// Other resources are served than before.
    pub(super) fn tell(&self) {
        self.publications.send_replace(());
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes which names a definition has. When it had others, they are free now.
    pub(super) fn accept(&self, name: &str, accepted: Option<&Value>) {
        let mut state = self.state();
        let before = match accepted {
            Some(accepted) => state.accepted.insert(name.into(), accepted.clone()),
            None => state.accepted.remove(name),
        };
        let is_released = before.is_some_and(|before| names::releases(&before, accepted.unwrap_or(&Value::Null)));
        if !is_released {
            return;
        }
        let others: Vec<Box<str>> = state
            .accepted
            .keys()
            .filter(|other| group(other) == group(name))
            .cloned()
            .collect();
        drop(state);
        self.pending.add(others.into_iter().filter(|other| **other != *name));
    }

    /// Forgets all that is known of a definition that is gone.
    fn forget(&self, name: &str) {
        let mut state = self.state();
        state.published.remove(name);
        state.terminating.retain(|_, definition| **definition != *name);
        drop(state);
        self.accept(name, None);
    }

    fn taken(&self, name: &str) -> Taken {
        let mut taken = Taken::default();
        let state = self.state();
        for (_, accepted) in state.accepted.iter().filter(|(other, _)| group(other) == group(name)) {
            taken.add(accepted);
        }
        taken
    }
}

/// The group of a definition, by its name.
fn group(name: &str) -> &str {
    name.split_once('.').map_or("", |(_, group)| group)
}

impl Observer<Object> for Definitions {
    fn reset(&self, snapshot: &Snapshot<Object>) {
        let definitions = snapshot.range(&self.collection, None, None);
        // What is remembered of a definition that is gone has to go too.
        let remembered = snapshot.range(PUBLICATIONS, None, None);
        self.pending
            .add(definitions.chain(remembered).map(|entry| (*entry.key.name).into()));
    }

    fn committed(&self, events: &[Arc<Event<Object>>]) {
        for event in events {
            let key = &event.entry.key;
            if key.collection == self.collection {
                self.pending.note(event.revision, [(*key.name).into()]);
            } else if event.kind == EventKind::Deleted {
                let name = self.state().terminating.get(&key.collection).cloned();
                self.pending.note_later(event.revision, GATHER, name);
            }
        }
    }
}

/// Looks after definitions for ever.
pub(crate) async fn run(core: &Core, definitions: &Definitions) {
    pending::drive(core, &definitions.pending, ONE_AT_A_TIME, |name| async move {
        look_at(core, definitions, &name).await
    })
    .await;
}

/// Serves what was established before the server was started, so that no client sees it missing.
pub(crate) fn restore(core: &Core, definitions: &Definitions) {
    let snapshot = core.store.snapshot();
    for entry in snapshot.range(&definitions.collection, None, None) {
        let definition = entry.payload.value(entry.revision);
        definitions.accept(
            metadata::text(&definition, "name"),
            Some(&definition["status"]["acceptedNames"]),
        );
        if conditions::is_true(&definition, "Established") {
            publication::restore(core, definitions, &snapshot, &definition);
        }
    }
}

async fn look_at(core: &Core, definitions: &Definitions, name: &str) -> Result<(), Failure> {
    let snapshot = core.store.snapshot();
    let Some(entry) = snapshot.get(&Key::new(Arc::clone(&definitions.collection), "", name)) else {
        return forget(core, definitions, name).await;
    };
    let definition = entry.payload.value(entry.revision);
    definitions.accept(name, Some(&definition["status"]["acceptedNames"]));
    if entry.payload.facts().is_deleting {
        return terminate(core, definitions, &definition).await;
    }
    establish(core, definitions, &definition).await
}

/// Accepts the names, serves the resources, and only then says so.
async fn establish(core: &Core, definitions: &Definitions, definition: &Value) -> Result<(), Failure> {
    let name = metadata::text(definition, "name");
    let verdict = names::judge(definition, &definitions.taken(name));
    let now = metadata::time(core.clock.now());
    let judged = |object: &mut Value| set_status(object, &verdict, &now);
    let mut wanted = definition.clone();
    judged(&mut wanted);
    if conditions::is_true(&wanted, "Established") {
        publication::publish(core, definitions, &wanted).await;
    }
    if wanted["status"] != definition["status"] {
        change(core, name, "status", &judged).await?;
        definitions.accept(name, Some(&verdict.accepted_names));
    }
    Ok(())
}

fn set_status(definition: &mut Value, verdict: &Verdict, now: &str) {
    definition["status"]["acceptedNames"] = verdict.accepted_names.clone();
    let is_established = verdict.is_accepted() || conditions::is_true(definition, "Established");
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
    conditions::set(definition, &[verdict.condition.clone(), established], now);
    if let Some(approval) = approval::judge(definition) {
        conditions::set(definition, &[approval], now);
    }
}

/// Deletes the objects of a definition, then lets go of it.
async fn terminate(core: &Core, definitions: &Definitions, definition: &Value) -> Result<(), Failure> {
    let name = metadata::text(definition, "name");
    if metadata::finalizers(definition).all(|finalizer| finalizer != CLEANUP) {
        return Ok(());
    }
    let collection = custom::collection(definition);
    let has_objects = conditions::is_true(definition, "Established") && !is_built_in(core, &collection);
    if has_objects {
        publication::end(core, definitions, definition).await;
        definitions
            .state()
            .terminating
            .insert(Arc::clone(&collection), name.into());
        let condition = Condition::new(
            "Terminating",
            true,
            "InstanceDeletionInProgress",
            "CustomResource deletion is in progress",
        );
        let now = metadata::time(core.clock.now());
        change(core, name, "status", &|object| {
            conditions::set(object, std::slice::from_ref(&condition), &now);
        })
        .await?;
        delete_all(core, &collection).await?;
        if core.store.snapshot().count(&collection) > 0 {
            return Ok(());
        }
    }
    change(core, name, "", &|object| {
        let kept: Vec<Value> = metadata::finalizers(object)
            .filter(|finalizer| *finalizer != CLEANUP)
            .map(Into::into)
            .collect();
        metadata::set_list(object, "finalizers", kept);
    })
    .await
}

/// Whether a collection is one of ours, whatever a definition says.
fn is_built_in(core: &Core, collection: &str) -> bool {
    core.registry
        .get()
        .all()
        .any(|served| !served.is_custom && *served.resource.collection == *collection)
}

async fn delete_all(core: &Core, collection: &str) -> Result<(), Failure> {
    let Some(served) = core.served_for(collection) else {
        return Ok(());
    };
    let snapshot = core.store.snapshot();
    let living = snapshot
        .range(collection, None, None)
        .filter(|entry| !entry.payload.facts().is_deleting);
    let keys: Vec<Key> = living.map(|entry| entry.key.clone()).collect();
    let served = &served;
    each(keys, |key| async move {
        delete(core, served, &key, DeletionPropagation::Background).await
    })
    .await
}

/// A definition is gone: nothing of it is served, and its names are free.
async fn forget(core: &Core, definitions: &Definitions, name: &str) -> Result<(), Failure> {
    core.registry.replace(|registry| registry.without_definition(name));
    definitions.forget(name);
    definitions.tell();
    let snapshot = core.store.snapshot();
    let mut left: Vec<Key> = snapshot
        .get(&Key::new(PUBLICATIONS, "", name))
        .map(|entry| entry.key.clone())
        .into_iter()
        .collect();
    if !is_built_in(core, name) {
        // A definition is called like the collection of its objects. One that a client wrote in the last moment would
        // show up again with the next definition of this name.
        left.extend(snapshot.range(name, None, None).map(|entry| entry.key.clone()));
    }
    each(left, |key| erase(core, key)).await
}

/// Removes something that no client can reach.
async fn erase(core: &Core, key: Key) -> Result<(), Failure> {
    let operation = Operation {
        key,
        expect: Expect::Any,
        change: Change::Delete,
    };
    match core.commit(operation).await {
        Ok(_) | Err(CommitError::Conflict { .. }) => Ok(()),
        Err(error) => Err(unavailable(&error)),
    }
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
    super::change(core, &Call::internal(&served, "", name, subresource), None, change).await
}
