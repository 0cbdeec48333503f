//! The etcd of a hosted cluster: run by us or brought by the user.
//!
//! Knows nothing of how etcd is deployed; backups as objects are a kind of their own.

pub mod backup;
pub mod managed;
pub mod shard;
pub mod unmanaged;

use serde::{Deserialize, Serialize};

use crate::{
    schema::{JsonSchema, immutable, rule},
    text::string_enum,
};

use managed::EtcdManaged;
use unmanaged::EtcdUnmanaged;

string_enum! {
    /// Who runs etcd.
    #[derive(Default)]
    pub enum EtcdManagementType {
        /// It runs beside the control plane and is looked after.
        #[default]
        Managed,
        /// The user runs it; the control plane is only its client.
        Unmanaged,
    }
}

/// The etcd of a hosted cluster.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(
    transform = rule(
        "has(self.managed) == (self.managementType == 'Managed')",
        "set managed when managementType is Managed, and only then",
    ),
    transform = rule(
        "has(self.unmanaged) == (self.managementType == 'Unmanaged')",
        "set unmanaged when managementType is Unmanaged, and only then",
    ),
)]
pub struct Etcd {
    /// Who runs etcd; decided when the cluster is created.
    #[schemars(transform = immutable("managementType"))]
    pub management_type: EtcdManagementType,
    /// How etcd is run, for Managed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub managed: Option<EtcdManaged>,
    /// Where etcd is found, for Unmanaged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unmanaged: Option<EtcdUnmanaged>,
}

/// What a HostedCluster gets that says nothing of etcd: a managed one on a volume of the default size.
impl Default for Etcd {
    fn default() -> Self {
        Self {
            management_type: EtcdManagementType::Managed,
            managed: Some(EtcdManaged::default()),
            unmanaged: None,
        }
    }
}
