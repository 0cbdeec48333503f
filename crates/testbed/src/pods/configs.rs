//! The configuration files of a node and the objects that every management cluster has, as text. It writes nothing.

use std::fmt::Write as _;

use super::layout::{DNS_ADDRESS, Layout, Node, POD_NETWORK, POLICIES, PROXY, VOLUMES};

/// The name under which nodes find what holds the namespaces of a pod.
pub const PAUSE_IMAGE: &str = "registry.k8s.io/pause:3.10.2";

/// The name under which nodes find the DNS server.
pub const COREDNS_IMAGE: &str = "registry.k8s.io/coredns/coredns:v1.14.2";

/// The class of volumes; it is the default one.
pub const STORAGE_CLASS: &str = "local";

/// Where Debian has the plugins of containers' networks.
const NETWORK_PLUGINS: &str = "/usr/lib/cni";

/// A bridge for each node, between which the kernel routes.
pub(crate) fn pod_network(layout: &Layout, node: Node) -> String {
    let (number, pods) = (node.0, node.pods());
    let leases = layout.node(node).join("addresses");
    let leases = leases.display();
    format!(
        r#"{{"cniVersion": "0.4.0", "name": "pods", "plugins": [
  {{"type": "bridge", "bridge": "pods{number}", "isGateway": true, "ipMasq": false, "hairpinMode": true,
   "ipam": {{"type": "host-local", "ranges": [[{{"subnet": "{pods}"}}]], "routes": [{{"dst": "0.0.0.0/0"}}],
            "dataDir": "{leases}"}}}},
  {{"type": "portmap", "capabilities": {{"portMappings": true}}}}]}}
"#
    )
}

pub(crate) fn containerd(layout: &Layout, node: Node) -> String {
    let directory = layout.node(node);
    let directory = directory.display();
    let number = node.0;
    // Where a process may not lower scores of the kernel's out-of-memory killer, every sandbox would fail without
    // `restrict_oom_score_adj`.
    format!(
        r#"version = 2
root = "{directory}/containerd"
state = "/run/containerd-{number}"
[grpc]
  address = "{socket}"
[plugins."io.containerd.internal.v1.opt"]
  path = "{directory}/opt"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "{PAUSE_IMAGE}"
  restrict_oom_score_adj = true
  stream_server_address = "127.0.0.1"
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "{NETWORK_PLUGINS}"
    conf_dir = "{directory}/cni"
"#,
        socket = layout.socket(node).display(),
    )
}

pub(crate) fn kubelet(layout: &Layout, node: Node) -> String {
    let serving = layout.identity(&format!("{}-serving", node.name()));
    format!(
        r"apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
address: {address}
healthzBindAddress: {address}
failCgroupV1: false
cgroupDriver: cgroupfs
cgroupRoot: /{group}
containerRuntimeEndpoint: unix://{socket}
clusterDNS: [{DNS_ADDRESS}]
clusterDomain: cluster.local
resolvConf: {resolver}
podLogsDir: {logs}
authentication: {{anonymous: {{enabled: false}}, webhook: {{enabled: true}}, x509: {{clientCAFile: {authority}}}}}
authorization: {{mode: Webhook}}
tlsCertFile: {certificate}
tlsPrivateKeyFile: {key}
evictionHard: {{memory.available: 100Mi, nodefs.available: 1%, imagefs.available: 1%}}
imageGCHighThresholdPercent: 100
failSwapOn: false
maxPods: 200
",
        address = node.address(),
        group = layout.node_group(node),
        socket = layout.socket(node).display(),
        // Kubelets remove logs of pods that they do not know.
        logs = layout.node(node).join("logs").display(),
        resolver = layout.root.join("resolv.conf").display(),
        authority = layout.identity("ca").certificate.display(),
        certificate = serving.certificate.display(),
        key = serving.key.display(),
    )
}

/// The resolver of nodes. No name outside of the cluster can be found: there is no way out.
pub(crate) fn resolver() -> String {
    format!("nameserver {DNS_ADDRESS}\n")
}

/// One for all nodes, since they share a network. Limits of connection tracking belong to the machine and stay as they are.
pub(crate) fn kube_proxy(layout: &Layout) -> String {
    let node = Node(1);
    format!(
        r"apiVersion: kubeproxy.config.k8s.io/v1alpha1
kind: KubeProxyConfiguration
mode: iptables
clusterCIDR: {POD_NETWORK}
hostnameOverride: {name}
bindAddress: {address}
healthzBindAddress: 127.0.0.1:10256
metricsBindAddress: 127.0.0.1:10249
clientConnection: {{kubeconfig: {kubeconfig}}}
conntrack: {{maxPerCore: 0, min: 0}}
",
        name = node.name(),
        address = node.address(),
        kubeconfig = layout.kubeconfig(PROXY).display(),
    )
}

/// The DNS server, the class of volumes, and the rights of the enforcer of network policies.
pub(crate) fn objects() -> String {
    include_str!("objects.yaml")
        .replace("$IMAGE", COREDNS_IMAGE)
        .replace("$ADDRESS", &DNS_ADDRESS.to_string())
        .replace("$CLASS", STORAGE_CLASS)
        .replace("$POLICIES", POLICIES)
}

/// The volumes of nodes.
pub(crate) fn volumes(layout: &Layout, nodes: &[Node]) -> String {
    let mut text = String::new();
    for (node, number) in nodes
        .iter()
        .flat_map(|node| (1..=VOLUMES).map(move |number| (*node, number)))
    {
        let name = node.name();
        let path = layout.volume(node, number);
        write!(
            text,
            r"---
apiVersion: v1
kind: PersistentVolume
metadata: {{name: {name}-{number}}}
spec:
  capacity: {{storage: 16Gi}}
  accessModes: [ReadWriteOnce]
  persistentVolumeReclaimPolicy: Retain
  storageClassName: {STORAGE_CLASS}
  local: {{path: {path}}}
  nodeAffinity:
    required:
      nodeSelectorTerms:
      - matchExpressions: [{{key: kubernetes.io/hostname, operator: In, values: [{name}]}}]
",
            path = path.display(),
        )
        .expect("a string takes all text");
    }
    text
}
