//! What the server does by itself: it collects garbage, ends namespaces, serves definitions, signs certificates, fills
//! roles and removes what has ended. Each controller is an observer, which notes with every commit what has to be looked
//! at, and a loop, which looks at it. At rest nothing is written and nothing runs.

mod approval;
mod certificates;
pub(crate) mod conditions;
pub(crate) mod definitions;
mod dependents;
mod expiry;
mod furniture;
mod garbage;
mod graph;
mod lifetimes;
mod names;
mod namespaces;
mod owners;
mod pending;
pub(crate) mod protection;
mod publication;
mod roles;
mod schedule;
mod system_maps;
mod termination;

use std::{sync::Arc, time::Duration};

use futures::{StreamExt, stream};
use hyperplane_access::signing::SigningAuthority;
use hyperplane_seams::Clock;
use hyperplane_store::{Entry, Key, Observer};
use hyperplane_wire::{
    Failure, Reason,
    delete_options::{DeleteOptions, DeletionPropagation},
};
use serde_json::Value;

use self::{
    certificates::Certificates, definitions::Definitions, dependents::Dependents, expiry::Expiry,
    namespaces::Namespaces, protection::Protection, roles::Roles, system_maps::SystemMaps,
};
use crate::{
    call::Call,
    core::Core,
    metadata,
    object::Object,
    ownership,
    registry::{Registry, Served},
    verbs::modify::Modification,
};

/// How many writes a controller has under way: enough to share a synchronisation of the disk, too few to crowd out
/// clients.
const WIDTH: usize = 64;
/// How long changes are gathered before what waits for them is looked at again, so that thousands are a few looks.
const GATHER: Duration = Duration::from_millis(50);

/// What controllers have noted. Clones are of the same notes.
#[derive(Clone)]
pub(crate) struct Observers {
    pub definitions: Arc<Definitions>,
    certificates: Arc<Certificates>,
    dependents: Arc<Dependents>,
    expiry: Arc<Expiry>,
    system_maps: Arc<SystemMaps>,
    namespaces: Arc<Namespaces>,
    protection: Arc<Protection>,
    roles: Arc<Roles>,
}

impl Observers {
    /// Observers that have noted nothing yet.
    pub(crate) fn new(registry: &Registry, clock: &Clock) -> Self {
        let served = registry.find(definitions::GROUP, "v1", definitions::PLURAL);
        let collection = served.map_or_else(
            || definitions::PLURAL.into(),
            |served| Arc::clone(&served.resource.collection),
        );
        Self {
            definitions: Arc::new(Definitions::new(collection)),
            certificates: Arc::default(),
            dependents: Arc::default(),
            expiry: Arc::new(Expiry::new(clock.clone())),
            system_maps: Arc::default(),
            namespaces: Arc::default(),
            protection: Arc::default(),
            roles: Arc::default(),
        }
    }

    /// All of them, for the store.
    pub(crate) fn all(&self) -> Vec<Arc<dyn Observer<Object>>> {
        vec![
            Arc::clone(&self.definitions) as Arc<dyn Observer<Object>>,
            Arc::clone(&self.certificates) as Arc<dyn Observer<Object>>,
            Arc::clone(&self.dependents) as Arc<dyn Observer<Object>>,
            Arc::clone(&self.expiry) as Arc<dyn Observer<Object>>,
            Arc::clone(&self.system_maps) as Arc<dyn Observer<Object>>,
            Arc::clone(&self.protection) as Arc<dyn Observer<Object>>,
            Arc::clone(&self.roles) as Arc<dyn Observer<Object>>,
            Arc::clone(&self.namespaces) as Arc<dyn Observer<Object>>,
        ]
    }
}

/// What controllers are told of the world outside of the store.
pub(crate) struct Means {
    /// The certificates that pods trust, as PEM.
    pub root_certificates: String,
    /// The certificates of those who sign for clients, as PEM; empty where clients have none.
    pub client_certificates: String,
    /// Who signs certificates; without it none are.
    pub authority: Option<SigningAuthority>,
}

/// Runs what upstream's API server does itself, for ever.
pub(crate) async fn run_server(core: &Core, observers: &Observers, means: &Means) {
    tokio::join!(
        expiry::run(core, &observers.expiry),
        definitions::run(core, &observers.definitions),
        system_maps::run(core, &observers.system_maps, means),
    );
}

/// Runs what upstream's controller manager does, for ever.
pub(crate) async fn run_manager(core: &Core, observers: &Observers, means: &Means) {
    tokio::join!(
        certificates::run(core, &observers.certificates, means.authority.as_ref()),
        protection::run(core, &observers.protection),
        roles::run(core, &observers.roles),
        garbage::run(core, &observers.dependents, &observers.definitions),
        namespaces::run(core, &observers.namespaces, means),
    );
}

/// Changes an object in the name of the server; with a uid, only that very object.
async fn change(
    core: &Core,
    call: &Call,
    uid: Option<String>,
    change: &(dyn Fn(&mut Value) + Send + Sync),
) -> Result<(), Failure> {
    let next = |old: Option<&Value>| {
        let old = old.ok_or_else(|| call.not_found())?;
        let mut object = old.clone();
        change(&mut object);
        Ok(ownership::record_update(core, call, Some(old), object))
    };
    let modification = Modification {
        uid,
        creates: false,
        next: &next,
    };
    core.modify(call, &modification).await.map(|_| ())
}

/// Takes a finalizer from that very object.
async fn drop_finalizer(core: &Core, served: &Arc<Served>, entry: &Entry<Object>, name: &str) -> Result<(), Failure> {
    let uid = Some(entry.payload.facts().uid.to_string());
    let call = Call::internal(served, &entry.key.namespace, &entry.key.name, "");
    change(core, &call, uid, &|object| {
        let kept: Vec<Value> = metadata::finalizers(object)
            .filter(|finalizer| *finalizer != name)
            .map(Into::into)
            .collect();
        metadata::set_list(object, "finalizers", kept);
    })
    .await
}

/// Deletes an object in the name of the server.
async fn delete(core: &Core, served: &Arc<Served>, key: &Key, propagation: DeletionPropagation) -> Result<(), Failure> {
    let options = DeleteOptions {
        propagation_policy: Some(propagation),
        ..DeleteOptions::default()
    };
    core.delete(&Call::internal(served, &key.namespace, &key.name, ""), &options)
        .await
        .map(|_| ())
}

/// Does something to each, to several at once. All are tried; of what failed the first is told.
async fn each<T, F>(items: Vec<T>, act: impl Fn(T) -> F) -> Result<(), Failure>
where
    F: Future<Output = Result<(), Failure>>,
{
    let mut results = stream::iter(items).map(act).buffer_unordered(WIDTH);
    let mut outcome = Ok(());
    while let Some(result) = results.next().await {
        outcome = outcome.and(ignore_absent(result));
    }
    outcome
}

/// What is gone needs nothing done to it.
fn ignore_absent(result: Result<(), Failure>) -> Result<(), Failure> {
    match result {
        Err(failure) if failure.reason == Reason::NotFound => Ok(()),
        other => other,
    }
}
