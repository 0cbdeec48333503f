//! Removes objects that end by themselves. Nothing polls: the next end is slept until.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hyperplane_seams::Clock;
use hyperplane_store::{Event, EventKind, Key, Observer, Snapshot};
use hyperplane_wire::{
    Failure, Reason,
    delete_options::{DeleteOptions, Preconditions},
};
use jiff::Timestamp;
use tokio::sync::Notify;

use super::{
    WIDTH, certificates, lifetimes,
    pending::{self, Pending},
    schedule::Schedule,
};
use crate::{call::Call, core::Core, object::Object};

/// What ends when.
#[derive(Debug)]
pub(crate) struct Expiry {
    clock: Clock,
    ends: Mutex<Schedule<Key, Timestamp>>,
    wake: Notify,
    /// What has ended.
    pending: Pending<Key>,
}

impl Expiry {
    /// Nothing that ends yet.
    pub(crate) fn new(clock: Clock) -> Self {
        Self {
            clock,
            ends: Mutex::default(),
            wake: Notify::new(),
            pending: Pending::default(),
        }
    }

    fn ends(&self) -> MutexGuard<'_, Schedule<Key, Timestamp>> {
        self.ends.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Hands over what has ended, for ever.
    async fn follow(&self) {
        loop {
            let woken = self.wake.notified();
            let now = self.clock.now();
            let first = self.ends().iter().next().cloned();
            match first {
                None => woken.await,
                Some((end, key)) if end <= now => {
                    self.ends().remove(&key);
                    self.pending.add([key]);
                }
                Some((end, _)) => tokio::select! {
                    biased;
                    () = woken => {}
                    () = tokio::time::sleep(end.duration_since(now).unsigned_abs()) => {}
                },
            }
        }
    }
}

impl Observer<Object> for Expiry {
    fn reset(&self, snapshot: &Snapshot<Object>) {
        let mut ends = Schedule::default();
        let now = self.clock.now();
        for collection in [lifetimes::EVENTS, lifetimes::SECRETS, certificates::COLLECTION] {
            for entry in snapshot
                .range(collection, None, None)
                .filter(|entry| lifetimes::may_end(&entry.key))
            {
                if let Some(end) = lifetimes::end(entry, None) {
                    ends.set(entry.key.clone(), lifetimes::at_most(end, now, collection));
                }
            }
        }
        *self.ends() = ends;
        self.wake.notify_one();
    }

    fn committed(&self, events: &[Arc<Event<Object>>]) {
        for event in events.iter().filter(|event| lifetimes::may_end(&event.entry.key)) {
            let key = &event.entry.key;
            let end = match event.kind {
                EventKind::Deleted => None,
                EventKind::Created | EventKind::Updated => lifetimes::end(&event.entry, Some(self.clock.now())),
            };
            match end {
                Some(end) => self.ends().set(key.clone(), end),
                None => self.ends().remove(key),
            }
            self.wake.notify_one();
        }
    }
}

/// Removes what has ended for ever.
pub(crate) async fn run(core: &Core, expiry: &Expiry) {
    let remove = pending::drive(core, &expiry.pending, WIDTH, |key| async move {
        remove(core, expiry, &key).await
    });
    tokio::join!(expiry.follow(), remove);
}

async fn remove(core: &Core, expiry: &Expiry, key: &Key) -> Result<(), Failure> {
    let snapshot = core.store.snapshot();
    let (Some(served), Some(entry)) = (core.served_for(&key.collection), snapshot.get(key)) else {
        return Ok(());
    };
    // It was written meanwhile: then it lives on, and has a new end.
    let lives_on = || expiry.ends().has(key);
    if lives_on() {
        return Ok(());
    }
    let options = DeleteOptions {
        preconditions: Preconditions {
            uid: Some(entry.payload.facts().uid.to_string()),
            resource_version: Some(entry.revision.to_string()),
        },
        ..DeleteOptions::default()
    };
    match core
        .delete(&Call::internal(&served, &key.namespace, &key.name, ""), &options)
        .await
    {
        Err(failure) if failure.reason == Reason::Conflict => Ok(()),
        other => other.map(|_| ()),
    }
}
