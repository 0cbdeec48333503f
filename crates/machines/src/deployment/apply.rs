//! Carrying out what was planned: sets as they are to be, sets that go, and the revision on the deployment itself.

use hyperplane_api::{cluster_api::machine_deployment::MachineDeployment, constants::annotations};
use hyperplane_runtime::{Api, Applied, Context, EventType, Failure};
use kube::{
    ResourceExt as _,
    api::{Patch, PatchParams},
};
use serde_json::json;

use super::{dereference::Seen, plan::Plan};
use crate::{adoption::ensure_live, owners::controller};

pub(super) async fn carry_out(context: &Context, seen: &Seen, plan: &Plan) -> Result<(), Failure> {
    // Applying a set makes the deployment its owner.
    if seen.sets.iter().any(|seen| controller(seen.set.as_ref()).is_none()) {
        ensure_live(context, seen.deployment.as_ref()).await?;
    }
    for set in &plan.sets {
        let is_known = seen.sets.iter().any(|seen| seen.set.name_any() == set.name_any());
        let applied = context.apply(set).await?;
        if !is_known && matches!(applied, Applied::Written(_)) {
            let message = format!("Made machine set {} for revision {}.", set.name_any(), plan.revision);
            context.event(EventType::Normal, "SuccessfulCreate", message);
        }
    }
    for seen in &seen.sets {
        if plan.remove.contains(&seen.set.name_any()) {
            context.delete(seen.set.as_ref()).await?;
        }
    }
    note_revision(context, &seen.deployment, plan.revision).await
}

/// Says on the deployment which revision is the current one: a machine is up to date if its set has the same. The rest
/// of the object belongs to others, so this is no apply.
async fn note_revision(context: &Context, deployment: &MachineDeployment, revision: u64) -> Result<(), Failure> {
    let revision = revision.to_string();
    if annotations::REVISION.of(deployment) == Some(&*revision) {
        return Ok(());
    }
    let namespace = deployment.namespace().unwrap_or_default();
    let deployments: Api<MachineDeployment> = Api::namespaced(context.client().clone(), &namespace);
    // With its identity inside, another object of the same name is not touched.
    let patch = json!({"metadata": {
        "uid": deployment.metadata.uid, "annotations": {(annotations::REVISION.as_str()): revision},
    }});
    let parameters = PatchParams {
        field_manager: Some(context.field_manager().to_owned()),
        ..PatchParams::default()
    };
    deployments
        .patch(&deployment.name_any(), &parameters, &Patch::Merge(patch))
        .await?;
    Ok(())
}
