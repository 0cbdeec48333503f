//! Which Secrets a machine has fetched its configuration by, and that this is written on them. Requests only note it: an
//! answer never waits for a write.

use std::{
    collections::BTreeSet,
    convert::Infallible,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use hyperplane_api::constants::annotations;
use hyperplane_runtime::{Api, ObjectKey, Store};
use k8s_openapi::api::core::v1::Secret;
use kube::{
    Client,
    api::{Patch, PatchParams},
};
use serde_json::json;
use tokio::{sync::Notify, time::sleep};

use crate::answer::is_news;

/// Who writes.
const FIELD_MANAGER: &str = "hyperplane/ignition-server";

/// The pause after a write that failed.
const PAUSE: Duration = Duration::from_secs(5);

/// Secrets whose mark is to be written. There are never more than there are tokens.
#[derive(Debug, Default)]
pub struct Reached {
    pending: Mutex<BTreeSet<ObjectKey>>,
    /// Those whose mark was written here, until it is told.
    written: Mutex<BTreeSet<ObjectKey>>,
    news: Notify,
}

/// What came of a write.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mark {
    Written,
    /// The Secret is gone, or another one.
    Pointless,
    Failed,
}

impl Reached {
    /// Notes that a machine has what this Secret is for.
    pub fn note(&self, secret: &Secret) {
        if is_news(secret) {
            self.pending().insert(ObjectKey::of(secret));
            self.news.notify_one();
        }
    }

    /// Writes what is noted, until it is dropped.
    pub async fn write(&self, client: &Client, secrets: &Store<Secret>) -> Infallible {
        loop {
            let keys = self.pending().clone();
            if keys.is_empty() {
                self.news.notified().await;
                continue;
            }
            let mut is_behind = false;
            for key in keys {
                let secret = secrets.get(&key).filter(|secret| is_news(secret));
                let marked = match secret {
                    Some(secret) => mark(client, &key, &secret).await,
                    None => Mark::Pointless,
                };
                if marked == Mark::Failed {
                    is_behind = true;
                    continue;
                }
                self.pending().remove(&key);
                if marked == Mark::Written {
                    self.written().insert(key);
                }
            }
            if is_behind {
                sleep(PAUSE).await;
            }
        }
    }

    /// Whether the mark of this Secret was written here and has not been told yet. It is told once.
    pub(crate) fn take_written(&self, key: &ObjectKey) -> bool {
        self.written().remove(key)
    }

    fn written(&self) -> MutexGuard<'_, BTreeSet<ObjectKey>> {
        self.written.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn pending(&self) -> MutexGuard<'_, BTreeSet<ObjectKey>> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Writes the mark of one Secret.
async fn mark(client: &Client, key: &ObjectKey, secret: &Secret) -> Mark {
    // The uid: another Secret of the same name is for other machines.
    let patch = json!({"metadata": {
        "uid": secret.metadata.uid,
        "annotations": {annotations::IGNITION_REACHED.as_str(): "True"},
    }});
    let api: Api<Secret> = Api::namespaced(client.clone(), &key.namespace);
    let parameters = PatchParams {
        field_manager: Some(FIELD_MANAGER.to_owned()),
        ..PatchParams::default()
    };
    match api.patch_metadata(&key.name, &parameters, &Patch::Merge(patch)).await {
        Ok(_) => {
            tracing::info!(secret = %key, "A machine has fetched its configuration.");
            Mark::Written
        }
        Err(kube::Error::Api(status)) if matches!(status.code, 404 | 409) => Mark::Pointless,
        Err(error) => {
            tracing::warn!(secret = %key, %error, "That a machine came cannot be written; it will be tried again.");
            Mark::Failed
        }
    }
}
