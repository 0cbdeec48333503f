//! The scheduler of a hosted cluster.

use hyperplane_api::{
    constants::{annotations, objects::components},
    hypershift::configuration::scheduler::SchedulerProfile,
};
use serde_json::{Value, json};

use crate::{
    component::{Asset, Component, Sidecar, Traits, WorkloadKind, asset},
    configuration::{feature_gates, file, tls},
    flags,
    inputs::Inputs,
    manifest::{Manifest, Workload},
};

const NAME: &str = components::SCHEDULER;

/// The key of its configuration.
const FILE: &str = "config.yaml";

const ASSETS: &[Asset] = &[
    asset!("kube-scheduler/config.yaml").adapted(adapt_config),
    asset!("kube-scheduler/service.yaml"),
    asset!("kube-scheduler/service-monitor.yaml"),
    asset!("kube-scheduler/deployment.yaml"),
];

pub(super) const COMPONENT: Component = Component {
    traits: Traits {
        is_spread: true,
        ..Traits::ORDINARY
    },
    warnings,
    sidecars: &[Sidecar::AvailabilityProber(&[])],
    adapt,
    ..Component::new(NAME, WorkloadKind::Deployment, ASSETS)
};

fn adapt(inputs: &Inputs<'_>, workload: &mut Workload) {
    let Some(container) = workload.container_mut(NAME) else {
        return;
    };
    tls::set(inputs, container);
    feature_gates::set(inputs, container);
    if inputs.is_listed(annotations::DISABLE_PROFILING, NAME) {
        flags::set(container, "profiling", "false");
    }
}

fn profile<'a>(inputs: &Inputs<'a>) -> Option<&'a SchedulerProfile> {
    let profile = inputs.configuration()?.scheduler.as_ref()?.profile.as_ref();
    profile.filter(|profile| **profile != SchedulerProfile::Unset)
}

fn warnings(inputs: &Inputs<'_>) -> Vec<String> {
    match profile(inputs) {
        Some(SchedulerProfile::Unrecognised(other)) => vec![format!(
            "configuration.scheduler.profile {other:?}: choose LowNodeUtilization, HighNodeUtilization or NoScoring"
        )],
        None | Some(_) => Vec::new(),
    }
}

/// What the scheduler does by itself is LowNodeUtilization.
fn adapt_config(inputs: &Inputs<'_>, manifest: &mut Manifest) {
    let own = match profile(inputs) {
        Some(SchedulerProfile::HighNodeUtilization) => json!({
            "schedulerName": "default-scheduler",
            "plugins": {"score": {"disabled": [{"name": "NodeResourcesBalancedAllocation"}]}},
            "pluginConfig": [{
                "name": "NodeResourcesFit",
                "args": {"scoringStrategy": {
                    "type": "MostAllocated",
                    "resources": [{"name": "cpu", "weight": 1}, {"name": "memory", "weight": 1}],
                }},
            }],
        }),
        Some(SchedulerProfile::NoScoring) => json!({
            "schedulerName": "default-scheduler",
            "plugins": {"score": {"disabled": [{"name": "*"}]}, "preScore": {"disabled": [{"name": "*"}]}},
        }),
        _ => return,
    };
    let Manifest::ConfigMap(map) = manifest else { return };
    if let Some(text) = map.data.get_or_insert_default().get_mut(FILE) {
        let mut configuration: Value = serde_saphyr::from_str(text).expect("the asset holds YAML, which a test reads");
        configuration["profiles"] = json!([own]);
        *text = file(&configuration);
    }
}
