//! How many pods of a component may be away at once when nodes are emptied.

use k8s_openapi::{
    api::policy::v1::PodDisruptionBudget,
    apimachinery::pkg::{apis::meta::v1::LabelSelector, util::intstr::IntOrString},
};

use super::metadata::selector;
use crate::{component::Component, inputs::Inputs};

pub(super) fn apply(component: &Component, inputs: &Inputs<'_>, budget: &mut PodDisruptionBudget) {
    let spec = budget.spec.get_or_insert_default();
    let one = Some(IntOrString::Int(1));
    if inputs.is_highly_available() {
        spec.max_unavailable = one;
    } else {
        spec.min_available = one;
    }
    // A pod that is not healthy anyway must not keep a node from being emptied.
    spec.unhealthy_pod_eviction_policy = Some("AlwaysAllow".to_owned());
    spec.selector = Some(LabelSelector {
        match_labels: Some(selector(component.name)),
        ..LabelSelector::default()
    });
}
