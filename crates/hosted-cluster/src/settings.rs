//! What the operator is told from outside: the management cluster, and where chance comes from.

use std::collections::BTreeMap;

use hyperplane_component_driver::Facts;
use hyperplane_runtime::{Entropy, Reach};

/// What the operator is told from outside.
#[derive(Clone, Debug)]
pub struct HostedClusterSettings {
    /// What components must know of the management cluster.
    pub facts: Facts,
    /// Which kinds the management cluster serves. A kind that is not served cannot be watched.
    pub served: ServedKinds,
    /// Whether pods must be told their user, because the management cluster assigns none.
    pub assigns_user_ids: bool,
    /// Whether the operators of a control plane run in its namespace where its cluster does not say.
    pub dedicates_operators: bool,
    /// The networks of the management cluster.
    pub networks: ManagementNetworks,
    /// The platform of the management cluster, for those who want to know.
    pub management_platform: Option<String>,
    /// How clusters are reached that users name: those with machines of theirs.
    pub reach: Reach,
    /// What names that are chosen by chance follow from.
    pub seed: u64,
    /// Where key material comes from.
    pub entropy: Entropy,
}

/// Which kinds the management cluster has that not every one has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ServedKinds {
    /// KubevirtCluster.
    pub kubevirt: bool,
    /// AgentCluster.
    pub agent: bool,
    /// ServiceCIDR.
    pub service_cidr: bool,
}

impl ServedKinds {
    /// Every kind.
    pub const ALL: Self = Self {
        kubevirt: true,
        agent: true,
        service_cidr: true,
    };
}

/// What network policies must know of the management cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ManagementNetworks {
    /// Networks that tenants must not reach, besides those that the cluster itself tells.
    pub closed: Vec<String>,
    /// Labels of the namespaces with its DNS servers.
    pub dns: Vec<BTreeMap<String, String>>,
    /// Labels of the namespaces that collect metrics.
    pub monitoring: Vec<BTreeMap<String, String>>,
    /// Labels of the namespaces with its own router; none where tenants are not published through it.
    pub ingress: Option<BTreeMap<String, String>>,
}

impl Default for ManagementNetworks {
    fn default() -> Self {
        let label = |key: &str, value: &str| BTreeMap::from([(key.to_owned(), value.to_owned())]);
        Self {
            closed: Vec::new(),
            dns: vec![
                label("kubernetes.io/metadata.name", "kube-system"),
                label("kubernetes.io/metadata.name", "openshift-dns"),
            ],
            monitoring: vec![label("network.openshift.io/policy-group", "monitoring")],
            ingress: None,
        }
    }
}
