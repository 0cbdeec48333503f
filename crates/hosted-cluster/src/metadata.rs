//! Labels and annotations that everything made for a cluster has, and reading them again.

use std::collections::BTreeMap;

use hyperplane_api::{
    constants::{Annotation, annotations, labels, ours},
    hypershift::hosted_cluster::HostedCluster,
};
use k8s_openapi::{api::core::v1::Namespace, apimachinery::pkg::apis::meta::v1::ObjectMeta};
use kube::{Resource, ResourceExt as _};

use crate::names;

/// The selector of everything that we make.
pub(crate) fn our_selector() -> String {
    format!("{}={}", ours::MANAGED_BY, ours::MANAGED_BY_US)
}

/// The selector of everything that others make.
pub(crate) fn others_selector() -> String {
    format!("{}!={}", ours::MANAGED_BY, ours::MANAGED_BY_US)
}

/// The metadata of an object in a namespace that is made for a cluster.
pub(crate) fn in_namespace(cluster: &HostedCluster, namespace: &str, name: &str) -> ObjectMeta {
    ObjectMeta {
        name: Some(name.to_owned()),
        namespace: Some(namespace.to_owned()),
        labels: Some(BTreeMap::from([our_label()])),
        annotations: Some(BTreeMap::from([pair(annotations::CLUSTER, &names::title(cluster))])),
        ..ObjectMeta::default()
    }
}

/// The metadata of an object outside of the namespaces, which carries labels by which it is found again and removed.
pub(crate) fn outside(cluster: &HostedCluster, name: &str) -> ObjectMeta {
    let mut metadata = in_namespace(cluster, "", name);
    metadata.namespace = None;
    let labels = metadata.labels.get_or_insert_default();
    labels.insert(labels::OWNER_NAME.as_str().to_owned(), cluster.name_any());
    labels.insert(
        labels::OWNER_NAMESPACE.as_str().to_owned(),
        cluster.namespace().unwrap_or_default(),
    );
    metadata
}

/// The label of everything that we make.
pub(crate) fn our_label() -> (String, String) {
    (ours::MANAGED_BY.as_str().to_owned(), ours::MANAGED_BY_US.to_owned())
}

/// An annotation.
pub(crate) fn pair(key: Annotation, value: &str) -> (String, String) {
    (key.as_str().to_owned(), value.to_owned())
}

/// Whether a namespace was made for this very cluster.
pub(crate) fn is_claimed(namespace: &Namespace, cluster: &HostedCluster) -> bool {
    let claimant = ours::CLAIMED_BY.of(namespace);
    claimant.is_some() && claimant == cluster.metadata.uid.as_deref()
}

/// Whether an object was made by us.
pub(crate) fn is_ours<K: Resource>(object: &K) -> bool {
    let labels = object.meta().labels.as_ref();
    let value = labels.and_then(|labels| labels.get(ours::MANAGED_BY.as_str()));
    value.is_some_and(|value| value == ours::MANAGED_BY_US)
}
