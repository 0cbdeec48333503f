//! Writing what was issued, as soon as it was: whoever is interrupted has lost nothing that somebody trusts.

use hyperplane_pki_issue::{Existing, Plan, Wanted, Write, issue};
use hyperplane_runtime::{Api, Context, Failure};
use jiff::Timestamp;
use k8s_openapi::api::core::v1::Secret;
use kube::api::PostParams;

/// Carries out a plan.
pub(crate) async fn apply(
    context: &Context,
    plan: &Plan,
    wanted: &Wanted,
    existing: &Existing,
    now: Timestamp,
) -> Result<(), Failure> {
    for (step, write) in plan.issue.iter().zip(issue(plan, wanted, existing, now)) {
        // The signer or a part was changed by somebody else while we looked, or a key could not be made: both pass.
        let write = write.map_err(Failure::retry)?;
        tracing::info!(namespace = %wanted.namespace, name = %step.name, reason = %step.reason, "Issuing.");
        match write {
            Write::Create(secret) => create(context, wanted, &secret).await?,
            Write::Secret(secret) => drop(context.apply(&secret).await?),
            Write::ConfigMap(config_map) => drop(context.apply(&config_map).await?),
        }
    }
    for name in &plan.unwanted {
        if let Some(secret) = existing.secrets.get(name) {
            tracing::info!(namespace = %wanted.namespace, %name, "Removing.");
            context.delete(secret.as_ref()).await?;
        }
    }
    Ok(())
}

/// Makes an authority or a key of tokens. They are created, not applied: a write that comes late must not replace one that
/// somebody trusts.
async fn create(context: &Context, wanted: &Wanted, secret: &Secret) -> Result<(), Failure> {
    let api: Api<Secret> = Api::namespaced(context.client().clone(), &wanted.namespace);
    let parameters = PostParams {
        field_manager: Some(context.field_manager().to_owned()),
        ..PostParams::default()
    };
    api.create(&parameters, secret).await?;
    Ok(())
}
