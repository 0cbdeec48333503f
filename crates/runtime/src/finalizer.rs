//! The finalizer around a reconciler: on before the first side effect, off after the last. Owns the two patches and
//! their retries; what is cleaned up is the reconciler's business.

use std::sync::Arc;

use futures::{FutureExt, future::BoxFuture};
use hyperplane_objects::Kind as _;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::{Client, Resource as _};
use serde_json::{Value, json};

use crate::{
    context::Context,
    endpoint::Endpoint,
    failure::Failure,
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
            if has(object.meta(), finalizer) {
                reconciler.cleanup(context, object.clone()).await?;
                change::<R>(context, object.meta(), finalizer, false).await?;
            }
            Ok(Next::OnChange)
        }
        Some(finalizer) if has(object.meta(), finalizer) => reconciler.reconcile(context, object).await,
        Some(finalizer) => match change::<R>(context, object.meta(), finalizer, true).await? {
            Changed::Not => reconciler.reconcile(context, object).await,
            Changed::To(json) => {
                let object = R::Object::from_json(&json).map_err(Failure::retry)?;
                reconciler.reconcile(context, Arc::new(object)).await
            }
            // It was deleted or replaced meanwhile: the watch will tell.
            Changed::Gone => Ok(Next::OnChange),
        },
    }
}

/// What became of an object whose finalizers were to be changed.
enum Changed {
    /// There was nothing to change.
    Not,
    /// As it is now.
    To(Value),
    /// It is not there any more, or must not be guarded any more because its deletion has begun.
    Gone,
}

fn has(meta: &ObjectMeta, finalizer: &str) -> bool {
    meta.finalizers.iter().flatten().any(|found| found == finalizer)
}

async fn change<R: Reconciler>(
    context: &Context,
    meta: &ObjectMeta,
    finalizer: &str,
    wanted: bool,
) -> Result<Changed, Failure> {
    let endpoint = Endpoint::of::<R::Object>(meta.namespace.as_deref());
    change_at(&endpoint, context.client(), meta, finalizer, wanted).await
}

/// Adds or removes the finalizer by compare-and-swap on the version.
fn change_at<'a>(
    endpoint: &'a Endpoint,
    client: &'a Client,
    known: &'a ObjectMeta,
    finalizer: &'a str,
    wanted: bool,
) -> BoxFuture<'a, Result<Changed, Failure>> {
    async move {
        let name = known.name.as_deref().unwrap_or_default();
        let mut fresh: Option<Value> = None;
        for _ in 0..ATTEMPTS {
            let parsed = fresh.as_ref().map(metadata).transpose()?;
            let meta = parsed.as_ref().unwrap_or(known);
            if meta.uid != known.uid || (wanted && meta.deletion_timestamp.is_some()) {
                return Ok(Changed::Gone);
            }
            if has(meta, finalizer) == wanted {
                return Ok(fresh.map_or(Changed::Not, Changed::To));
            }
            let mut finalizers = meta.finalizers.clone().unwrap_or_default();
            finalizers.retain(|found| found != finalizer);
            if wanted {
                finalizers.push(finalizer.to_owned());
            }
            // With the version inside, the server refuses the patch if anything changed since: no finalizer of others is
            // lost.
            let patch = json!({"metadata": {"resourceVersion": meta.resource_version, "finalizers": finalizers}});
            fresh = match endpoint.merge(client, name, &patch).await {
                Ok(answer) => return Ok(Changed::To(answer)),
                Err(kube::Error::Api(status)) if status.is_not_found() => return Ok(Changed::Gone),
                Err(kube::Error::Api(status)) if status.is_conflict() => endpoint.get_opt(client, name).await?,
                Err(error) => return Err(error.into()),
            };
            if fresh.is_none() {
                return Ok(Changed::Gone);
            }
        }
        let key = ObjectKey::namespaced(known.namespace.clone().unwrap_or_default(), name);
        Err(Failure::retry(format!(
            "{key} changes faster than its finalizer can be set"
        )))
    }
    .boxed()
}

fn metadata(json: &Value) -> Result<ObjectMeta, Failure> {
    hyperplane_objects::read(&json["metadata"]).map_err(Failure::retry)
}
