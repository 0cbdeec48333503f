//! Condition types, by the kind that carries them. Two kinds may use the same word with a meaning of their own.

use super::ConditionType;

/// Declares one module of condition types per kind, and the table of all kinds.
macro_rules! conditions_by_kind {
    ($($(#[doc = $doc:literal])+ $module:ident = $kind:literal { $($constants:tt)+ })+) => {
        $(
            $(#[doc = $doc])+
            pub mod $module {
                super::super::constants! { ConditionType in ALL: $($constants)+ }
            }
        )+

        /// Every kind with the types of its conditions.
        pub const ALL: &[(&str, &[ConditionType])] = &[$(($kind, $module::ALL)),+];
    };
}

/// The condition of a HostedControlPlane that is True when the certificates of `signer` could not be rotated.
pub fn certificate_rotation_degraded(signer: &str) -> String {
    format!("CertRotation_{signer}_Degraded")
}

conditions_by_kind! {
    /// HostedCluster. It also carries copies of the conditions of its HostedControlPlane, and for each private
    /// connection (AWSEndpointService, AzurePrivateLinkService, GCPPrivateServiceConnect) their sum.
    hosted_cluster = "HostedCluster" {
        /// True when the control plane serves.
        AVAILABLE = "Available";
        /// True while the control plane is not yet at the wanted release; False with reason Blocked when it cannot go.
        PROGRESSING = "Progressing";
        /// True when part of the control plane does not work, although the whole may still serve.
        DEGRADED = "Degraded";
        /// True when the spec passes every check that needs more than a schema.
        VALID_CONFIGURATION = "ValidConfiguration";
        /// True when this manager can host such a cluster: its platform and features are there.
        SUPPORTED_HOSTED_CLUSTER = "SupportedHostedCluster";
        /// True when the wanted release may be installed, or upgraded to from the present one.
        VALID_RELEASE_IMAGE = "ValidReleaseImage";
        /// True while the cluster is not paused.
        RECONCILIATION_ACTIVE = "ReconciliationActive";
        /// True when the last reconcile ended without an error.
        RECONCILIATION_SUCCEEDED = "ReconciliationSucceeded";
        /// True when the credentials that the platform needs are there.
        PLATFORM_CREDENTIALS_FOUND = "PlatformCredentialsFound";
        /// True when the certificates of the proxy parse and have not expired.
        VALID_PROXY_CONFIGURATION = "ValidProxyConfiguration";
        /// True when nodes can fetch their ignition payload.
        IGNITION_ENDPOINT_AVAILABLE = "IgnitionEndpointAvailable";
        /// True when the secret for an etcd of the user's own holds what is needed to reach it.
        UNMANAGED_ETCD_AVAILABLE = "UnmanagedEtcdAvailable";
        /// True while a job brings back a lost etcd member.
        ETCD_RECOVERY_ACTIVE = "EtcdRecoveryActive";
        /// True when the cluster version operator reports no failure; the opposite of ClusterVersionFailing.
        CLUSTER_VERSION_SUCCEEDING = "ClusterVersionSucceeding";
        /// True when the OIDC discovery documents are in place on AWS.
        VALID_OIDC_CONFIGURATION = "ValidOIDCConfiguration";
        /// True when the secrets with GCP credentials have been written.
        VALID_GCP_CREDENTIALS = "ValidGCPCredentials";
        /// True when workload identity federation on GCP is set up in a way that can work.
        VALID_GCP_WORKLOAD_IDENTITY = "ValidGCPWorkloadIdentity";
        /// True when the kubeconfig of an external KubeVirt cluster may isolate the virtual machines there.
        VALID_KUBEVIRT_INFRA_NETWORK_POLICY_RBAC = "ValidKubeVirtInfraNetworkPolicyRBAC";
        /// True when every virtual machine of every pool can migrate without a restart.
        KUBEVIRT_NODES_LIVE_MIGRATABLE = "KubeVirtNodesLiveMigratable";
        /// True when a size class has been found; the reason is its name.
        CLUSTER_SIZE_COMPUTED = "ClusterSizeComputed";
        /// True while a change of size class waits for its turn.
        CLUSTER_SIZE_TRANSITION_PENDING = "ClusterSizeTransitionPending";
        /// True when the cluster has outgrown its size class; the reason is the name of the next one.
        CLUSTER_SIZE_TRANSITION_REQUIRED = "ClusterSizeTransitionRequired";
        /// True when Karpenter is wanted and rolled out.
        AUTO_NODE_ENABLED = "AutoNodeEnabled";
        /// True when the API server can be reached from outside through the shared ingress.
        PUBLIC_ENDPOINT_EXPOSED = "PublicEndpointExposed";
        /// True when everything has been removed and only the grace period holds the object.
        HOSTED_CLUSTER_DESTROYED = "HostedClusterDestroyed";
    }

    /// HostedControlPlane. All but Available, Degraded, EtcdSnapshotRestored, CVOScaledDown and those of the
    /// certificate operator are copied to the HostedCluster as they are.
    hosted_control_plane = "HostedControlPlane" {
        /// True when the infrastructure, etcd, the API server and the components of the control plane all work.
        AVAILABLE = "Available";
        /// True when a deployment of the control plane has replicas that are not available.
        DEGRADED = "Degraded";
        /// True when the spec can be carried out on this management cluster.
        VALID_HOSTED_CONTROL_PLANE_CONFIGURATION = "ValidHostedControlPlaneConfiguration";
        /// True when the release carries every image that the control plane needs.
        VALID_RELEASE_INFO = "ValidReleaseInfo";
        /// True when the release carries every image that the ignition server needs.
        IGNITION_SERVER_VALID_RELEASE_INFO = "IgnitionServerValidReleaseInfo";
        /// True when load balancers, routes and host names of the control plane are in place.
        INFRASTRUCTURE_READY = "InfrastructureReady";
        /// True when the external host name of the API server resolves and answers; Unknown without one.
        EXTERNAL_DNS_REACHABLE = "ExternalDNSReachable";
        /// True when etcd has a quorum.
        ETCD_AVAILABLE = "EtcdAvailable";
        /// True when the snapshot that etcd was to start from has been restored.
        ETCD_SNAPSHOT_RESTORED = "EtcdSnapshotRestored";
        /// True when the last backup of etcd succeeded; False while one runs or after one failed.
        ETCD_BACKUP_SUCCEEDED = "EtcdBackupSucceeded";
        /// True when all data in etcd is encrypted with the active key; absent without encryption.
        ETCD_DATA_ENCRYPTION_UP_TO_DATE = "EtcdDataEncryptionUpToDate";
        /// True when the API server answers.
        KUBE_API_SERVER_AVAILABLE = "KubeAPIServerAvailable";
        /// True when the control plane reaches the nodes; Unknown without nodes.
        DATA_PLANE_CONNECTION_AVAILABLE = "DataPlaneConnectionAvailable";
        /// True when a pod on the nodes has lately reached the API server; Unknown without nodes.
        CONTROL_PLANE_CONNECTION_AVAILABLE = "ControlPlaneConnectionAvailable";
        /// True when the operator inside of the hosted cluster ended its last reconcile without an error.
        CONFIG_OPERATOR_RECONCILIATION_SUCCEEDED = "ConfigOperatorReconciliationSucceeded";
        /// True when the identity providers of the cluster could be configured.
        VALID_IDP_CONFIGURATION = "ValidIDPConfiguration";
        /// True when the cluster version operator says that an upgrade to the next minor version is safe.
        CLUSTER_VERSION_UPGRADEABLE = "ClusterVersionUpgradeable";
        /// True when the cluster version operator cannot reach its target.
        CLUSTER_VERSION_FAILING = "ClusterVersionFailing";
        /// True while the cluster version operator rolls out a release.
        CLUSTER_VERSION_PROGRESSING = "ClusterVersionProgressing";
        /// True when the cluster version operator has rolled out a release fully at least once.
        CLUSTER_VERSION_AVAILABLE = "ClusterVersionAvailable";
        /// True when the cluster version operator has taken the wanted release as its target.
        CLUSTER_VERSION_RELEASE_ACCEPTED = "ClusterVersionReleaseAccepted";
        /// True when the cluster version operator could read the update graph.
        CLUSTER_VERSION_RETRIEVED_UPDATES = "ClusterVersionRetrievedUpdates";
        /// True when the cluster works again after it was restored from a backup.
        HOSTED_CLUSTER_RESTORED_FROM_BACKUP = "HostedClusterRestoredFromBackup";
        /// True when AWS accepts the web identity of the cluster.
        VALID_AWS_IDENTITY_PROVIDER = "ValidAWSIdentityProvider";
        /// True when the KMS key on AWS encrypts and decrypts; Unknown when none is used.
        VALID_AWS_KMS_CONFIG = "ValidAWSKMSConfig";
        /// True when the key in Azure encrypts and decrypts; Unknown when none is used or it cannot be tried.
        VALID_AZURE_KMS_CONFIG = "ValidAzureKMSConfig";
        /// True when the default security group of worker nodes exists; pools without one of their own wait for it.
        AWS_DEFAULT_SECURITY_GROUP_CREATED = "AWSDefaultSecurityGroupCreated";
        /// True when the default security group of worker nodes has been removed.
        AWS_DEFAULT_SECURITY_GROUP_DELETED = "AWSDefaultSecurityGroupDeleted";
        /// True when packets of the hosted network fit into those of the KubeVirt cluster below without being split.
        VALID_KUBEVIRT_INFRA_NETWORK_MTU = "ValidKubeVirtInfraNetworkMTU";
        /// True when, on deletion, the cloud resources that the hosted cluster created are gone.
        CLOUD_RESOURCES_DESTROYED = "CloudResourcesDestroyed";
        /// True when, on deletion, the cluster version operator has been stopped so that it restores nothing.
        CVO_SCALED_DOWN = "CVOScaledDown";
        /// True when the certificate operator could not assemble the bundles of client authorities.
        TARGET_CONFIG_CONTROLLER_DEGRADED = "TargetConfigControllerDegraded";
    }

    /// ControlPlaneComponent.
    control_plane_component = "ControlPlaneComponent" {
        /// True when the workload of the component serves.
        AVAILABLE = "Available";
        /// True when every replica runs what the current release and spec ask for.
        ROLLOUT_COMPLETE = "RolloutComplete";
    }

    /// NodePool.
    node_pool = "NodePool" {
        /// True when every wanted replica is a ready node, and repair is not blocked.
        READY = "Ready";
        /// True when the infrastructure of every machine is ready.
        ALL_MACHINES_READY = "AllMachinesReady";
        /// True when the node of every machine is healthy.
        ALL_NODES_HEALTHY = "AllNodesHealthy";
        /// True when the release may run under the control plane.
        VALID_RELEASE_IMAGE = "ValidReleaseImage";
        /// True when the version is not newer than the control plane and not too old for it.
        SUPPORTED_VERSION_SKEW = "SupportedVersionSkew";
        /// True when a boot image for the platform, region and architecture was found.
        VALID_PLATFORM_IMAGE = "ValidPlatformImage";
        /// True when the platform section can be carried out.
        VALID_PLATFORM_CONFIG = "ValidPlatformConfig";
        /// True when the platform offers the architecture and the release is built for it.
        VALID_ARCH_PLATFORM = "ValidArchPlatform";
        /// True when the ConfigMaps in spec.config could be turned into a node configuration.
        VALID_MACHINE_CONFIG = "ValidMachineConfig";
        /// True when the ConfigMaps in spec.tuningConfig could be read.
        VALID_TUNING_CONFIG = "ValidTuningConfig";
        /// True when the ignition server has rendered the payload of the pool.
        VALID_GENERATED_PAYLOAD = "ValidGeneratedPayload";
        /// True when a machine template could be made from the platform section.
        VALID_MACHINE_TEMPLATE = "ValidMachineTemplate";
        /// Present and False when nodes have no address from which to fetch their payload.
        IGNITION_ENDPOINT_AVAILABLE = "IgnitionEndpointAvailable";
        /// True when at least one machine has fetched the payload.
        REACHED_IGNITION_ENDPOINT = "ReachedIgnitionEndpoint";
        /// True when the pool scales by itself between its bounds.
        AUTOSCALING_ENABLED = "AutoscalingEnabled";
        /// True when unhealthy machines are replaced.
        AUTOREPAIR_ENABLED = "AutorepairEnabled";
        /// True when spec.management describes a strategy that can be carried out.
        UPDATE_MANAGEMENT_ENABLED = "UpdateManagementEnabled";
        /// True while nodes move to another version.
        UPDATING_VERSION = "UpdatingVersion";
        /// True while nodes move to another configuration.
        UPDATING_CONFIG = "UpdatingConfig";
        /// True while machines are replaced because their template changed.
        UPDATING_PLATFORM_MACHINE_TEMPLATE = "UpdatingPlatformMachineTemplate";
        /// True while the pool is not paused.
        RECONCILIATION_ACTIVE = "ReconciliationActive";
        /// True when the pool names security groups or the default one exists.
        AWS_SECURITY_GROUP_AVAILABLE = "AWSSecurityGroupAvailable";
        /// True when a tag of the pool contradicts a tag of the cluster that may not be overridden.
        AWS_RESOURCE_TAG_CONFLICT = "AWSResourceTagConflict";
        /// Present and True when a machine has addresses only inside of the pod network.
        CLUSTER_NETWORK_CIDR_CONFLICT = "ClusterNetworkCIDRConflict";
        /// True when every virtual machine of the pool can migrate without a restart.
        KUBEVIRT_NODES_LIVE_MIGRATABLE = "KubeVirtNodesLiveMigratable";
        /// True when the performance profile of the pool is in force.
        PERFORMANCE_PROFILE_AVAILABLE = "performance.operator.openshift.io/Available";
        /// True while the performance profile is being applied.
        PERFORMANCE_PROFILE_PROGRESSING = "performance.operator.openshift.io/Progressing";
        /// True when the performance profile does not stand in the way of an upgrade.
        PERFORMANCE_PROFILE_UPGRADEABLE = "performance.operator.openshift.io/Upgradeable";
        /// True when the performance profile could not be applied.
        PERFORMANCE_PROFILE_DEGRADED = "performance.operator.openshift.io/Degraded";
    }

    /// AWSEndpointService.
    aws_endpoint_service = "AWSEndpointService" {
        /// True when the endpoint service before the load balancer exists.
        ENDPOINT_SERVICE_AVAILABLE = "AWSEndpointServiceAvailable";
        /// True when the endpoint in the network of the workers exists, with its DNS records.
        ENDPOINT_AVAILABLE = "AWSEndpointAvailable";
    }

    /// AzurePrivateLinkService.
    azure_private_link_service = "AzurePrivateLinkService" {
        /// True when all of the other conditions are.
        AVAILABLE = "AzurePrivateLinkServiceAvailable";
        /// True when the internal load balancer of the API server was found.
        INTERNAL_LOAD_BALANCER_AVAILABLE = "AzureInternalLoadBalancerAvailable";
        /// True when the Private Link Service exists.
        CREATED = "AzurePLSCreated";
        /// True when the Private Endpoint exists and its connection has been approved.
        PRIVATE_ENDPOINT_AVAILABLE = "AzurePrivateEndpointAvailable";
        /// True when the private DNS zones and their records exist.
        PRIVATE_DNS_AVAILABLE = "AzurePrivateDNSAvailable";
    }

    /// GCPPrivateServiceConnect.
    gcp_private_service_connect = "GCPPrivateServiceConnect" {
        /// True when all of the other conditions are.
        AVAILABLE = "GCPPrivateServiceConnectAvailable";
        /// True when the service attachment before the load balancer exists.
        SERVICE_ATTACHMENT_AVAILABLE = "GCPServiceAttachmentAvailable";
        /// True when the endpoint in the network of the workers exists.
        ENDPOINT_AVAILABLE = "GCPEndpointAvailable";
        /// True when the DNS zones and their records exist.
        DNS_AVAILABLE = "GCPDNSAvailable";
    }

    /// HCPEtcdBackup.
    etcd_backup = "HCPEtcdBackup" {
        /// True when the snapshot is in the storage; False while it is taken, and for good when that failed.
        BACKUP_COMPLETED = "BackupCompleted";
    }

    /// CertificateRevocationRequest. The conditions become True in the order in which they stand here.
    certificate_revocation_request = "CertificateRevocationRequest" {
        /// True when the signer is known.
        SIGNER_CLASS_VALID = "SignerClassValid";
        /// True when the signer has a new authority.
        ROOT_CERTIFICATES_REGENERATED = "RootCertificatesRegenerated";
        /// True when every API server pod trusts the new authority.
        NEW_CERTIFICATES_TRUSTED = "NewCertificatesTrusted";
        /// True when the certificates that the operator itself uses were signed anew.
        LEAF_CERTIFICATES_REGENERATED = "LeafCertificatesRegenerated";
        /// True when every API server pod refuses what the old authority signed.
        PREVIOUS_CERTIFICATES_REVOKED = "PreviousCertificatesRevoked";
    }

    /// ClusterSizingConfiguration.
    cluster_sizing_configuration = "ClusterSizingConfiguration" {
        /// True when the size classes cover every node count exactly once.
        VALID = "ClusterSizingConfigurationValid";
    }

    /// OpenshiftEC2NodeClass. It also carries the conditions of the EC2NodeClass that is made from it.
    openshift_ec2_node_class = "OpenshiftEC2NodeClass" {
        /// True when Karpenter can create nodes of the class.
        READY = "Ready";
        /// True when the version resolves to a release, or none is asked for.
        VERSION_RESOLVED = "VersionResolved";
        /// True when the version is not newer than the control plane and not too old for it.
        SUPPORTED_VERSION_SKEW = "SupportedVersionSkew";
    }

    /// The Cluster of Cluster API.
    cluster = "Cluster" {
        /// True when the cluster is as its class says; only where it has one.
        TOPOLOGY_RECONCILED = "TopologyReconciled";
        /// True when infrastructure, control plane and workers are all available.
        AVAILABLE = "Available";
        /// True when the infrastructure object of the cluster is ready.
        INFRASTRUCTURE_READY = "InfrastructureReady";
        /// True once the control plane has accepted its first request; never goes back.
        CONTROL_PLANE_INITIALIZED = "ControlPlaneInitialized";
        /// True when the control plane object is available.
        CONTROL_PLANE_AVAILABLE = "ControlPlaneAvailable";
        /// True when every machine of the control plane is ready.
        CONTROL_PLANE_MACHINES_READY = "ControlPlaneMachinesReady";
        /// True when every machine of the control plane matches its wanted state.
        CONTROL_PLANE_MACHINES_UP_TO_DATE = "ControlPlaneMachinesUpToDate";
        /// True when every set of workers is available.
        WORKERS_AVAILABLE = "WorkersAvailable";
        /// True when every worker machine is ready.
        WORKER_MACHINES_READY = "WorkerMachinesReady";
        /// True when every worker machine matches its wanted state.
        WORKER_MACHINES_UP_TO_DATE = "WorkerMachinesUpToDate";
        /// True when the API server of the cluster has lately answered the manager.
        REMOTE_CONNECTION_PROBE = "RemoteConnectionProbe";
        /// True while machines are exchanged for such as match the wanted state.
        ROLLING_OUT = "RollingOut";
        /// True while there are fewer machines than wanted.
        SCALING_UP = "ScalingUp";
        /// True while there are more machines than wanted.
        SCALING_DOWN = "ScalingDown";
        /// True while unhealthy machines are dealt with.
        REMEDIATING = "Remediating";
        /// True once the cluster is being deleted; the message says what it waits for.
        DELETING = "Deleting";
        /// True while no controller acts on the cluster.
        PAUSED = "Paused";
    }

    /// The MachineDeployment of Cluster API.
    machine_deployment = "MachineDeployment" {
        /// True when no more machines are missing than the strategy allows.
        AVAILABLE = "Available";
        /// True when every machine is ready.
        MACHINES_READY = "MachinesReady";
        /// True when every machine matches the template.
        MACHINES_UP_TO_DATE = "MachinesUpToDate";
        /// True while machines are exchanged for such as match the template.
        ROLLING_OUT = "RollingOut";
        /// True while there are fewer machines than wanted.
        SCALING_UP = "ScalingUp";
        /// True while there are more machines than wanted.
        SCALING_DOWN = "ScalingDown";
        /// True while unhealthy machines are dealt with.
        REMEDIATING = "Remediating";
        /// True once the deployment is being deleted.
        DELETING = "Deleting";
        /// True while no controller acts on the deployment.
        PAUSED = "Paused";
    }

    /// The MachineSet of Cluster API.
    machine_set = "MachineSet" {
        /// True when every machine is ready.
        MACHINES_READY = "MachinesReady";
        /// True when every machine matches the template.
        MACHINES_UP_TO_DATE = "MachinesUpToDate";
        /// True while there are fewer machines than wanted.
        SCALING_UP = "ScalingUp";
        /// True while there are more machines than wanted.
        SCALING_DOWN = "ScalingDown";
        /// True while unhealthy machines are dealt with.
        REMEDIATING = "Remediating";
        /// True once the set is being deleted.
        DELETING = "Deleting";
        /// True while no controller acts on the set.
        PAUSED = "Paused";
    }

    /// The Machine of Cluster API.
    machine = "Machine" {
        /// True when the machine has been ready for as long as was asked.
        AVAILABLE = "Available";
        /// True when bootstrap, infrastructure, node and health check are all in order and it is not being deleted.
        READY = "Ready";
        /// True when the machine matches the template of its owner.
        UP_TO_DATE = "UpToDate";
        /// True while the machine is being changed in place.
        UPDATING = "Updating";
        /// True when the bootstrap data is there.
        BOOTSTRAP_CONFIG_READY = "BootstrapConfigReady";
        /// True when the instance behind the machine is ready.
        INFRASTRUCTURE_READY = "InfrastructureReady";
        /// True when the node is ready and under no pressure.
        NODE_HEALTHY = "NodeHealthy";
        /// True when the node says that it is ready.
        NODE_READY = "NodeReady";
        /// True when no health check finds the machine unhealthy.
        HEALTH_CHECK_SUCCEEDED = "HealthCheckSucceeded";
        /// False when the owner is to replace the machine; True when it has begun to.
        OWNER_REMEDIATED = "OwnerRemediated";
        /// False when something outside is to repair the machine; True when it has.
        EXTERNALLY_REMEDIATED = "ExternallyRemediated";
        /// True once the machine is being deleted; the reason says which step it is at.
        DELETING = "Deleting";
        /// True while no controller acts on the machine.
        PAUSED = "Paused";
    }

    /// The MachineHealthCheck of Cluster API.
    machine_health_check = "MachineHealthCheck" {
        /// True when few enough machines are unhealthy that replacing them helps.
        REMEDIATION_ALLOWED = "RemediationAllowed";
        /// True while no controller acts on the health check.
        PAUSED = "Paused";
    }

    /// DistributionRelease.
    distribution_release = "DistributionRelease" {
        /// True when every version in it can be read, nothing contradicts something else, and no other release has its
        /// image or its version.
        VALID = "Valid";
    }
}
