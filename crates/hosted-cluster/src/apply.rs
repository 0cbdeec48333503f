//! Writes what was built, and removes what is not wanted any more. Decides nothing.

use std::{collections::BTreeSet, sync::Arc};

use hyperplane_api::{
    constants::ours,
    hypershift::{hosted_cluster::HostedCluster, hosted_control_plane::HostedControlPlane},
};
use hyperplane_objects::Kind;
use hyperplane_platforms::InfrastructureObject;
use hyperplane_runtime::{Api, Applied, Context, Failure, ObjectKey, Store};
use k8s_openapi::api::core::v1::Namespace;
use kube::{Resource, ResourceExt as _, api::PostParams};

use crate::{
    build::{self, ClusterApi, Desired},
    dereference::Seen,
    names,
    stores::{Stores, made_for},
};

/// The Role for what a platform's provider may do besides; components never have one of this name.
const PLATFORM_ROLE: &str = "capi-provider-platform";

/// Makes everything exist. Gives back the control plane as it is now, if it can be seen yet.
pub(crate) async fn apply(
    context: &Context,
    stores: &Stores,
    cluster: &HostedCluster,
    seen: &Seen,
    desired: &Desired,
) -> Result<Option<Arc<HostedControlPlane>>, Failure> {
    claim_namespace(context, cluster, seen.namespace.as_deref()).await?;
    context.apply(&desired.namespace).await?;
    apply_all(context, &desired.service_accounts).await?;
    apply_all(context, &desired.roles).await?;
    apply_all(context, &desired.role_bindings).await?;
    apply_all(context, &desired.cluster_roles).await?;
    apply_all(context, &desired.cluster_role_bindings).await?;
    apply_all(context, &desired.network_policies).await?;
    apply_all(context, &desired.secrets).await?;
    apply_all(context, &desired.config_maps).await?;
    let control_plane = match context.apply(&desired.control_plane).await? {
        Applied::Written(control_plane) => Some(Arc::new(*control_plane)),
        Applied::Unchanged => seen.control_plane.clone(),
    };
    if let Some(objects) = &desired.cluster_api {
        apply_cluster_api(context, stores, objects).await?;
    }
    apply_all(context, &desired.kubeconfigs).await?;
    remove_unwanted(context, stores, cluster, desired).await?;
    Ok(control_plane)
}

/// Pauses what reconciles the control plane and its machines.
pub(crate) async fn pause(context: &Context, seen: &Seen, text: &str) -> Result<(), Failure> {
    if let Some(live) = &seen.cluster_api {
        context.apply(&build::cluster_with_pause(live, true)).await?;
    }
    if let Some(live) = &seen.control_plane {
        context.apply(&build::with_pause(live, Some(text.to_owned()))).await?;
    }
    Ok(())
}

async fn apply_all<K: Kind>(context: &Context, objects: &[K]) -> Result<(), Failure> {
    for object in objects {
        context.apply(object).await?;
    }
    Ok(())
}

/// Creates the namespace, with the claim in it from the first moment. One that exists is never taken over: that it is ours
/// was judged before.
async fn claim_namespace(context: &Context, cluster: &HostedCluster, live: Option<&Namespace>) -> Result<(), Failure> {
    let name = names::namespace_of(cluster);
    match live {
        Some(live) if live.metadata.deletion_timestamp.is_some() => {
            Err(Failure::wait(format!("namespace {name} to be gone")))
        }
        Some(_) => Ok(()),
        None => {
            let api: Api<Namespace> = Api::all(context.client().clone());
            api.create(&PostParams::default(), &build::claim(cluster)).await?;
            Ok(())
        }
    }
}

async fn apply_cluster_api(context: &Context, stores: &Stores, objects: &ClusterApi) -> Result<(), Failure> {
    match &objects.infrastructure {
        InfrastructureObject::KubeVirt(object) => {
            let mut object = object.as_ref().clone();
            let status = object.status.take();
            let live = apply_and_find(context, stores.kubevirt.as_ref(), &object).await?;
            if let Some((live, status)) = live.zip(status) {
                context.apply_status(live.as_ref(), &status).await?;
            }
        }
        InfrastructureObject::Agent(object) => {
            let mut object = object.as_ref().clone();
            let status = object.status.take();
            let live = apply_and_find(context, stores.agents.as_ref(), &object).await?;
            if let Some((live, status)) = live.zip(status) {
                context.apply_status(live.as_ref(), &status).await?;
            }
        }
    }
    context.apply(&objects.cluster).await.map(drop)
}

/// The object as the server has it. None if it was written a moment ago and is not in the cache: its event comes.
async fn apply_and_find<K: Kind>(
    context: &Context,
    store: Option<&Store<K>>,
    intent: &K,
) -> Result<Option<Arc<K>>, Failure> {
    match context.apply(intent).await? {
        Applied::Written(live) => Ok(Some(Arc::new(*live))),
        Applied::Unchanged => Ok(store.and_then(|store| store.get(&ObjectKey::of(intent)))),
    }
}

async fn remove_unwanted(
    context: &Context,
    stores: &Stores,
    cluster: &HostedCluster,
    desired: &Desired,
) -> Result<(), Failure> {
    let namespace = names::namespace_of(cluster);
    let is_copy = |annotation: Option<&str>| annotation.is_some();
    let kept = names_of(&desired.secrets, &desired.kept_secrets);
    for secret in stores.secrets.namespace(&namespace).all() {
        let copied = ours::COPIED_FROM.of(secret.as_ref());
        if is_copy(copied) && !kept.contains(&secret.name_any()) {
            context.delete(secret.as_ref()).await?;
        }
    }
    let kept = names_of(&desired.config_maps, &desired.kept_config_maps);
    for config_map in stores.config_maps.namespace(&namespace).all() {
        let copied = ours::COPIED_FROM.of(config_map.as_ref());
        if is_copy(copied) && !kept.contains(&config_map.name_any()) {
            context.delete(config_map.as_ref()).await?;
        }
    }
    let kept = names_of(&desired.network_policies, &[]);
    for policy in stores.network_policies.namespace(&namespace).all() {
        if !kept.contains(&policy.name_any()) {
            context.delete(policy.as_ref()).await?;
        }
    }
    remove_obsolete(context, stores, cluster).await?;
    remove_rights(context, stores, cluster, desired).await
}

fn names_of<K: Resource>(objects: &[K], further: &[String]) -> BTreeSet<String> {
    let names = objects.iter().filter_map(|object| object.meta().name.clone());
    names.chain(further.iter().cloned()).collect()
}

/// What the user was given for something that the cluster does not ask for any more goes with it.
async fn remove_obsolete(context: &Context, stores: &Stores, cluster: &HostedCluster) -> Result<(), Failure> {
    let beside = stores.secrets.namespace(cluster.namespace().unwrap_or_default());
    for live in build::obsolete(cluster).iter().filter_map(|name| beside.get(name)) {
        context.delete(live.as_ref()).await?;
    }
    Ok(())
}

async fn remove_rights(
    context: &Context,
    stores: &Stores,
    cluster: &HostedCluster,
    desired: &Desired,
) -> Result<(), Failure> {
    let title = names::title(cluster);
    let namespace = names::namespace_of(cluster);
    // In the namespace of the control plane components have Roles, too; outside of it, and of this name, only we do.
    let is_ours = |key: &ObjectKey| key.namespace != namespace || key.name == PLATFORM_ROLE;
    remove_other(context, made_for(&stores.roles, &title), &desired.roles, is_ours).await?;
    remove_other(
        context,
        made_for(&stores.role_bindings, &title),
        &desired.role_bindings,
        is_ours,
    )
    .await?;
    remove_other(
        context,
        made_for(&stores.cluster_roles, &title),
        &desired.cluster_roles,
        |_| true,
    )
    .await?;
    let bindings = made_for(&stores.cluster_role_bindings, &title);
    remove_other(context, bindings, &desired.cluster_role_bindings, |_| true).await
}

async fn remove_other<K: Kind>(
    context: &Context,
    live: Vec<Arc<K>>,
    desired: &[K],
    is_ours: impl Fn(&ObjectKey) -> bool,
) -> Result<(), Failure> {
    let wanted: BTreeSet<ObjectKey> = desired.iter().map(ObjectKey::of).collect();
    for object in live {
        let key = ObjectKey::of(object.as_ref());
        if is_ours(&key) && !wanted.contains(&key) {
            context.delete(object.as_ref()).await?;
        }
    }
    Ok(())
}
