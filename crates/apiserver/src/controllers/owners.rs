//! What there is to say about the owners of an object: who is there, who is gone, who waits. Reads; writes nothing.

use std::sync::Arc;

use hyperplane_store::{Entry, Key};

use super::{dependents::Dependents, graph::Wait};
use crate::{
    core::Core,
    object::{Object, Owner},
};

/// The owners of an object.
#[derive(Debug, Default)]
pub(super) struct Owners {
    /// How many are there, and stay, or may be there for all that anybody can tell. Upstream does nothing about an
    /// object with one of those; here it lets at least go of those that are gone, so that none waits for ever.
    pub solid: usize,
    /// Those that are gone.
    pub gone: Vec<Box<str>>,
    /// Those that wait for this object before they go.
    pub waiting: Vec<Box<str>>,
    /// Those that are in another namespace, where they count for nothing.
    pub elsewhere: Vec<Owner>,
}

enum Found {
    Present(Arc<Entry<Object>>),
    Absent,
    /// In another namespace.
    Elsewhere,
    /// The kind is not served.
    Unserved,
    /// The kind lives in namespaces, and the object in none.
    Misplaced,
}

/// Looks for the owners of an object.
pub(super) fn judge(core: &Core, dependents: &Dependents, entry: &Entry<Object>) -> Owners {
    let mut owners = Owners::default();
    for owner in &entry.payload.facts().owners {
        match find(core, dependents, &entry.key, owner) {
            Found::Present(found) if Wait::of(found.payload.facts()) == Some(Wait::Foreground) => {
                owners.waiting.push(owner.uid.clone());
            }
            Found::Present(_) | Found::Misplaced => owners.solid += 1,
            Found::Absent => owners.gone.push(owner.uid.clone()),
            Found::Elsewhere => {
                owners.gone.push(owner.uid.clone());
                owners.elsewhere.push(owner.clone());
            }
            Found::Unserved => {
                owners.solid += 1;
                dependents.graph().add_unresolved(entry.key.clone());
            }
        }
    }
    owners
}

fn find(core: &Core, dependents: &Dependents, dependent: &Key, owner: &Owner) -> Found {
    if dependents.graph().is_gone(&owner.uid) {
        return Found::Absent;
    }
    let registry = core.registry.get();
    let Some(served) = registry.find_kind(&owner.api_version, &owner.kind) else {
        return Found::Unserved;
    };
    let is_namespaced = served.resource.is_namespaced();
    if is_namespaced && dependent.namespace.is_empty() {
        return Found::Misplaced;
    }
    let snapshot = core.store.snapshot();
    let namespace = if is_namespaced { &*dependent.namespace } else { "" };
    let is_owner = |entry: &Entry<Object>| entry.payload.facts().uid == owner.uid;
    if let Some(entry) = snapshot
        .get(&served.key(namespace, &owner.name))
        .filter(|entry| is_owner(entry))
    {
        return Found::Present(Arc::clone(entry));
    }
    let mut all = snapshot.range(&served.resource.collection, None, None);
    if is_namespaced && all.any(|entry| *entry.key.name == *owner.name && is_owner(entry)) {
        return Found::Elsewhere;
    }
    // A uid never comes back: one look is enough for all of its dependents.
    dependents.graph().set_gone(&owner.uid);
    Found::Absent
}
