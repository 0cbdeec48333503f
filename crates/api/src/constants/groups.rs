//! API groups, as rules of access name them. A kind of ours declares its group itself.

/// HyperShift's kinds.
pub const HYPERSHIFT: &str = "hypershift.openshift.io";
/// HyperShift's kinds about audit logs.
pub const AUDIT_LOG_PERSISTENCE: &str = "auditlogpersistence.hypershift.openshift.io";
/// HyperShift's kinds about break-glass certificates.
pub const BREAK_GLASS: &str = "certificates.hypershift.openshift.io";
/// HyperShift's kinds about nodes of Karpenter.
pub const KARPENTER: &str = "karpenter.hypershift.openshift.io";
/// HyperShift's kinds about the size of control planes.
pub const SCHEDULING: &str = "scheduling.hypershift.openshift.io";
/// Our own kinds.
pub const HYPERPLANE: &str = "hyperplane.dev";
/// Cluster API.
pub const CLUSTER_API: &str = "cluster.x-k8s.io";
/// The kinds of Cluster API's providers.
pub const INFRASTRUCTURE: &str = "infrastructure.cluster.x-k8s.io";
/// The kinds of the provider for agents.
pub const AGENT_PROVIDER: &str = "capi-provider.agent-install.openshift.io";
/// Certificate signing requests.
pub const CERTIFICATES: &str = "certificates.k8s.io";
/// Endpoint slices.
pub const DISCOVERY: &str = "discovery.k8s.io";
/// Events.
pub const EVENTS: &str = "events.k8s.io";
/// Roles and bindings.
pub const RBAC: &str = "rbac.authorization.k8s.io";
