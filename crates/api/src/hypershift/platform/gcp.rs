//! Google Cloud.

use crate::common::OpenObject;

/// Settings of the Google Cloud platform.
pub type GcpPlatform = OpenObject;
