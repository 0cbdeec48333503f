//! Labels of Cluster API.

/// The Cluster that an object belongs to; on machines, providers' objects and Secrets.
pub const CLUSTER_NAME: &str = "cluster.x-k8s.io/cluster-name";

/// The MachineDeployment that a MachineSet or Machine belongs to.
pub const DEPLOYMENT_NAME: &str = "cluster.x-k8s.io/deployment-name";

/// The MachineSet that a Machine belongs to; a hash of the name where that is too long for a label.
pub const SET_NAME: &str = "cluster.x-k8s.io/set-name";

/// The MachinePool that a Machine belongs to; we run none, and leave such machines alone.
pub const POOL_NAME: &str = "cluster.x-k8s.io/pool-name";

/// Present, with an empty value, on machines of a control plane.
pub const CONTROL_PLANE: &str = "cluster.x-k8s.io/control-plane";

/// The control-plane object that a Machine belongs to; a hash of the name where that is too long for a label.
pub const CONTROL_PLANE_NAME: &str = "cluster.x-k8s.io/control-plane-name";

/// Tells the machines of one MachineSet of a MachineDeployment from those of the others; never changes on a set.
pub const MACHINE_TEMPLATE_HASH: &str = "machine-template-hash";

/// Objects that only a controller started with the same value reconciles.
pub const WATCH_FILTER: &str = "cluster.x-k8s.io/watch-filter";

/// Nodes on instances that the provider may take back at any time.
pub const INTERRUPTIBLE: &str = "cluster.x-k8s.io/interruptible";

/// On a Pod with the value `skip`: a drain does not evict it.
pub const DRAIN: &str = "cluster.x-k8s.io/drain";

/// Everything that a class made; we run none, and leave such objects alone.
pub const TOPOLOGY_OWNED: &str = "topology.cluster.x-k8s.io/owned";

/// The provider that installed an object; clusterctl reads it.
pub const PROVIDER: &str = "cluster.x-k8s.io/provider";

/// On a ClusterRole: its rules are added to those of the upstream manager.
pub const AGGREGATE_TO_MANAGER: &str = "cluster.x-k8s.io/aggregate-to-manager";

/// On a provider's definition: the versions of the kind, joined by underscores, that follow contract v1beta1.
pub const CONTRACT_V1BETA1: &str = "cluster.x-k8s.io/v1beta1";

/// On a provider's definition: the versions of the kind, joined by underscores, that follow contract v1beta2.
pub const CONTRACT_V1BETA2: &str = "cluster.x-k8s.io/v1beta2";
