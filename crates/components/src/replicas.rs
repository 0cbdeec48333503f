//! How many replicas a component has.

use hyperplane_api::constants::annotations;

use crate::{assets, component::Component, inputs::Inputs, manifest::Workload};

/// Replicas of what others cannot do without, where there is more than one.
const THREE: i32 = 3;

/// Replicas of everything else, where there is more than one.
const TWO: i32 = 2;

/// How many replicas a component has: what its manifest says, else what the availability policy asks for.
pub(crate) fn of(component: &Component, inputs: &Inputs<'_>) -> i32 {
    let workload = assets::workload(component);
    let is_debugged = matches!(*workload, Workload::Deployment(_))
        && inputs.is_listed(annotations::DEBUG_DEPLOYMENTS, component.name);
    if is_debugged {
        return 0;
    }
    let in_manifest = match &*workload {
        Workload::Deployment(object) => object.spec.as_ref().and_then(|spec| spec.replicas),
        Workload::StatefulSet(object) => object.spec.as_ref().and_then(|spec| spec.replicas),
        Workload::Job(_) | Workload::CronJob(_) => Some(1),
    };
    in_manifest.unwrap_or_else(|| by_policy(component, inputs))
}

fn by_policy(component: &Component, inputs: &Inputs<'_>) -> i32 {
    if !inputs.is_highly_available() {
        return 1;
    }
    let is_paired = inputs.has_dedicated_request_serving_nodes() && component.traits.is_request_serving;
    if component.traits.has_three_replicas && !is_paired {
        THREE
    } else {
        TWO
    }
}
