//! What is left of a cluster that is not there: writes that were under way when a run was cut short can arrive after its
//! deletion. Only what is empty or outside of namespaces is removed here; a control plane whose cluster somebody took away
//! by force is left alone, because nobody has said that it may go.

use hyperplane_api::{
    constants::{annotations, ours},
    hypershift::{hosted_cluster::HostedCluster, hosted_control_plane::HostedControlPlane},
};
use hyperplane_objects::Kind;
use hyperplane_runtime::{Api, Context, Failure, ObjectKey, Store};
use k8s_openapi::api::core::v1::Namespace;
use kube::{ResourceExt as _, api::ListParams};

use crate::{
    names,
    stores::{Stores, made_for},
};

/// Removes what is left.
pub(crate) async fn sweep(context: &Context, stores: &Stores, key: &ObjectKey) -> Result<(), Failure> {
    let clusters: Api<HostedCluster> = Api::namespaced(context.client().clone(), &key.namespace);
    if clusters.get_metadata_opt(&key.name).await?.is_some() {
        return Ok(());
    }
    let namespace = names::control_plane_namespace(&key.namespace, &key.name);
    if has_control_plane(context, &namespace).await? {
        tracing::warn!(%namespace, cluster = %key, "A control plane has lost its cluster and is left alone.");
        return Ok(());
    }
    let title = key.to_string();
    remove(context, &stores.cluster_role_bindings, &title).await?;
    remove(context, &stores.cluster_roles, &title).await?;
    // Those inside of the namespace of the control plane go with it.
    remove_outside(context, &stores.role_bindings, &title, &namespace).await?;
    remove_outside(context, &stores.roles, &title, &namespace).await?;
    match stores.namespaces.get(&ObjectKey::cluster(&namespace)) {
        Some(live) if is_orphan(&live, &title) => context.delete(live.as_ref()).await,
        _ => Ok(()),
    }
}

async fn has_control_plane(context: &Context, namespace: &str) -> Result<bool, Failure> {
    let api: Api<HostedControlPlane> = Api::namespaced(context.client().clone(), namespace);
    let list = api.list_metadata(&ListParams::default().limit(1)).await?;
    Ok(!list.items.is_empty())
}

/// Whether a namespace was made for a cluster by us, and was not to be left behind.
fn is_orphan(namespace: &Namespace, title: &str) -> bool {
    let is_kept = annotations::SKIP_CONTROL_PLANE_NAMESPACE_DELETION.is_true(namespace);
    let is_claimed = ours::CLAIMED_BY.of(namespace).is_some();
    is_claimed && !is_kept && annotations::CLUSTER.of(namespace) == Some(title)
}

async fn remove<K: Kind>(context: &Context, store: &Store<K>, title: &str) -> Result<(), Failure> {
    for object in made_for(store, title) {
        context.delete(object.as_ref()).await?;
    }
    Ok(())
}

async fn remove_outside<K: Kind>(
    context: &Context,
    store: &Store<K>,
    title: &str,
    namespace: &str,
) -> Result<(), Failure> {
    for object in made_for(store, title) {
        if object.namespace().as_deref() != Some(namespace) {
            context.delete(object.as_ref()).await?;
        }
    }
    Ok(())
}
