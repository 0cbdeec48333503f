//! Google Cloud.

pub mod workload_identity;

use serde::{Deserialize, Serialize};

use self::workload_identity::GcpWorkloadIdentity;
use crate::{
    hypershift::node_pool::platform::gcp::{GcpResourceLabel, GcpResourceName},
    schema::{JsonSchema, Rule, immutable, list_map, rule},
    text::{string_enum, string_type},
};

string_type! {
    /// Id of a project.
    pub struct GcpProjectId {
        length: 6..=30,
        matches: "^[a-z][a-z0-9-]{4,28}[a-z0-9]$"
            => "must be lower-case letters, digits and dashes, with a letter first and no dash last",
    }
}

string_type! {
    /// Name of a region.
    pub struct GcpRegion {
        length: 1..=63,
        matches: "^[a-z]+-[a-z]+[0-9]+$" => "must be a region such as europe-west2",
    }
}

string_enum! {
    /// From where the API server is reached.
    #[derive(Default)]
    pub enum GcpEndpointAccess {
        /// From the internet, and by nodes over their own network.
        PublicAndPrivate,
        /// From the network of the nodes only.
        #[default]
        Private,
    }
}

/// Settings of the Google Cloud platform.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(
    transform = of_project("controlPlane"),
    transform = of_project("nodePool"),
    transform = of_project("cloudController"),
    transform = of_project("storage"),
    transform = of_project("imageRegistry"),
    transform = of_project("network"),
)]
pub struct GcpPlatform {
    /// Id of the project that the cluster is in.
    #[schemars(transform = immutable("project"))]
    pub project: GcpProjectId,
    /// The region of the cluster.
    #[schemars(transform = immutable("region"))]
    pub region: GcpRegion,
    /// The network of the nodes.
    pub network_config: GcpNetworkConfig,
    /// From where the API server is reached.
    #[serde(default)]
    pub endpoint_access: GcpEndpointAccess,
    /// Labels for all that is made for the cluster; a change reaches what exists, and rolls nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(min = 1, max = 60), transform = list_map("key"))]
    pub resource_labels: Vec<GcpResourceLabel>,
    /// How tokens of the cluster are exchanged for those of Google's service accounts.
    #[schemars(transform = immutable("workloadIdentity"))]
    pub workload_identity: GcpWorkloadIdentity,
}

/// A service account stands in the project of the cluster.
fn of_project(account: &str) -> Rule {
    rule(
        format!(
            "self.workloadIdentity.serviceAccountsEmails.{account}\
             .endsWith('@' + self.project + '.iam.gserviceaccount.com')"
        ),
        format!("the service account {account} must be one of the project that project names"),
    )
}

/// The network of the nodes.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GcpNetworkConfig {
    /// The VPC network.
    #[schemars(transform = immutable("network"))]
    pub network: GcpResourceReference,
    /// The subnet of the endpoints by which nodes reach the control plane.
    #[schemars(transform = immutable("privateServiceConnectSubnet"))]
    pub private_service_connect_subnet: GcpResourceReference,
}

/// A resource of the project, by name.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct GcpResourceReference {
    /// Its name.
    pub name: GcpResourceName,
}
