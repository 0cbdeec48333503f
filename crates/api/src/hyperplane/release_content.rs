//! What a release consists of: component images, images of operating systems, extensions.

use serde::{Deserialize, Serialize};

use super::release_text::{ImageReference, VersionText};
use crate::{
    schema::{JsonSchema, properties},
    text::string_enum,
};

/// One component of a release, such as etcd. It has a version, an image or both.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = properties(Some(1), None))]
pub struct ReleaseComponent {
    /// The version; absent where only the image is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<VersionText>,
    /// The image; absent for what comes with the operating system, such as containerd.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image: Option<ImageReference>,
}

/// The image from which nodes of one platform and architecture start.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OsImage {
    /// The platform, as node pools name it.
    #[schemars(length(min = 1, max = 63))]
    pub platform: String,
    /// The processor architecture, such as amd64.
    #[schemars(length(min = 1, max = 63))]
    pub architecture: String,
    /// What the platform calls the image: an image, a template, an AMI.
    #[schemars(length(min = 1, max = 447))]
    pub name: String,
}

string_enum! {
    /// How much users notice of an upgrade. Medium and High must be acknowledged beforehand.
    pub enum Impact {
        /// Nothing.
        None,
        /// Hardly anything.
        Low,
        /// A part of the extension pauses.
        Medium,
        /// Workloads pause.
        High,
    }
}

/// An extension that moves with the release.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReleaseExtension {
    /// The extension.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
    /// The version that belongs to the release.
    pub version: VersionText,
    /// How much users notice when it is upgraded to this version.
    #[serde(default = "no_impact")]
    pub impact: Impact,
}

fn no_impact() -> Impact {
    Impact::None
}
