//! Writes what was built, and removes what is not wanted any more. Decides nothing.

use std::sync::Arc;

use hyperplane_api::{
    cluster_api::machine_set::MachineSet,
    constants::{annotations, ours},
    hypershift::{hosted_cluster::HostedCluster, node_pool::NodePool},
};
use hyperplane_objects::Kind;
use hyperplane_runtime::{Api, Context, Failure};
use k8s_openapi::{api::core::v1::Secret, apimachinery::pkg::apis::meta::v1::ObjectMeta};
use kube::{
    Resource as _, ResourceExt as _,
    api::PostParams,
    core::{PartialObjectMeta, PartialObjectMetaExt as _},
};

use crate::{
    build::{self, Active, Desired, TemplateObject},
    dereference::Seen,
    metadata::annotation,
    target::Target,
    validate,
};

/// Makes everything exist, in the order in which one refers to the other.
pub(crate) async fn apply(context: &Context, seen: &Seen, active: &Active, desired: &Desired) -> Result<(), Failure> {
    match &desired.template {
        Some(TemplateObject::KubeVirt(template)) => context.apply(template.as_ref()).await.map(drop)?,
        Some(TemplateObject::Agent(template)) => context.apply(template.as_ref()).await.map(drop)?,
        None => {}
    }
    token(context, active, &desired.token).await?;
    context.apply(&desired.user_data).await?;
    for secret in &desired.older {
        context.apply(secret).await?;
    }
    if let Some(deployment) = &desired.deployment {
        context.apply(deployment).await?;
    }
    if let Some(check) = &desired.health_check {
        context.apply(check).await?;
    }
    remove(context, seen, desired).await
}

/// A token is created, never applied, where there is none: of two that make one, one has to lose.
async fn token(context: &Context, active: &Active, secret: &Secret) -> Result<(), Failure> {
    if active.live.is_some() {
        return context.apply(secret).await.map(drop);
    }
    let api: Api<Secret> = Api::namespaced(context.client().clone(), &secret.namespace().unwrap_or_default());
    let parameters = PostParams {
        field_manager: Some(context.field_manager().to_owned()),
        ..PostParams::default()
    };
    match api.create(&parameters, secret).await {
        Ok(_) => Ok(()),
        Err(kube::Error::Api(status)) if status.is_already_exists() => Err(Failure::wait(format!(
            "Secret {}, which was just made, to show up",
            secret.name_any()
        ))),
        Err(error) => Err(error.into()),
    }
}

async fn remove(context: &Context, seen: &Seen, desired: &Desired) -> Result<(), Failure> {
    for secret in &desired.expiring {
        context.apply(secret).await?;
    }
    delete_all(context, &desired.unused).await?;
    if desired.drops_health_check {
        delete_health_check(context, seen).await?;
    }
    // A template that a deployment is only about to leave counts as used, and goes with the next run.
    let wanted = desired.deployment.as_ref();
    let wanted = wanted.map(|deployment| deployment.spec.template.spec.infrastructure_ref.name.as_str());
    delete_all(context, &build::unused_kubevirt(seen, wanted)).await?;
    delete_all(context, &build::unused_agents(seen, wanted)).await
}

/// Ends repair where it is not wanted any more.
pub(crate) async fn without_repair(context: &Context, pool: &NodePool, seen: &Seen) -> Result<(), Failure> {
    if build::drops_health_check(pool, seen) {
        delete_health_check(context, seen).await?;
    }
    Ok(())
}

async fn delete_health_check(context: &Context, seen: &Seen) -> Result<(), Failure> {
    match &seen.machines.health_check {
        Some(check) => context.delete(check.as_ref()).await,
        None => Ok(()),
    }
}

/// Deletes all of some objects.
pub(crate) async fn delete_all<K: Kind>(context: &Context, objects: &[Arc<K>]) -> Result<(), Failure> {
    for object in objects {
        context.delete(object.as_ref()).await?;
    }
    Ok(())
}

/// Has the controllers of machines leave a pool alone.
pub(crate) async fn pause(context: &Context, seen: &Seen) -> Result<(), Failure> {
    if let Some(live) = &seen.machines.deployment
        && !annotations::PAUSED.is_true(live.as_ref())
    {
        context.apply(&build::with_pause(live, true)).await?;
    }
    for set in &seen.machines.sets {
        if !annotations::PAUSED.is_true(set.as_ref()) {
            mark_set(context, set, true).await?;
        }
    }
    Ok(())
}

/// Has the controllers of machines act on a pool again, whatever else becomes of it.
pub(crate) async fn resume(context: &Context, seen: &Seen) -> Result<(), Failure> {
    if let Some(live) = &seen.machines.deployment
        && annotations::PAUSED.is_true(live.as_ref())
    {
        context.apply(&build::with_pause(live, false)).await?;
    }
    for set in &seen.machines.sets {
        if annotations::PAUSED.is_true(set.as_ref()) {
            mark_set(context, set, false).await?;
        }
    }
    Ok(())
}

/// Nothing of a set is ours but this mark.
async fn mark_set(context: &Context, set: &MachineSet, is_paused: bool) -> Result<(), Failure> {
    let metadata = ObjectMeta {
        name: set.metadata.name.clone(),
        namespace: set.metadata.namespace.clone(),
        uid: set.metadata.uid.clone(),
        annotations: is_paused.then(|| [annotation(annotations::PAUSED, "true")].into()),
        ..ObjectMeta::default()
    };
    let intent: PartialObjectMeta<MachineSet> = metadata.into_request_partial();
    context.apply(&intent).await.map(drop)
}

/// What is written onto a pool: its cluster as its owner, and what all its nodes have. Only a difference is sent.
pub(crate) async fn marks(
    context: &Context,
    pool: &NodePool,
    cluster: &HostedCluster,
    seen: &Seen,
    reached: Option<&Target>,
) -> Result<(), Failure> {
    let intent = intent(pool, cluster, seen, reached);
    if is_marked(pool, &intent) {
        return Ok(());
    }
    let intent: PartialObjectMeta<NodePool> = intent.into_request_partial();
    context.apply(&intent).await.map(drop)
}

fn intent(pool: &NodePool, cluster: &HostedCluster, seen: &Seen, reached: Option<&Target>) -> ObjectMeta {
    let spreads = annotations::SUPPORTS_KUBEVIRT_TOPOLOGY_SPREAD_CONSTRAINTS;
    let kept = [
        annotations::CURRENT_CONFIG,
        annotations::CURRENT_CONFIG_VERSION,
        annotations::PLATFORM_MACHINE_TEMPLATE,
        ours::RENDER_REVISION,
    ];
    // What was written before stays until something else is true.
    let mut all: std::collections::BTreeMap<String, String> = kept
        .into_iter()
        .filter_map(|key| Some(annotation(key, key.of(pool)?)))
        .collect();
    if let Some(target) = reached {
        all.extend([
            annotation(annotations::CURRENT_CONFIG, &target.config_hash),
            annotation(annotations::CURRENT_CONFIG_VERSION, &target.hash),
            annotation(ours::RENDER_REVISION, &target.inputs.render_revision.to_string()),
        ]);
        let template = target.template.as_ref();
        all.extend(template.map(|named| annotation(annotations::PLATFORM_MACHINE_TEMPLATE, &named.name)));
    }
    if validate::spreads_by_topology(pool, seen) {
        all.extend([annotation(spreads, "true")]);
    }
    ObjectMeta {
        name: pool.metadata.name.clone(),
        namespace: pool.metadata.namespace.clone(),
        uid: pool.metadata.uid.clone(),
        annotations: Some(all),
        owner_references: cluster.owner_ref(&()).map(|owner| vec![owner]),
        ..ObjectMeta::default()
    }
}

fn is_marked(pool: &NodePool, intent: &ObjectMeta) -> bool {
    let live = &pool.metadata;
    let has = |(key, value): (&String, &String)| pool.annotations().get(key) == Some(value);
    let owners = live.owner_references.as_deref().unwrap_or_default();
    let mut wanted = intent.owner_references.iter().flatten();
    intent.annotations.iter().flatten().all(has)
        && wanted.all(|owner| owners.iter().any(|found| found.uid == owner.uid))
}
