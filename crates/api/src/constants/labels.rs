//! Labels, and keys of taints that share their name.

use super::constants;

constants! { Label in ALL:
    // Whose an object is.
    /// On a namespace: true when it belongs to a control plane. On pods and Routes: the namespace of the control plane.
    HOSTED_CONTROL_PLANE = "hypershift.openshift.io/hosted-control-plane";
    /// On a pod or object of a control plane: its component.
    CONTROL_PLANE_COMPONENT = "hypershift.openshift.io/control-plane-component";
    /// On a pod of the manager: its component.
    OPERATOR_COMPONENT = "hypershift.openshift.io/operator-component";
    /// On an object of a control plane: the operator that writes it.
    MANAGED_BY = "hypershift.openshift.io/managed-by";
    /// On a management node, and as a taint: the control plane namespace that the node is dedicated to.
    CLUSTER = "hypershift.openshift.io/cluster";
    /// The name of the HostedCluster, on objects outside of its namespace.
    CLUSTER_NAME = "hypershift.openshift.io/cluster-name";
    /// The namespace of the HostedCluster, on objects outside of it.
    CLUSTER_NAMESPACE = "hypershift.openshift.io/cluster-namespace";
    /// On a cluster-wide object: the name of the HostedCluster that it is removed with.
    OWNER_NAME = "hypershift.openshift.io/owner.name";
    /// On a cluster-wide object: the namespace of the HostedCluster that it is removed with.
    OWNER_NAMESPACE = "hypershift.openshift.io/owner.namespace";
    /// The infra id of the HostedCluster.
    INFRA_ID = "hypershift.openshift.io/infra-id";
    /// On a Secret: the command line made it for this infra id, and removes it with the cluster.
    AUTO_CREATED_FOR_INFRA = "hypershift.openshift.io/auto-created-for-infra";
    /// On a Secret: true when it may be removed with the cluster.
    SAFE_TO_DELETE_WITH_CLUSTER = "hypershift.openshift.io/safe-to-delete-with-cluster";
    /// On an object inside of the hosted cluster: true when an operator of the control plane keeps it.
    MANAGED = "hypershift.openshift.io/managed";

    // HostedCluster.
    /// The size class of the cluster.
    HOSTED_CLUSTER_SIZE = "hypershift.openshift.io/hosted-cluster-size";
    /// Alerts of the cluster may be ignored.
    SILENCE_CLUSTER_ALERTS = "hypershift.openshift.io/silence-cluster-alerts";
    /// The cluster is outside of what its provider fully supports.
    LIMITED_SUPPORT = "api.openshift.com/limited-support";

    // Management nodes and scheduling.
    /// On a management node, and as a taint: it is meant for control planes.
    CONTROL_PLANE = "hypershift.openshift.io/control-plane";
    /// On a pod: it is on the way of a request. On a management node, and as a taint: it is meant for such pods.
    REQUEST_SERVING_COMPONENT = "hypershift.openshift.io/request-serving-component";
    /// On a management node: the size class that it is meant for.
    NODE_SIZE = "hypershift.openshift.io/cluster-size";
    /// On a management node: GOMEMLIMIT for an API server on it.
    REQUEST_SERVING_GOMEMLIMIT = "hypershift.openshift.io/request-serving-gomemlimit";
    /// On a management node: subnets for load balancers that send to it.
    REQUEST_SERVING_SUBNETS = "hypershift.openshift.io/request-serving-subnets";
    /// On a management node: the pair, in two zones, that it is half of.
    PAIRED_NODES = "osd-fleet-manager.openshift.io/paired-nodes";
    /// On a ConfigMap of the scheduler: the pair of nodes that is taken.
    PAIR = "hypershift.openshift.io/pairlabel";
    /// On a Deployment that keeps nodes ready for clusters that do not exist yet.
    PLACEHOLDER = "hypershift.openshift.io/placeholder";

    // Networks.
    /// On a pod: it may reach the API server of the management cluster.
    NEED_MANAGEMENT_KAS_ACCESS = "hypershift.openshift.io/need-management-kas-access";
    /// On a pod: it may reach the metrics of the management cluster.
    NEED_METRICS_SERVER_ACCESS = "hypershift.openshift.io/need-metrics-server-access";
    /// On a Service of a control plane: webhooks of the hosted cluster may call it.
    ALLOW_GUEST_WEBHOOKS = "hypershift.openshift.io/allow-guest-webhooks";
    /// On a Route: private when external-dns is to pass it over.
    ROUTE_VISIBILITY = "hypershift.openshift.io/route-visibility";
    /// On a Route: true when only nodes and components use it.
    INTERNAL_ROUTE = "hypershift.openshift.io/internal-route";
    /// On a Service without pods: external-dns takes from it the address of the endpoint on AWS.
    AWS_EXTERNAL_PRIVATE_SERVICE = "hypershift.openshift.io/external-private-service";
    /// On a Service without pods: external-dns takes from it the address of the endpoint on Azure.
    AZURE_EXTERNAL_PRIVATE_SERVICE = "hypershift.openshift.io/azure-pls-external-private-svc";
    /// On a Service without pods: external-dns takes from it the address of the endpoint on GCP.
    GCP_EXTERNAL_PRIVATE_SERVICE = "hypershift.openshift.io/gcp-psc-external-private-svc";

    // Secrets, ConfigMaps and namespaces.
    /// On a Secret with a kubeconfig: from where it can be used.
    KUBECONFIG_SCOPE = "hypershift.openshift.io/kubeconfig";
    /// On a namespace: true when the metrics of what is in it are collected.
    MONITORING = "hypershift.openshift.io/monitoring";
    /// On a namespace that the manager makes for itself: what it is for.
    COMPONENT = "hypershift.openshift.io/component";
    /// On a ConfigMap of the manager: it lists the versions that can be hosted.
    SUPPORTED_VERSIONS = "hypershift.openshift.io/supported-versions";
    /// On a ConfigMap: part of the configuration of every node.
    CORE_IGNITION_CONFIG = "hypershift.openshift.io/core-ignition-config";
    /// On a ConfigMap: tuning of a pool for the node tuning operator.
    TUNED_CONFIG = "hypershift.openshift.io/tuned-config";
    /// On a ConfigMap: the performance profile of a pool for the node tuning operator.
    PERFORMANCE_PROFILE_CONFIG = "hypershift.openshift.io/performanceprofile-config";
    /// On a ConfigMap: node configuration that the node tuning operator made.
    NTO_GENERATED_MACHINE_CONFIG = "hypershift.openshift.io/nto-generated-machine-config";
    /// On a ConfigMap: the state of a performance profile, as the node tuning operator reports it.
    NTO_GENERATED_PERFORMANCE_PROFILE_STATUS = "hypershift.openshift.io/nto-generated-performance-profile-status";
    /// On a ConfigMap: kubelet settings of a pool.
    KUBELET_CONFIG = "hypershift.openshift.io/kubeletconfig-config";
    /// On a ConfigMap: container runtime settings of a pool.
    CONTAINER_RUNTIME_CONFIG = "hypershift.openshift.io/containerruntimeconfig-config";
    /// On a ConfigMap: a copy of one in the namespace of its pool.
    MIRRORED_CONFIG = "hypershift.openshift.io/mirrored-config";
    /// On node configuration: the role of the nodes that it is for; always worker here.
    MACHINE_CONFIG_ROLE = "machineconfiguration.openshift.io/role";
    /// On a machine config pool: it exists from the start, so settings can be aimed at it.
    MACHINE_CONFIG_BUILT_IN = "machineconfiguration.openshift.io/mco-built-in";
    /// On a binding for the agent provider: it is removed with the control plane.
    CAPI_PROVIDER_AGENT_RBAC = "hypershift.openshift.io/capi-provider-agent-rbac";

    // Nodes, machines and their disks.
    /// On a Node: its zone.
    ZONE = "topology.kubernetes.io/zone";
    /// On a Node: its name, as the machine itself gives it.
    HOSTNAME = "kubernetes.io/hostname";
    /// On a Node: its pool.
    NODE_POOL = "hypershift.openshift.io/nodePool";
    /// On a virtual machine of KubeVirt: its pool.
    NODE_POOL_NAME = "hypershift.openshift.io/nodepool-name";
    /// On a volume with a boot image of KubeVirt: the uid of its pool.
    NODE_POOL_UID = "hypershift.openshift.io/nodepool-uid";
    /// On a volume of KubeVirt: what it is for.
    KUBEVIRT_BOOT_IMAGE_ROLE = "hypershift.openshift.io/kubevirt-boot-image-role";
    /// On a volume of KubeVirt: it holds an operating system, so a backup can leave it out.
    IS_KUBEVIRT_RHCOS = "hypershift.openshift.io/is-kubevirt-rhcos";
    /// On a Machine: its instance may be taken away at any time.
    INTERRUPTIBLE_INSTANCE = "hypershift.openshift.io/interruptible-instance";
    /// On a Node: the global pull secret is kept up to date on it without a restart.
    GLOBAL_PULL_SECRET_ENABLED = "hypershift.openshift.io/nodepool-globalps-enabled";
    /// On an object for the global pull secret: hash of what it was made from.
    GLOBAL_PULL_SECRET_CONFIG_HASH = "hypershift.openshift.io/globalps-config-hash";

    // Karpenter.
    /// On a Secret with user data: it belongs to Karpenter.
    MANAGED_BY_KARPENTER = "hypershift.openshift.io/managed-by-karpenter";
    /// On a Secret with user data: the boot image that goes with it.
    USER_DATA_AMI = "hypershift.openshift.io/ami";
    /// On a ConfigMap: kubelet settings of an OpenshiftEC2NodeClass.
    KARPENTER_NODE_CLASS_KUBELET_CONFIG = "hypershift.openshift.io/karpenter-nodeclass-kubelet-config";

    // Backups and audit logs.
    /// On a backup job: the control plane, by name.
    HCP = "hypershift.openshift.io/hcp";
    /// On a backup job: the namespace of the control plane.
    HCP_NAMESPACE = "hypershift.openshift.io/hcp-namespace";
    /// On a backup job: the HCPEtcdBackup.
    BACKUP_NAME = "hypershift.openshift.io/backup-name";
    /// On a backup: the HostedCluster, by name.
    BACKUP_HOSTED_CLUSTER = "hypershift.openshift.io/hosted-cluster";
    /// On a backup: the namespace of the HostedCluster.
    BACKUP_HOSTED_CLUSTER_NAMESPACE = "hypershift.openshift.io/hosted-cluster-namespace";
    /// On a volume snapshot: the volume with audit logs that it is of.
    AUDIT_LOGS_PVC = "hypershift.openshift.io/audit-logs-pvc";
    /// On a volume snapshot: the API server pod whose audit logs it holds.
    AUDIT_LOGS_POD = "hypershift.openshift.io/audit-logs-pod";
    /// On a volume snapshot: the namespace of the control plane.
    AUDIT_LOGS_CONTROL_PLANE_NAMESPACE = "hypershift.openshift.io/hosted-control-plane-namespace";

    // Cluster API.
    /// On every object of a Cluster: its name.
    CAPI_CLUSTER_NAME = "cluster.x-k8s.io/cluster-name";
    /// On a Machine: its MachineDeployment.
    CAPI_DEPLOYMENT_NAME = "cluster.x-k8s.io/deployment-name";
    /// On a Machine: its MachineSet.
    CAPI_SET_NAME = "cluster.x-k8s.io/set-name";
    /// On a Machine: it belongs to the control plane.
    CAPI_CONTROL_PLANE = "cluster.x-k8s.io/control-plane";
    /// On any object: which of several managers acts on it.
    CAPI_WATCH_FILTER = "cluster.x-k8s.io/watch-filter";
    /// On a Node: its instance may be taken away at any time.
    CAPI_INTERRUPTIBLE = "cluster.x-k8s.io/interruptible";
    /// On a MachineSet and its Machines: hash of the template, which keeps the sets of a MachineDeployment apart.
    CAPI_MACHINE_TEMPLATE_HASH = "machine-template-hash";
    /// On a Machine: its MachinePool; we run none, and leave such machines alone.
    CAPI_POOL_NAME = "cluster.x-k8s.io/pool-name";
    /// On a Machine: its control-plane object; a hash of the name where that is too long for a label.
    CAPI_CONTROL_PLANE_NAME = "cluster.x-k8s.io/control-plane-name";
    /// On a Pod, with the value skip: a drain does not evict it.
    CAPI_DRAIN = "cluster.x-k8s.io/drain";
    /// On everything that a class made; we run none, and leave such objects alone.
    CAPI_TOPOLOGY_OWNED = "topology.cluster.x-k8s.io/owned";
    /// On what a provider installed: which one; clusterctl reads it.
    CAPI_PROVIDER = "cluster.x-k8s.io/provider";
    /// On a ClusterRole: its rules are added to those of the upstream manager.
    CAPI_AGGREGATE_TO_MANAGER = "cluster.x-k8s.io/aggregate-to-manager";
    /// On a provider's definition: the versions of the kind, joined by underscores, that follow contract v1beta1.
    CAPI_CONTRACT_V1BETA1 = "cluster.x-k8s.io/v1beta1";
    /// On a provider's definition: the versions of the kind, joined by underscores, that follow contract v1beta2.
    CAPI_CONTRACT_V1BETA2 = "cluster.x-k8s.io/v1beta2";
}

constants! { KeyPrefix in PREFIXES:
    /// On a Machine: a label for its Node; the rest of the key is the key of that label.
    MANAGED_NODE_LABEL = "managed.hypershift.openshift.io.";
}
