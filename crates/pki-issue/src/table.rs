//! Everything that a control plane has, one row each: authorities, bundles and leaves; kubeconfigs stand beside it. Data;
//! what is done with it stands elsewhere. Adding a leaf is one row in [`LEAVES`].

use std::collections::BTreeSet;

use hyperplane_api::constants::objects::{bundles, certificates, services, signers};

use crate::{
    names::Host,
    serving::{api_server_names, at, etcd_names, ignition_names, konnectivity_names, no_names},
    wanted::{Etcd, Wanted},
};

/// An authority.
#[derive(Debug)]
pub(crate) struct Signer {
    pub(crate) secret: &'static str,
    pub(crate) common_name: &'static str,
    pub(crate) unit: &'static str,
}

/// A list of authorities that somebody trusts.
#[derive(Debug)]
pub(crate) struct Bundle {
    pub(crate) config_map: &'static str,
    pub(crate) signers: &'static [&'static str],
}

/// What a leaf is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Usage {
    Server,
    Client,
    Both,
}

/// Under which keys a leaf stands in its Secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layout {
    /// The usual ones.
    Tls,
    /// Those of a client of etcd, with the bundle that it trusts.
    EtcdClient,
}

/// A row of leaves.
#[derive(Debug)]
pub(crate) struct LeafRow {
    pub(crate) secret: &'static str,
    pub(crate) signer: &'static str,
    pub(crate) common_name: &'static str,
    pub(crate) group: Option<&'static str>,
    pub(crate) usage: Usage,
    pub(crate) names: fn(&Wanted) -> Names,
    pub(crate) layout: Layout,
}

/// A leaf: whom it is for, and who signs it.
#[derive(Clone, Debug)]
pub(crate) struct Leaf {
    pub(crate) signer: &'static str,
    pub(crate) common_name: String,
    pub(crate) groups: Vec<String>,
    pub(crate) usage: Usage,
    pub(crate) names: Names,
}

/// The names of a server.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    pub(crate) known: BTreeSet<Host>,
    /// There is one more that nobody knows yet: what.
    pub(crate) awaited: Option<&'static str>,
}

/// Every authority.
pub(crate) const SIGNERS: &[Signer] = &[
    signer(signers::ROOT, "root-ca"),
    signer(signers::CLUSTER, "kube-csr-signer"),
    signer(signers::ETCD, "etcd-signer"),
    signer(signers::AGGREGATOR_CLIENT, "aggregator-signer"),
    signer(signers::CONTROL_PLANE, "kube-control-plane-signer"),
    signer(signers::KUBELET_CLIENT, "kube-apiserver-to-kubelet-signer"),
    signer(signers::SYSTEM_ADMIN, "admin-kubeconfig-signer"),
    signer(signers::CONFIG_OPERATOR, "hcco-signer"),
    signer(signers::BOOTSTRAP, "kas-bootstrap-container-signer"),
    signer(signers::KONNECTIVITY, "konnectivity-signer"),
    signer(signers::IGNITION, "ignition-server-ca"),
];

/// Every bundle. Whoever signs for the API server as a client of others is in none that the API server itself trusts.
pub(crate) const BUNDLES: &[Bundle] = &[
    bundle(bundles::ROOT, &[signers::ROOT]),
    bundle(bundles::ETCD, &[signers::ETCD]),
    bundle(bundles::AGGREGATOR_CLIENT, &[signers::AGGREGATOR_CLIENT]),
    bundle(
        bundles::CLIENT,
        &[
            signers::SYSTEM_ADMIN,
            signers::CONTROL_PLANE,
            signers::CONFIG_OPERATOR,
            signers::BOOTSTRAP,
            signers::CLUSTER,
        ],
    ),
    bundle(bundles::KUBELET_CLIENT, &[signers::KUBELET_CLIENT]),
    bundle(bundles::KUBELET_SERVING, &[signers::CLUSTER]),
    bundle(bundles::KONNECTIVITY, &[signers::KONNECTIVITY]),
    bundle(bundles::IGNITION, &[signers::IGNITION]),
];

/// The administrators of Kubernetes: no rule has to name them.
const MASTERS: Option<&str> = Some("system:masters");

/// Every leaf with a Secret of its own.
#[rustfmt::skip]
pub(crate) const LEAVES: &[LeafRow] = &[
    server(certificates::API_SERVER, signers::ROOT, "kubernetes", api_server_names),
    // kubeadm's name. Kubelets ask whether it may, and masters always may; the API server does not trust its signer.
    client(certificates::API_SERVER_KUBELET_CLIENT, signers::KUBELET_CLIENT, "kube-apiserver-kubelet-client", MASTERS),
    client(certificates::AGGREGATOR_CLIENT, signers::AGGREGATOR_CLIENT, "front-proxy-client", None),
    client(certificates::SYSTEM_ADMIN, signers::SYSTEM_ADMIN, "system:admin", MASTERS),
    client(certificates::BOOTSTRAP, signers::BOOTSTRAP, "system:bootstrapper", Some("system:bootstrappers")),
    client(certificates::CONFIG_OPERATOR, signers::CONFIG_OPERATOR, "system:hosted-cluster-config", MASTERS),
    client(certificates::SCHEDULER_CLIENT, signers::CONTROL_PLANE, "system:kube-scheduler", None),
    server(certificates::SCHEDULER_SERVER, signers::ROOT, "kube-scheduler", |wanted| at("kube-scheduler", wanted)),
    client(certificates::CONTROLLER_MANAGER_CLIENT, signers::CONTROL_PLANE, "system:kube-controller-manager", None),
    server(certificates::CONTROLLER_MANAGER_SERVER, signers::ROOT, "kube-controller-manager", |wanted| at("kube-controller-manager", wanted)),
    LeafRow { layout: Layout::EtcdClient, ..client(certificates::ETCD_CLIENT, signers::ETCD, "etcd-client", None) },
    // etcd is a client of itself: its gateway shows the certificate of the server.
    LeafRow { usage: Usage::Both, ..server(certificates::ETCD_SERVER, signers::ETCD, "etcd-server", etcd_names) },
    LeafRow { usage: Usage::Both, ..server(certificates::ETCD_PEER, signers::ETCD, "etcd-discovery", etcd_names) },
    // Kubernetes binds this group to what metrics are read with, and to nothing else.
    client(certificates::METRICS_CLIENT, signers::CONTROL_PLANE, "hyperplane-metrics", Some("system:monitoring")),
    server(certificates::KONNECTIVITY_SERVER, signers::KONNECTIVITY, "konnectivity-server", |wanted| at(services::KONNECTIVITY_LOCAL, wanted)),
    server(certificates::KONNECTIVITY_CLUSTER, signers::KONNECTIVITY, "konnectivity-cluster", konnectivity_names),
    client(certificates::KONNECTIVITY_CLIENT, signers::KONNECTIVITY, "konnectivity-client", None),
    client(certificates::KONNECTIVITY_AGENT, signers::KONNECTIVITY, "konnectivity-agent", None),
    server(certificates::IGNITION_SERVER, signers::IGNITION, "ignition-server", ignition_names),
    server(certificates::OPENSHIFT_API_SERVER, signers::ROOT, "openshift-apiserver", |wanted| at(services::OPENSHIFT_API_SERVER, wanted)),
    // No Service leads there, because webhooks of Cluster API are not called in a namespace; the programs ask for it all
    // the same.
    server(certificates::CLUSTER_API_WEBHOOKS, signers::ROOT, "capi-webhooks", |wanted| at("capi-webhooks", wanted)),
];

/// The authorities of this control plane.
pub(crate) fn signers(wanted: &Wanted) -> impl Iterator<Item = &'static Signer> {
    SIGNERS.iter().filter(|row| is_ours(row.secret, wanted))
}

/// The bundles of this control plane.
pub(crate) fn bundles(wanted: &Wanted) -> impl Iterator<Item = &'static Bundle> {
    let signed = |row: &&Bundle| row.signers.iter().all(|signer| is_ours(signer, wanted));
    BUNDLES.iter().filter(signed)
}

/// The leaves of this control plane that have a Secret of their own.
pub(crate) fn leaves(wanted: &Wanted) -> impl Iterator<Item = &'static LeafRow> {
    LEAVES.iter().filter(|row| is_ours(row.signer, wanted))
}

/// Whether an authority is ours to make: whoever runs etcd signs for it.
fn is_ours(signer: &str, wanted: &Wanted) -> bool {
    signer != signers::ETCD || wanted.etcd == Etcd::Managed
}

impl LeafRow {
    /// The leaf of this control plane.
    pub(crate) fn leaf(&self, wanted: &Wanted) -> Leaf {
        Leaf {
            signer: self.signer,
            common_name: self.common_name.to_owned(),
            groups: self.group.map(str::to_owned).into_iter().collect(),
            usage: self.usage,
            names: (self.names)(wanted),
        }
    }
}

const fn signer(secret: &'static str, common_name: &'static str) -> Signer {
    let unit = "hyperplane";
    Signer {
        secret,
        common_name,
        unit,
    }
}

const fn bundle(config_map: &'static str, signers: &'static [&'static str]) -> Bundle {
    Bundle { config_map, signers }
}

const fn server(
    secret: &'static str,
    signer: &'static str,
    common_name: &'static str,
    names: fn(&Wanted) -> Names,
) -> LeafRow {
    let (group, usage, layout) = (None, Usage::Server, Layout::Tls);
    LeafRow {
        secret,
        signer,
        common_name,
        group,
        usage,
        names,
        layout,
    }
}

const fn client(
    secret: &'static str,
    signer: &'static str,
    common_name: &'static str,
    group: Option<&'static str>,
) -> LeafRow {
    let (usage, names, layout) = (Usage::Client, no_names as fn(&Wanted) -> Names, Layout::Tls);
    LeafRow {
        secret,
        signer,
        common_name,
        group,
        usage,
        names,
        layout,
    }
}

/// The row of a leaf.
pub(crate) fn row(secret: &str) -> &'static LeafRow {
    LEAVES
        .iter()
        .find(|row| row.secret == secret)
        .expect("kubeconfigs name rows, which a test checks")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_refer_to_rows_and_nothing_is_there_twice() {
        let signers: BTreeSet<&str> = SIGNERS.iter().map(|row| row.secret).collect();
        let subjects: BTreeSet<&str> = SIGNERS.iter().map(|row| row.common_name).collect();
        assert_eq!((signers.len(), subjects.len()), (SIGNERS.len(), SIGNERS.len()));
        for row in LEAVES {
            assert!(signers.contains(row.signer), "{}", row.secret);
            assert!(!signers.contains(row.secret), "{}", row.secret);
        }
        for row in BUNDLES {
            let mut named = row.signers.iter();
            assert!(named.all(|signer| signers.contains(signer)), "{}", row.config_map);
        }
        let leaves: BTreeSet<&str> = LEAVES.iter().map(|row| row.secret).collect();
        assert_eq!(leaves.len(), LEAVES.len());
    }
}
