//! Deployments: one ReplicaSet per template, and the way from one to the next. Owns the loop; how many pods each set
//! has is decided in `rollout`, what is said about it in `status`.

mod rollout;
mod sets;
mod status;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use hyperplane_runtime::{Context, Failure, Next, ObjectKey, Reconciler, Store};
use k8s_openapi::api::{
    apps::v1::{Deployment, ReplicaSet},
    core::v1::Pod,
};
use kube::ResourceExt;
use serde_json::json;

use self::rollout::Change;
use crate::{moment, pods, write};

/// The annotation that numbers templates.
pub(crate) const REVISION: &str = "deployment.kubernetes.io/revision";
/// On a set: how many pods its Deployment wanted when the set was last scaled.
const DESIRED: &str = "deployment.kubernetes.io/desired-replicas";
/// On a set: how many pods there may be at most.
const MOST: &str = "deployment.kubernetes.io/max-replicas";
/// The label that tells sets and their pods apart.
const HASH: &str = "pod-template-hash";

/// Rolls Deployments out.
pub(crate) struct Deployments {
    /// Every ReplicaSet.
    pub(crate) sets: Store<ReplicaSet>,
    /// Every pod.
    pub(crate) pods: Store<Pod>,
}

impl Reconciler for Deployments {
    type Object = Deployment;

    async fn reconcile(&self, context: &Context, deployment: Arc<Deployment>) -> Result<Next, Failure> {
        let namespace = deployment.namespace().unwrap_or_default();
        let uid = deployment.uid();
        let owned = pods::owned(self.sets.namespace(&namespace).all(), uid.as_deref());
        let sets = sets::Sets::new(&deployment, owned);
        let has_old_pods = self.has_old_pods(&namespace, &sets);
        for change in rollout::decide(&deployment, &sets, has_old_pods) {
            carry_out(context, &namespace, &change).await?;
        }
        if let Some(revision) = sets
            .revision()
            .filter(|revision| deployment.annotations().get(REVISION) != Some(revision))
        {
            // By the status, as upstream's controller does: annotations count in the generation otherwise
            // (pkg/registry/apps/deployment/strategy.go).
            let annotations = json!({"metadata": {"annotations": {REVISION: revision}}});
            write::patch_status::<Deployment>(context, &ObjectKey::of(deployment.as_ref()), &annotations).await?;
        }
        let now = context.now();
        let (status, wake) = status::status(&deployment, &sets, now);
        context.apply_status(deployment.as_ref(), &status).await?;
        Ok(wake.map_or(Next::OnChange, |at| Next::After(moment::until(at, now))))
    }
}

impl Deployments {
    /// Whether a pod of an older template is there, in whichever state.
    fn has_old_pods(&self, namespace: &str, sets: &sets::Sets) -> bool {
        let old: Vec<String> = sets.old.iter().filter_map(|set| set.uid()).collect();
        let all = self.pods.namespace(namespace).all();
        all.iter().any(|pod| {
            pods::controller(pod.as_ref()).is_some_and(|owner| old.contains(&owner.uid)) && !pods::is_over(pod)
        })
    }
}

async fn carry_out(context: &Context, namespace: &str, change: &Change) -> Result<(), Failure> {
    match change {
        Change::Create(set) => write::create(context, set.as_ref()).await,
        Change::Scale { name, replicas, notes } => {
            let change = json!({"spec": {"replicas": replicas}, "metadata": {"annotations": notes}});
            write::patch::<ReplicaSet>(context, &ObjectKey::namespaced(namespace, name), &change).await
        }
        Change::Delete(set) => context.delete(set.as_ref()).await,
    }
}
