//! Amazon Web Services.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::common::OpenObject;

/// Settings of the AWS platform.
pub type AwsPlatform = OpenObject;

/// What was made on AWS for a hosted cluster.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AwsPlatformStatus {
    /// The security group that workers get when their pool names none.
    #[serde(rename = "defaultWorkerSecurityGroupID", skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 255))]
    pub default_worker_security_group_id: Option<String>,
}
