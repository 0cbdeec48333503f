//! Labels and annotations that everything made for a cluster has, and reading them again.

use std::collections::BTreeMap;

use hyperplane_api::{
    constants::{Annotation, annotations, labels, ours},
    hypershift::hosted_cluster::HostedCluster,
};
use k8s_openapi::{api::core::v1::Namespace, apimachinery::pkg::apis::meta::v1::ObjectMeta};
use kube::ResourceExt as _;

use crate::names;

/// The metadata of an object in a namespace that is made for a cluster.
pub(crate) fn in_namespace(cluster: &HostedCluster, namespace: &str, name: &str) -> ObjectMeta {
    ObjectMeta {
        name: Some(name.to_owned()),
        namespace: Some(namespace.to_owned()),
        labels: Some(BTreeMap::from([ours::label()])),
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

/// An annotation.
pub(crate) fn pair(key: Annotation, value: &str) -> (String, String) {
    (key.as_str().to_owned(), value.to_owned())
}

/// Whether a namespace was made for this very cluster.
pub(crate) fn is_claimed(namespace: &Namespace, cluster: &HostedCluster) -> bool {
    let claimant = ours::CLAIMED_BY.of(namespace);
    claimant.is_some() && claimant == cluster.metadata.uid.as_deref()
}
