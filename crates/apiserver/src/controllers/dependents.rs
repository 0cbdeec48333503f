//! Who depends on whom, kept up to date by every commit, and what the garbage collector has to look at because of it.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, PoisonError},
};

use hyperplane_store::{Entry, Event, EventKind, Key, Observer, Snapshot};
use tokio::sync::Notify;

use crate::{
    object::Object,
    verbs::delete::{FOREGROUND, ORPHAN},
};

/// The index of dependents and the queue of work.
#[derive(Debug, Default)]
pub(crate) struct Dependents {
    state: Mutex<State>,
    wake: Notify,
}

#[derive(Debug, Default)]
struct State {
    /// Dependents by the uid of an owner.
    by_owner: BTreeMap<Box<str>, BTreeSet<Key>>,
    /// Objects that wait for the collector before they can go, by uid.
    waiting: BTreeMap<Box<str>, Key>,
    /// What the collector has to look at.
    pending: BTreeSet<Key>,
}

impl Dependents {
    /// The next thing to look at; waits for one.
    pub(crate) async fn next(&self) -> Key {
        loop {
            let woken = self.wake.notified();
            if let Some(key) = self.state().pending.pop_first() {
                return key;
            }
            woken.await;
        }
    }

    /// Looks at something again.
    pub(crate) fn again(&self, key: Key) {
        self.state().pending.insert(key);
        self.wake.notify_one();
    }

    /// The dependents of an owner.
    pub(crate) fn of(&self, uid: &str) -> Vec<Key> {
        self.state().by_owner.get(uid).into_iter().flatten().cloned().collect()
    }

    /// Whether an owner has dependents.
    pub(crate) fn has(&self, uid: &str) -> bool {
        self.state().by_owner.contains_key(uid)
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Observer<Object> for Dependents {
    fn reset(&self, snapshot: &Snapshot<Object>) {
        let mut state = State::default();
        for collection in snapshot.collections() {
            for entry in snapshot.range(collection, None, None) {
                state.put(None, entry);
            }
        }
        *self.state() = state;
        self.wake.notify_one();
    }

    fn committed(&self, events: &[Arc<Event<Object>>]) {
        let mut state = self.state();
        for event in events {
            match event.kind {
                EventKind::Created | EventKind::Updated => state.put(event.previous.as_deref(), &event.entry),
                EventKind::Deleted => state.delete(&event.entry),
            }
        }
        if !state.pending.is_empty() {
            self.wake.notify_one();
        }
    }
}

impl State {
    fn put(&mut self, previous: Option<&Entry<Object>>, entry: &Entry<Object>) {
        let facts = entry.payload.facts();
        let old_owners = previous.map_or(&[][..], |previous| &previous.payload.facts().owners);
        if old_owners != &*facts.owners {
            for owner in old_owners {
                self.unlink(&owner.uid, &entry.key);
            }
            for owner in &facts.owners {
                self.by_owner
                    .entry(owner.uid.clone())
                    .or_default()
                    .insert(entry.key.clone());
            }
            if !facts.owners.is_empty() {
                self.pending.insert(entry.key.clone());
            }
        }
        let waits = facts.is_deleting
            && facts
                .finalizers
                .iter()
                .any(|name| matches!(&**name, ORPHAN | FOREGROUND));
        if waits {
            self.waiting.insert(facts.uid.clone(), entry.key.clone());
            self.pending.insert(entry.key.clone());
        } else {
            self.waiting.remove(&facts.uid);
        }
    }

    fn delete(&mut self, entry: &Entry<Object>) {
        let facts = entry.payload.facts();
        self.waiting.remove(&facts.uid);
        for owner in &facts.owners {
            self.unlink(&owner.uid, &entry.key);
        }
        let orphans = self.by_owner.get(&facts.uid).into_iter().flatten().cloned();
        self.pending.extend(orphans);
    }

    /// One dependent less, for which its owner may have waited.
    fn unlink(&mut self, owner: &str, key: &Key) {
        if let Some(keys) = self.by_owner.get_mut(owner) {
            keys.remove(key);
            if keys.is_empty() {
                self.by_owner.remove(owner);
            }
        }
        self.pending.extend(self.waiting.get(owner).cloned());
    }
}
