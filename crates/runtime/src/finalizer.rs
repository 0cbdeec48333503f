//! The finalizer around a reconciler: on before the first side effect, off after the last. Owns the two patches and
//! their retries; what is cleaned up is the reconciler's business.

use std::sync::Arc;

use kube::{Client, Resource};
use serde_json::json;

use crate::{
    context::Context,
    endpoint::Endpoint,
    failure::Failure,
    kind::Kind,
    object_key::ObjectKey,
    reconciler::{Next, Reconciler},
};

/// Attempts at a patch that others race with. A conflict means that our copy is old: a fresh one helps at once.
const ATTEMPTS: usize = 3;

/// Runs the reconciler's part for the object's stage of life.
pub(crate) async fn drive<R: Reconciler>(
    reconciler: &R,
    context: &Context,
    object: Arc<R::Object>,
) -> Result<Next, Failure> {
    let is_deleted = object.meta().deletion_timestamp.is_some();
    match R::FINALIZER {
        None if is_deleted && !R::SEES_DELETION => Ok(Next::OnChange),
        None => reconciler.reconcile(context, object).await,
        Some(finalizer) if is_deleted => {
            if has(object.as_ref(), finalizer) {
                reconciler.cleanup(context, object.clone()).await?;
                change(context.client(), object.as_ref(), finalizer, false).await?;
            }
            Ok(Next::OnChange)
        }
        Some(finalizer) if has(object.as_ref(), finalizer) => reconciler.reconcile(context, object).await,
        Some(finalizer) => match change(context.client(), object.as_ref(), finalizer, true).await? {
            Some(object) => reconciler.reconcile(context, Arc::new(object)).await,
            // It was deleted or replaced meanwhile: the watch will tell.
            None => Ok(Next::OnChange),
        },
    }
}

fn has(object: &impl Resource, finalizer: &str) -> bool {
    object
        .meta()
        .finalizers
        .iter()
        .flatten()
        .any(|found| found == finalizer)
}

/// Adds or removes the finalizer by compare-and-swap on the version, and hands back the object as it is then; none if
/// the object is not there any more, or must not be guarded any more because its deletion has begun.
async fn change<K: Kind>(client: &Client, object: &K, finalizer: &str, wanted: bool) -> Result<Option<K>, Failure> {
    let key = ObjectKey::of(object);
    let endpoint = Endpoint::of::<K>(key.scope());
    let mut current = object.clone();
    for _ in 0..ATTEMPTS {
        let meta = current.meta();
        if meta.uid != object.meta().uid || (wanted && meta.deletion_timestamp.is_some()) {
            return Ok(None);
        }
        if has(&current, finalizer) == wanted {
            return Ok(Some(current));
        }
        let mut finalizers = meta.finalizers.clone().unwrap_or_default();
        finalizers.retain(|found| found != finalizer);
        if wanted {
            finalizers.push(finalizer.to_owned());
        }
        // With the version inside, the server refuses the patch if anything changed since: no finalizer of others is
        // lost.
        let patch = json!({"metadata": {"resourceVersion": meta.resource_version, "finalizers": finalizers}});
        let fresh = match endpoint.merge(client, &key.name, &patch).await {
            Ok(answer) => return parse(answer).map(Some),
            Err(kube::Error::Api(status)) if status.is_not_found() => return Ok(None),
            Err(kube::Error::Api(status)) if status.is_conflict() => endpoint.get(client, &key.name).await?,
            Err(error) => return Err(error.into()),
        };
        match fresh {
            Some(answer) => current = parse(answer)?,
            None => return Ok(None),
        }
    }
    Err(Failure::retry(format!(
        "{key} changes faster than its finalizer can be set"
    )))
}

fn parse<K: Kind>(answer: serde_json::Value) -> Result<K, Failure> {
    serde_json::from_value(answer).map_err(Failure::retry)
}
