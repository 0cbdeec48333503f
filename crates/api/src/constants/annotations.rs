//! Annotations. A star in brackets, (*), says that the key is copied from a HostedCluster to its HostedControlPlane.

use super::constants;

constants! { Annotation in ALL:
    // Whose an object is.
    /// On any object that is made for a HostedCluster: the cluster, as namespace/name.
    CLUSTER = "hypershift.openshift.io/cluster";
    /// On any object that is made for a NodePool: the pool, as namespace/name.
    NODE_POOL = "hypershift.openshift.io/nodePool";
    /// On the autoscaler object of an API server: the namespace of the HostedCluster.
    CLUSTER_NAMESPACE = "hypershift.openshift.io/cluster-namespace";
    /// On the autoscaler object of an API server: the name of the HostedCluster.
    CLUSTER_NAME = "hypershift.openshift.io/cluster-name";

    // HostedCluster: its life.
    /// The release is taken without any check of its version.
    SKIP_RELEASE_IMAGE_VALIDATION = "hypershift.openshift.io/skip-release-image-validation";
    /// The release to upgrade to although the cluster says that it is not upgradeable; must equal the wanted image.
    FORCE_UPGRADE_TO = "hypershift.openshift.io/force-upgrade-to";
    /// How long the object stays after everything else is gone, as a Go duration.
    DESTROY_GRACE_PERIOD = "hypershift.openshift.io/destroy-grace-period";
    /// (*) When true, deletion removes the cloud resources that the hosted cluster created.
    CLEANUP_CLOUD_RESOURCES = "hypershift.openshift.io/cleanup-cloud-resources";
    /// When true, deletion leaves the namespace of the control plane.
    SKIP_CONTROL_PLANE_NAMESPACE_DELETION = "hypershift.openshift.io/skip-delete-hosted-controlplane-namespace";
    /// (*) Any new value restarts every component.
    RESTART_DATE = "hypershift.openshift.io/restart-date";
    /// On copies of certificates: the restart that they were last renewed for.
    PREVIOUS_RESTART_DATE = "hypershift.openshift.io/previous-restart-date";
    /// (*) The cluster was restored from a backup, and is to be watched until it works again.
    RESTORED_FROM_BACKUP = "hypershift.openshift.io/restored-from-backup";
    /// Written once the cluster has been available, so that the time it took is measured once.
    HAS_BEEN_AVAILABLE = "hypershift.openshift.io/HasBeenAvailable";
    /// (*) Certificates are left as they are.
    DISABLE_PKI_RECONCILIATION = "hypershift.openshift.io/disable-pki-reconciliation";
    /// (*) No Cluster API, no autoscaler and no machine approver are run.
    DISABLE_MACHINE_MANAGEMENT = "hypershift.openshift.io/disable-machine-management";
    /// (*) No ignition server is run.
    DISABLE_IGNITION_SERVER = "hypershift.openshift.io/disable-ignition-server";
    /// Which of several managers acts on the cluster.
    SCOPE = "hypershift.openshift.io/scope";
    /// (*) Components, separated by commas, that get no replicas so that they can be debugged elsewhere.
    DEBUG_DEPLOYMENTS = "hypershift.openshift.io/debug-deployments";
    /// The resource id of the cluster as a product of Azure; copied to the namespace of the control plane.
    MANAGED_AZURE_RESOURCE_ID = "azure.microsoft.com/hcp-cluster-azure-resource-id";

    // HostedCluster: images in place of those of the release.
    /// The control plane operator.
    CONTROL_PLANE_OPERATOR_IMAGE = "hypershift.openshift.io/control-plane-operator-image";
    /// The labels of that image, as key=value pairs with commas between them.
    CONTROL_PLANE_OPERATOR_IMAGE_LABELS = "hypershift.openshift.io/control-plane-operator-image-labels";
    /// Any image of the release, as name=reference pairs with commas between them.
    IMAGE_OVERRIDES = "hypershift.openshift.io/image-overrides";
    /// The manager of Cluster API.
    CAPI_MANAGER_IMAGE = "hypershift.openshift.io/capi-manager-image";
    /// The Cluster API provider for AWS.
    CAPI_PROVIDER_AWS_IMAGE = "hypershift.openshift.io/capi-provider-aws-image";
    /// The Cluster API provider for Azure.
    CAPI_PROVIDER_AZURE_IMAGE = "hypershift.openshift.io/capi-provider-azure-image";
    /// The Cluster API provider for GCP.
    CAPI_PROVIDER_GCP_IMAGE = "hypershift.openshift.io/capi-provider-gcp-image";
    /// The Cluster API provider for KubeVirt.
    CAPI_PROVIDER_KUBEVIRT_IMAGE = "hypershift.openshift.io/capi-provider-kubevirt-image";
    /// The Cluster API provider for agents.
    CAPI_PROVIDER_AGENT_IMAGE = "hypershift.openshift.io/capi-provider-agent-image";
    /// The Cluster API provider for PowerVS.
    CAPI_PROVIDER_POWERVS_IMAGE = "hypershift.openshift.io/capi-provider-powervs-image";
    /// The Cluster API provider for OpenStack.
    CAPI_PROVIDER_OPENSTACK_IMAGE = "hypershift.openshift.io/capi-provider-openstack-image";
    /// The resource controller for OpenStack.
    OPENSTACK_RESOURCE_CONTROLLER_IMAGE = "hypershift.openshift.io/orc-image";
    /// (*) The cluster autoscaler.
    CLUSTER_AUTOSCALER_IMAGE = "hypershift.openshift.io/cluster-autoscaler-image";
    /// The machine approver.
    MACHINE_APPROVER_IMAGE = "hypershift.openshift.io/machine-approver-image";
    /// (*) The konnectivity server.
    KONNECTIVITY_SERVER_IMAGE = "hypershift.openshift.io/konnectivity-server-image";
    /// (*) The konnectivity agent.
    KONNECTIVITY_AGENT_IMAGE = "hypershift.openshift.io/konnectivity-agent-image";
    /// (*) The KMS plugin for AWS.
    AWS_KMS_PROVIDER_IMAGE = "hypershift.openshift.io/aws-kms-provider-image";
    /// (*) The KMS plugin for IBM Cloud.
    IBM_CLOUD_KMS_PROVIDER_IMAGE = "hypershift.openshift.io/ibmcloud-kms-provider-image";
    /// (*) Portieris, which checks images before they run.
    PORTIERIS_IMAGE = "hypershift.openshift.io/portieris-image";
    /// (*) The catalog of certified operators; give all four catalogs at once, by digest.
    CERTIFIED_OPERATORS_CATALOG_IMAGE = "hypershift.openshift.io/certified-operators-catalog-image";
    /// (*) The catalog of community operators.
    COMMUNITY_OPERATORS_CATALOG_IMAGE = "hypershift.openshift.io/community-operators-catalog-image";
    /// (*) The catalog of the Red Hat marketplace.
    REDHAT_MARKETPLACE_CATALOG_IMAGE = "hypershift.openshift.io/redhat-marketplace-catalog-image";
    /// (*) The catalog of Red Hat operators.
    REDHAT_OPERATORS_CATALOG_IMAGE = "hypershift.openshift.io/redhat-operators-catalog-image";
    /// (*) Registries of the catalogs and what replaces them, as from=to pairs with commas between them.
    OLM_CATALOGS_REGISTRY_OVERRIDES = "hypershift.openshift.io/olm-catalogs-is-registry-overrides";
    /// (*) The AWS provider of Karpenter.
    KARPENTER_PROVIDER_AWS_IMAGE = "hypershift.openshift.io/karpenter-provider-aws-image";
    /// (*) The operator of Karpenter.
    KARPENTER_OPERATOR_IMAGE = "hypershift.openshift.io/karpenter-operator-image";
    /// (*) Karpenter runs without our limits, for its own end-to-end tests.
    KARPENTER_CORE_E2E_OVERRIDE = "hypershift.openshift.io/karpenter-core-e2e-override";

    // HostedCluster: where its pods run.
    /// (*) When dedicated-request-serving-components, pods on the way of a request get nodes of their own.
    TOPOLOGY = "hypershift.openshift.io/topology";
    /// When true, such nodes have been assigned.
    CLUSTER_SCHEDULED = "hypershift.openshift.io/cluster-scheduled";
    /// (*) More labels that such nodes must have, as key=value pairs with commas between them.
    REQUEST_SERVING_NODE_ADDITIONAL_SELECTOR = "hypershift.openshift.io/request-serving-node-additional-selector";
    /// (*) Priority class of most pods of the control plane.
    CONTROL_PLANE_PRIORITY_CLASS = "hypershift.openshift.io/control-plane-priority-class";
    /// (*) Priority class of pods without which an API request fails.
    API_CRITICAL_PRIORITY_CLASS = "hypershift.openshift.io/api-critical-priority-class";
    /// (*) Priority class of etcd.
    ETCD_PRIORITY_CLASS = "hypershift.openshift.io/etcd-priority-class";
    /// The size class, whatever the number of nodes.
    CLUSTER_SIZE_OVERRIDE = "hypershift.openshift.io/cluster-size-override";
    /// When true, the size class follows the memory that the API server needs.
    RESOURCE_BASED_CONTROL_PLANE_AUTOSCALING = "hypershift.openshift.io/resource-based-cp-auto-scaling";
    /// The size class that this memory asks for; written by the autoscaler.
    RECOMMENDED_CLUSTER_SIZE = "hypershift.openshift.io/recommended-cluster-size";
    /// Pod security level of the namespace of the control plane: Restricted, Baseline or Privileged.
    POD_SECURITY_ADMISSION_LABEL_OVERRIDE = "hypershift.openshift.io/pod-security-admission-label-override";

    // HostedCluster: the API server.
    /// (*) GOGC of the API server.
    KUBE_API_SERVER_GOGC = "hypershift.openshift.io/kube-apiserver-gogc";
    /// (*) GOMEMLIMIT of the API server.
    KUBE_API_SERVER_GOMEMLIMIT = "hypershift.openshift.io/kube-apiserver-gomemlimit";
    /// (*) How many reading requests the API server works on at once.
    KUBE_API_SERVER_MAX_REQUESTS_INFLIGHT = "hypershift.openshift.io/kube-apiserver-max-requests-inflight";
    /// (*) How many writing requests the API server works on at once.
    KUBE_API_SERVER_MAX_MUTATING_REQUESTS_INFLIGHT = "hypershift.openshift.io/kube-apiserver-max-mutating-requests-inflight";
    /// (*) How much the API server logs.
    KUBE_API_SERVER_VERBOSITY_LEVEL = "hypershift.openshift.io/kube-apiserver-verbosity-level";
    /// (*) How likely the API server asks a client to connect anew.
    KUBE_API_SERVER_GOAWAY_CHANCE = "hypershift.openshift.io/kube-apiserver-goaway-chance";
    /// (*) The longest life of a service account token, as a Go duration of at least 600s.
    KUBE_API_SERVER_SERVICE_ACCOUNT_TOKEN_MAX_EXPIRATION = "hypershift.openshift.io/kube-apiserver-service-account-token-max-expiration";
    /// (*) Components, separated by commas, without profiling.
    DISABLE_PROFILING = "hypershift.openshift.io/disable-profiling";
    /// Host names in serving certificates may equal published host names.
    SKIP_KAS_CONFLICT_SAN_VALIDATION = "hypershift.openshift.io/skip-kas-conflict-san-validation";
    /// (*) URL of the login page.
    OAUTH_LOGIN_URL_OVERRIDE = "oauth.hypershift.openshift.io/login-url-override";

    // HostedCluster: networks.
    /// (*) Labels of nodes that load balancers on AWS send to.
    AWS_LOAD_BALANCER_TARGET_NODE_LABELS = "hypershift.openshift.io/aws-load-balancer-target-node-labels";
    /// (*) How load balancers on AWS probe nodes: Shared or ServiceNodePort.
    AWS_LOAD_BALANCER_HEALTH_PROBE_MODE = "hypershift.openshift.io/aws-load-balancer-health-probe-mode";
    /// (*) How load balancers on Azure probe nodes: shared or servicenodeport.
    AZURE_LOAD_BALANCER_HEALTH_PROBE_MODE = "hypershift.openshift.io/azure-load-balancer-health-probe-mode";
    /// (*) Path of a shared probe; /healthz without it.
    SHARED_LOAD_BALANCER_HEALTH_PROBE_PATH = "hypershift.openshift.io/shared-load-balancer-health-probe-path";
    /// (*) Port of a shared probe; 10256 without it.
    SHARED_LOAD_BALANCER_HEALTH_PROBE_PORT = "hypershift.openshift.io/shared-load-balancer-health-probe-port";
    /// (*) Subnets of load balancers on AWS; has no effect any more.
    AWS_LOAD_BALANCER_SUBNETS = "hypershift.openshift.io/aws-load-balancer-subnets";
    /// (*) When true, the default ingress controller is published privately.
    PRIVATE_INGRESS_CONTROLLER = "hypershift.openshift.io/private-ingress-controller";
    /// (*) Scope of the load balancer of the default ingress controller.
    INGRESS_CONTROLLER_LOAD_BALANCER_SCOPE = "hypershift.openshift.io/ingress-controller-load-balancer-scope";
    /// (*) The pod network instance on Azure that router pods are attached to.
    SWIFT_POD_NETWORK_INSTANCE = "hypershift.openshift.io/swift-pod-network-instance";
    /// The host name that external-dns registers for a Service.
    EXTERNAL_DNS_HOSTNAME = "external-dns.alpha.kubernetes.io/hostname";

    // HostedCluster: monitoring, guests and platforms.
    /// No monitoring services are made.
    DISABLE_MONITORING_SERVICES = "hypershift.openshift.io/disable-monitoring-services";
    /// (*) Metrics of the control plane are forwarded; superseded by spec.monitoring.
    ENABLE_METRICS_FORWARDING = "hypershift.openshift.io/enable-metrics-forwarding";
    /// (*) The pull secret inside of the cluster is created but never overwritten.
    ENSURE_EXISTS_PULL_SECRET_RECONCILE = "hypershift.openshift.io/ensureexists-pullsecret-reconcile";
    /// (*) The platform of the management cluster.
    MANAGEMENT_PLATFORM = "hypershift.openshift.io/management-platform";
    /// (*) When true, worker nodes on AWS get public addresses; for development.
    AWS_MACHINE_PUBLIC_IPS = "hypershift.openshift.io/aws-machine-public-ips";
    /// (*) The instance profile of nodes that Karpenter creates.
    AWS_KARPENTER_DEFAULT_INSTANCE_PROFILE = "hypershift.openshift.io/aws-karpenter-default-instance-profile";
    /// (*) The queue in which AWS announces that instances end.
    AWS_TERMINATION_HANDLER_QUEUE_URL = "hypershift.openshift.io/aws-termination-handler-queue-url";
    /// On an empty Secret or ConfigMap: its content comes from inside of the hosted cluster.
    HOSTED_CLUSTER_SOURCED = "hypershift.openshift.io/hosted-cluster-sourced";

    // HostedControlPlane.
    /// No autoscaler is needed: no pool scales by itself. Written by the manager.
    DISABLE_CLUSTER_AUTOSCALER = "hypershift.openshift.io/disable-cluster-autoscaler";
    /// No termination handler is needed on AWS. Written by the manager.
    DISABLE_AWS_NODE_TERMINATION_HANDLER = "hypershift.openshift.io/disable-aws-node-termination-handler";
    /// How long certificates are valid, as a Go duration.
    CERTIFICATE_VALIDITY = "hypershift.openshift.io/certificate-validity";
    /// Which part of its validity a certificate has left when it is renewed, between 0 and 1.
    CERTIFICATE_RENEWAL = "hypershift.openshift.io/certificate-renewal";
    /// Hash of the serving certificates that the API server publishes.
    KAS_SERVING_CERT_HASH = "hypershift.openshift.io/kas-serving-cert-hash";
    /// The tags that the default security group has.
    LAST_APPLIED_SECURITY_GROUP_TAGS = "hypershift.openshift.io/last-applied-security-group-tags";
    /// On the namespace of a control plane: the user id of its pods, where the platform assigns none.
    DEFAULT_SECURITY_CONTEXT_UID = "hypershift.openshift.io/default-security-context-uid";

    // Workloads of the control plane.
    /// On a pod template: the release that it was rendered from.
    RELEASE_IMAGE = "hypershift.openshift.io/release-image";
    /// On a workload of an operator: the version that it belongs to.
    RELEASE_VERSION_OF_OPERAND = "release.openshift.io/version";
    /// On a pod template: hash of the Secrets and ConfigMaps that it mounts, so that a change restarts it.
    CONFIG_HASH = "component.hypershift.openshift.io/config-hash";
    /// On the pod template of the OpenShift API server: hash of its configuration.
    OPENSHIFT_APISERVER_CONFIG_HASH = "openshift-apiserver.hypershift.openshift.io/config-hash";
    /// On the pod template of the OpenShift API server: whether role binding restrictions are known to the cluster.
    ROLE_BINDING_RESTRICTIONS_PRESENT = "openshift-apiserver.hypershift.openshift.io/rolebindingrestrictions-present";
    /// On the pod template of the API server: hash of the encryption configuration that it runs with.
    ENCRYPTION_CONFIG_HASH = "kube-apiserver.hypershift.openshift.io/encryption-config-hash";
    /// On the pod template of the login server: hash of the password of kubeadmin.
    KUBEADMIN_SECRET_HASH = "hypershift.openshift.io/kubeadmin-secret-hash";
    /// On the ConfigMap with feature gates: the version of the release that they come from.
    PAYLOAD_VERSION = "hypershift.openshift.io/payload-version";
    /// On any applied object: hash of what was wanted when it was last written.
    DESIRED_STATE_HASH = "hypershift.openshift.io/desired-state-hash";
    /// On a pod template: volumes that do not keep the autoscaler from evicting the pod.
    SAFE_TO_EVICT_LOCAL_VOLUMES = "cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes";
    /// On a Route: who last wrote its status.
    ROUTE_STATUS_WRITER = "hypershift.openshift.io/route-status-writer";
    /// On the proxy object inside of the cluster: it comes from the HostedCluster.
    HOSTED_CLUSTER_PROXY_CONFIG = "hypershift.io/hosted-cluster-proxy-config";
    /// On a ServiceMonitor: the job under which metrics are forwarded.
    METRICS_JOB = "hypershift.openshift.io/metrics-job";
    /// On a ServiceMonitor: the namespace under which metrics are forwarded.
    METRICS_NAMESPACE = "hypershift.openshift.io/metrics-namespace";
    /// On a ServiceMonitor: the service under which metrics are forwarded.
    METRICS_SERVICE = "hypershift.openshift.io/metrics-service";
    /// On a ServiceMonitor: the endpoint under which metrics are forwarded.
    METRICS_ENDPOINT = "hypershift.openshift.io/metrics-endpoint";
    /// On the deployment of the manager: the version of the command line that installed it.
    INSTALL_CLI_VERSION = "hypershift.openshift.io/install-cli-version";
    /// On an API server pod: how often it had restarted when it was last looked at.
    LAST_OBSERVED_RESTART_COUNT = "hypershift.openshift.io/last-observed-restart-count";
    /// On an API server pod: when the volume with its audit logs was last snapshotted.
    LAST_SNAPSHOT_TIME = "hypershift.openshift.io/last-snapshot-time";

    // NodePool.
    /// How long a node may be unhealthy before it is replaced, as a Go duration; on a HostedCluster for all pools.
    MACHINE_HEALTH_CHECK_TIMEOUT = "hypershift.openshift.io/machine-health-check-timeout";
    /// How long a machine may take to become a node, as a Go duration; on a HostedCluster for all pools.
    MACHINE_HEALTH_CHECK_NODE_STARTUP_TIMEOUT = "hypershift.openshift.io/machine-health-check-node-startup-timeout";
    /// How many unhealthy nodes, or which percentage, stop repair; on a HostedCluster for all pools.
    MACHINE_HEALTH_CHECK_MAX_UNHEALTHY = "hypershift.openshift.io/machine-health-check-max-unhealthy";
    /// The image of the proxy on the nodes that leads to the API server.
    HAPROXY_IMAGE = "hypershift.openshift.io/haproxy-image";
    /// When required, instance metadata on EC2 is given out against tokens only.
    EC2_INSTANCE_METADATA_HTTP_TOKENS = "hypershift.openshift.io/ec2-instance-metadata-http-tokens";
    /// A JSON patch for the virtual machines of KubeVirt; also on a HostedCluster.
    KUBEVIRT_VM_JSON_PATCH = "hypershift.openshift.io/kubevirt-vm-jsonpatch";
    /// Virtual machines may boot from images that are not made for KubeVirt.
    ALLOW_UNSUPPORTED_KUBEVIRT_RHCOS_VARIANTS = "hypershift.openshift.io/allow-unsupported-kubevirt-rhcos-variants";
    /// Virtual machines are spread by topology; pools from before that keep their old way, lest they roll.
    SUPPORTS_KUBEVIRT_TOPOLOGY_SPREAD_CONSTRAINTS = "hypershift.openshift.io/nodepool-supports-kubevirt-topology-spread-constraints";
    /// The pool uses spot instances on AWS.
    ENABLE_SPOT = "hypershift.openshift.io/enable-spot";
    /// Static pods on nodes use image names as they stand in the release; pools from before that keep their own.
    CANONICAL_DATA_PLANE_IMAGES = "hypershift.openshift.io/canonical-data-plane-images";
    /// Hash of the configuration, without the version, that all nodes have.
    CURRENT_CONFIG = "hypershift.openshift.io/nodePoolCurrentConfig";
    /// Hash of configuration and version that all nodes have; on a MachineSet too.
    CURRENT_CONFIG_VERSION = "hypershift.openshift.io/nodePoolCurrentConfigVersion";
    /// The machine template that all machines were made from.
    PLATFORM_MACHINE_TEMPLATE = "hypershift.openshift.io/nodePoolPlatformMachineTemplate";

    // MachineSets, Machines and Nodes of a pool.
    /// On a MachineSet that is changed in place: hash of configuration and version that its nodes are to have.
    TARGET_CONFIG_VERSION = "hypershift.openshift.io/nodePoolTargetConfigVersion";
    /// On a MachineSet that is changed in place: how many nodes may be unavailable.
    MAX_UNAVAILABLE = "hypershift.openshift.io/nodePoolMaxUnavailable";
    /// On a MachineSet that is changed in place: how far the change is.
    UPGRADE_IN_PROGRESS_TRUE = "hypershift.openshift.io/nodePoolUpgradeInProgressTrue";
    /// On a MachineSet that is changed in place: why the change stopped.
    UPGRADE_IN_PROGRESS_FALSE = "hypershift.openshift.io/nodePoolUpgradeInProgressFalse";
    /// On a Machine: the version that its node has.
    RELEASE_VERSION = "hypershift.openshift.io/release-version";
    /// On a Machine: the taints of its node, as JSON.
    TAINTS = "hypershift.openshift.io/nodePoolTaints";
    /// On a Machine: why a spot instance ended.
    SPOT_INTERRUPTION_SIGNAL = "hypershift.openshift.io/spot-interruption-signal";
    /// On a Node: its labels and taints have been taken over from its Machine.
    LABELS_SYNCED = "hypershift.openshift.io/labelsSynced";
    /// On a Node: hash of the configuration that it has.
    MACHINE_CONFIG_CURRENT = "machineconfiguration.openshift.io/currentConfig";
    /// On a Node: hash of the configuration that it is to have.
    MACHINE_CONFIG_DESIRED = "machineconfiguration.openshift.io/desiredConfig";
    /// On a Node: how far the change of its configuration is, such as Done or Degraded.
    MACHINE_CONFIG_STATE = "machineconfiguration.openshift.io/state";
    /// On a Node: why the state is what it is.
    MACHINE_CONFIG_REASON = "machineconfiguration.openshift.io/reason";
    /// On a Node: whether it wants to be drained or uncordoned.
    MACHINE_CONFIG_DESIRED_DRAIN = "machineconfiguration.openshift.io/desiredDrain";
    /// On a Node: the last drain or uncordon that was carried out.
    MACHINE_CONFIG_LAST_APPLIED_DRAIN = "machineconfiguration.openshift.io/lastAppliedDrain";

    // Token secrets and boot images.
    /// On a Secret: it is a token that the ignition server accepts.
    IGNITION_CONFIG = "hypershift.openshift.io/ignition-config";
    /// On a token: whether nodes are replaced or changed in place.
    NODE_POOL_UPGRADE_TYPE = "hypershift.openshift.io/node-pool-upgrade-type";
    /// On a token: when it was last made anew.
    LAST_TOKEN_GENERATION_TIME = "hypershift.openshift.io/last-token-generation-time";
    /// On a token: a machine has used it.
    IGNITION_REACHED = "hypershift.openshift.io/ignition-reached";
    /// On a token that was replaced: when it stops being accepted.
    IGNITION_TOKEN_EXPIRATION_TIMESTAMP = "hypershift.openshift.io/ignition-token-expiration-timestamp";
    /// On a volume with a boot image of KubeVirt: hash of the image.
    KUBEVIRT_BOOT_IMAGE_HASH = "hypershift.openshift.io/kubevirt-boot-image-hash";
    /// On an OpenshiftEC2NodeClass: hash of configuration and version of its nodes.
    NODE_CLASS_CURRENT_CONFIG_VERSION = "hypershift.openshift.io/nodeClassCurrentConfigVersion";
    /// On a placeholder pod: the MachineSet that is to give it a node.
    PLACEHOLDER_MACHINE_SET = "hypershift.openshift.io/machineset";

    // Cluster API.
    /// No controller acts on the object while it is there.
    PAUSED = "cluster.x-k8s.io/paused";
    /// The fewest nodes to which the autoscaler shrinks a MachineDeployment or MachineSet.
    AUTOSCALER_MIN_SIZE = "cluster.x-k8s.io/cluster-api-autoscaler-node-group-min-size";
    /// The most nodes to which the autoscaler grows a MachineDeployment or MachineSet.
    AUTOSCALER_MAX_SIZE = "cluster.x-k8s.io/cluster-api-autoscaler-node-group-max-size";
    /// Processors of a node that does not exist yet, for scaling from zero.
    CAPACITY_CPU = "capacity.cluster-autoscaler.kubernetes.io/cpu";
    /// Memory of a node that does not exist yet.
    CAPACITY_MEMORY = "capacity.cluster-autoscaler.kubernetes.io/memory";
    /// How many GPUs a node that does not exist yet has.
    CAPACITY_GPU_COUNT = "capacity.cluster-autoscaler.kubernetes.io/gpu-count";
    /// Which GPUs a node that does not exist yet has.
    CAPACITY_GPU_TYPE = "capacity.cluster-autoscaler.kubernetes.io/gpu-type";
    /// How many pods a node that does not exist yet takes.
    CAPACITY_MAX_PODS = "capacity.cluster-autoscaler.kubernetes.io/maxPods";
    /// The local disk of a node that does not exist yet.
    CAPACITY_EPHEMERAL_DISK = "capacity.cluster-autoscaler.kubernetes.io/ephemeral-disk";
    /// Labels of a node that does not exist yet.
    CAPACITY_LABELS = "capacity.cluster-autoscaler.kubernetes.io/labels";
    /// Taints of a node that does not exist yet.
    CAPACITY_TAINTS = "capacity.cluster-autoscaler.kubernetes.io/taints";
    /// The Machine is the first to go when its set shrinks.
    DELETE_MACHINE = "cluster.x-k8s.io/delete-machine";
    /// The health check leaves the Machine alone.
    SKIP_REMEDIATION = "cluster.x-k8s.io/skip-remediation";
    /// The health check replaces the Machine whatever its health.
    REMEDIATE_MACHINE = "cluster.x-k8s.io/remediate-machine";
    /// The node is not drained when the Machine is deleted.
    EXCLUDE_NODE_DRAINING = "machine.cluster.x-k8s.io/exclude-node-draining";
    /// Deletion of the Machine does not wait for volumes to leave the node.
    EXCLUDE_WAIT_FOR_NODE_VOLUME_DETACH = "machine.cluster.x-k8s.io/exclude-wait-for-node-volume-detach";
    /// On an infrastructure object: the template that it was made from.
    CLONED_FROM_NAME = "cluster.x-k8s.io/cloned-from-name";
    /// On an infrastructure object: the kind and group of the template that it was made from.
    CLONED_FROM_GROUP_KIND = "cluster.x-k8s.io/cloned-from-groupkind";
    /// On a Node: the Cluster that it belongs to, by name.
    NODE_CLUSTER_NAME = "cluster.x-k8s.io/cluster-name";
    /// On a Node: the namespace of that Cluster.
    NODE_CLUSTER_NAMESPACE = "cluster.x-k8s.io/cluster-namespace";
    /// On a Node: its Machine.
    NODE_MACHINE = "cluster.x-k8s.io/machine";
    /// On a Node: the kind of the owner of its Machine.
    NODE_OWNER_KIND = "cluster.x-k8s.io/owner-kind";
    /// On a Node: the name of the owner of its Machine.
    NODE_OWNER_NAME = "cluster.x-k8s.io/owner-name";
    /// On a Node: the labels that it has from its Machine.
    LABELS_FROM_MACHINE = "cluster.x-k8s.io/labels-from-machine";
    /// On a MachineSet: which generation of its MachineDeployment's template it is.
    REVISION = "machinedeployment.clusters.x-k8s.io/revision";
    /// On a MachineSet: how many replicas its MachineDeployment wanted when it was last scaled.
    DESIRED_REPLICAS = "machinedeployment.clusters.x-k8s.io/desired-replicas";
    /// On a MachineSet: how many replicas its MachineDeployment may have with its surge.
    MAX_REPLICAS = "machinedeployment.clusters.x-k8s.io/max-replicas";
    /// On an infrastructure cluster: somebody else provides it, and the provider leaves it alone.
    MANAGED_BY = "cluster.x-k8s.io/managed-by";
    /// On an object that was converted: what the older version could not hold.
    CONVERSION_DATA = "cluster.x-k8s.io/conversion-data";
    /// On a definition: the generation for which stored objects have been migrated.
    CRD_MIGRATION_OBSERVED_GENERATION = "crd-migration.cluster.x-k8s.io/observed-generation";
    /// On a Machine: when the certificates of a control-plane machine expire, in RFC 3339.
    CERTIFICATES_EXPIRY = "machine.cluster.x-k8s.io/certificates-expiry";
    /// On a Machine: an update in place has begun.
    UPDATE_IN_PROGRESS = "in-place-updates.internal.cluster.x-k8s.io/update-in-progress";
    /// On a Machine: it has moved to another set, and its deployment has not counted it there yet.
    PENDING_ACKNOWLEDGE_MOVE = "in-place-updates.internal.cluster.x-k8s.io/pending-acknowledge-move";
    /// On a MachineSet: it makes no machines; by this the strategy OnDelete empties old sets.
    DISABLE_MACHINE_CREATE = "cluster.x-k8s.io/disable-machine-create";
    /// On a MachineSet: the checks to skip before a machine is added, separated by commas.
    SKIP_PREFLIGHT_CHECKS = "machineset.cluster.x-k8s.io/skip-preflight-checks";
    /// On a MachineSet: it shrinks by handing machines to this set.
    MOVE_MACHINES_TO = "in-place-updates.internal.cluster.x-k8s.io/move-machines-to-machineset";
    /// On a MachineSet: it grows by taking machines from these sets.
    RECEIVE_MACHINES_FROM = "in-place-updates.internal.cluster.x-k8s.io/receive-machines-from-machinesets";
    /// On a MachineSet: the moved machines that the deployment has counted.
    ACKNOWLEDGED_MOVE = "in-place-updates.internal.cluster.x-k8s.io/acknowledged-move";
    /// On a Node: the annotations that it has from its Machine.
    ANNOTATIONS_FROM_MACHINE = "cluster.x-k8s.io/annotations-from-machine";
    /// On a Node: the taints that it has from its Machine.
    TAINTS_FROM_MACHINE = "cluster.x-k8s.io/taints-from-machine";
}

constants! { KeyPrefix in PREFIXES:
    /// (*) Changes an identity provider; the rest of the key is its name.
    IDENTITY_PROVIDER_OVERRIDES = "idpoverrides.hypershift.openshift.io/";
    /// (*) Changes the resource request of a container; the rest of the key is workload.container.
    RESOURCE_REQUEST_OVERRIDE = "resource-request-override.hypershift.openshift.io/";
    /// On a Secret or ConfigMap of the user: a HostedCluster refers to it; the rest of the key is its name.
    REFERENCED_RESOURCE = "referenced-resource.hypershift.openshift.io/";
    /// On a Machine: deletion waits before the node is drained; the rest of the key names who asked.
    PRE_DRAIN_DELETE_HOOK = "pre-drain.delete.hook.machine.cluster.x-k8s.io/";
    /// On a Machine: deletion waits before the instance ends; the rest of the key names who asked.
    PRE_TERMINATE_DELETE_HOOK = "pre-terminate.delete.hook.machine.cluster.x-k8s.io/";
}
