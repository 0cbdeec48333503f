//! The configuration of a hosted cluster in the shapes of OpenShift's config kinds, one file per kind.
//!
//! What rules of the spec look into is typed; everything else is kept and given back as it was read.

pub mod api_server;
pub mod tls_profile;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use self::api_server::ApiServerConfiguration;
use crate::schema::open;

/// Configuration of the parts of a hosted cluster; each part has the shape of the spec of an OpenShift config kind.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = open())]
pub struct ClusterConfiguration {
    /// Certificates, audit and TLS of the API servers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api_server: Option<ApiServerConfiguration>,
    /// All other parts, kept as they are.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}
