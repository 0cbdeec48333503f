//! Names of the objects in a control-plane namespace that more than one program knows, and the keys in them. Who writes
//! each is said in the headings; everybody else only mounts or reads it.

/// Keys in Secrets and ConfigMaps.
pub mod keys {
    /// Trusted certificates, one after the other, in a bundle; the one certificate of an authority, in its Secret.
    pub const CA_CERTIFICATE: &str = "ca.crt";
    /// The private key of an authority.
    pub const CA_KEY: &str = "ca.key";
    /// A certificate.
    pub const TLS_CERTIFICATE: &str = "tls.crt";
    /// The private key of a certificate.
    pub const TLS_KEY: &str = "tls.key";
    /// A kubeconfig.
    pub const KUBECONFIG: &str = "kubeconfig";
    /// A kubeconfig, where Cluster API looks for it.
    pub const CLUSTER_API_KUBECONFIG: &str = "value";
    /// What signs the tokens of service accounts.
    pub const SERVICE_ACCOUNT_KEY: &str = "service-account.key";
    /// What the tokens of service accounts are checked with; may hold several keys, one after the other.
    pub const SERVICE_ACCOUNT_PUBLIC_KEY: &str = "service-account.pub";
    /// Who is trusted as etcd, in the Secret that a client of etcd has.
    pub const ETCD_CLIENT_CA: &str = "etcd-client-ca.crt";
    /// The certificate of a client of etcd.
    pub const ETCD_CLIENT_CERTIFICATE: &str = "etcd-client.crt";
    /// The private key of a client of etcd.
    pub const ETCD_CLIENT_KEY: &str = "etcd-client.key";
    /// Registry credentials.
    pub const PULL_SECRET: &str = ".dockerconfigjson";
    /// Public SSH keys.
    pub const SSH_KEY: &str = "id_rsa.pub";
    /// A trust bundle that a user gave.
    pub const USER_CA_BUNDLE: &str = "ca-bundle.crt";
    /// The kubeconfig of an audit webhook.
    pub const AUDIT_WEBHOOK: &str = "webhook-kubeconfig";
    /// The key that encrypts Secrets, in the Secret of a user and in its copy.
    pub const ENCRYPTION_KEY: &str = "key";
    /// The configuration of encryption at rest.
    pub const ENCRYPTION_CONFIGURATION: &str = "config.yaml";
    /// What a machine shows to the ignition server, in the Secret of a token.
    pub const TOKEN: &str = "token";
    /// The token before, which machines that started already still have.
    pub const OLD_TOKEN: &str = "old_token";
    /// In the Secret of a token: the release of the machines, as an image.
    pub const RELEASE: &str = "release";
    /// In the Secret of a token: the version of that release.
    pub const RELEASE_VERSION: &str = "release-version";
    /// In the Secret of a token: the documents of which the configuration of machines consists, compressed. In a
    /// ConfigMap of a user: such documents.
    pub const CONFIG: &str = "config";
    /// In the Secret of a token: the stream of operating system images, where it is not that of the release.
    pub const OS_STREAM: &str = "os-stream";
    /// In the Secret of a token: the revision of our rendering by which the configuration is made.
    pub const RENDER_REVISION: &str = "render-revision";
    /// In the Secret of a token: how the making of the configuration ended, in one word. Written by the ignition server.
    pub const REASON: &str = "reason";
    /// In the Secret of a token: why it ended so. Written by the ignition server.
    pub const MESSAGE: &str = "message";
    /// In a Secret with user data: what a machine reads at its first boot.
    pub const USER_DATA: &str = "value";
    /// In a Secret with user data: true where nothing in it is to be filled in.
    pub const DISABLE_TEMPLATING: &str = "disableTemplating";
    /// What a machine that shows the token is given: an Ignition config, as JSON.
    pub const PAYLOAD: &str = "payload";
}

/// ConfigMaps with bundles of trusted certificates, under [`keys::CA_CERTIFICATE`]. Written by the PKI operator.
pub mod bundles {
    /// Who signs serving certificates of the control plane.
    pub const ROOT: &str = "root-ca";
    /// Who signs for etcd.
    pub const ETCD: &str = "etcd-ca";
    /// Who signs for the proxy of aggregated APIs.
    pub const AGGREGATOR_CLIENT: &str = "aggregator-client-ca";
    /// Everybody who signs for clients of the API server. It is read anew while the server runs, and restarts nothing.
    pub const CLIENT: &str = "client-ca";
    /// Who signs for the API server as a client of kubelets.
    pub const KUBELET_CLIENT: &str = "kubelet-client-ca";
    /// Who signs for kubelets as servers.
    pub const KUBELET_SERVING: &str = "kubelet-serving-ca";
    /// Who signs for konnectivity.
    pub const KONNECTIVITY: &str = "konnectivity-ca-bundle";
    /// Who signs for the ignition server.
    pub const IGNITION: &str = "ignition-server-ca";
}

/// Secrets with authorities: [`keys::CA_CERTIFICATE`] and [`keys::CA_KEY`]. Written by the PKI operator.
pub mod signers {
    /// Serving certificates of the control plane.
    pub const ROOT: &str = "root-ca";
    /// Requests for certificates inside of the hosted cluster, kubelets above all.
    pub const CLUSTER: &str = "cluster-signer-ca";
    /// etcd: servers, peers and clients.
    pub const ETCD: &str = "etcd-signer";
    /// The proxy of aggregated APIs.
    pub const AGGREGATOR_CLIENT: &str = "kas-aggregator-client-signer";
    /// Components of the control plane as clients of the API server.
    pub const CONTROL_PLANE: &str = "kube-control-plane-signer";
    /// The API server as a client of kubelets.
    pub const KUBELET_CLIENT: &str = "kube-apiserver-to-kubelet-signer";
    /// The administrator.
    pub const SYSTEM_ADMIN: &str = "system-admin-signer";
    /// The config operator.
    pub const CONFIG_OPERATOR: &str = "hcco-signer";
    /// Nodes that join.
    pub const BOOTSTRAP: &str = "kas-bootstrap-container-signer";
    /// Konnectivity.
    pub const KONNECTIVITY: &str = "konnectivity-signer";
    /// The ignition server.
    pub const IGNITION: &str = "ignition-server-ca-cert";
}

/// Secrets with certificates: [`keys::TLS_CERTIFICATE`] and [`keys::TLS_KEY`], except where another key is named.
/// Written by the PKI operator.
pub mod certificates {
    /// The API server, towards its clients.
    pub const API_SERVER: &str = "kas-server-crt";
    /// The API server, towards kubelets.
    pub const API_SERVER_KUBELET_CLIENT: &str = "kas-kubelet-client-crt";
    /// The API server, towards aggregated APIs.
    pub const AGGREGATOR_CLIENT: &str = "kas-aggregator-crt";
    /// The administrator.
    pub const SYSTEM_ADMIN: &str = "system-admin-client";
    /// Nodes that join.
    pub const BOOTSTRAP: &str = "kas-bootstrap-client";
    /// The config operator.
    pub const CONFIG_OPERATOR: &str = "hcco-client";
    /// The scheduler, towards the API server.
    pub const SCHEDULER_CLIENT: &str = "kube-scheduler-client";
    /// The scheduler, towards readers of its metrics.
    pub const SCHEDULER_SERVER: &str = "scheduler-server";
    /// The controller manager, towards the API server.
    pub const CONTROLLER_MANAGER_CLIENT: &str = "kube-controller-manager";
    /// The controller manager, towards readers of its metrics.
    pub const CONTROLLER_MANAGER_SERVER: &str = "kcm-server";
    /// A client of etcd, with the three keys for it.
    pub const ETCD_CLIENT: &str = "etcd-client-tls";
    /// etcd, towards its clients.
    pub const ETCD_SERVER: &str = "etcd-server-tls";
    /// etcd, towards its peers.
    pub const ETCD_PEER: &str = "etcd-peer-tls";
    /// A reader of the metrics of programs of Kubernetes.
    pub const METRICS_CLIENT: &str = "metrics-client";
    /// The konnectivity server, towards the API server and others of the control plane.
    pub const KONNECTIVITY_SERVER: &str = "konnectivity-server";
    /// The konnectivity server, towards agents.
    pub const KONNECTIVITY_CLUSTER: &str = "konnectivity-cluster";
    /// Who asks the konnectivity server for a tunnel.
    pub const KONNECTIVITY_CLIENT: &str = "konnectivity-client";
    /// Konnectivity agents.
    pub const KONNECTIVITY_AGENT: &str = "konnectivity-agent";
    /// The ignition server.
    pub const IGNITION_SERVER: &str = "ignition-server-serving-cert";
    /// OpenShift's API server.
    pub const OPENSHIFT_API_SERVER: &str = "openshift-apiserver-cert";
    /// The managers of Cluster API and of its provider, whose programs do not start without one.
    pub const CLUSTER_API_WEBHOOKS: &str = "capi-webhooks-tls";
    /// The keys of service account tokens: [`super::keys::SERVICE_ACCOUNT_KEY`] and its public half.
    pub const SERVICE_ACCOUNT_KEYS: &str = "sa-signing-key";
}

/// Secrets with a kubeconfig, under [`keys::KUBECONFIG`]. Written by the PKI operator.
pub mod kubeconfigs {
    /// The administrator, from outside.
    pub const ADMIN: &str = "admin-kubeconfig";
    /// The administrator, by the further name of the API server.
    pub const CUSTOM_ADMIN: &str = "custom-admin-kubeconfig";
    /// The administrator, in the pod of the API server.
    pub const LOCALHOST: &str = "localhost-kubeconfig";
    /// The administrator, inside of the management cluster.
    pub const SERVICE_NETWORK_ADMIN: &str = "service-network-admin-kubeconfig";
    /// Nodes that join.
    pub const BOOTSTRAP: &str = "bootstrap-kubeconfig";
    /// The config operator.
    pub const CONFIG_OPERATOR: &str = "hcco-kubeconfig";
    /// The controller manager.
    pub const CONTROLLER_MANAGER: &str = "kube-controller-manager-kubeconfig";
    /// The scheduler.
    pub const SCHEDULER: &str = "kube-scheduler-kubeconfig";

    /// A component as a service account of the hosted cluster.
    pub fn of_service_account(component: &str) -> String {
        format!("{component}-service-account-kubeconfig")
    }

    /// Where Cluster API looks for the administrator of a cluster, under
    /// [`super::keys::CLUSTER_API_KUBECONFIG`].
    pub fn of_cluster_api(infra_id: &str) -> String {
        format!("{infra_id}-kubeconfig")
    }
}

/// Copies of what users gave. Written by the hosted cluster operator.
pub mod copies {
    /// Registry credentials.
    pub const PULL_SECRET: &str = "pull-secret";
    /// Public SSH keys of nodes.
    pub const SSH_KEY: &str = "ssh-key";
    /// The trust bundle of the user.
    pub const USER_CA_BUNDLE: &str = "user-ca-bundle";
    /// The active key for Secrets in etcd.
    pub const ENCRYPTION_KEY: &str = "aescbc-active-key";
    /// The key for Secrets in etcd before that.
    pub const ENCRYPTION_KEY_BEFORE: &str = "aescbc-backup-key";
    /// Where audit events are sent.
    pub const AUDIT_WEBHOOK: &str = "kas-audit-webhook";
    /// How the cluster is reached that virtual machines run on, where that is another one.
    pub const KUBEVIRT_CREDENTIALS: &str = "kubevirt-infra-credentials";

    /// Every copy that has a name of its own, by kind and name.
    pub const ALL: &[(&str, &str)] = &[
        ("Secret", PULL_SECRET),
        ("Secret", SSH_KEY),
        ("ConfigMap", USER_CA_BUNDLE),
        ("Secret", ENCRYPTION_KEY),
        ("Secret", ENCRYPTION_KEY_BEFORE),
        ("Secret", AUDIT_WEBHOOK),
        ("Secret", KUBEVIRT_CREDENTIALS),
    ];
}

/// Components of a control plane: their workloads, the label of their pods, and their images in a release. Operators
/// are called like their accounts, in [`roles`].
pub mod components {
    /// The API server.
    pub const API_SERVER: &str = "kube-apiserver";
    /// The controller manager.
    pub const CONTROLLER_MANAGER: &str = "kube-controller-manager";
    /// The scheduler.
    pub const SCHEDULER: &str = "kube-scheduler";
    /// etcd.
    pub const ETCD: &str = "etcd";
    /// The server of the tunnel to nodes, which runs in the pods of the API server.
    pub const KONNECTIVITY_SERVER: &str = "konnectivity-server";
    /// The other end of the tunnel, on nodes and beside aggregated APIs.
    pub const KONNECTIVITY_AGENT: &str = "konnectivity-agent";
    /// OpenShift's API server.
    pub const OPENSHIFT_API_SERVER: &str = "openshift-apiserver";
    /// OpenShift's login.
    pub const OAUTH_SERVER: &str = "oauth-openshift";
    /// The ignition server.
    pub const IGNITION_SERVER: &str = "ignition-server";
    /// What stands before it where a router cannot.
    pub const IGNITION_PROXY: &str = "ignition-server-proxy";
    /// The router.
    pub const ROUTER: &str = "router";
    /// The manager of Cluster API.
    pub const CLUSTER_API: &str = "cluster-api";
    /// Its provider for the platform.
    pub const CLUSTER_API_PROVIDER: &str = "capi-provider";
    /// The cluster autoscaler.
    pub const CLUSTER_AUTOSCALER: &str = "cluster-autoscaler";
    /// Who approves the certificate requests of machines.
    pub const MACHINE_APPROVER: &str = "machine-approver";
}

/// Ports of pods of a control plane.
pub mod ports {
    /// The API server; its Service has the same, and nodes, unless told otherwise.
    pub const API_SERVER: u16 = 6443;
    /// OpenShift's login.
    pub const OAUTH_SERVER: u16 = 6443;
    /// Konnectivity, towards the control plane; its Service has the same.
    pub const KONNECTIVITY_LOCAL: u16 = 8090;
    /// Konnectivity, towards agents; its Service has the same.
    pub const KONNECTIVITY: u16 = 8091;
    /// The ignition server.
    pub const IGNITION_SERVER: u16 = 9090;
    /// What stands before it where a router cannot.
    pub const IGNITION_PROXY: u16 = 8443;
    /// The router.
    pub const ROUTER: u16 = 8443;
    /// etcd, towards clients; its Service has the same.
    pub const ETCD_CLIENT: u16 = 2379;
}

/// Services. The published ones are written by the control-plane operator, the others belong to components.
pub mod services {
    /// The API server.
    pub const API_SERVER: &str = "kube-apiserver";
    /// Konnectivity, towards agents.
    pub const KONNECTIVITY: &str = "konnectivity-server";
    /// Konnectivity, towards the control plane.
    pub const KONNECTIVITY_LOCAL: &str = "konnectivity-server-local";
    /// The ignition server, port 443.
    pub const IGNITION: &str = "ignition-server";
    /// The router, port 443.
    pub const ROUTER: &str = "router";
    /// etcd, towards clients.
    pub const ETCD_CLIENT: &str = "etcd-client";
    /// etcd, member by member.
    pub const ETCD_DISCOVERY: &str = "etcd-discovery";
    /// OpenShift's API server.
    pub const OPENSHIFT_API_SERVER: &str = "openshift-apiserver";
}

/// Service accounts of the operators of one control plane, in its namespace: under these names they write, in whichever
/// process they run.
pub mod roles {
    /// The control-plane operator.
    pub const CONTROL_PLANE_OPERATOR: &str = "control-plane-operator";
    /// The PKI operator.
    pub const PKI_OPERATOR: &str = "control-plane-pki-operator";
    /// The config operator.
    pub const CONFIG_OPERATOR: &str = "hosted-cluster-config-operator";
}
