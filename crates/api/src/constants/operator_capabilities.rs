//! What a control-plane operator can do, as labels of its image. A manager asks them before it relies on one, so that an
//! older operator is driven by what it declares.

/// What stands before the name of a capability in the label.
pub const PREFIX: &str = "io.openshift.hypershift.";

/// One binary, whose subcommands are the operators and the small programs beside components.
pub const SUBCOMMANDS: &str = "control-plane-operator-subcommands";
/// Components are rendered from one catalogue, and each is told in a ControlPlaneComponent.
pub const TELLS_COMPONENTS: &str = "control-plane-operator.v2-isdefault";
/// The server of configurations for machines is the operator's and not the manager's.
pub const MANAGES_IGNITION_SERVER: &str = "control-plane-operator-manages-ignition-server";
/// The approver of machines is the operator's.
pub const MANAGES_MACHINE_APPROVER: &str = "control-plane-operator-manages.cluster-machine-approver";
/// The autoscaler is the operator's.
pub const MANAGES_AUTOSCALER: &str = "control-plane-operator-manages.cluster-autoscaler";
/// The server of configurations answers probes.
pub const IGNITION_SERVER_PROBES: &str = "ignition-server-healthz-handler";
/// Pods run under the restricted standard of pod security.
pub const RESTRICTED_PODS: &str = "restricted-psa";

/// What the operator of this version declares.
pub const ALL: &[&str] = &[
    SUBCOMMANDS,
    TELLS_COMPONENTS,
    MANAGES_IGNITION_SERVER,
    MANAGES_MACHINE_APPROVER,
    MANAGES_AUTOSCALER,
    IGNITION_SERVER_PROBES,
    RESTRICTED_PODS,
];
