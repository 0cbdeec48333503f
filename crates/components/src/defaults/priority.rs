//! Which pods give way to which when a node is full.

use hyperplane_api::constants::{annotations, objects::components::ETCD};

use crate::{component::Component, inputs::Inputs, manifest::Workload};

pub(super) fn apply(component: &Component, inputs: &Inputs<'_>, workload: &mut Workload) {
    let (class, annotation) = if component.name == ETCD {
        ("hypershift-etcd", annotations::ETCD_PRIORITY_CLASS)
    } else if component.traits.is_api_critical {
        ("hypershift-api-critical", annotations::API_CRITICAL_PRIORITY_CLASS)
    } else {
        ("hypershift-control-plane", annotations::CONTROL_PLANE_PRIORITY_CLASS)
    };
    let class = inputs.annotation(annotation).unwrap_or(class);
    workload.pod_mut().priority_class_name = Some(class.to_owned());
}
