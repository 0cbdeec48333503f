//! Annotations of Cluster API and of the cluster autoscaler, by the object that carries them.

/// On any object: controllers leave it alone, whatever the value.
pub const PAUSED: &str = "cluster.x-k8s.io/paused";

/// On an infrastructure cluster: somebody else provides it, and the provider leaves it alone.
pub const MANAGED_BY: &str = "cluster.x-k8s.io/managed-by";

/// On an object made from a template: the name of the template.
pub const CLONED_FROM_NAME: &str = "cluster.x-k8s.io/cloned-from-name";

/// On an object made from a template: the kind and group of the template, joined by a dot.
pub const CLONED_FROM_GROUP_KIND: &str = "cluster.x-k8s.io/cloned-from-groupkind";

/// On an object that was converted: what the older version could not hold.
pub const CONVERSION_DATA: &str = "cluster.x-k8s.io/conversion-data";

/// On a definition: the generation for which stored objects have been migrated.
pub const CRD_MIGRATION_OBSERVED_GENERATION: &str = "crd-migration.cluster.x-k8s.io/observed-generation";

/// On Machines.
pub mod machine {
    /// This machine goes first when a set has too many.
    pub const DELETE: &str = "cluster.x-k8s.io/delete-machine";
    /// Pods are not evicted before the machine is removed.
    pub const EXCLUDE_NODE_DRAINING: &str = "machine.cluster.x-k8s.io/exclude-node-draining";
    /// Volumes are not awaited to come off before the machine is removed.
    pub const EXCLUDE_WAIT_FOR_NODE_VOLUME_DETACH: &str =
        "machine.cluster.x-k8s.io/exclude-wait-for-node-volume-detach";
    /// Prefix of hooks; while any is there, a deletion stops before the drain.
    pub const PRE_DRAIN_HOOK_PREFIX: &str = "pre-drain.delete.hook.machine.cluster.x-k8s.io";
    /// Prefix of hooks; while any is there, a deletion stops before the instance ends.
    pub const PRE_TERMINATE_HOOK_PREFIX: &str = "pre-terminate.delete.hook.machine.cluster.x-k8s.io";
    /// Health checks pass this machine over.
    pub const SKIP_REMEDIATION: &str = "cluster.x-k8s.io/skip-remediation";
    /// A health check marks this machine as unhealthy, and it is repaired before others.
    pub const REMEDIATE: &str = "cluster.x-k8s.io/remediate-machine";
    /// When the certificates of a control-plane machine expire, in RFC 3339.
    pub const CERTIFICATES_EXPIRY: &str = "machine.cluster.x-k8s.io/certificates-expiry";
    /// An update in place has begun.
    pub const UPDATE_IN_PROGRESS: &str = "in-place-updates.internal.cluster.x-k8s.io/update-in-progress";
    /// The machine has moved to another set, and its deployment has not counted it there yet.
    pub const PENDING_ACKNOWLEDGE_MOVE: &str = "in-place-updates.internal.cluster.x-k8s.io/pending-acknowledge-move";
}

/// On MachineSets.
pub mod machine_set {
    /// The set makes no machines; by this the strategy OnDelete empties old sets.
    pub const DISABLE_MACHINE_CREATE: &str = "cluster.x-k8s.io/disable-machine-create";
    /// The checks to skip before a machine is added, separated by commas.
    pub const SKIP_PREFLIGHT_CHECKS: &str = "machineset.cluster.x-k8s.io/skip-preflight-checks";
    /// Which revision of its deployment the set is; the highest is the current one.
    pub const REVISION: &str = "machinedeployment.clusters.x-k8s.io/revision";
    /// How many machines the deployment wanted when it last scaled its sets.
    pub const DESIRED_REPLICAS: &str = "machinedeployment.clusters.x-k8s.io/desired-replicas";
    /// How many machines the deployment may have at most, surge included.
    pub const MAX_REPLICAS: &str = "machinedeployment.clusters.x-k8s.io/max-replicas";
    /// The set shrinks by handing machines to this set.
    pub const MOVE_MACHINES_TO: &str = "in-place-updates.internal.cluster.x-k8s.io/move-machines-to-machineset";
    /// The set grows by taking machines from these sets.
    pub const RECEIVE_MACHINES_FROM: &str =
        "in-place-updates.internal.cluster.x-k8s.io/receive-machines-from-machinesets";
    /// The moved machines that the deployment has counted.
    pub const ACKNOWLEDGED_MOVE: &str = "in-place-updates.internal.cluster.x-k8s.io/acknowledged-move";
}

/// On Nodes.
pub mod node {
    /// The Cluster that the Node belongs to.
    pub const CLUSTER_NAME: &str = "cluster.x-k8s.io/cluster-name";
    /// The namespace of that Cluster.
    pub const CLUSTER_NAMESPACE: &str = "cluster.x-k8s.io/cluster-namespace";
    /// The Machine that became the Node.
    pub const MACHINE: &str = "cluster.x-k8s.io/machine";
    /// The kind of the owner of that Machine.
    pub const OWNER_KIND: &str = "cluster.x-k8s.io/owner-kind";
    /// The name of the owner of that Machine.
    pub const OWNER_NAME: &str = "cluster.x-k8s.io/owner-name";
    /// The labels that came from the Machine, so that they can be taken back.
    pub const LABELS_FROM_MACHINE: &str = "cluster.x-k8s.io/labels-from-machine";
    /// The annotations that came from the Machine, so that they can be taken back.
    pub const ANNOTATIONS_FROM_MACHINE: &str = "cluster.x-k8s.io/annotations-from-machine";
    /// The taints that came from the Machine, so that they can be taken back.
    pub const TAINTS_FROM_MACHINE: &str = "cluster.x-k8s.io/taints-from-machine";
}

/// On MachineDeployments and MachineSets, for the cluster autoscaler.
pub mod autoscaler {
    /// The smallest number of machines; without both sizes the group is not scaled.
    pub const MIN_SIZE: &str = "cluster.x-k8s.io/cluster-api-autoscaler-node-group-min-size";
    /// The largest number of machines.
    pub const MAX_SIZE: &str = "cluster.x-k8s.io/cluster-api-autoscaler-node-group-max-size";
    /// Processors of one node, for a group without any.
    pub const CAPACITY_CPU: &str = "capacity.cluster-autoscaler.kubernetes.io/cpu";
    /// Memory of one node, for a group without any.
    pub const CAPACITY_MEMORY: &str = "capacity.cluster-autoscaler.kubernetes.io/memory";
    /// Ephemeral storage of one node, for a group without any.
    pub const CAPACITY_EPHEMERAL_DISK: &str = "capacity.cluster-autoscaler.kubernetes.io/ephemeral-disk";
    /// The resource name of one node's accelerators, for a group without any.
    pub const CAPACITY_GPU_TYPE: &str = "capacity.cluster-autoscaler.kubernetes.io/gpu-type";
    /// How many accelerators one node has, for a group without any.
    pub const CAPACITY_GPU_COUNT: &str = "capacity.cluster-autoscaler.kubernetes.io/gpu-count";
    /// How many pods one node takes, for a group without any; 110 when not said.
    pub const CAPACITY_MAX_PODS: &str = "capacity.cluster-autoscaler.kubernetes.io/maxPods";
    /// Labels of one node as key=value, separated by commas, for a group without any.
    pub const CAPACITY_LABELS: &str = "capacity.cluster-autoscaler.kubernetes.io/labels";
    /// Taints of one node as key=value:effect, separated by commas, for a group without any.
    pub const CAPACITY_TAINTS: &str = "capacity.cluster-autoscaler.kubernetes.io/taints";
}
