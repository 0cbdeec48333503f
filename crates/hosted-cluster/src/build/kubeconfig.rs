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
    let kubeconfig = |source: &str| objects.secret_value(source, keys::KUBECONFIG);
    let further = kubeconfig(kubeconfigs::CUSTOM_ADMIN).filter(|_| has_further_name(cluster));
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

/// Secrets beside the cluster that must not be there any more: they were made for what the cluster asked for before.
pub(crate) fn obsolete(cluster: &HostedCluster) -> Vec<String> {
    let further = (!has_further_name(cluster)).then(|| names::custom_kubeconfig(cluster));
    let password = has_identity_providers(cluster).then(|| names::kubeadmin_password(cluster));
    further.into_iter().chain(password).collect()
}

fn has_further_name(cluster: &HostedCluster) -> bool {
    let name = cluster.spec.kube_api_server_dns_name.as_ref();
    name.is_some_and(|name| !name.as_str().is_empty())
}

fn has_identity_providers(cluster: &HostedCluster) -> bool {
    let configuration = cluster.spec.configuration.as_deref();
    configuration.is_some_and(|configuration| configuration.oauth.is_some())
}

/// The password of the first user. A cluster with identity providers of its own has none.
pub(crate) fn kubeadmin_password<'a>(cluster: &HostedCluster, seen: &'a Seen) -> Option<&'a [u8]> {
    if has_identity_providers(cluster) {
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

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::testing::{cluster, desired, put_control_plane, put_secret, seen, settings};

    /// What the user gets for a cluster whose control plane has everything.
    fn given(change: &Value) -> (Vec<String>, Vec<String>) {
        let cluster = cluster(change);
        let mut seen = seen(&cluster);
        let reported = json!({"status": {"kubeadminPassword": {"name": "kubeadmin"}}});
        put_control_plane(&cluster, &mut seen, &reported);
        put_secret(&mut seen, "kubeadmin", None, &[(PASSWORD, b"hunter2")]);
        for name in [kubeconfigs::ADMIN, kubeconfigs::CUSTOM_ADMIN] {
            put_secret(&mut seen, name, None, &[(keys::KUBECONFIG, name.as_bytes())]);
        }
        let made = desired(&cluster, &seen, &settings()).kubeconfigs;
        for secret in &made {
            assert_eq!(secret.metadata.namespace.as_deref(), Some("clusters"));
            let owners = secret.metadata.owner_references.as_ref().unwrap();
            assert_eq!(owners[0].kind, "HostedCluster");
        }
        let names = made.iter().map(|secret| secret.metadata.name.clone().unwrap());
        (names.collect(), obsolete(&cluster))
    }

    #[test]
    fn the_user_gets_what_the_cluster_asks_for_and_the_rest_goes() {
        let (admin, custom, password) = (
            "blue-admin-kubeconfig",
            "blue-custom-admin-kubeconfig",
            "blue-kubeadmin-password",
        );
        let further = json!({"kubeAPIServerDNSName": "api.example.com"});
        let providers = json!({"configuration": {"oauth": {"identityProviders": []}}});
        for (spec, expected, gone) in [
            (json!({}), vec![admin, password], vec![custom]),
            (further, vec![admin, custom, password], vec![]),
            (providers, vec![admin], vec![custom, password]),
        ] {
            let (names, obsolete) = given(&json!({"spec": spec}));
            assert_eq!(names, expected, "{spec}");
            assert_eq!(obsolete, gone, "{spec}");
        }
    }

    #[test]
    fn the_password_is_that_of_the_control_plane() {
        let cluster = cluster(&json!({}));
        let mut seen = seen(&cluster);
        assert_eq!(kubeadmin_password(&cluster, &seen), None, "nobody has reported one");
        put_control_plane(
            &cluster,
            &mut seen,
            &json!({"status": {"kubeadminPassword": {"name": "kubeadmin"}}}),
        );
        assert_eq!(kubeadmin_password(&cluster, &seen), None, "its Secret is not there yet");
        put_secret(&mut seen, "kubeadmin", None, &[(PASSWORD, b"hunter2")]);
        let made = desired(&cluster, &seen, &settings()).kubeconfigs;
        assert_eq!(made[0].data.as_ref().unwrap()[PASSWORD].0, b"hunter2");
    }
}
