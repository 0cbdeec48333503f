//! What the controllers and clients of Cluster API have to agree on beside its kinds: taints, domains of labels, Secrets
//! and times. Its condition types, reasons, annotations, labels and finalizers are in [`crate::constants`].
//!
//! They are facts of the wire: a word here is never changed to read better.

/// Taints that Cluster API puts on Nodes.
pub mod taints {
    /// From the first boot until labels and taints of the Machine have been copied; effect NoSchedule.
    pub const UNINITIALIZED: &str = "node.cluster.x-k8s.io/uninitialized";
    /// While a rollout is about to replace the Node, so that evicted pods go elsewhere; effect PreferNoSchedule.
    pub const OUTDATED_REVISION: &str = "node.cluster.x-k8s.io/outdated-revision";
}

/// Domains of labels and annotations that are copied from a Machine to its Node; those below them are too.
pub mod node_domains {
    /// Roles, such as worker; a label with this prefix, not a domain above others.
    pub const ROLE: &str = "node-role.kubernetes.io";
    /// Labels that a kubelet may not set on itself.
    pub const RESTRICTION: &str = "node-restriction.kubernetes.io";
    /// Labels and annotations that belong to Cluster API.
    pub const MANAGED: &str = "node.cluster.x-k8s.io";
}

/// Secrets by which a control plane hands out access; each is labelled with the name of its cluster.
pub mod secrets {
    /// The type of every Secret that controllers of Cluster API make.
    pub const TYPE: &str = "cluster.x-k8s.io/secret";
    /// What follows the cluster's name and a dash in the name of the Secret with its kubeconfig.
    pub const KUBECONFIG_SUFFIX: &str = "kubeconfig";
    /// The key of that Secret that holds the kubeconfig, and of a bootstrap Secret that holds its data.
    pub const VALUE_KEY: &str = "value";
}

/// Checks that a MachineSet makes before it adds a machine, as named by the annotation that skips them.
pub mod preflight_checks {
    /// All of them.
    pub const ALL: &str = "All";
    /// The version is not too far below that of the control plane.
    pub const KUBERNETES_VERSION_SKEW: &str = "KubernetesVersionSkew";
    /// With kubeadm, the minor version is that of the control plane.
    pub const KUBEADM_VERSION_SKEW: &str = "KubeadmVersionSkew";
    /// The control plane is neither being made nor upgraded.
    pub const CONTROL_PLANE_IS_STABLE: &str = "ControlPlaneIsStable";
    /// With a class, the version is exactly that of the control plane.
    pub const CONTROL_PLANE_VERSION_SKEW: &str = "ControlPlaneVersionSkew";
}

/// How long a machine may take to become a Node where a MachineHealthCheck does not say.
pub const DEFAULT_NODE_STARTUP_TIMEOUT_SECONDS: i32 = 600;

/// How long the removal of a Node object is tried where a Machine does not say.
pub const DEFAULT_NODE_DELETION_TIMEOUT_SECONDS: i32 = 10;
