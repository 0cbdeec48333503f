//! Objects that end by themselves: Events after an hour, requests for certificates that are done, and bootstrap tokens.
//! Nothing polls: the next end is slept until.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use hyperplane_seams::Clock;
use hyperplane_store::{Entry, Event, EventKind, Key, Observer, Snapshot};
use hyperplane_wire::{
    Failure, Reason,
    delete_options::{DeleteOptions, Preconditions},
};
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;
use tokio::sync::Notify;

use super::certificates;
use crate::{call::Call, core::Core, metadata, object::Object};

/// How long an Event lives after it was last written (upstream's default).
const EVENT_LIFE: SignedDuration = SignedDuration::from_hours(1);
/// How long a request lives that was approved, denied or failed.
const DECIDED_LIFE: SignedDuration = SignedDuration::from_hours(1);
/// How long a request lives on which nobody decided.
const OPEN_LIFE: SignedDuration = SignedDuration::from_hours(24);
const EVENTS: &str = "events";
const SECRETS: &str = "secrets";

/// What ends when.
#[derive(Debug)]
pub(crate) struct Expiry {
    clock: Clock,
    state: Mutex<State>,
    wake: Notify,
}

#[derive(Debug, Default)]
struct State {
    ends: BTreeMap<Key, Timestamp>,
    by_time: BTreeSet<(Timestamp, Key)>,
}

impl Expiry {
    /// Nothing that ends yet.
    pub(crate) fn new(clock: Clock) -> Self {
        Self {
            clock,
            state: Mutex::default(),
            wake: Notify::new(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next object that has ended; waits for one.
    async fn next(&self) -> Key {
        loop {
            let woken = self.wake.notified();
            let now = self.clock.now();
            let first = self.state().by_time.first().cloned();
            match first {
                Some((end, key)) if end <= now => {
                    self.state().set(&key, None);
                    return key;
                }
                Some((end, _)) => {
                    let left = end.duration_since(now).unsigned_abs();
                    tokio::select! {
                        () = woken => {}
                        () = tokio::time::sleep(left) => {}
                    }
                }
                None => woken.await,
            }
        }
    }
}

impl State {
    fn set(&mut self, key: &Key, end: Option<Timestamp>) {
        if let Some(known) = self.ends.remove(key) {
            self.by_time.remove(&(known, key.clone()));
        }
        if let Some(end) = end {
            self.ends.insert(key.clone(), end);
            self.by_time.insert((end, key.clone()));
        }
    }
}

impl Observer<Object> for Expiry {
    fn reset(&self, snapshot: &Snapshot<Object>) {
        let mut state = State::default();
        for collection in [EVENTS, SECRETS, certificates::COLLECTION] {
            for entry in snapshot.range(collection, None, None) {
                state.set(&entry.key, end(entry, None));
            }
        }
        *self.state() = state;
        self.wake.notify_one();
    }

    fn committed(&self, events: &[Arc<Event<Object>>]) {
        for event in events.iter().filter(|event| is_followed(&event.entry.key)) {
            let end = match event.kind {
                EventKind::Deleted => None,
                EventKind::Created | EventKind::Updated => end(&event.entry, Some(self.clock.now())),
            };
            self.state().set(&event.entry.key, end);
            self.wake.notify_one();
        }
    }
}

fn is_followed(key: &Key) -> bool {
    matches!(&*key.collection, EVENTS | SECRETS | certificates::COLLECTION)
}

/// When an object ends, given when it was written; after a restart that is not known, and its own times count.
fn end(entry: &Entry<Object>, written: Option<Timestamp>) -> Option<Timestamp> {
    let object = || entry.payload.value(entry.revision);
    let after = |begin: Timestamp, life: SignedDuration| begin.saturating_add(life).ok();
    match &*entry.key.collection {
        EVENTS => after(written.or_else(|| last_time(&object()))?, EVENT_LIFE),
        SECRETS => token_end(&object()),
        _ => request_end(&object()),
    }
}

fn last_time(event: &Value) -> Option<Timestamp> {
    let times = [
        &event["series"]["lastObservedTime"],
        &event["lastTimestamp"],
        &event["metadata"]["creationTimestamp"],
    ];
    times.into_iter().filter_map(|time| time.as_str()?.parse().ok()).max()
}

/// The end of a bootstrap token.
fn token_end(secret: &Value) -> Option<Timestamp> {
    if secret["type"] != "bootstrap.kubernetes.io/token" {
        return None;
    }
    let text = BASE64_STANDARD.decode(secret["data"]["expiration"].as_str()?).ok()?;
    std::str::from_utf8(&text).ok()?.parse().ok()
}

fn request_end(request: &Value) -> Option<Timestamp> {
    let created: Timestamp = metadata::text(request, "creationTimestamp").parse().ok()?;
    let conditions = request["status"]["conditions"].as_array().into_iter().flatten();
    let decided = conditions
        .filter_map(|entry| entry["lastUpdateTime"].as_str()?.parse::<Timestamp>().ok())
        .max();
    match decided {
        Some(decided) => decided.saturating_add(DECIDED_LIFE).ok(),
        None => created.saturating_add(OPEN_LIFE).ok(),
    }
}

/// Removes what has ended for ever.
pub(crate) async fn run(core: &Core, expiry: &Expiry) {
    loop {
        let key = expiry.next().await;
        if let Err(failure) = remove(core, &key).await {
            tracing::warn!(error = %failure, object = %key, "An object that has ended was not removed.");
        }
    }
}

async fn remove(core: &Core, key: &Key) -> Result<(), Failure> {
    let Some(served) = core.served_for(&key.collection) else {
        return Ok(());
    };
    let snapshot = core.store.snapshot();
    let Some(entry) = snapshot.get(key) else {
        return Ok(());
    };
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
        // It changed: then it lives on, and has a new end.
        Err(failure) if matches!(failure.reason, Reason::NotFound | Reason::Conflict) => Ok(()),
        other => other.map(|_| ()),
    }
}
