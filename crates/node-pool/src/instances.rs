//! What the provider of virtual machines says of each of them, as far as a pool tells it on. Nothing else of them is kept.

use hyperplane_api::infrastructure::kubevirt_machine::KubevirtMachine;

use hyperplane_objects::view_of_kind;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::ResourceExt as _;
use serde::{Deserialize, Serialize};

/// The condition by which the provider says whether a virtual machine can move to another host while it runs.
const LIVE_MIGRATABLE: &str = "VMLiveMigratable";

/// A virtual machine with what its provider says.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub(crate) struct Instance {
    pub(crate) metadata: ObjectMeta,
    pub(crate) status: InstanceStatus,
}

/// What the provider says.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub(crate) struct InstanceStatus {
    pub(crate) conditions: Vec<InstanceCondition>,
}

/// A condition as the provider writes it, which leaves out a reason and words where it has none.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub(crate) struct InstanceCondition {
    #[serde(rename = "type")]
    pub(crate) type_: String,
    pub(crate) status: String,
    pub(crate) reason: Option<String>,
    pub(crate) message: Option<String>,
}

impl Instance {
    /// Whether it can move while it runs, where the provider says; and why it cannot, with its name.
    pub(crate) fn live_migratable(&self) -> Option<Result<(), String>> {
        let mut conditions = self.status.conditions.iter();
        let found = conditions.find(|condition| condition.type_ == LIVE_MIGRATABLE)?;
        if found.status != "False" {
            return Some(Ok(()));
        }
        let said = [found.reason.as_deref(), found.message.as_deref()];
        let said: Vec<&str> = said.into_iter().flatten().filter(|text| !text.is_empty()).collect();
        let why = if said.is_empty() {
            "it does not say why".to_owned()
        } else {
            said.join(": ")
        };
        Some(Err(format!("{}: {why}", self.name_any())))
    }
}

view_of_kind!(Instance, KubevirtMachine);
