//! Names that follow from the name of a HostedCluster. Knows no object but by name.

use hyperplane_api::hypershift::hosted_cluster::HostedCluster;
use kube::ResourceExt as _;

/// The longest name of a namespace, by Kubernetes' own rule.
pub(crate) const LONGEST_NAMESPACE: usize = 63;
/// The longest infra id that is chosen: what clouds allow in names that are made from it.
pub(crate) const LONGEST_INFRA_ID: usize = 27;
/// How many letters and digits of an infra id are chosen by chance.
pub(crate) const INFRA_ID_SUFFIX: usize = 5;

/// The namespace of the control plane of a cluster.
pub fn control_plane_namespace(namespace: &str, name: &str) -> String {
    format!("{namespace}-{}", name.replace('.', "-"))
}

/// The namespace of the control plane of this cluster.
pub(crate) fn namespace_of(cluster: &HostedCluster) -> String {
    control_plane_namespace(&cluster.namespace().unwrap_or_default(), &cluster.name_any())
}

/// The cluster as annotations name it: namespace/name.
pub(crate) fn title(cluster: &HostedCluster) -> String {
    format!("{}/{}", cluster.namespace().unwrap_or_default(), cluster.name_any())
}

/// Every Secret beside a cluster of this name that we make once its control plane has what is in it: the administrator's
/// kubeconfig, the same for the further name of the API server, and the password of the first user.
pub fn secrets_beside(name: &str) -> [String; 3] {
    [
        format!("{name}-admin-kubeconfig"),
        format!("{name}-custom-admin-kubeconfig"),
        format!("{name}-kubeadmin-password"),
    ]
}

/// The Secrets beside this cluster.
pub(crate) fn beside(cluster: &HostedCluster) -> [String; 3] {
    secrets_beside(&cluster.name_any())
}

/// The Secret beside the cluster with the administrator's kubeconfig.
pub(crate) fn admin_kubeconfig(cluster: &HostedCluster) -> String {
    let [admin, _, _] = beside(cluster);
    admin
}

/// The Secret beside the cluster with the administrator's kubeconfig for the further name of the API server.
pub(crate) fn custom_kubeconfig(cluster: &HostedCluster) -> String {
    let [_, custom, _] = beside(cluster);
    custom
}

/// The Secret beside the cluster with the password of its first user.
pub(crate) fn kubeadmin_password(cluster: &HostedCluster) -> String {
    let [_, _, password] = beside(cluster);
    password
}

/// The infra id that is chosen for a cluster: its name, cut so that the suffix fits.
pub(crate) fn infra_id(name: &str, suffix: &str) -> String {
    let name = name.replace('.', "-");
    let room = LONGEST_INFRA_ID - suffix.len() - 1;
    let base = &name[..name.len().min(room)];
    format!("{}-{suffix}", base.trim_end_matches('-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dots_do_not_make_a_namespace() {
        assert_eq!(
            control_plane_namespace("clusters", "blue.example"),
            "clusters-blue-example"
        );
    }

    #[test]
    fn infra_ids_have_their_length_and_no_double_dash() {
        assert_eq!(infra_id("blue", "abcde"), "blue-abcde");
        let long = infra_id("a-very-long-name-that-is-cut", "abcde");
        assert_eq!(long, "a-very-long-name-that-abcde");
        assert!(long.len() <= LONGEST_INFRA_ID);
        assert_eq!(
            infra_id("cut-right-behind-the-d-dash", "abcde"),
            "cut-right-behind-the-abcde"
        );
    }
}
