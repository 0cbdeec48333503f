//! The kinds that are looked at, as data: where they are served and where they are found. Whoever reads objects walks this
//! table.

use serde::Serialize;

/// Where objects of a kind are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Served {
    /// In the namespace of users.
    Beside,
    /// In the namespace of a control plane.
    ControlPlane,
    /// In both.
    Both,
    /// Inside of the hosted cluster.
    Inside,
}

/// Declares the kinds, with their rows.
macro_rules! kinds {
    ($($(#[doc = $doc:literal])+ $name:ident = $group:literal / $version:literal $plural:literal $served:ident;)+) => {
        /// A kind that is looked at.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
        pub enum Kind {
            $($(#[doc = $doc])+ $name,)+
        }

        impl Kind {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$name),+];

            /// Its name.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$name => stringify!($name)),+ }
            }

            /// Its API group; empty for the core group.
            pub const fn group(self) -> &'static str {
                match self { $(Self::$name => $group),+ }
            }

            /// The version in which it is read.
            pub const fn version(self) -> &'static str {
                match self { $(Self::$name => $version),+ }
            }

            /// Its name in paths.
            pub const fn plural(self) -> &'static str {
                match self { $(Self::$name => $plural),+ }
            }

            /// Where it is found.
            pub const fn served(self) -> Served {
                match self { $(Self::$name => Served::$served),+ }
            }
        }
    };
}

kinds! {
    /// What a user asked for.
    HostedCluster = "hypershift.openshift.io" / "v1beta1" "hostedclusters" Beside;
    /// Nodes of one kind.
    NodePool = "hypershift.openshift.io" / "v1beta1" "nodepools" Beside;
    /// The control plane of a cluster.
    HostedControlPlane = "hypershift.openshift.io" / "v1beta1" "hostedcontrolplanes" ControlPlane;
    /// How far a component has come.
    ControlPlaneComponent = "hypershift.openshift.io" / "v1beta1" "controlplanecomponents" ControlPlane;
    /// What stands for a cluster in Cluster API.
    Cluster = "cluster.x-k8s.io" / "v1beta2" "clusters" ControlPlane;
    /// The machines of a pool.
    MachineDeployment = "cluster.x-k8s.io" / "v1beta2" "machinedeployments" ControlPlane;
    /// Machines of one template.
    MachineSet = "cluster.x-k8s.io" / "v1beta2" "machinesets" ControlPlane;
    /// A machine.
    Machine = "cluster.x-k8s.io" / "v1beta2" "machines" ControlPlane;
    /// Which machines are replaced.
    MachineHealthCheck = "cluster.x-k8s.io" / "v1beta2" "machinehealthchecks" ControlPlane;
    /// A virtual machine on KubeVirt.
    KubevirtMachine = "infrastructure.cluster.x-k8s.io" / "v1alpha1" "kubevirtmachines" ControlPlane;
    /// A host of the agent platform.
    AgentMachine = "capi-provider.agent-install.openshift.io" / "v1beta1" "agentmachines" ControlPlane;
    /// A workload without data.
    Deployment = "apps" / "v1" "deployments" ControlPlane;
    /// A workload with data.
    StatefulSet = "apps" / "v1" "statefulsets" ControlPlane;
    /// A pod.
    Pod = "" / "v1" "pods" ControlPlane;
    /// How pods are reached.
    Service = "" / "v1" "services" ControlPlane;
    /// A claim on a volume.
    PersistentVolumeClaim = "" / "v1" "persistentvolumeclaims" ControlPlane;
    /// What somebody said about an object.
    Event = "" / "v1" "events" Both;
    /// A node of the hosted cluster.
    Node = "" / "v1" "nodes" Inside;
    /// A request for a certificate.
    CertificateSigningRequest = "certificates.k8s.io" / "v1" "certificatesigningrequests" Inside;
    /// How many pods may be away.
    PodDisruptionBudget = "policy" / "v1" "poddisruptionbudgets" Inside;
}

impl Kind {
    /// The kind of a name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.name() == name)
    }

    /// Several of them, in words.
    pub(crate) fn several(self) -> String {
        format!("{}s", self.name())
    }
}
