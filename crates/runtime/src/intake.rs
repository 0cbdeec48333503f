//! From what the server sent to what is cached: without the parts that no controller reads, and parsed once however many
//! watches see it.
//! Knows the stores of one kind in one manager.

use std::sync::{Arc, Mutex, RwLock, Weak};

use hyperplane_objects::{Kind, KindNames};
use serde_json::Value;

use crate::{
    cache::{Arrival, Cache},
    erased::{AnyObject, RawObject, ReadObject, read_object},
    object_key::ObjectKey,
    store::{lock, read_lock},
};

/// The annotation in which `kubectl apply` keeps a second copy of the object.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// The caches of one kind in one manager, which share the objects that they have in common.
pub(crate) type Peers = Arc<Mutex<Vec<Weak<RwLock<Cache>>>>>;

/// Reads the objects of one watch.
pub(crate) struct Intake {
    read: ReadObject,
    /// An error may quote a value, and values of a Secret must not reach logs or diagnostics.
    hides_content: bool,
    /// Of `managedFields`, the entries of managers with this prefix are kept.
    keep_manager_prefix: String,
    peers: Peers,
}

impl Intake {
    pub(crate) fn new<K: Kind>(keep_manager_prefix: &str, peers: Peers) -> Self {
        Self {
            read: read_object::<K>,
            hides_content: KindNames::of::<K>().is_secret(),
            keep_manager_prefix: keep_manager_prefix.to_owned(),
            peers,
        }
    }

    /// Has other watches of the kind look into this cache.
    pub(crate) fn join(&self, cache: &Arc<RwLock<Cache>>) {
        lock(&self.peers).push(Arc::downgrade(cache));
    }

    /// The object as it is cached, or why it cannot be read.
    pub(crate) fn take(&self, raw: RawObject) -> Arrival {
        let key = raw.key();
        let object = match self.known(&key, &raw) {
            Some(known) => Ok(known),
            None => self.read(raw.json),
        };
        Arrival { key, object }
    }

    fn read(&self, mut json: Value) -> Result<AnyObject, String> {
        prune(&mut json, &self.keep_manager_prefix);
        (self.read)(&json).map_err(|error| {
            if self.hides_content {
                "it does not fit its type; its content is not shown".to_owned()
            } else {
                error.to_string()
            }
        })
    }

    /// The same version as a cache of the kind has it already: after a restart of the watch most objects are known.
    fn known(&self, key: &ObjectKey, raw: &RawObject) -> Option<AnyObject> {
        lock(&self.peers).iter().find_map(|peer| {
            let peer = peer.upgrade()?;
            let cache = read_lock(&peer);
            let found = cache.get(key)?;
            raw.is_version_of(found.meta()).then(|| found.clone())
        })
    }
}

/// Drops the parts that no controller reads. Of `managedFields` our own entries stay, because they tell whether an apply
/// would change anything; on a busy cluster the foreign ones are half of an object's size.
fn prune(json: &mut Value, keep_manager_prefix: &str) {
    let Some(metadata) = json.get_mut("metadata") else {
        return;
    };
    if let Some(Value::Array(entries)) = metadata.get_mut("managedFields") {
        entries.retain(|entry| {
            let manager = entry["manager"].as_str().unwrap_or_default();
            manager.starts_with(keep_manager_prefix)
        });
    }
    if let Some(Value::Object(annotations)) = metadata.get_mut("annotations") {
        annotations.remove(LAST_APPLIED);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use k8s_openapi::api::core::v1::{ConfigMap, Secret};
    use serde_json::json;

    use super::*;
    use crate::{cache::Update, erased::typed};

    fn intake<K: Kind>(peers: &Peers) -> Intake {
        Intake::new::<K>("ours", peers.clone())
    }

    #[test]
    fn pruning_keeps_our_ownership_and_drops_the_rest() {
        let raw = RawObject::new(json!({"metadata": {
            "name": "a",
            "managedFields": [
                {"manager": "ours/a", "operation": "Apply"}, {"manager": "kubectl", "operation": "Update"}
            ],
            "annotations": {LAST_APPLIED: "{}"},
        }}));
        let object = intake::<ConfigMap>(&Peers::default()).take(raw).object.unwrap();
        let kept = typed::<ConfigMap>(object);
        let managers = kept.metadata.managed_fields.as_ref().unwrap();
        assert_eq!(managers.len(), 1);
        assert_eq!(managers[0].manager.as_deref(), Some("ours/a"));
        assert_eq!(kept.metadata.annotations, Some(BTreeMap::new()));
    }

    #[test]
    fn a_malformed_object_says_why_and_a_malformed_secret_is_not_quoted() {
        let broken = |field: &str| RawObject::new(json!({"metadata": {"name": "a"}, field: "hunter2"}));
        let Err(error) = intake::<ConfigMap>(&Peers::default()).take(broken("data")).object else {
            panic!("it was read");
        };
        assert!(error.contains("invalid type"), "{error}");
        let Err(error) = intake::<Secret>(&Peers::default()).take(broken("stringData")).object else {
            panic!("it was read");
        };
        assert!(!error.contains("hunter2"), "{error}");
    }

    #[test]
    fn one_version_is_read_once_for_all_watches() {
        let raw =
            |version: &str| RawObject::new(json!({"metadata": {"name": "a", "uid": "u", "resourceVersion": version}}));
        let peers = Peers::default();
        let (one, other) = (intake::<ConfigMap>(&peers), intake::<ConfigMap>(&peers));
        let cache = Arc::new(RwLock::new(Cache::default()));
        one.join(&cache);
        let first = one.take(raw("1"));
        let held = first.object.clone().unwrap();
        cache.write().unwrap().apply(Update::Applied(first));
        for intake in [&one, &other] {
            assert!(Arc::ptr_eq(&held, &intake.take(raw("1")).object.unwrap()));
            assert!(!Arc::ptr_eq(&held, &intake.take(raw("2")).object.unwrap()));
        }
        drop(cache);
        assert!(other.take(raw("1")).object.is_ok(), "a watch that is gone is not asked");
    }
}
