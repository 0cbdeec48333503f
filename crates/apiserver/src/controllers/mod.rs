//! What the server does by itself: it collects garbage, ends namespaces, serves definitions. Each controller is an
//! observer, which notes with every commit what has to be looked at, and a loop, which looks at it.

mod certificates;
pub(crate) mod conditions;
pub(crate) mod definitions;
mod dependents;
mod expiry;
mod garbage;
mod names;
mod namespaces;
mod pending;
pub(crate) mod protection;
mod roles;

use std::sync::Arc;

use hyperplane_access::signing::SigningAuthority;
use hyperplane_seams::Clock;
use hyperplane_store::Observer;
use hyperplane_wire::Failure;
use serde_json::Value;

use self::{
    certificates::Certificates, definitions::Definitions, dependents::Dependents, expiry::Expiry,
    namespaces::Namespaces, protection::Protection, roles::Roles,
};
use crate::{call::Call, core::Core, object::Object, ownership, registry::Registry, verbs::modify::Modification};

/// What controllers have noted.
pub(crate) struct Observers {
    pub definitions: Arc<Definitions>,
    certificates: Arc<Certificates>,
    dependents: Arc<Dependents>,
    expiry: Arc<Expiry>,
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
    /// Who signs certificates; without it none are.
    pub authority: Option<SigningAuthority>,
}

/// Runs all controllers for ever.
pub(crate) async fn run(core: &Core, observers: &Observers, means: &Means) {
    tokio::join!(
        certificates::run(core, &observers.certificates, means.authority.as_ref()),
        expiry::run(core, &observers.expiry),
        protection::run(core, &observers.protection),
        roles::run(core, &observers.roles),
        definitions::run(core, &observers.definitions),
        garbage::run(core, &observers.dependents),
        namespaces::run(core, &observers.namespaces, &means.root_certificates),
    );
}

/// Changes an object in the name of the server.
async fn change(core: &Core, call: &Call, change: &(dyn Fn(&mut Value) + Send + Sync)) -> Result<(), Failure> {
    let next = |old: Option<&Value>| {
        let old = old.ok_or_else(|| call.not_found())?;
        let mut object = old.clone();
        change(&mut object);
        Ok(ownership::record_update(core, call, Some(old), object))
    };
    let modification = Modification {
        uid: None,
        creates: false,
        next: &next,
    };
    core.modify(call, &modification).await.map(|_| ())
}
