//! Service addresses on nodes: kube-proxy, which reaches the API server where it is published, because service addresses
//! are what it has yet to make.

use k8s_openapi::api::{
    apps::v1::DaemonSet,
    core::v1::{ConfigMap, ServiceAccount},
    rbac::v1::ClusterRoleBinding,
};
use serde_json::json;

use super::{
    Incomplete, SYSTEM_NAMESPACE, Set, Wanted,
    access::{binding_of_account, object},
    asset,
};

/// On the pods: what restarts them when their configuration changes.
const CONFIGURATION: &str = "hyperplane.dev/configuration";

pub(super) fn add(wanted: &Wanted<'_>, set: &mut Set) -> Result<(), Incomplete> {
    let metadata = json!({"name": "kube-proxy", "namespace": SYSTEM_NAMESPACE});
    set.add::<ServiceAccount>(object(&json!({"metadata": metadata})));
    let binding = binding_of_account("hyperplane:node-proxier", "system:node-proxier", "kube-proxy");
    set.add::<ClusterRoleBinding>(object(&binding));
    let (kubeconfig, configuration) = (kubeconfig(wanted), configuration(wanted));
    set.add::<ConfigMap>(object(&json!({
        "metadata": metadata, "data": {"config.conf": configuration, "kubeconfig.conf": kubeconfig},
    })));
    let mut daemon_set: DaemonSet = asset(include_str!("../assets/kube-proxy.yaml"));
    let template = &mut daemon_set.spec.get_or_insert_default().template;
    let stamp = format!("{}:{}", wanted.api_server.host, wanted.api_server.port);
    wanted.finish("kube-proxy", &[(CONFIGURATION, stamp)], template)?;
    set.add(daemon_set);
    Ok(())
}

fn configuration(wanted: &Wanted<'_>) -> String {
    let networks = wanted.networking().cluster_network;
    let networks: Vec<&str> = networks.iter().map(|network| network.cidr.as_str()).collect();
    let configuration = json!({
        "apiVersion": "kubeproxy.config.k8s.io/v1alpha1",
        "kind": "KubeProxyConfiguration",
        "clientConnection": {"kubeconfig": "/var/lib/kube-proxy/kubeconfig.conf"},
        "clusterCIDR": networks.join(","),
    });
    configuration.to_string()
}

/// The account of the pod, against the published API server.
fn kubeconfig(wanted: &Wanted<'_>) -> String {
    let directory = "/var/run/secrets/kubernetes.io/serviceaccount";
    let server = super::url(wanted.api_server);
    let kubeconfig = json!({
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{
            "name": "default", "cluster": {"certificate-authority": format!("{directory}/ca.crt"), "server": server},
        }],
        "users": [{"name": "default", "user": {"tokenFile": format!("{directory}/token")}}],
        "contexts": [{"name": "default", "context": {"cluster": "default", "namespace": "default", "user": "default"}}],
        "current-context": "default",
    });
    kubeconfig.to_string()
}
