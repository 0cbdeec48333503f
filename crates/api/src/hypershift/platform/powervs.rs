//! IBM Power Virtual Server.

use crate::common::OpenObject;

/// Settings of the IBM Power Virtual Server platform.
pub type PowerVsPlatform = OpenObject;
