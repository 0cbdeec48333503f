//! Files and addresses of a management cluster, and the making of its certificates and kubeconfigs. It starts nothing.
//!
//! Addresses need not be free on the machine: the cluster has a network of its own.

use std::{
    fs,
    net::Ipv4Addr,
    path::{Path, PathBuf},
};

use super::error::Error;
use crate::{
    certificates::{Authority, Identity, create_key_pair},
    layout::kubeconfig,
};

/// The bridge that is the network of hosts: nodes of the management cluster have their addresses on it, and hosts of hosted
/// clusters plug into it.
pub const HOST_BRIDGE: &str = "lan0";

/// The network of hosts. The first node has the first address; those from 10 on are free for other hosts.
const HOSTS: [u8; 3] = [10, 199, 0];

/// The network of pods; the third number is that of the node.
const PODS: [u8; 2] = [10, 200];

/// All pods of the cluster.
pub(crate) const POD_NETWORK: &str = "10.200.0.0/16";

/// Addresses of Services.
pub(crate) const SERVICE_NETWORK: &str = "10.96.0.0/16";

/// The Service of the DNS server.
pub(crate) const DNS_ADDRESS: Ipv4Addr = Ipv4Addr::new(10, 96, 0, 10);

/// The Service of the API server.
const API_SERVICE: &str = "10.96.0.1";

/// Where the API server listens.
pub(crate) const API_PORT: u16 = 6443;

/// Volumes that every node has ready.
pub(crate) const VOLUMES: u8 = 8;

/// Client identities as (file, user, groups).
const CLIENTS: [(&str, &str, &[&str]); 6] = [
    (ADMIN, "admin", &["system:masters"]),
    (CONTROLLER_MANAGER, "system:kube-controller-manager", &[]),
    (SCHEDULER, "system:kube-scheduler", &[]),
    (PROXY, "system:kube-proxy", &[]),
    (POLICIES, POLICIES, &[]),
    (KUBELET_CLIENT, "kube-apiserver-kubelet-client", &["system:masters"]),
];

pub(crate) const ADMIN: &str = "admin";
pub(crate) const CONTROLLER_MANAGER: &str = "controller-manager";
pub(crate) const SCHEDULER: &str = "scheduler";
pub(crate) const PROXY: &str = "proxy";
pub(crate) const POLICIES: &str = "kube-network-policies";
pub(crate) const KUBELET_CLIENT: &str = "kubelet-client";

/// A node of the management cluster, numbered from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node(pub u8);

impl Node {
    /// Its name.
    pub fn name(self) -> String {
        format!("node-{}", self.0)
    }

    /// Its address.
    pub fn address(self) -> Ipv4Addr {
        let [a, b, c] = HOSTS;
        Ipv4Addr::new(a, b, c, self.0)
    }

    /// Its pods.
    pub(crate) fn pods(self) -> String {
        let [a, b] = PODS;
        format!("{a}.{b}.{}.0/24", self.0)
    }
}

/// Where everything of one cluster is.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    pub(crate) root: PathBuf,
    /// The control group of all, as a path below the root.
    pub(crate) control_group: String,
}

impl Layout {
    /// Makes directories, certificates and kubeconfigs.
    pub(crate) fn create(&self, nodes: &[Node]) -> Result<(), Error> {
        for directory in [self.certificates(), self.logs(), self.etcd_data()] {
            make(&directory)?;
        }
        let authority = Authority::create("kubernetes", &self.identity("ca"))?;
        let names = [
            "kubernetes",
            "kubernetes.default",
            "kubernetes.default.svc",
            "kubernetes.default.svc.cluster.local",
            "127.0.0.1",
            API_SERVICE,
            &Node(1).address().to_string(),
        ];
        authority.sign_server_for("kube-apiserver", &names, &self.identity("serving"))?;
        create_key_pair(&self.identity("service-accounts"))?;
        for (name, user, groups) in CLIENTS {
            authority.sign_client(user, groups, &self.identity(name))?;
            self.write_kubeconfig(name)?;
        }
        for node in nodes {
            let name = node.name();
            let user = format!("system:node:{name}");
            authority.sign_client(&user, &["system:nodes"], &self.identity(&name))?;
            self.write_kubeconfig(&name)?;
            let names = [name.as_str(), &node.address().to_string()];
            authority.sign_server_for(&user, &names, &self.identity(&format!("{name}-serving")))?;
            make(&self.node(*node).join("cni"))?;
            make(&self.node(*node).join("kubelet"))?;
            for number in 1..=VOLUMES {
                make(&self.volume(*node, number))?;
            }
        }
        Ok(())
    }

    pub(crate) fn server_url() -> String {
        format!("https://{}:{API_PORT}", Node(1).address())
    }

    pub(crate) fn identity(&self, name: &str) -> Identity {
        Identity::in_directory(&self.certificates(), name)
    }

    pub(crate) fn kubeconfig(&self, name: &str) -> PathBuf {
        self.root.join(format!("{name}.kubeconfig"))
    }

    pub(crate) fn log(&self, program: &str) -> PathBuf {
        self.logs().join(format!("{program}.log"))
    }

    pub(crate) fn etcd_data(&self) -> PathBuf {
        self.root.join("etcd")
    }

    /// Everything of a node.
    pub(crate) fn node(&self, node: Node) -> PathBuf {
        self.root.join("nodes").join(node.name())
    }

    /// The socket of a node's containerd.
    pub(crate) fn socket(&self, node: Node) -> PathBuf {
        self.node(node).join("containerd.sock")
    }

    pub(crate) fn volume(&self, node: Node, number: u8) -> PathBuf {
        self.node(node).join("volumes").join(number.to_string())
    }

    /// The control group of a node.
    pub(crate) fn node_group(&self, node: Node) -> String {
        format!("{}/{}", self.control_group, node.name())
    }

    pub(crate) fn logs(&self) -> PathBuf {
        self.root.join("logs")
    }

    fn write_kubeconfig(&self, name: &str) -> Result<(), Error> {
        let text = kubeconfig(&Self::server_url(), &self.identity("ca"), &self.identity(name));
        write(&self.kubeconfig(name), &text)
    }

    fn certificates(&self) -> PathBuf {
        self.root.join("certificates")
    }
}

fn make(directory: &Path) -> Result<(), Error> {
    fs::create_dir_all(directory).map_err(Error::at(format!("making {}", directory.display())))
}

/// Writes a file whole.
pub(crate) fn write(path: &Path, text: &str) -> Result<(), Error> {
    fs::write(path, text).map_err(Error::at(format!("writing {}", path.display())))
}
