//! The command line of each program of a management cluster, as a function of where its files are. It starts nothing.

use std::path::Path;

use super::layout::{API_PORT, CONTROLLER_MANAGER, KUBELET_CLIENT, Layout, Node, POLICIES, SCHEDULER, SERVICE_NETWORK};

/// Where etcd listens; nobody else is on the loopback interface of the cluster's network.
const ETCD: &str = "http://127.0.0.1:2379";
const ETCD_PEERS: &str = "http://127.0.0.1:2380";

/// The queue that the enforcer of network policies reads.
pub(crate) const POLICY_QUEUE: u16 = 100;

pub(crate) fn etcd(layout: &Layout) -> Vec<String> {
    vec![
        path("data-dir", &layout.etcd_data()),
        flag("listen-client-urls", ETCD),
        flag("advertise-client-urls", ETCD),
        flag("listen-peer-urls", ETCD_PEERS),
        // The data never outlives the process.
        flag("unsafe-no-fsync", "true"),
    ]
}

pub(crate) fn api_server(layout: &Layout) -> Vec<String> {
    let address = Node(1).address().to_string();
    let serving = layout.identity("serving");
    let service_accounts = layout.identity("service-accounts");
    let kubelets = layout.identity(KUBELET_CLIENT);
    vec![
        flag("etcd-servers", ETCD),
        flag("bind-address", &address),
        flag("advertise-address", &address),
        flag("secure-port", API_PORT.to_string()),
        flag("service-cluster-ip-range", SERVICE_NETWORK),
        flag("authorization-mode", "Node,RBAC"),
        flag("enable-admission-plugins", "NodeRestriction"),
        path("client-ca-file", &layout.identity("ca").certificate),
        path("tls-cert-file", &serving.certificate),
        path("tls-private-key-file", &serving.key),
        flag("service-account-issuer", "https://kubernetes.default.svc.cluster.local"),
        path("service-account-key-file", &service_accounts.certificate),
        path("service-account-signing-key-file", &service_accounts.key),
        path("kubelet-client-certificate", &kubelets.certificate),
        path("kubelet-client-key", &kubelets.key),
        path("kubelet-certificate-authority", &layout.identity("ca").certificate),
        // By default it asks a DNS server for the names of nodes first.
        flag("kubelet-preferred-address-types", "InternalIP"),
        flag("allow-privileged", "true"),
    ]
}

pub(crate) fn controller_manager(layout: &Layout) -> Vec<String> {
    let authority = layout.identity("ca");
    let mut arguments = component(layout, CONTROLLER_MANAGER);
    arguments.extend([
        flag("use-service-account-credentials", "true"),
        path(
            "service-account-private-key-file",
            &layout.identity("service-accounts").key,
        ),
        path("root-ca-file", &authority.certificate),
        path("cluster-signing-cert-file", &authority.certificate),
        path("cluster-signing-key-file", &authority.key),
    ]);
    arguments
}

pub(crate) fn scheduler(layout: &Layout) -> Vec<String> {
    component(layout, SCHEDULER)
}

pub(crate) fn kubelet(layout: &Layout, node: Node) -> Vec<String> {
    vec![
        path("config", &layout.node(node).join("kubelet.yaml")),
        path("kubeconfig", &layout.kubeconfig(&node.name())),
        path("root-dir", &layout.node(node).join("kubelet")),
        flag("hostname-override", node.name()),
        flag("node-ip", node.address().to_string()),
        flag("v", "2"),
    ]
}

pub(crate) fn kube_proxy(layout: &Layout) -> Vec<String> {
    vec![path("config", &layout.root.join("kube-proxy.yaml"))]
}

/// The enforcer: a packet that nobody has judged does not pass. Without NRI, of which Debian's containerd knows nothing, it
/// learns addresses of pods from the API.
pub(crate) fn network_policies(layout: &Layout) -> Vec<String> {
    vec![
        path("kubeconfig", &layout.kubeconfig(POLICIES)),
        flag("hostname-override", Node(1).name()),
        flag("nfqueue-id", POLICY_QUEUE.to_string()),
        flag("fail-open", "false"),
        flag("disable-nri", "true"),
        // Judging open connections anew needs labels of connections, which not every kernel lets it set.
        flag("strict-mode", "false"),
        flag("metrics-bind-address", "127.0.0.1:9080"),
        flag("v", "2"),
    ]
}

/// What the controller manager and the scheduler have in common. There is one of each.
fn component(layout: &Layout, name: &str) -> Vec<String> {
    let kubeconfig = layout.kubeconfig(name);
    vec![
        path("kubeconfig", &kubeconfig),
        path("authentication-kubeconfig", &kubeconfig),
        path("authorization-kubeconfig", &kubeconfig),
        flag("bind-address", "127.0.0.1"),
        flag("leader-elect", "false"),
    ]
}

fn flag(name: &str, value: impl AsRef<str>) -> String {
    format!("--{name}={}", value.as_ref())
}

fn path(name: &str, value: &Path) -> String {
    flag(name, value.display().to_string())
}
