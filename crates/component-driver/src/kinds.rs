//! From the closed set of manifests to typed writes: one arm per kind, and nothing else.

use hyperplane_components::{Manifest, Workload};
use hyperplane_runtime::{Applied, Context, Failure};

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

/// Writes the workload of a component; gives back what the server has, where it was asked.
pub(crate) async fn apply_workload(context: &Context, workload: &Workload) -> Result<Option<Workload>, Failure> {
    Ok(match workload {
        Workload::Deployment(object) => written(context.apply(object.as_ref()).await?).map(Workload::Deployment),
        Workload::StatefulSet(object) => written(context.apply(object.as_ref()).await?).map(Workload::StatefulSet),
        Workload::Job(object) => written(context.apply(object.as_ref()).await?).map(Workload::Job),
        Workload::CronJob(object) => written(context.apply(object.as_ref()).await?).map(Workload::CronJob),
    })
}

fn written<K>(applied: Applied<K>) -> Option<Box<K>> {
    match applied {
        Applied::Written(object) => Some(object),
        Applied::Unchanged => None,
    }
}
