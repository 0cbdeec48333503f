//! OpenStack.

use crate::common::OpenObject;

/// Settings of the OpenStack platform.
pub type OpenStackPlatform = OpenObject;
