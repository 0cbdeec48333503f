//! From the closed set of manifests to typed writes: one arm per kind, and nothing else.

use std::sync::Arc;

use hyperplane_api::constants::annotations;
use hyperplane_components::{Manifest, Workload};
use hyperplane_runtime::{Applied, Context, Failure};
use k8s_openapi::api::batch::v1::Job;

/// Writes one object of a component.
pub(crate) async fn apply_manifest(context: &Context, manifest: &Manifest) -> Result<(), Failure> {
    match manifest {
        Manifest::ConfigMap(object) => context.apply(object.as_ref()).await.map(drop),
        Manifest::Secret(object) => context.apply(object.as_ref()).await.map(drop),
        Manifest::Service(object) => context.apply(object.as_ref()).await.map(drop),
        Manifest::ServiceAccount(object) => context.apply(object.as_ref()).await.map(drop),
        Manifest::Role(object) => context.apply(object.as_ref()).await.map(drop),
        Manifest::RoleBinding(object) => context.apply(object.as_ref()).await.map(drop),
        Manifest::PodDisruptionBudget(object) => context.apply(object.as_ref()).await.map(drop),
        Manifest::ServiceMonitor(object) => context.apply(object.as_ref()).await.map(drop),
        Manifest::PodMonitor(object) => context.apply(object.as_ref()).await.map(drop),
    }
}

/// Writes the workload of a component; gives back what the server has, where it was asked. A live Job that is another one
/// is deleted instead.
pub(crate) async fn apply_workload(
    context: &Context,
    workload: &Workload,
    live: Option<&Job>,
) -> Result<Option<Workload>, Failure> {
    Ok(match workload {
        Workload::Deployment(object) => written(context.apply(object.as_ref()).await?).map(Workload::Deployment),
        Workload::StatefulSet(object) => written(context.apply(object.as_ref()).await?).map(Workload::StatefulSet),
        Workload::Job(object) => match live.filter(|live| is_another(object, live)) {
            Some(live) => {
                context.delete(live).await?;
                None
            }
            None => written(context.apply(object.as_ref()).await?).map(Workload::Job),
        },
        Workload::CronJob(object) => written(context.apply(object.as_ref()).await?).map(Workload::CronJob),
    })
}

/// Whether a Job has to make place: its pods cannot be changed (kubernetes, pkg/apis/batch/validation), so what is asked
/// for now is another Job of the same name. The new one is written when the old one is seen to be gone.
fn is_another(wanted: &Job, live: &Job) -> bool {
    let hash = |job: &Job| {
        let annotations = job.metadata.annotations.as_ref()?;
        annotations.get(annotations::DESIRED_STATE_HASH.as_str()).cloned()
    };
    live.metadata.deletion_timestamp.is_some() || hash(wanted) != hash(live)
}

fn written<K>(applied: Applied<K>) -> Option<Arc<K>> {
    match applied {
        Applied::Written(object) => Some(Arc::from(object)),
        Applied::Unchanged => None,
    }
}
