//! Finalizers: who has to clean up before an object may go.

use super::constants;

constants! { Finalizer in ALL:
    /// On HostedCluster, HostedControlPlane and NodePool: their own controller takes down what they stand for.
    HYPERSHIFT = "hypershift.openshift.io/finalizer";
    /// On the Cluster API deployments of a control plane: their pods must outlive the machines.
    COMPONENT = "hypershift.openshift.io/component-finalizer";
    /// On HostedCluster: documents for OIDC discovery are removed from S3.
    AWS_OIDC_DISCOVERY = "hypershift.io/aws-oidc-discovery";
    /// On HostedCluster: documents for OIDC discovery are removed from Google Cloud Storage.
    GCP_OIDC_DISCOVERY = "hypershift.io/gcp-oidc-discovery";
    /// On HostedControlPlane: Karpenter removes its node pools and node claims.
    KARPENTER = "hypershift.openshift.io/karpenter-finalizer";
    /// On OpenshiftEC2NodeClass: the EC2NodeClass made from it is removed.
    EC2_NODE_CLASS = "hypershift.openshift.io/ec2-nodeclass-finalizer";
    /// On OpenshiftEC2NodeClass: the ConfigMap with its kubelet settings is removed.
    KARPENTER_KUBELET_CONFIG = "hypershift.openshift.io/karpenter-kubelet-config-finalizer";
    /// On HostedCluster: request-serving nodes that are dedicated to it are given back.
    DEDICATED_REQUEST_SERVING_SCHEDULER = "hypershift.openshift.io/dedicated-request-serving-scheduler";
    /// On AWSEndpointService: the endpoint and its DNS records in the account of the workers are removed.
    AWS_ENDPOINT = "hypershift.openshift.io/control-plane-operator-finalizer";
    /// On AWSEndpointService: the endpoint service in the management account is removed.
    AWS_ENDPOINT_SERVICE = "hypershift.openshift.io/hypershift-operator-finalizer";
    /// On AzurePrivateLinkService: the Private Endpoint and its DNS zones are removed.
    AZURE_PRIVATE_ENDPOINT = "hypershift.openshift.io/azure-private-link-service";
    /// On AzurePrivateLinkService: the Private Link Service itself is removed.
    AZURE_PRIVATE_LINK_SERVICE = "hypershift.openshift.io/azure-pls-cleanup";
    /// On HostedControlPlane: it waits for the Private Endpoints of its AzurePrivateLinkServices to be removed.
    AZURE_ENDPOINT_CLEANUP = "hypershift.openshift.io/azure-pls-endpoint-cleanup";
    /// On GCPPrivateServiceConnect: the endpoint and its DNS zones in the project of the workers are removed.
    GCP_ENDPOINT = "hypershift.openshift.io/gcp-psc-customer";
    /// On GCPPrivateServiceConnect: the service attachment is removed.
    GCP_SERVICE_ATTACHMENT = "hypershift.openshift.io/gcp-private-service-connect";
    /// On HostedCluster: the command line destroys infrastructure that it created and then lets go.
    DESTROY_CLUSTER = "openshift.io/destroy-cluster";
    /// On images of the OpenStack resource controller: the image is removed from OpenStack.
    OPENSTACK_IMAGE = "openstack.k-orc.cloud/image";
    /// On the Cluster of Cluster API: its descendants are removed first.
    CLUSTER = "cluster.cluster.x-k8s.io";
    /// On Machine: its node is drained, and infrastructure and bootstrap objects are removed.
    MACHINE = "machine.cluster.x-k8s.io";
    /// On MachineSet: its machines are removed first.
    MACHINE_SET = "cluster.x-k8s.io/machineset";
    /// On MachineDeployment: its machine sets are removed first.
    MACHINE_DEPLOYMENT = "cluster.x-k8s.io/machinedeployment";
}
