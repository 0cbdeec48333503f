//! Reasons of conditions in v1beta2: those that many conditions share first, then those of single kinds.

/// The object is available.
pub const AVAILABLE: &str = "Available";
/// The object is not available.
pub const NOT_AVAILABLE: &str = "NotAvailable";
/// Whether the object is available cannot be told.
pub const AVAILABLE_UNKNOWN: &str = "AvailableUnknown";
/// The object, or every object that is summed up, is ready.
pub const READY: &str = "Ready";
/// The object, or one that is summed up, is not ready.
pub const NOT_READY: &str = "NotReady";
/// Whether the object, or one that is summed up, is ready cannot be told.
pub const READY_UNKNOWN: &str = "ReadyUnknown";
/// Every machine is as it should be now.
pub const UP_TO_DATE: &str = "UpToDate";
/// A machine is not as it should be now.
pub const NOT_UP_TO_DATE: &str = "NotUpToDate";
/// Whether a machine is as it should be now cannot be told.
pub const UP_TO_DATE_UNKNOWN: &str = "UpToDateUnknown";
/// Machines are being replaced.
pub const ROLLING_OUT: &str = "RollingOut";
/// No machine is being replaced.
pub const NOT_ROLLING_OUT: &str = "NotRollingOut";
/// Machines are being added.
pub const SCALING_UP: &str = "ScalingUp";
/// No machine is being added.
pub const NOT_SCALING_UP: &str = "NotScalingUp";
/// Machines are being removed.
pub const SCALING_DOWN: &str = "ScalingDown";
/// No machine is being removed.
pub const NOT_SCALING_DOWN: &str = "NotScalingDown";
/// Unhealthy machines are being repaired.
pub const REMEDIATING: &str = "Remediating";
/// No machine is being repaired.
pub const NOT_REMEDIATING: &str = "NotRemediating";
/// There are no machines to sum up.
pub const NO_REPLICAS: &str = "NoReplicas";
/// The wanted number has not been set yet.
pub const WAITING_FOR_REPLICAS_SET: &str = "WaitingForReplicasSet";
/// Another object's condition, which is mirrored, is malformed.
pub const INVALID_CONDITION_REPORTED: &str = "InvalidConditionReported";
/// The controller failed in a way that only its log explains.
pub const INTERNAL_ERROR: &str = "InternalError";
/// The object that is referred to has not been there yet.
pub const OBJECT_DOES_NOT_EXIST: &str = "ObjectDoesNotExist";
/// The object that is referred to was there and is gone.
pub const OBJECT_DELETED: &str = "ObjectDeleted";
/// Controllers leave the object alone.
pub const PAUSED: &str = "Paused";
/// Controllers work on the object.
pub const NOT_PAUSED: &str = "NotPaused";
/// The cluster's API server cannot be reached.
pub const CONNECTION_DOWN: &str = "ConnectionDown";
/// Looking at the object failed.
pub const INSPECTION_FAILED: &str = "InspectionFailed";
/// The object is being removed.
pub const DELETING: &str = "Deleting";
/// The object is not being removed.
pub const NOT_DELETING: &str = "NotDeleting";
/// The finalizer was taken off; the object goes when no other holds it.
pub const DELETION_COMPLETED: &str = "DeletionCompleted";
/// A provider's machine waits for what all machines share.
pub const WAITING_FOR_CLUSTER_INFRASTRUCTURE_READY: &str = "WaitingForClusterInfrastructureReady";
/// A provider's machine waits for the control plane to answer for the first time.
pub const WAITING_FOR_CONTROL_PLANE_INITIALIZED: &str = "WaitingForControlPlaneInitialized";
/// A provider's machine waits for the data of its first boot.
pub const WAITING_FOR_BOOTSTRAP_DATA: &str = "WaitingForBootstrapData";
/// The provider has made it.
pub const PROVISIONED: &str = "Provisioned";
/// The provider has not made it yet.
pub const NOT_PROVISIONED: &str = "NotProvisioned";

/// Of Clusters alone.
pub mod cluster {
    /// The control plane has answered once.
    pub const INITIALIZED: &str = "Initialized";
    /// The control plane has not answered yet.
    pub const NOT_INITIALIZED: &str = "NotInitialized";
    /// There are no worker machines, and none are wanted.
    pub const NO_WORKERS: &str = "NoWorkers";
    /// The API server answered lately.
    pub const PROBE_SUCCEEDED: &str = "ProbeSucceeded";
    /// The API server has not answered for too long.
    pub const PROBE_FAILED: &str = "ProbeFailed";
    /// Whether machines are being replaced cannot be told.
    pub const ROLLING_OUT_UNKNOWN: &str = "RollingOutUnknown";
    /// Whether machines are being added cannot be told.
    pub const SCALING_UP_UNKNOWN: &str = "ScalingUpUnknown";
    /// Whether machines are being removed cannot be told.
    pub const SCALING_DOWN_UNKNOWN: &str = "ScalingDownUnknown";
    /// The removal waits for a hook of a class.
    pub const WAITING_FOR_BEFORE_DELETE_HOOK: &str = "WaitingForBeforeDeleteHook";
    /// The removal waits for the worker machines to go.
    pub const WAITING_FOR_WORKERS_DELETION: &str = "WaitingForWorkersDeletion";
    /// The removal waits for the control plane to go.
    pub const WAITING_FOR_CONTROL_PLANE_DELETION: &str = "WaitingForControlPlaneDeletion";
    /// The removal waits for what all machines share to go.
    pub const WAITING_FOR_INFRASTRUCTURE_DELETION: &str = "WaitingForInfrastructureDeletion";
}

/// Of Machines alone.
pub mod machine {
    /// The machine is ready, but not for long enough.
    pub const WAITING_FOR_MIN_READY_SECONDS: &str = "WaitingForMinReadySeconds";
    /// The machine is being changed in place, so it is not up to date yet.
    pub const UPDATING: &str = "Updating";
    /// The machine is not being changed in place.
    pub const NOT_UPDATING: &str = "NotUpdating";
    /// The machine is being changed in place.
    pub const IN_PLACE_UPDATING: &str = "InPlaceUpdating";
    /// Changing the machine in place failed.
    pub const IN_PLACE_UPDATE_FAILED: &str = "InPlaceUpdateFailed";
    /// The Secret with the data of the first boot was given, so no bootstrap object is asked.
    pub const DATA_SECRET_PROVIDED: &str = "DataSecretProvided";
    /// The Node is ready.
    pub const NODE_READY: &str = "NodeReady";
    /// The Node is not ready.
    pub const NODE_NOT_READY: &str = "NodeNotReady";
    /// Whether the Node is ready cannot be told.
    pub const NODE_READY_UNKNOWN: &str = "NodeReadyUnknown";
    /// The Node is ready and under no pressure.
    pub const NODE_HEALTHY: &str = "NodeHealthy";
    /// The Node is not ready, or under pressure.
    pub const NODE_NOT_HEALTHY: &str = "NodeNotHealthy";
    /// Whether the Node is healthy cannot be told.
    pub const NODE_HEALTHY_UNKNOWN: &str = "NodeHealthyUnknown";
    /// The Node has not been there yet.
    pub const NODE_DOES_NOT_EXIST: &str = "NodeDoesNotExist";
    /// The Node was there and is gone; also why a health check finds fault.
    pub const NODE_DELETED: &str = "NodeDeleted";
    /// No health check finds fault.
    pub const HEALTH_CHECK_SUCCEEDED: &str = "HealthCheckSucceeded";
    /// A condition of the Node has been bad for too long.
    pub const UNHEALTHY_NODE: &str = "UnhealthyNode";
    /// A condition of the Machine has been bad for too long.
    pub const UNHEALTHY_MACHINE: &str = "UnhealthyMachine";
    /// The machine did not become a Node in time.
    pub const NODE_STARTUP_TIMEOUT: &str = "NodeStartupTimeout";
    /// An annotation asks for the repair of the machine.
    pub const HAS_REMEDIATE_ANNOTATION: &str = "HasRemediateAnnotation";
    /// The repair has been asked for and has not begun.
    pub const WAITING_FOR_REMEDIATION: &str = "WaitingForRemediation";
    /// The owner cannot repair this machine.
    pub const CANNOT_BE_REMEDIATED: &str = "CannotBeRemediated";
    /// The owner repairs this machine later.
    pub const REMEDIATION_DEFERRED: &str = "RemediationDeferred";
    /// The owner repairs this machine by removing it.
    pub const MACHINE_DELETING: &str = "MachineDeleting";
    /// The template of requests for repair is not there.
    pub const REMEDIATION_TEMPLATE_NOT_FOUND: &str = "RemediationTemplateNotFound";
    /// The request for repair could not be created.
    pub const REMEDIATION_REQUEST_CREATION_FAILED: &str = "RemediationRequestCreationFailed";
    /// The removal waits for hooks before the drain.
    pub const WAITING_FOR_PRE_DRAIN_HOOK: &str = "WaitingForPreDrainHook";
    /// The removal evicts pods.
    pub const DRAINING_NODE: &str = "DrainingNode";
    /// The removal waits for volumes to come off.
    pub const WAITING_FOR_VOLUME_DETACH: &str = "WaitingForVolumeDetach";
    /// The removal waits for hooks before the instance ends.
    pub const WAITING_FOR_PRE_TERMINATE_HOOK: &str = "WaitingForPreTerminateHook";
    /// The removal waits for the infrastructure object to go.
    pub const WAITING_FOR_INFRASTRUCTURE_DELETION: &str = "WaitingForInfrastructureDeletion";
    /// The removal waits for the bootstrap object to go.
    pub const WAITING_FOR_BOOTSTRAP_DELETION: &str = "WaitingForBootstrapDeletion";
    /// The removal deletes the Node object.
    pub const DELETING_NODE: &str = "DeletingNode";
}

/// Of MachineDeployments alone.
pub mod machine_deployment {
    /// The number of available machines has not been counted yet.
    pub const WAITING_FOR_AVAILABLE_REPLICAS_SET: &str = "WaitingForAvailableReplicasSet";
}

/// Of MachineHealthChecks alone.
pub mod machine_health_check {
    /// Few enough machines are unhealthy.
    pub const REMEDIATION_ALLOWED: &str = "RemediationAllowed";
    /// Too many machines are unhealthy; the fault is taken to lie elsewhere.
    pub const TOO_MANY_UNHEALTHY: &str = "TooManyUnhealthy";
}
