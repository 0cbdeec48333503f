//! Labels and annotations that everything made for a pool has.

use std::collections::BTreeMap;

use hyperplane_api::{
    constants::{Annotation, Label, annotations, labels, ours},
    hypershift::node_pool::NodePool,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

use crate::names;

/// For whom something is made, and where.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Owner<'a> {
    /// The pool.
    pub(crate) pool: &'a NodePool,
    /// The name of the infrastructure of its cluster, which the Cluster of Cluster API has.
    pub(crate) infra_id: &'a str,
    /// The namespace of the control plane.
    pub(crate) namespace: &'a str,
    /// Which manager the cluster is for, where it says so.
    pub(crate) scope: Option<&'a str>,
}

impl Owner<'_> {
    /// The metadata of an object that is made for the pool.
    pub(crate) fn metadata(&self, name: &str) -> ObjectMeta {
        ObjectMeta {
            name: Some(name.to_owned()),
            namespace: Some(self.namespace.to_owned()),
            labels: Some(BTreeMap::from([
                ours::label(),
                label(labels::CAPI_CLUSTER_NAME, self.infra_id),
            ])),
            annotations: Some(self.annotations()),
            ..ObjectMeta::default()
        }
    }

    /// Annotations that everything made for the pool has, machines included.
    pub(crate) fn annotations(&self) -> BTreeMap<String, String> {
        let mut all = BTreeMap::from([
            annotation(annotations::NODE_POOL, &names::title(self.pool)),
            annotation(annotations::CLUSTER, &names::cluster_title(self.pool)),
        ]);
        all.extend(self.scope.map(|scope| annotation(annotations::SCOPE, scope)));
        all
    }

    /// What all machines of the pool are selected by.
    pub(crate) fn selector(&self) -> BTreeMap<String, String> {
        let resources = names::resources_name(self.pool, self.infra_id);
        BTreeMap::from([
            label(labels::CAPI_CLUSTER_NAME, self.infra_id),
            (resources.clone(), resources),
        ])
    }
}

/// An annotation.
pub(crate) fn annotation(key: Annotation, value: &str) -> (String, String) {
    (key.as_str().to_owned(), value.to_owned())
}

/// A label.
pub(crate) fn label(key: Label, value: &str) -> (String, String) {
    (key.as_str().to_owned(), value.to_owned())
}
