//! Secrets for the user, beside the cluster: copies of the kubeconfigs and of the password that the control plane has. They
//! belong to the cluster object, and go with it.

use hyperplane_api::{
    constants::objects::{keys, kubeconfigs},
    hypershift::hosted_cluster::HostedCluster,
};
use k8s_openapi::{ByteString, api::core::v1::Secret};
use kube::{Resource as _, ResourceExt as _};

use super::Blueprint;
use crate::{dereference::Seen, metadata, names};

/// The key of the Secret with the password of the first user.
const PASSWORD: &str = "password";

pub(super) fn build(blueprint: &Blueprint<'_>) -> Vec<Secret> {
    let (cluster, objects) = (blueprint.cluster, &blueprint.seen.objects);
    let has_further_name = cluster
        .spec
        .kube_api_server_dns_name
        .as_ref()
        .is_some_and(|name| !name.as_str().is_empty());
    let kubeconfig = |source: &str| objects.secret_value(source, keys::KUBECONFIG);
    let further = kubeconfig(kubeconfigs::CUSTOM_ADMIN).filter(|_| has_further_name);
    let wanted = [
        (
            names::admin_kubeconfig(cluster),
            keys::KUBECONFIG,
            kubeconfig(kubeconfigs::ADMIN),
        ),
        (names::custom_kubeconfig(cluster), keys::KUBECONFIG, further),
        (
            names::kubeadmin_password(cluster),
            PASSWORD,
            kubeadmin_password(cluster, blueprint.seen),
        ),
    ];
    let secrets = wanted.into_iter();
    secrets
        .filter_map(|(name, key, content)| Some(secret(cluster, &name, key, content?)))
        .collect()
}

/// The password of the first user. A cluster with identity providers of its own has none.
pub(crate) fn kubeadmin_password<'a>(cluster: &HostedCluster, seen: &'a Seen) -> Option<&'a [u8]> {
    let configuration = cluster.spec.configuration.as_ref();
    if configuration.is_some_and(|configuration| configuration.rest.contains_key("oauth")) {
        return None;
    }
    let status = seen.control_plane.as_ref()?.status.as_ref()?;
    let name = &status.kubeadmin_password.as_ref()?.name;
    seen.objects.secret_value(name, PASSWORD)
}

fn secret(cluster: &HostedCluster, name: &str, key: &str, content: &[u8]) -> Secret {
    let mut metadata = metadata::in_namespace(cluster, &cluster.namespace().unwrap_or_default(), name);
    metadata.owner_references = cluster.controller_owner_ref(&()).map(|owner| vec![owner]);
    Secret {
        metadata,
        type_: Some("Opaque".to_owned()),
        data: Some([(key.to_owned(), ByteString(content.to_vec()))].into()),
        ..Secret::default()
    }
}
