//! The infrastructure that machines of a hosted cluster come from, by name.

use crate::text::string_enum;

string_enum! {
    /// The infrastructure that machines come from.
    pub enum PlatformType {
        /// Amazon Web Services.
        Aws = "AWS",
        /// Microsoft Azure.
        Azure,
        /// IBM Cloud.
        IbmCloud = "IBMCloud",
        /// Virtual machines on a Kubernetes cluster that runs KubeVirt.
        KubeVirt,
        /// Hosts that an agent has enrolled.
        Agent,
        /// IBM Power Virtual Server.
        PowerVs = "PowerVS",
        /// No infrastructure: hosts join by themselves.
        None,
        /// OpenStack.
        OpenStack,
        /// Google Cloud.
        Gcp = "GCP",
    }
}
