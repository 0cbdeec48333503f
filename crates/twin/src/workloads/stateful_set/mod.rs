//! StatefulSets: pods with names and volumes of their own, in order. Owns the loop; what happens next is decided in
//! `decide`.

mod decide;
mod pod;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use hyperplane_runtime::{Context, Failure, Next, Reconciler, Store};
use k8s_openapi::api::{
    apps::v1::{ControllerRevision, StatefulSet},
    core::v1::{PersistentVolumeClaim, Pod},
};
use kube::ResourceExt;

use self::decide::{Action, World, decide};
use crate::{moment, pods, write};

/// Drives StatefulSets.
pub(crate) struct StatefulSets {
    /// Every pod.
    pub(crate) pods: Store<Pod>,
    /// Every template that was kept.
    pub(crate) revisions: Store<ControllerRevision>,
    /// Every claim of a volume.
    pub(crate) claims: Store<PersistentVolumeClaim>,
}

impl Reconciler for StatefulSets {
    type Object = StatefulSet;

    async fn reconcile(&self, context: &Context, set: Arc<StatefulSet>) -> Result<Next, Failure> {
        let (namespace, uid) = (set.namespace().unwrap_or_default(), set.uid());
        let claims = self.claims.namespace(&namespace).all();
        let now = context.now();
        let world = World {
            pods: pods::owned(self.pods.namespace(&namespace).all(), uid.as_deref()),
            revisions: pods::owned(self.revisions.namespace(&namespace).all(), uid.as_deref()),
            claims: claims.iter().map(|claim| claim.name_any()).collect(),
            leaving: claims
                .iter()
                .filter(|claim| claim.metadata.deletion_timestamp.is_some())
                .map(|claim| claim.name_any())
                .collect(),
            now,
        };
        let decision = decide(&set, &world);
        for action in decision.actions {
            match action {
                Action::Keep(revision) => write::create(context, revision.as_ref()).await?,
                Action::Forget(revision) => context.delete(revision.as_ref()).await?,
                Action::Claim(claim) => write::create(context, claim.as_ref()).await?,
                Action::Create(pod) => write::create(context, pod.as_ref()).await?,
                Action::Delete(pod) => context.delete(pod.as_ref()).await?,
            }
        }
        context.apply_status(set.as_ref(), &decision.status).await?;
        let wake = decision.wake.map(|at| moment::until(at, now));
        Ok(wake.map_or(Next::OnChange, Next::After))
    }
}
