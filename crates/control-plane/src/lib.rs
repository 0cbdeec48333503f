//! The operator from a HostedControlPlane to the components that run it, and back to its status.
