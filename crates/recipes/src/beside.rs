//! What recipes call the objects beside a cluster, which they make for it alone. Whoever removes the cluster and may not
//! list such objects finds them by these names.

/// What stands behind the name of a cluster in that of its registry credentials.
pub(crate) const PULL_SECRET: &str = "-pull-secret";
/// What stands behind it in that of the SSH keys of its nodes.
pub(crate) const SSH_KEY: &str = "-ssh-key";
/// What stands behind it in that of the kubeconfig of the cluster that its machines are made on.
pub(crate) const INFRA_CREDENTIALS: &str = "-infra-credentials";
/// What stands behind it in that of further certificates that it trusts.
pub(crate) const TRUST_BUNDLE: &str = "-user-ca-bundle";

/// The names of every Secret that a recipe can make for a cluster.
pub fn secrets_beside(cluster: &str) -> Vec<String> {
    named(cluster, &[PULL_SECRET, SSH_KEY, INFRA_CREDENTIALS])
}

/// The names of every ConfigMap that a recipe can make for a cluster.
pub fn config_maps_beside(cluster: &str) -> Vec<String> {
    named(cluster, &[TRUST_BUNDLE])
}

fn named(cluster: &str, ends: &[&str]) -> Vec<String> {
    ends.iter().map(|end| format!("{cluster}{end}")).collect()
}
