//! How many replicas there are, and how they are exchanged.

use std::sync::Arc;

use k8s_openapi::{
    api::apps::v1::{DeploymentStrategy, RollingUpdateDeployment},
    apimachinery::pkg::util::intstr::IntOrString,
};

use super::placement::keeps_generations_apart;
use crate::{component::Component, inputs::Inputs, manifest::Workload};

/// How many old generations are kept to go back to.
const HISTORY: i32 = 2;

pub(super) fn apply(component: &Component, inputs: &Inputs<'_>, replicas: i32, workload: &mut Workload) {
    match workload {
        Workload::Deployment(object) => {
            let spec = Arc::make_mut(object).spec.get_or_insert_default();
            // Its manifest counts, unless it is to have none at all.
            spec.replicas = spec.replicas.filter(|_| replicas > 0).or(Some(replicas));
            spec.revision_history_limit = Some(HISTORY);
            spec.strategy
                .get_or_insert_with(|| strategy(component, inputs, replicas));
        }
        Workload::StatefulSet(object) => {
            let spec = Arc::make_mut(object).spec.get_or_insert_default();
            spec.replicas = Some(replicas);
            spec.revision_history_limit = Some(HISTORY);
        }
        Workload::Job(_) | Workload::CronJob(_) => {}
    }
}

/// A new pod comes before an old one goes, where it may stand beside it. Where it may not, one of three goes before its
/// successor comes, as each may need a node or zone of its own. Two of what serves requests may stand on nodes that have no
/// room for a third, and do the same.
fn strategy(component: &Component, inputs: &Inputs<'_>, replicas: i32) -> DeploymentStrategy {
    let is_request_serving = component.traits.is_request_serving;
    let has_own_nodes = is_request_serving && inputs.has_dedicated_request_serving_nodes();
    let (surge, unavailable) = match replicas {
        _ if !has_own_nodes && keeps_generations_apart(component, inputs) => (1, 0),
        3.. => (0, 1),
        2 if is_request_serving => (1, 1),
        _ => (1, 0),
    };
    DeploymentStrategy {
        type_: Some("RollingUpdate".to_owned()),
        rolling_update: Some(RollingUpdateDeployment {
            max_surge: Some(IntOrString::Int(surge)),
            max_unavailable: Some(IntOrString::Int(unavailable)),
        }),
    }
}
