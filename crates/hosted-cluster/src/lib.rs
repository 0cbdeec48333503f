//! The operator from a HostedCluster to its control-plane namespace, HostedControlPlane and infrastructure objects, and back to its status.
