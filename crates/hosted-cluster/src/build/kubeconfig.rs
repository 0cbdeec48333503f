//! Kubeconfigs for the user, beside the cluster: copies of those that the control plane has. They belong to the cluster
//! object, and go with it.

use hyperplane_api::constants::objects::{keys, kubeconfigs};
use k8s_openapi::{ByteString, api::core::v1::Secret};
use kube::{Resource as _, ResourceExt as _};

use super::Blueprint;
use crate::{metadata, names};

pub(super) fn build(blueprint: &Blueprint<'_>) -> Vec<Secret> {
    let cluster = blueprint.cluster;
    let has_further_name = cluster
        .spec
        .kube_api_server_dns_name
        .as_ref()
        .is_some_and(|name| !name.as_str().is_empty());
    let further = has_further_name.then(|| (kubeconfigs::CUSTOM_ADMIN, names::custom_kubeconfig(cluster)));
    let wanted = [Some((kubeconfigs::ADMIN, names::admin_kubeconfig(cluster))), further];
    wanted
        .into_iter()
        .flatten()
        .filter_map(|(source, name)| copy(blueprint, source, &name))
        .collect()
}

fn copy(blueprint: &Blueprint<'_>, source: &str, name: &str) -> Option<Secret> {
    let content = blueprint.seen.objects.secret_value(source, keys::KUBECONFIG)?;
    let cluster = blueprint.cluster;
    let mut metadata = metadata::in_namespace(cluster, &cluster.namespace().unwrap_or_default(), name);
    metadata.owner_references = cluster.controller_owner_ref(&()).map(|owner| vec![owner]);
    Some(Secret {
        metadata,
        type_: Some("Opaque".to_owned()),
        data: Some([(keys::KUBECONFIG.to_owned(), ByteString(content.to_vec()))].into()),
        ..Secret::default()
    })
}
