//! The ConfigMaps of the system that upstream's API server itself keeps, not its controller manager: by one, servers that
//! extend this one (and the controller manager and the scheduler) check who their clients are; the other says since when
//! the use of old tokens is noted, on which their removal depends.

use std::sync::Arc;

use hyperplane_store::{Event, EventKind, Key, Observer, Snapshot};
use hyperplane_wire::{Failure, Reason};
use jiff::civil::Date;
use serde_json::{Value, json};

use super::{
    Means, furniture,
    namespaces::NAMESPACES,
    pending::{self, Pending},
};
use crate::{core::Core, metadata, object::Object};

const COLLECTION: &str = "configmaps";
const NAMESPACE: &str = "kube-system";
/// By which servers check who their clients are.
const AUTHENTICATION: &str = "extension-apiserver-authentication";
/// Which says since when the use of old tokens is noted.
const TRACKING: &str = "kube-apiserver-legacy-service-account-token-tracking";
const NAMES: [&str; 2] = [AUTHENTICATION, TRACKING];
/// The date in it, such as `2026-01-02`.
const SINCE: &str = "since";

/// Which of the ConfigMaps have to be looked at.
#[derive(Debug, Default)]
pub(crate) struct SystemMaps(Pending<&'static str>);

impl Observer<Object> for SystemMaps {
    fn reset(&self, _: &Snapshot<Object>) {
        self.0.add(NAMES);
    }

    fn committed(&self, events: &[Arc<Event<Object>>]) {
        for event in events {
            let (key, is_new) = (&event.entry.key, event.kind == EventKind::Created);
            if is_new && &*key.collection == NAMESPACES && &*key.name == NAMESPACE {
                self.0.note(event.revision, NAMES);
            } else if !is_new && &*key.collection == COLLECTION && &*key.namespace == NAMESPACE {
                self.0
                    .note(event.revision, NAMES.into_iter().filter(|name| **name == *key.name));
            }
        }
    }
}

/// Keeps the ConfigMaps for ever.
pub(crate) async fn run(core: &Core, maps: &SystemMaps, means: &Means) {
    pending::drive(core, &maps.0, NAMES.len(), |name| async move {
        look_at(core, name, means).await
    })
    .await;
}

async fn look_at(core: &Core, name: &str, means: &Means) -> Result<(), Failure> {
    let snapshot = core.store.snapshot();
    if snapshot.get(&Key::new(NAMESPACES, "", NAMESPACE)).is_none() {
        return Ok(());
    }
    let data = if name == AUTHENTICATION {
        let clients = &means.client_certificates;
        (!clients.is_empty()).then(|| json!({"client-ca-file": clients}))
    } else {
        let found = snapshot.get(&Key::new(COLLECTION, NAMESPACE, name));
        let found = found.map(|entry| entry.payload.value(entry.revision)["data"].take());
        tracking(found, &metadata::time(core.clock.now()))
    };
    let Some(data) = data else {
        return Ok(());
    };
    let map = json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "data": data,
    });
    match furniture::ensure(core, COLLECTION, map).await {
        // The namespace began to go meanwhile. When it is made anew this is looked at again.
        Err(failure) if failure.reason == Reason::Forbidden => Ok(()),
        other => other,
    }
}

/// What the data should be at a time, unless there is a date in it already.
fn tracking(found: Option<Value>, now: &str) -> Option<Value> {
    let mut data = found.filter(Value::is_object).unwrap_or_else(|| json!({}));
    if data[SINCE].as_str().is_some_and(|since| since.parse::<Date>().is_ok()) {
        return None;
    }
    let (today, _) = now.split_once('T').unwrap_or((now, ""));
    data[SINCE] = json!(today);
    Some(data)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_tokens_are_tracked_from_the_first_day_on() {
        let now = "2026-01-02T03:04:05Z";
        let begun = json!({"since": "2026-01-02"});
        assert_eq!(tracking(None, now), Some(begun.clone()));
        assert_eq!(tracking(Some(Value::Null), now), Some(begun));
        assert_eq!(tracking(Some(json!({"since": "2025-12-31"})), now), None);
        assert_eq!(
            tracking(Some(json!({"since": "soon", "mine": "x"})), now),
            Some(json!({"since": "2026-01-02", "mine": "x"}))
        );
    }
}
