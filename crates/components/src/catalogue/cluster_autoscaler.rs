//! The autoscaler: adds nodes for pods that find no place, and removes those that nobody needs.

use std::sync::Arc;

use hyperplane_api::{
    constants::{annotations, objects::components},
    hypershift::autoscaling::{ClusterAutoscaling, Expander, ScaleDown, ScalingMode},
};
use k8s_openapi::api::core::v1::Container;

use super::machines;
use crate::{
    component::{Asset, Component, HostedServiceAccount, Sidecar, Traits, WorkloadKind, asset},
    flags,
    inputs::Inputs,
    manifest::Workload,
};

const NAME: &str = components::CLUSTER_AUTOSCALER;

const ASSETS: &[Asset] = &[
    asset!("cluster-autoscaler/service-account.yaml"),
    asset!("cluster-autoscaler/role.yaml"),
    asset!("cluster-autoscaler/role-binding.yaml"),
    asset!("cluster-autoscaler/pod-monitor.yaml"),
    asset!("cluster-autoscaler/deployment.yaml"),
];

pub(super) const COMPONENT: Component = Component {
    traits: Traits {
        needs_management_api: true,
        ..Traits::ORDINARY
    },
    predicate: machines::are_managed,
    sidecars: &[Sidecar::AvailabilityProber(&[])],
    adapt,
    hosted_service_account: Some(HostedServiceAccount {
        namespace: "kube-system",
        name: NAME,
    }),
    ..Component::new(NAME, WorkloadKind::Deployment, ASSETS)
};

/// How pools to grow are chosen where the spec does not say.
const EXPANDERS: &str = "priority,least-waste";

fn adapt(inputs: &Inputs<'_>, workload: &mut Workload) {
    if inputs.is_set(annotations::DISABLE_CLUSTER_AUTOSCALER)
        && let Workload::Deployment(deployment) = workload
    {
        Arc::make_mut(deployment).spec.get_or_insert_default().replicas = Some(0);
    }
    let autoscaling = inputs.control_plane.spec.autoscaling.clone().unwrap_or_default();
    if let Some(container) = workload.container_mut(NAME) {
        limits(&autoscaling, container);
        scale_down(&autoscaling, container);
    }
}

fn limits(autoscaling: &ClusterAutoscaling, container: &mut Container) {
    let number = |number: Option<i32>| number.map(|number| number.to_string());
    flags::set_some(container, "max-nodes-total", number(autoscaling.max_nodes_total));
    flags::set_some(
        container,
        "max-graceful-termination-sec",
        number(autoscaling.max_pod_grace_period),
    );
    flags::set_some(
        container,
        "max-node-provision-time",
        autoscaling.max_node_provision_time.as_deref(),
    );
    flags::set_some(
        container,
        "expendable-pods-priority-cutoff",
        number(autoscaling.pod_priority_threshold),
    );
    let expanders = autoscaling.expanders.iter().filter_map(|expander| match expander {
        Expander::LeastWaste => Some("least-waste"),
        Expander::Priority => Some("priority"),
        Expander::Random => Some("random"),
        Expander::Unrecognised(_) => None,
    });
    let expanders: Vec<&str> = expanders.collect();
    let expanders = expanders.join(",");
    flags::set(
        container,
        "expander",
        if expanders.is_empty() { EXPANDERS } else { &expanders },
    );
    for label in &autoscaling.balancing_ignored_labels {
        flags::add(container, "balancing-ignore-label", label);
    }
    let ratio = autoscaling.max_free_difference_ratio_percent.map(hundredths);
    flags::set_some(container, "max-free-difference-ratio", ratio);
}

fn scale_down(autoscaling: &ClusterAutoscaling, container: &mut Container) {
    let is_enabled = autoscaling.scaling != ScalingMode::ScaleUpOnly;
    flags::set(container, "scale-down-enabled", is_enabled.to_string());
    let Some(chosen) = autoscaling.scale_down.as_ref().filter(|_| is_enabled) else {
        return;
    };
    let ScaleDown {
        delay_after_add_seconds,
        delay_after_delete_seconds,
        delay_after_failure_seconds,
        unneeded_duration_seconds,
        utilization_threshold_percent,
    } = chosen;
    let seconds = |seconds: Option<i32>| seconds.map(|seconds| format!("{seconds}s"));
    flags::set_some(
        container,
        "scale-down-delay-after-add",
        seconds(*delay_after_add_seconds),
    );
    flags::set_some(
        container,
        "scale-down-delay-after-delete",
        seconds(*delay_after_delete_seconds),
    );
    flags::set_some(
        container,
        "scale-down-delay-after-failure",
        seconds(*delay_after_failure_seconds),
    );
    flags::set_some(
        container,
        "scale-down-unneeded-time",
        seconds(*unneeded_duration_seconds),
    );
    let threshold = utilization_threshold_percent.map(hundredths);
    flags::set_some(container, "scale-down-utilization-threshold", threshold);
}

/// A percentage as a part of one.
fn hundredths(percent: i32) -> String {
    let percent = percent.clamp(0, 100);
    format!("{}.{:02}", percent / 100, percent % 100)
}
