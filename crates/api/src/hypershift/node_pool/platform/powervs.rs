//! Machines of a node pool on IBM Power Virtual Server.

use serde::{Deserialize, Serialize};

use crate::{common::IntOrString, schema::JsonSchema, text::string_enum};

string_enum! {
    /// How a machine gets its processors.
    #[derive(Default)]
    pub enum PowerVsProcessorType {
        /// Whole processors of its own.
        Dedicated = "dedicated",
        /// A share, and more while others are idle.
        #[default]
        Shared = "shared",
        /// A share, and never more.
        Capped = "capped",
    }
}

string_enum! {
    /// How fast a volume is.
    #[derive(Default)]
    pub enum PowerVsStorageType {
        /// The fast tier.
        #[default]
        Tier1 = "tier1",
        /// The slow tier.
        Tier3 = "tier3",
    }
}

string_enum! {
    /// What becomes of a boot image that the pool no longer needs.
    #[derive(Default)]
    pub enum PowerVsImageDeletePolicy {
        /// It is deleted.
        #[default]
        Delete = "delete",
        /// It stays in the service.
        Retain = "retain",
    }
}

/// Machines on IBM Power Virtual Server.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PowerVsNodePoolPlatform {
    /// Model of the host, such as s922, e880 or e980; what exists depends on the data centre.
    #[serde(default = "default_system_type")]
    #[schemars(length(max = 255))]
    pub system_type: String,
    /// How machines get their processors.
    #[serde(default)]
    pub processor_type: PowerVsProcessorType,
    /// Virtual processors of a machine: a whole number for dedicated, else in steps of a quarter.
    #[serde(default = "default_processors")]
    pub processors: IntOrString,
    /// Memory of a machine in GiB; how much is possible depends on the model of the host.
    #[serde(rename = "memoryGiB", default = "default_memory_gib")]
    pub memory_gib: i32,
    /// The boot image; unset means that of the release.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image: Option<PowerVsResourceReference>,
    /// How fast the volumes are; of no effect where image is set.
    #[serde(default)]
    pub storage_type: PowerVsStorageType,
    /// What becomes of a boot image that is no longer needed.
    #[serde(default)]
    pub image_delete_policy: PowerVsImageDeletePolicy,
}

impl Default for PowerVsNodePoolPlatform {
    fn default() -> Self {
        Self {
            system_type: default_system_type(),
            processor_type: PowerVsProcessorType::default(),
            processors: default_processors(),
            memory_gib: default_memory_gib(),
            image: None,
            storage_type: PowerVsStorageType::default(),
            image_delete_policy: PowerVsImageDeletePolicy::default(),
        }
    }
}

fn default_system_type() -> String {
    "s922".to_owned()
}

fn default_processors() -> IntOrString {
    "0.5".into()
}

fn default_memory_gib() -> i32 {
    32
}

/// A resource of the service, by name or by id.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PowerVsResourceReference {
    /// Its id.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 255))]
    pub id: Option<String>,
    /// Its name.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 255))]
    pub name: Option<String>,
}
