//! What is left of a pool that is not there: writes that were under way when a run was cut short can arrive after its
//! deletion, in the namespace of a control plane, where nothing collects them.

use std::collections::BTreeSet;

use hyperplane_api::{constants::annotations, hypershift::node_pool::NodePool};
use hyperplane_objects::Kind;
use hyperplane_runtime::{Api, Context, Failure, ObjectKey, Store};
use kube::Resource as _;

use crate::{
    apply::delete_all,
    stores::{Stores, made_for},
};

/// Removes what is left.
pub(crate) async fn sweep(context: &Context, stores: &Stores, key: &ObjectKey) -> Result<(), Failure> {
    let api: Api<NodePool> = Api::namespaced(context.client().clone(), &key.namespace);
    if api.get_metadata_opt(&key.name).await?.is_some() {
        return Ok(());
    }
    let title = key.to_string();
    for namespace in namespaces(stores, key) {
        delete_all(context, &made_for(&stores.health_checks, &namespace, &title)).await?;
        delete_all(context, &made_for(&stores.deployments, &namespace, &title)).await?;
        delete_all(context, &made_for(&stores.sets, &namespace, &title)).await?;
        delete_all(context, &made_for(&stores.machines, &namespace, &title)).await?;
        delete_all(context, &made_for(&stores.secrets, &namespace, &title)).await?;
        remove(context, stores.kubevirt.as_ref(), &namespace, &title).await?;
        remove(context, stores.agents.as_ref(), &namespace, &title).await?;
    }
    Ok(())
}

/// The namespaces of control planes whose clusters are in the namespace of the pool. Of which of them the pool was, nobody
/// knows any more; an annotation in any other namespace moves nothing.
fn namespaces(stores: &Stores, key: &ObjectKey) -> BTreeSet<String> {
    let control_planes = stores.control_planes.all();
    let of_namespace = control_planes.iter().filter(|plane| {
        let title = annotations::CLUSTER.of(plane.as_ref());
        let cluster = title.and_then(|title| title.split_once('/'));
        cluster.is_some_and(|(namespace, _)| namespace == key.namespace)
    });
    of_namespace
        .filter_map(|plane| plane.meta().namespace.clone())
        .collect()
}

async fn remove<K: Kind>(
    context: &Context,
    store: Option<&Store<K>>,
    namespace: &str,
    title: &str,
) -> Result<(), Failure> {
    let left = store.map(|store| made_for(store, namespace, title)).unwrap_or_default();
    delete_all(context, &left).await
}
