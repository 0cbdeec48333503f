//! Who made whom: controller references, and finding objects by them.

use std::collections::BTreeMap;

use hyperplane_api::{cluster_api::cluster::Cluster, constants::ours};
use hyperplane_objects::Kind;
use hyperplane_runtime::{Manager, ObjectKey, Only, Scope, Store, Watch};
use k8s_openapi::{
    NamespaceResourceScope,
    apimachinery::pkg::apis::meta::v1::{LabelSelector, OwnerReference},
};
use kube::{
    Resource,
    core::{Selector, SelectorExt as _},
};

/// The index of objects by the uid of their controller.
const CONTROLLER_INDEX: &str = "controller-uid";

/// The watch of objects of ours.
pub(crate) fn watch<K: Kind + Resource<Scope = NamespaceResourceScope>>(scope: &Scope) -> Watch<K> {
    scope.watch::<K>().labels(&ours::selector())
}

/// The store of that watch, in which objects are found by their controller.
pub(crate) fn store<K: Kind + Resource<Scope = NamespaceResourceScope>>(manager: &Manager, scope: &Scope) -> Store<K> {
    let store = manager.store(watch::<K>(scope));
    store.add_index(CONTROLLER_INDEX, |object: &K| {
        vec![match controller(object) {
            Some(reference) => reference.uid.clone(),
            None => nobody_in(object.meta().namespace.as_deref().unwrap_or_default()),
        }]
    });
    store
}

/// What stands in the index for the controller of objects of a namespace that have none; no uid has a slash.
fn nobody_in(namespace: &str) -> String {
    format!("{namespace}/")
}

/// The objects of a namespace that have no controller, in order of their names.
pub(crate) fn uncontrolled<K: Kind>(store: &Store<K>, namespace: &str) -> Vec<std::sync::Arc<K>> {
    store.by_index(CONTROLLER_INDEX, &nobody_in(namespace))
}

/// The objects whose controller is `owner`, in order of their names.
pub(crate) fn controlled<K: Kind>(store: &Store<K>, owner: &impl Resource) -> Vec<std::sync::Arc<K>> {
    match owner.meta().uid.as_deref() {
        Some(uid) => store.by_index(CONTROLLER_INDEX, uid),
        None => Vec::new(),
    }
}

/// The controller of an object.
pub(crate) fn controller<K: Resource>(object: &K) -> Option<&OwnerReference> {
    let mut references = object.meta().owner_references.iter().flatten();
    references.find(|reference| reference.controller == Some(true))
}

/// Whether what belongs to a cluster is one of the objects that a manager is for, where several share a management cluster: it
/// follows its Cluster, which is annotated as the hosted cluster is. What has none, or none yet in sight, says it itself: of two
/// managers that make machines for one set, each would make all of them.
pub(crate) fn is_for(only: &Only, clusters: &Store<Cluster>, object: &impl Resource, cluster: &str) -> bool {
    let namespace = object.meta().namespace.clone().unwrap_or_default();
    let cluster = clusters.get(&ObjectKey::namespaced(namespace, cluster));
    cluster.map_or_else(
        || only.selects(object.meta()),
        |cluster| only.selects(&cluster.metadata),
    )
}

/// Whether a selector means an object. An empty one would mean everything; nobody wants that.
pub(crate) fn selects<K: Resource>(selector: &LabelSelector, object: &K) -> bool {
    let none = BTreeMap::new();
    let labels = object.meta().labels.as_ref().unwrap_or(&none);
    match Selector::try_from(selector.clone()) {
        Ok(selector) if !selector.selects_all() => selector.matches(labels),
        _ => false,
    }
}

/// The reference by which `owner` controls an object, which goes before it does.
pub(crate) fn control_by<K: Resource<DynamicType = ()>>(owner: &K) -> Option<OwnerReference> {
    Some(OwnerReference {
        block_owner_deletion: Some(true),
        ..owner.controller_owner_ref(&())?
    })
}
