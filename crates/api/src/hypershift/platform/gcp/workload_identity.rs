//! How tokens of a hosted cluster are exchanged for those of Google's service accounts.

use serde::{Deserialize, Serialize};

use crate::{
    hypershift::node_pool::platform::gcp::GcpServiceAccountEmail,
    schema::{JsonSchema, immutable},
    text::string_type,
};

string_type! {
    /// Number of a project.
    pub struct GcpProjectNumber {
        length: 1..=25,
        matches: "^[0-9]+$" => "must be digits only; the id of the project belongs into project",
    }
}

string_type! {
    /// Id of a workload identity pool.
    pub struct GcpWorkloadPoolId {
        length: 4..=32,
        matches: "^[a-z][a-z0-9-]{2,30}[a-z0-9]$"
            => "must be lower-case letters, digits and dashes, with a letter first and no dash last",
        rule: "!self.startsWith('gcp-')" => "ids that begin with gcp- belong to Google",
        check: |text| !text.starts_with("gcp-"),
    }
}

string_type! {
    /// Id of a provider in a workload identity pool.
    pub struct GcpWorkloadProviderId {
        length: 4..=32,
        matches: "^[a-z][a-z0-9-]{2,30}[a-z0-9]$"
            => "must be lower-case letters, digits and dashes, with a letter first and no dash last",
        rule: "!self.startsWith('gcp-')" => "ids that begin with gcp- belong to Google",
        check: |text| !text.starts_with("gcp-"),
    }
}

/// How tokens of a hosted cluster are exchanged for those of Google's service accounts.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GcpWorkloadIdentity {
    /// Number of the project that holds the pool; not its id.
    #[schemars(transform = immutable("projectNumber"))]
    pub project_number: GcpProjectNumber,
    /// The workload identity pool.
    #[serde(rename = "poolID")]
    #[schemars(transform = immutable("poolID"))]
    pub pool_id: GcpWorkloadPoolId,
    /// The provider in the pool that takes the tokens of the cluster.
    #[serde(rename = "providerID")]
    #[schemars(transform = immutable("providerID"))]
    pub provider_id: GcpWorkloadProviderId,
    /// The service accounts that parts of the cluster act as.
    pub service_accounts_emails: GcpServiceAccounts,
}

/// The service accounts, by address, that parts of a cluster act as. All are of the cluster's project.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GcpServiceAccounts {
    /// For what makes the machines of node pools.
    #[schemars(transform = immutable("nodePool"))]
    pub node_pool: GcpServiceAccountEmail,
    /// For the control-plane operator: makes endpoints and DNS records.
    #[schemars(transform = immutable("controlPlane"))]
    pub control_plane: GcpServiceAccountEmail,
    /// For the cloud controller manager: looks after nodes, load balancers and firewall rules.
    #[schemars(transform = immutable("cloudController"))]
    pub cloud_controller: GcpServiceAccountEmail,
    /// For the driver of persistent disks.
    #[schemars(transform = immutable("storage"))]
    pub storage: GcpServiceAccountEmail,
    /// For the image registry operator: keeps a bucket.
    #[schemars(transform = immutable("imageRegistry"))]
    pub image_registry: GcpServiceAccountEmail,
    /// For the controller of cloud networks: assigns addresses to machines.
    #[schemars(transform = immutable("network"))]
    pub network: GcpServiceAccountEmail,
}
