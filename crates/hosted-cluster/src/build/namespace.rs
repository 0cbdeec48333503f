//! The namespace of a control plane: claimed by one cluster, closed to pods that want too much.

use std::collections::BTreeMap;

use hyperplane_api::{
    constants::{annotations, labels, ours},
    hypershift::hosted_cluster::HostedCluster,
};
use k8s_openapi::{api::core::v1::Namespace, apimachinery::pkg::apis::meta::v1::ObjectMeta};
use kube::ResourceExt as _;

use super::Blueprint;
use crate::{metadata::pair, names, operator_image};

/// How strictly pods are judged unless the cluster says otherwise, and where its operator does not keep to that.
const POD_SECURITY: &str = "restricted";
const POD_SECURITY_OF_OLD: &str = "privileged";

/// The namespace as it is created: with nothing but the claim, so that whoever finds it knows whose it is.
pub(crate) fn claim(cluster: &HostedCluster) -> Namespace {
    Namespace {
        metadata: ObjectMeta {
            name: Some(names::namespace_of(cluster)),
            labels: Some(BTreeMap::from([ours::label()])),
            annotations: Some(claim_annotations(cluster)),
            ..ObjectMeta::default()
        },
        ..Namespace::default()
    }
}

fn claim_annotations(cluster: &HostedCluster) -> BTreeMap<String, String> {
    BTreeMap::from([
        pair(annotations::CLUSTER, &names::title(cluster)),
        pair(ours::CLAIMED_BY, &cluster.uid().unwrap_or_default()),
    ])
}

pub(super) fn build(blueprint: &Blueprint<'_>) -> Namespace {
    let cluster = blueprint.cluster;
    let level = annotations::POD_SECURITY_ADMISSION_LABEL_OVERRIDE.of(cluster);
    let usual = if operator_image::runs_restricted(cluster) {
        POD_SECURITY
    } else {
        POD_SECURITY_OF_OLD
    };
    let level = level.map_or_else(|| usual.to_owned(), str::to_lowercase);
    let mut labels = BTreeMap::from([
        ours::label(),
        (labels::HOSTED_CONTROL_PLANE.as_str().to_owned(), "true".to_owned()),
        (
            "security.openshift.io/scc.podSecurityLabelSync".to_owned(),
            "false".to_owned(),
        ),
    ]);
    for mode in ["enforce", "audit", "warn"] {
        labels.insert(format!("pod-security.kubernetes.io/{mode}"), level.clone());
    }
    let has_monitoring = annotations::DISABLE_MONITORING_SERVICES.of(cluster).is_none();
    if blueprint.settings.facts.has_monitors && has_monitoring {
        labels.insert("openshift.io/cluster-monitoring".to_owned(), "true".to_owned());
    }
    let mut annotations = claim_annotations(cluster);
    annotations.extend(
        blueprint
            .user_id
            .map(|user| pair(annotations::DEFAULT_SECURITY_CONTEXT_UID, &user.to_string())),
    );
    // Where the cluster is gone and its annotations with it, these still tell what is to become of the namespace.
    for key in [
        annotations::MANAGED_AZURE_RESOURCE_ID,
        annotations::SKIP_CONTROL_PLANE_NAMESPACE_DELETION,
    ] {
        annotations.extend(key.of(cluster).map(|value| pair(key, value)));
    }
    Namespace {
        metadata: ObjectMeta {
            name: Some(blueprint.namespace.to_owned()),
            labels: Some(labels),
            annotations: Some(annotations),
            ..ObjectMeta::default()
        },
        ..Namespace::default()
    }
}
