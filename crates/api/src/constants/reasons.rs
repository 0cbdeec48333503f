//! Reasons of conditions, and of events where they share the word. One word means the same wherever it stands.

use super::constants;

constants! { Reason in ALL:
    // Any kind.
    /// All is as it should be.
    AS_EXPECTED = "AsExpected";
    /// Nobody has judged this yet.
    STATUS_UNKNOWN = "StatusUnknown";
    /// Something that must exist does not.
    NOT_FOUND = "NotFound";
    /// Something that must exist could not be read.
    FAILED_TO_GET = "FailedToGet";
    /// It exists, but does not serve yet.
    WAITING_FOR_AVAILABLE = "WaitingForAvailable";
    /// A Secret that the spec refers to does not exist.
    SECRET_NOT_FOUND = "SecretNotFound";
    /// The spec cannot be carried out; the message names the fields.
    INVALID_CONFIGURATION = "InvalidConfiguration";
    /// A check of the spec failed; the message says which.
    VALIDATION_FAILED = "ValidationFailed";
    /// The object is not paused.
    RECONCILIATION_ACTIVE = "ReconciliationActive";
    /// The object is paused.
    RECONCILIATION_PAUSED = "ReconciliationPaused";
    /// The value of pausedUntil is neither a time nor true; the object is not paused.
    INVALID_PAUSED_UNTIL_VALUE = "InvalidPausedUntilValue";
    /// The last reconcile ended without an error. Misspelt on the wire, and kept so.
    RECONCILIATION_SUCCEEDED = "ReconciliatonSucceeded";
    /// The last reconcile ended with an error; the message is the error.
    RECONCILIATION_ERROR = "ReconciliationError";
    /// An event: a reconcile ended with an error.
    RECONCILE_ERROR = "ReconcileError";
    /// An error that the status does not tell apart; the message does.
    ERROR_OCCURRED = "ErrorOccurred";

    // HostedCluster and HostedControlPlane.
    /// The control plane is being installed, upgraded or reconfigured.
    PROGRESSING = "Progressing";
    /// The cluster cannot move; the message names what stands in the way.
    BLOCKED = "Blocked";
    /// This manager cannot host such a cluster.
    UNSUPPORTED_HOSTED_CLUSTER = "UnsupportedHostedCluster";
    /// The management cluster lacks something that the control plane needs.
    INSUFFICIENT_CLUSTER_CAPABILITIES = "InsufficientClusterCapabilities";
    /// The release cannot be used; the message says why.
    INVALID_IMAGE = "InvalidImage";
    /// The architecture of the release could not be found out.
    PAYLOAD_ARCH_NOT_FOUND = "PayloadArchNotFound";
    /// The release lacks images that are needed.
    MISSING_RELEASE_IMAGES = "MissingReleaseImages";
    /// The kubeconfig of the cluster does not exist yet.
    KUBECONFIG_WAITING_FOR_CREATE = "KubeconfigWaitingForCreate";
    /// Load balancers and routes of the control plane are still being made.
    WAITING_ON_INFRASTRUCTURE_READY = "WaitingOnInfrastructureReady";
    /// The state of load balancers and routes could not be found out.
    INFRA_STATUS_FAILURE = "InfraStatusFailure";
    /// The external host name does not resolve or does not answer.
    EXTERNAL_DNS_HOST_NOT_REACHABLE = "ExternalDNSHostNotReachable";
    /// The load balancer of the API server does not answer.
    KAS_LOAD_BALANCER_NOT_REACHABLE = "KASLoadBalancerNotReachable";
    /// Components of the control plane do not serve yet; the message names them.
    COMPONENTS_NOT_AVAILABLE = "ComponentsNotAvailable";
    /// Deployments of the control plane miss replicas; the message names them.
    UNAVAILABLE_REPLICAS = "UnavailableReplicas";
    /// The value comes from the cluster version operator, which gave no reason of its own.
    FROM_CLUSTER_VERSION = "FromClusterVersion";
    /// Credentials of the platform are missing or incomplete.
    PLATFORM_CREDENTIALS_NOT_FOUND = "PlatformCredentialsNotFound";
    /// The certificates of the proxy do not parse or have expired.
    PROXY_CA_BUNDLE_INVALID = "ProxyCABundleInvalid";
    /// The documents for OIDC discovery are missing or wrong.
    OIDC_CONFIGURATION_INVALID = "OIDCConfigurationInvalid";
    /// The identity providers are configured.
    IDP_CONFIGURATION_VALID = "IDPConfigurationValid";
    /// The identity providers could not be configured.
    IDP_CONFIGURATION_ERROR = "IDPConfigurationError";
    /// The restored cluster works again.
    RECOVERY_FINISHED = "RecoveryFinished";

    // Etcd.
    /// Etcd has a quorum.
    QUORUM_AVAILABLE = "QuorumAvailable";
    /// Etcd has no quorum.
    ETCD_WAITING_FOR_QUORUM = "EtcdWaitingForQuorum";
    /// The stateful set of etcd does not exist.
    STATEFUL_SET_NOT_FOUND = "StatefulSetNotFound";
    /// An etcd of the user's own is taken to run.
    ETCD_RUNNING = "EtcdRunning";
    /// The job that was to bring back an etcd member failed.
    ETCD_RECOVERY_JOB_FAILED = "EtcdRecoveryJobFailed";
    /// The secret for an etcd of the user's own lacks keys.
    UNMANAGED_ETCD_MISCONFIGURED = "UnmanagedEtcdMisconfigured";
    /// The secret for an etcd of the user's own is complete.
    UNMANAGED_ETCD_AS_EXPECTED = "UnmanagedEtcdAsExpected";
    /// The new key can be read with everywhere before anything is written with it.
    READ_ONLY_ROLLOUT_IN_PROGRESS = "ReadOnlyRolloutInProgress";
    /// API servers begin to write with the new key.
    WRITE_PROMOTION_IN_PROGRESS = "WritePromotionInProgress";
    /// Every API server must have the new key before old data is rewritten.
    RE_ENCRYPTION_WAITING_FOR_KAS_CONVERGENCE = "ReEncryptionWaitingForKASConvergence";
    /// Old data is being rewritten with the new key.
    RE_ENCRYPTION_IN_PROGRESS = "ReEncryptionInProgress";
    /// All data is written with the active key.
    RE_ENCRYPTION_COMPLETED = "ReEncryptionCompleted";
    /// Rewriting the data failed.
    RE_ENCRYPTION_FAILED = "ReEncryptionFailed";

    // HCPEtcdBackup.
    /// The snapshot is in the storage.
    BACKUP_SUCCEEDED = "BackupSucceeded";
    /// The snapshot is being taken or uploaded.
    BACKUP_IN_PROGRESS = "BackupInProgress";
    /// The snapshot could not be taken or uploaded; it is not tried again.
    BACKUP_FAILED = "BackupFailed";
    /// Another backup of the same control plane was under way; it is not tried again.
    BACKUP_REJECTED = "BackupRejected";
    /// Etcd is not healthy, and the backup waits until it is.
    ETCD_UNHEALTHY = "EtcdUnhealthy";

    // The way between control plane and nodes.
    /// There are no nodes to reach or to be reached from.
    NO_WORKER_NODES_AVAILABLE = "NoWorkerNodesAvailable";
    /// No konnectivity agent runs on the nodes.
    KONNECTIVITY_AGENT_PODS_NOT_FOUND = "KonnectivityAgentPodsNotFound";
    /// The logs of a pod on the nodes could not be read through the API server.
    LOGS_ACCESS_FAILED = "LogsAccessFailed";
    /// No pod on the nodes has reached the API server yet.
    KAS_ACCESS_FAILED = "KASAccessFailed";
    /// The last time that a pod on the nodes reached the API server is too long ago.
    CONNECTION_CHECK_STALE = "ConnectionCheckStale";
    /// The ConfigMap in which the check on the nodes reports does not exist.
    CONFIG_MAP_NOT_FOUND = "ConfigMapNotFound";

    // Exposure, size and Karpenter.
    /// The shared ingress leads to the API server.
    SHARED_INGRESS_CONFIGURED = "SharedIngressConfigured";
    /// The cluster is private.
    TOPOLOGY_PRIVATE = "TopologyPrivate";
    /// The shared ingress is catching up with the spec.
    CONVERGENCE_IN_PROGRESS = "ConvergenceInProgress";
    /// The cluster is in the class that its size asks for.
    CLUSTER_SIZE_TRANSITIONED = "ClusterSizeTransitioned";
    /// The cluster has not had its new size for long enough.
    TRANSITION_DELAY_NOT_ELAPSED = "TransitionDelayNotElapsed";
    /// Too many clusters change their size class at this time.
    CONCURRENCY_LIMIT_REACHED = "ConcurrencyLimitReached";
    /// The size classes leave a gap or overlap.
    SIZE_CONFIGURATION_INVALID = "SizeConfigurationInvalid";
    /// Karpenter is not wanted, and nothing of it is left.
    AUTO_NODE_NOT_CONFIGURED = "AutoNodeNotConfigured";
    /// Karpenter is being rolled out or removed.
    AUTO_NODE_PROGRESSING = "AutoNodeProgressing";
    /// The state of Karpenter could not be found out.
    AUTO_NODE_EVALUATION_FAILED = "AutoNodeEvaluationFailed";
    /// No version is asked for; nodes follow the control plane.
    VERSION_NOT_SPECIFIED = "VersionNotSpecified";
    /// The version was found in the update graph.
    VERSION_RESOLVED = "VersionResolved";
    /// The version was not found in the update graph.
    RESOLUTION_FAILED = "ResolutionFailed";

    // Deletion.
    /// Everything is gone; the object stays for its grace period.
    WAITING_FOR_GRACE_PERIOD = "WaitingForGracePeriod";
    /// All cloud resources that the hosted cluster created are gone.
    CLOUD_RESOURCES_DESTROYED = "CloudResourcesDestroyed";
    /// Some cloud resources that the hosted cluster created are left; the message names them.
    REMAINING_CLOUD_RESOURCES = "RemainingCloudResources";
    /// Cloud resources could not be removed, and were left.
    CLOUD_RESOURCES_CLEANUP_SKIPPED = "CloudResourcesCleanupSkipped";
    /// Removing the cloud resources took too long, and the rest was left.
    CLOUD_RESOURCES_DELETION_TIMED_OUT = "CloudResourcesDeletionTimedOut";
    /// The cluster version operator has been stopped.
    CVO_SCALED_DOWN = "CVOScaledDown";

    // Platforms.
    /// What was asked of AWS has been done.
    AWS_SUCCESS = "AWSSuccess";
    /// AWS refused; the message is its answer.
    AWS_ERROR = "AWSError";
    /// AWS does not accept the web identity of the cluster.
    INVALID_IDENTITY_PROVIDER = "InvalidIdentityProvider";
    /// The IAM role for the KMS key cannot be assumed.
    INVALID_IAM_ROLE = "InvalidIAMRole";
    /// What was asked of Azure has been done.
    AZURE_SUCCESS = "AzureSuccess";
    /// Azure refused; the message is its answer.
    AZURE_ERROR = "AzureError";
    /// Azure does not accept the credentials.
    INVALID_AZURE_CREDENTIALS = "InvalidAzureCredentials";
    /// Nobody has approved the connection of the Private Endpoint.
    PRIVATE_ENDPOINT_CONNECTION_NOT_APPROVED = "PrivateEndpointConnectionNotApproved";
    /// What was asked of GCP has been done.
    GCP_SUCCESS = "GCPSuccess";
    /// GCP refused; the message is its answer.
    GCP_ERROR = "GCPError";
    /// The GCP section of the spec is missing.
    MISSING_GCP_CONFIGURATION = "MissingGCPConfiguration";
    /// Workload identity federation is set up in a way that can work.
    VALID_WIF_CONFIGURATION = "ValidWIFConfiguration";
    /// Workload identity federation is set up in a way that cannot work.
    INVALID_WIF_CONFIGURATION = "InvalidWIFConfiguration";
    /// Credentials for workload identity federation have been written.
    WIF_READY = "WIFReady";
    /// Credentials could not be written.
    CREDENTIALS_ERROR = "CredentialsError";
    /// Packets of the hosted network are split by the KubeVirt cluster below.
    KUBEVIRT_SUBOPTIMAL_MTU_DETECTED = "KubeVirtSuboptimalMTUDetected";
    /// Some virtual machines cannot migrate without a restart.
    KUBEVIRT_NODES_NOT_LIVE_MIGRATABLE = "KubeVirtNodesNotLiveMigratable";
    /// The network of the external KubeVirt cluster may not be read.
    INFRA_CLUSTER_NETWORK_READ_FAILED = "InfraClusterNetworkReadFailed";
    /// The network policy in the external KubeVirt cluster may not be written.
    INFRA_CLUSTER_NETWORK_POLICY_CREATE_FAILED = "InfraClusterNetworkPolicyCreateFailed";
    /// An event: the external kubeconfig may not isolate virtual machines.
    INSUFFICIENT_NETWORK_POLICY_RBAC = "InsufficientNetworkPolicyRBAC";

    // ControlPlaneComponent.
    /// Components that must be ready before are not; the message names them.
    WAITING_FOR_DEPENDENCIES = "WaitingForDependencies";
    /// The component is ready, but not what it manages.
    WAITING_FOR_OPERANDS = "WaitingForOperands";
    /// Replicas are still being exchanged.
    WAITING_FOR_ROLLOUT_COMPLETE = "WaitingForRolloutComplete";
    /// The job of the component runs.
    JOB_ACTIVE = "JobActive";
    /// The job of the component succeeded.
    JOB_COMPLETE = "JobComplete";
    /// The job of the component failed and said no more.
    JOB_FAILED = "JobFailed";

    // NodePool.
    /// The cluster publishes no address for ignition yet.
    IGNITION_ENDPOINT_MISSING = "IgnitionEndpointMissing";
    /// The authority of the ignition server does not exist yet.
    IGNITION_CA_CERT_MISSING = "IgnitionCACertMissing";
    /// No machine has fetched its payload yet. Begins with a small letter on the wire, and kept so.
    IGNITION_NOT_REACHED = "ignitionNotReached";
    /// The payload could not be rendered from this configuration.
    INVALID_CONFIG = "InvalidConfig";
    /// The payload waits for the cloud configuration.
    CLOUD_CONFIG_PENDING = "CloudConfigPending";
    /// A node could not be changed in place; the message names it.
    INPLACE_UPGRADE_FAILED = "InplaceUpgradeFailed";
    /// The platform offers the architecture.
    VALID_ARCH_PLATFORM = "ValidArchPlatform";
    /// The platform does not offer the architecture.
    INVALID_ARCH_PLATFORM = "InvalidArchPlatform";
    /// The version is too far from that of the control plane.
    UNSUPPORTED_SKEW = "UnsupportedSkew";
    /// The pool asks for something that this manager does not do.
    NOT_SUPPORTED = "NotSupported";
    /// A machine has addresses only inside of the pod network.
    CIDR_CONFLICT = "CIDRConflict";
    /// The default security group does not exist yet.
    DEFAULT_SG_NOT_READY = "DefaultSGNotReady";
    /// A tag of the pool contradicts one of the cluster.
    TAG_CONFLICT_DETECTED = "TagConflictDetected";
    /// No tag of the pool contradicts one of the cluster, or it may.
    NO_TAG_CONFLICT = "NoTagConflict";
    /// No KubeVirt machine template could be made.
    INVALID_KUBEVIRT_MACHINE_TEMPLATE = "InvalidKubevirtMachineTemplate";
    /// No agent machine template could be made.
    INVALID_AGENT_MACHINE_TEMPLATE = "InvalidAgentMachineTemplate";
    /// No OpenStack machine template could be made.
    INVALID_OPENSTACK_MACHINE_TEMPLATE = "InvalidOpenStackMachineTemplate";

    // Certificates.
    /// There is no such signer.
    SIGNER_CLASS_UNKNOWN = "SignerClassUnknown";
    /// The signer still has its old authority.
    ROOT_CERTIFICATES_STALE = "RootCertificatesStale";
    /// Certificates in use are still signed by the old authority.
    LEAF_CERTIFICATES_STALE = "LeafCertificatesStale";
    /// It could not be shown in time that the old authority is refused.
    REVOCATION_VERIFICATION_TIMEOUT = "RevocationVerificationTimeout";
    /// A certificate could not be rotated.
    ROTATION_ERROR = "RotationError";
    /// The bundles of client authorities could not be written.
    SYNCHRONIZATION_ERROR = "SynchronizationError";
    /// On a CertificateSigningRequest: an approval of the same name exists.
    APPROVAL_PRESENT = "ApprovalPresent";
    /// On a CertificateSigningRequest: the signer refuses what it asks for.
    SIGNER_VALIDATION_FAILURE = "SignerValidationFailure";
    /// On a CertificateSigningRequest: it belongs to a node that Karpenter created.
    KARPENTER_CSR_APPROVE = "KarpenterCSRApprove";

    // Cluster API.
    /// The template of requests for repair is not there.
    REMEDIATION_TEMPLATE_NOT_FOUND = "RemediationTemplateNotFound";
    /// The request for repair could not be created.
    REMEDIATION_REQUEST_CREATION_FAILED = "RemediationRequestCreationFailed";
    /// It serves.
    AVAILABLE = "Available";
    /// It does not serve.
    NOT_AVAILABLE = "NotAvailable";
    /// Whether it serves could not be found out.
    AVAILABLE_UNKNOWN = "AvailableUnknown";
    /// It is ready.
    READY = "Ready";
    /// It is not ready.
    NOT_READY = "NotReady";
    /// Whether it is ready could not be found out.
    READY_UNKNOWN = "ReadyUnknown";
    /// It matches its wanted state.
    UP_TO_DATE = "UpToDate";
    /// It does not match its wanted state.
    NOT_UP_TO_DATE = "NotUpToDate";
    /// Whether it matches its wanted state could not be found out.
    UP_TO_DATE_UNKNOWN = "UpToDateUnknown";
    /// It is being changed in place, and is therefore not yet as wanted.
    UPDATING = "Updating";
    /// It is not being changed in place.
    NOT_UPDATING = "NotUpdating";
    /// A change in place is under way.
    IN_PLACE_UPDATING = "InPlaceUpdating";
    /// A change in place failed.
    IN_PLACE_UPDATE_FAILED = "InPlaceUpdateFailed";
    /// Machines are being exchanged.
    ROLLING_OUT = "RollingOut";
    /// No machines are being exchanged.
    NOT_ROLLING_OUT = "NotRollingOut";
    /// Whether machines are being exchanged could not be found out.
    ROLLING_OUT_UNKNOWN = "RollingOutUnknown";
    /// There are fewer machines than wanted.
    SCALING_UP = "ScalingUp";
    /// There are not fewer machines than wanted.
    NOT_SCALING_UP = "NotScalingUp";
    /// Whether machines are missing could not be found out.
    SCALING_UP_UNKNOWN = "ScalingUpUnknown";
    /// There are more machines than wanted.
    SCALING_DOWN = "ScalingDown";
    /// There are not more machines than wanted.
    NOT_SCALING_DOWN = "NotScalingDown";
    /// Whether there are too many machines could not be found out.
    SCALING_DOWN_UNKNOWN = "ScalingDownUnknown";
    /// Unhealthy machines are being dealt with.
    REMEDIATING = "Remediating";
    /// No unhealthy machines are being dealt with.
    NOT_REMEDIATING = "NotRemediating";
    /// It is being deleted.
    DELETING = "Deleting";
    /// It is not being deleted.
    NOT_DELETING = "NotDeleting";
    /// Everything that belongs to it is gone.
    DELETION_COMPLETED = "DeletionCompleted";
    /// No controller acts on it.
    PAUSED = "Paused";
    /// Controllers act on it.
    NOT_PAUSED = "NotPaused";
    /// No machines are wanted.
    NO_REPLICAS = "NoReplicas";
    /// The number of wanted machines has not been set yet.
    WAITING_FOR_REPLICAS_SET = "WaitingForReplicasSet";
    /// The number of available machines has not been counted yet.
    WAITING_FOR_AVAILABLE_REPLICAS_SET = "WaitingForAvailableReplicasSet";
    /// There are no workers to be available.
    NO_WORKERS = "NoWorkers";
    /// The condition of another object makes no sense.
    INVALID_CONDITION_REPORTED = "InvalidConditionReported";
    /// An unexpected error; the logs of the controller say more.
    INTERNAL_ERROR = "InternalError";
    /// A referenced object does not exist.
    OBJECT_DOES_NOT_EXIST = "ObjectDoesNotExist";
    /// A referenced object existed and was deleted.
    OBJECT_DELETED = "ObjectDeleted";
    /// The API server of the cluster cannot be reached.
    CONNECTION_DOWN = "ConnectionDown";
    /// Something in the cluster could not be looked at.
    INSPECTION_FAILED = "InspectionFailed";
    /// The API server of the cluster answered.
    PROBE_SUCCEEDED = "ProbeSucceeded";
    /// The API server of the cluster has not answered for too long.
    PROBE_FAILED = "ProbeFailed";
    /// The control plane has accepted its first request.
    INITIALIZED = "Initialized";
    /// The control plane has not accepted a request yet.
    NOT_INITIALIZED = "NotInitialized";
    /// The instance waits for the infrastructure of the cluster.
    WAITING_FOR_CLUSTER_INFRASTRUCTURE_READY = "WaitingForClusterInfrastructureReady";
    /// The instance waits for the control plane.
    WAITING_FOR_CONTROL_PLANE_INITIALIZED = "WaitingForControlPlaneInitialized";
    /// The instance waits for its bootstrap data.
    WAITING_FOR_BOOTSTRAP_DATA = "WaitingForBootstrapData";
    /// The bootstrap data was given by the owner.
    DATA_SECRET_PROVIDED = "DataSecretProvided";
    /// The instance exists.
    PROVISIONED = "Provisioned";
    /// The instance does not exist yet.
    NOT_PROVISIONED = "NotProvisioned";
    /// The machine is ready, but not for as long as was asked.
    WAITING_FOR_MIN_READY_SECONDS = "WaitingForMinReadySeconds";
    /// The node is ready.
    NODE_READY = "NodeReady";
    /// The node is not ready.
    NODE_NOT_READY = "NodeNotReady";
    /// Whether the node is ready could not be found out.
    NODE_READY_UNKNOWN = "NodeReadyUnknown";
    /// The node is ready and under no pressure.
    NODE_HEALTHY = "NodeHealthy";
    /// The node is not ready, or under pressure.
    NODE_NOT_HEALTHY = "NodeNotHealthy";
    /// Whether the node is healthy could not be found out.
    NODE_HEALTHY_UNKNOWN = "NodeHealthyUnknown";
    /// The machine has no node yet.
    NODE_DOES_NOT_EXIST = "NodeDoesNotExist";
    /// The node of the machine was deleted.
    NODE_DELETED = "NodeDeleted";
    /// The health check finds nothing wrong.
    HEALTH_CHECK_SUCCEEDED = "HealthCheckSucceeded";
    /// A condition of the node has been bad for too long.
    UNHEALTHY_NODE = "UnhealthyNode";
    /// A condition of the machine has been bad for too long.
    UNHEALTHY_MACHINE = "UnhealthyMachine";
    /// The machine did not become a node in time.
    NODE_STARTUP_TIMEOUT = "NodeStartupTimeout";
    /// A person has asked that the machine be replaced.
    HAS_REMEDIATE_ANNOTATION = "HasRemediateAnnotation";
    /// The machine waits to be replaced or repaired.
    WAITING_FOR_REMEDIATION = "WaitingForRemediation";
    /// The owner cannot replace the machine.
    CANNOT_BE_REMEDIATED = "CannotBeRemediated";
    /// The owner will replace the machine later.
    REMEDIATION_DEFERRED = "RemediationDeferred";
    /// The owner replaces the machine: it is being deleted.
    MACHINE_DELETING = "MachineDeleting";
    /// Few enough machines are unhealthy that they may be replaced.
    REMEDIATION_ALLOWED = "RemediationAllowed";
    /// So many machines are unhealthy that replacing them would not help.
    TOO_MANY_UNHEALTHY = "TooManyUnhealthy";
    /// Deletion waits for a hook before the node is drained.
    WAITING_FOR_PRE_DRAIN_HOOK = "WaitingForPreDrainHook";
    /// Deletion drains the node.
    DRAINING_NODE = "DrainingNode";
    /// Deletion waits for volumes to leave the node.
    WAITING_FOR_VOLUME_DETACH = "WaitingForVolumeDetach";
    /// Deletion waits for a hook before the instance ends.
    WAITING_FOR_PRE_TERMINATE_HOOK = "WaitingForPreTerminateHook";
    /// Deletion waits for the instance or the infrastructure to go.
    WAITING_FOR_INFRASTRUCTURE_DELETION = "WaitingForInfrastructureDeletion";
    /// Deletion waits for the bootstrap object to go.
    WAITING_FOR_BOOTSTRAP_DELETION = "WaitingForBootstrapDeletion";
    /// Deletion removes the node object.
    DELETING_NODE = "DeletingNode";
    /// Deletion of a cluster waits for a hook before it begins.
    WAITING_FOR_BEFORE_DELETE_HOOK = "WaitingForBeforeDeleteHook";
    /// Deletion of a cluster waits for its workers to go.
    WAITING_FOR_WORKERS_DELETION = "WaitingForWorkersDeletion";
    /// Deletion of a cluster waits for its control plane to go.
    WAITING_FOR_CONTROL_PLANE_DELETION = "WaitingForControlPlaneDeletion";
}
