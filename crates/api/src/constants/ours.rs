//! Our own keys, under `hyperplane.dev/`.
//!
//! Each optional field that we add to a kind of HyperShift has an annotation twin here, named after the field. It is
//! read where HyperShift's own definition of the kind is installed, which would prune the field.

use super::{ConditionType, Label, Reason, constants};

constants! { Annotation in ALL:
    /// On HostedCluster: the twin of spec.distributionVersion, the version of the cluster as a whole.
    DISTRIBUTION_VERSION = "hyperplane.dev/distributionVersion";
    /// On HostedCluster and HostedControlPlane: shared, or dedicated when the operators of this control plane run in its
    /// namespace.
    TENANT_OPERATORS = "hyperplane.dev/tenant-operators";
    /// On HostedCluster and HostedControlPlane: ecdsa-p256 or rsa-2048, the kind of key of new certificates.
    KEY_ALGORITHM = "hyperplane.dev/key-algorithm";
    /// On HostedControlPlane: by which revision of our manifests its components are rendered. On NodePool: by which
    /// revision the configuration of its nodes is; it moves when they roll for another reason.
    RENDER_REVISION = "hyperplane.dev/render-revision";
    /// On HostedControlPlane: our image in its pods. It moves with the revision: a newer program alone restarts nothing.
    RENDER_IMAGE = "hyperplane.dev/render-image";
    /// On HostedControlPlane: in how many zones its pods can be spread. It moves with the revision, too.
    RENDER_ZONES = "hyperplane.dev/render-zones";
    /// On HostedControlPlane: the minor of Kubernetes of the management cluster, by which it is decided what may stand in pods. It
    /// moves with the revision, too.
    RENDER_KUBERNETES = "hyperplane.dev/render-kubernetes";
    /// On HostedControlPlane: our own controllers make and remove its machines, if it is "true". Operators of a tenant do not
    /// know how the manager was started.
    RUNS_MACHINES = "hyperplane.dev/runs-machines";
    /// On HostedControlPlane: the domain of its endpoints without a hostname. It never moves: clients know the names.
    INGRESS_DOMAIN = "hyperplane.dev/ingress-domain";
    /// On HostedCluster: the new value asks for the current revision of our manifests without an upgrade.
    RENDER_REVISION_REQUEST = "hyperplane.dev/render-revision-request";
    /// On HostedControlPlane: the restart date of the HostedCluster that was last handed on. One that was set on the
    /// HostedControlPlane itself stays until the HostedCluster asks for another.
    RESTART_DATE_SYNCED = "hyperplane.dev/restart-date-synced";
    /// On HostedCluster: the version, in full, that the control plane may go back to.
    ALLOW_DOWNGRADE_TO = "hyperplane.dev/allow-downgrade-to";
    /// On the namespace of a control plane: the uid of the HostedCluster that it was made for.
    CLAIMED_BY = "hyperplane.dev/claimed-by";
    /// On a copy: which object it is a copy of, and of which state, as namespace/name@uid/resourceVersion.
    COPIED_FROM = "hyperplane.dev/copied-from";
    /// On the Secret with the encryption configuration and on the pods that are made with it: how often keys have changed
    /// places, by which either can be told to be behind the other.
    ENCRYPTION_STEP = "hyperplane.dev/encryption-step";
    /// On Machine: its number in its MachineSet, from which its name follows.
    MACHINE_NUMBER = "hyperplane.dev/machine-number";
    /// On MachineSet: the number that its next machine gets at least, so that none is given twice.
    NEXT_MACHINE_NUMBER = "hyperplane.dev/next-machine-number";
    /// On Node: it was cordoned by us, because the Machine of this name was being deleted.
    CORDONED_FOR = "hyperplane.dev/cordoned-for";
}

/// On everything that we make: what our watches select.
pub const MANAGED_BY: Label = Label("app.kubernetes.io/managed-by");

/// The value of [`MANAGED_BY`], and the name of the program in the managers of fields.
pub const MANAGED_BY_US: &str = "hyperplane";

/// The label of everything that we make.
pub fn label() -> (String, String) {
    (MANAGED_BY.as_str().to_owned(), MANAGED_BY_US.to_owned())
}

/// The selector of everything that we make.
pub fn selector() -> String {
    format!("{MANAGED_BY}={MANAGED_BY_US}")
}

/// The selector of everything that others make.
pub fn others_selector() -> String {
    format!("{MANAGED_BY}!={MANAGED_BY_US}")
}

/// Whether an object was made by us.
pub fn is_ours<K: kube::Resource>(object: &K) -> bool {
    let labels = object.meta().labels.as_ref();
    let value = labels.and_then(|labels| labels.get(MANAGED_BY.as_str()));
    value.is_some_and(|value| value == MANAGED_BY_US)
}

/// The taint that nodes of pools register with: it keeps pods away until the labels and taints of the pool are there, which
/// take its place in one write.
pub const UNINITIALIZED_TAINT: &str = "hyperplane.dev/uninitialized";

/// On HostedControlPlane and HostedCluster, while there are nodes: True when none of them waits for a network plugin. Where
/// no operator of the release brings one, its users do.
pub const NETWORK_PLUGIN_AVAILABLE: ConditionType = ConditionType("NetworkPluginAvailable");

/// Nodes wait for a network plugin.
pub const NETWORK_PLUGIN_MISSING: Reason = Reason("NetworkPluginMissing");

/// On HostedControlPlane and HostedCluster, while there are nodes and no machines: True when all nodes are ready.
pub const NODES_READY: ConditionType = ConditionType("NodesReady");

/// Some nodes are not ready.
pub const NODES_NOT_READY: Reason = Reason("NodesNotReady");

/// On HostedControlPlane and HostedCluster, while there are nodes or requests of nodes for certificates: True when nobody has
/// to approve one.
pub const NODE_CERTIFICATES_APPROVED: ConditionType = ConditionType("NodeCertificatesApproved");

/// Requests of nodes for certificates wait.
pub const NODE_CERTIFICATES_PENDING: Reason = Reason("NodeCertificatesPending");

/// On HostedCluster and NodePool, while fields are set that nothing acts on: True, and the message names them.
pub const UNUSED_FIELDS: ConditionType = ConditionType("UnusedFields");

/// On objects of kinds that nothing acts on: True, and the message says what to do instead.
pub const WITHOUT_EFFECT: ConditionType = ConditionType("WithoutEffect");

/// Nothing acts on what is asked for.
pub const NOT_ACTED_ON: Reason = Reason("NotActedOn");
