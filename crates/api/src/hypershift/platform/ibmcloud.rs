//! IBM Cloud.

use serde::{Deserialize, Serialize};

use crate::schema::JsonSchema;

/// Settings of the IBM Cloud platform.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct IbmCloudPlatform {
    /// Which of IBM Cloud's infrastructures is used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider_type: Option<String>,
}
