//! Types of conditions in v1beta2, by kind. Unless it says otherwise, True is the good status.

/// On Clusters.
pub mod cluster {
    /// The cluster can be used: reached, and its infrastructure, control plane and workers are in order.
    pub const AVAILABLE: &str = "Available";
    /// A request to the cluster's own API server succeeded lately.
    pub const REMOTE_CONNECTION_PROBE: &str = "RemoteConnectionProbe";
    /// What all machines share is in order; mirrors Ready of the infrastructure object.
    pub const INFRASTRUCTURE_READY: &str = "InfrastructureReady";
    /// The control plane has answered once; never becomes false again.
    pub const CONTROL_PLANE_INITIALIZED: &str = "ControlPlaneInitialized";
    /// The control plane answers; mirrors Available of the control-plane object.
    pub const CONTROL_PLANE_AVAILABLE: &str = "ControlPlaneAvailable";
    /// Every machine of the control plane is Ready.
    pub const CONTROL_PLANE_MACHINES_READY: &str = "ControlPlaneMachinesReady";
    /// Every machine of the control plane is UpToDate.
    pub const CONTROL_PLANE_MACHINES_UP_TO_DATE: &str = "ControlPlaneMachinesUpToDate";
    /// Every MachineDeployment is Available.
    pub const WORKERS_AVAILABLE: &str = "WorkersAvailable";
    /// Every worker machine is Ready.
    pub const WORKER_MACHINES_READY: &str = "WorkerMachinesReady";
    /// Every worker machine is UpToDate.
    pub const WORKER_MACHINES_UP_TO_DATE: &str = "WorkerMachinesUpToDate";
    /// Machines anywhere in the cluster are being replaced; False is the state of rest.
    pub const ROLLING_OUT: &str = "RollingOut";
    /// Machines anywhere in the cluster are being added; False is the state of rest.
    pub const SCALING_UP: &str = "ScalingUp";
    /// Machines anywhere in the cluster are being removed; False is the state of rest.
    pub const SCALING_DOWN: &str = "ScalingDown";
    /// Unhealthy machines anywhere in the cluster are being repaired; False is the state of rest.
    pub const REMEDIATING: &str = "Remediating";
    /// The cluster is being removed, and what it waits for; False is the state of rest.
    pub const DELETING: &str = "Deleting";
    /// Controllers leave the cluster alone; False is the state of rest.
    pub const PAUSED: &str = "Paused";
    /// The cluster is as its class says; only where it has one.
    pub const TOPOLOGY_RECONCILED: &str = "TopologyReconciled";
}

/// On Machines.
pub mod machine {
    /// The machine has been Ready for minReadySeconds.
    pub const AVAILABLE: &str = "Available";
    /// The machine can be used: bootstrapped, provisioned, its Node healthy, its gates good, not being removed.
    pub const READY: &str = "Ready";
    /// The machine is as its owner wants it now; the owner writes this.
    pub const UP_TO_DATE: &str = "UpToDate";
    /// The machine is being changed in place; False is the state of rest.
    pub const UPDATING: &str = "Updating";
    /// The data for the first boot exists; mirrors Ready of the bootstrap object.
    pub const BOOTSTRAP_CONFIG_READY: &str = "BootstrapConfigReady";
    /// The instance is in order; mirrors Ready of the infrastructure object.
    pub const INFRASTRUCTURE_READY: &str = "InfrastructureReady";
    /// The Node exists and is ready and under no pressure.
    pub const NODE_HEALTHY: &str = "NodeHealthy";
    /// The Node exists and its own Ready is true.
    pub const NODE_READY: &str = "NodeReady";
    /// No health check finds fault with the machine; only where one watches it.
    pub const HEALTH_CHECK_SUCCEEDED: &str = "HealthCheckSucceeded";
    /// The owner has repaired the machine; false asks it to.
    pub const OWNER_REMEDIATED: &str = "OwnerRemediated";
    /// Another controller has repaired the machine; false while its request is open.
    pub const EXTERNALLY_REMEDIATED: &str = "ExternallyRemediated";
    /// The machine is being removed, and what it waits for; False is the state of rest.
    pub const DELETING: &str = "Deleting";
    /// Controllers leave the machine alone; False is the state of rest.
    pub const PAUSED: &str = "Paused";
}

/// On MachineSets.
pub mod machine_set {
    /// Every machine of the set is Ready.
    pub const MACHINES_READY: &str = "MachinesReady";
    /// Every machine of the set is UpToDate.
    pub const MACHINES_UP_TO_DATE: &str = "MachinesUpToDate";
    /// There are fewer machines than wanted; False is the state of rest.
    pub const SCALING_UP: &str = "ScalingUp";
    /// There are more machines than wanted; False is the state of rest.
    pub const SCALING_DOWN: &str = "ScalingDown";
    /// Unhealthy machines of the set are being repaired; False is the state of rest.
    pub const REMEDIATING: &str = "Remediating";
    /// The set is being removed; False is the state of rest.
    pub const DELETING: &str = "Deleting";
    /// Controllers leave the set alone; False is the state of rest.
    pub const PAUSED: &str = "Paused";
}

/// On MachineDeployments.
pub mod machine_deployment {
    /// No more machines are missing than the strategy allows.
    pub const AVAILABLE: &str = "Available";
    /// Every machine of the deployment is Ready.
    pub const MACHINES_READY: &str = "MachinesReady";
    /// Every machine of the deployment is UpToDate.
    pub const MACHINES_UP_TO_DATE: &str = "MachinesUpToDate";
    /// Machines are being replaced; False is the state of rest.
    pub const ROLLING_OUT: &str = "RollingOut";
    /// There are fewer machines than wanted; False is the state of rest.
    pub const SCALING_UP: &str = "ScalingUp";
    /// There are more machines than wanted; False is the state of rest.
    pub const SCALING_DOWN: &str = "ScalingDown";
    /// Unhealthy machines of the deployment are being repaired; False is the state of rest.
    pub const REMEDIATING: &str = "Remediating";
    /// The deployment is being removed; False is the state of rest.
    pub const DELETING: &str = "Deleting";
    /// Controllers leave the deployment alone; False is the state of rest.
    pub const PAUSED: &str = "Paused";
}

/// On MachineHealthChecks.
pub mod machine_health_check {
    /// Few enough machines are unhealthy for the check to have them repaired.
    pub const REMEDIATION_ALLOWED: &str = "RemediationAllowed";
    /// Controllers leave the check alone; False is the state of rest.
    pub const PAUSED: &str = "Paused";
}
