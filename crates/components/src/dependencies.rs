//! What a component waits for. A dependency that a control plane does not have is dropped, never waited for: it would
//! never come.

use hyperplane_api::{
    constants::{ConditionType, conditions::control_plane_component, objects::components},
    hypershift::control_plane_component::ControlPlaneComponentStatus,
};

use crate::{component::Component, decide::Observed, images, inputs::Inputs};

/// What a component waits for, and what it does not wait for although it is declared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Dependencies {
    /// Components that must be ready.
    pub wanted: Vec<&'static str>,
    /// Components that this control plane does not have.
    pub dropped: Vec<&'static str>,
}

/// The dependencies of a component in one control plane.
pub(crate) fn of(component: &Component, inputs: &Inputs<'_>) -> Dependencies {
    // All but a few wait for it.
    let implicit = (!component.traits.precedes_api_server).then_some(components::API_SERVER);
    let mut dependencies = Dependencies::default();
    for name in component.dependencies.iter().copied().chain(implicit) {
        let is_known = dependencies.wanted.contains(&name) || dependencies.dropped.contains(&name);
        if name == component.name || is_known {
            continue;
        }
        if images::exists_by_name(name, inputs) {
            dependencies.wanted.push(name);
        } else {
            dependencies.dropped.push(name);
        }
    }
    dependencies
}

/// What is missing of the dependencies, in sentences: each must serve, be rolled out, and have the wanted version.
pub(crate) fn unmet(dependencies: &Dependencies, inputs: &Inputs<'_>, observed: &Observed) -> Vec<String> {
    let desired = inputs.desired_version();
    let unmet = dependencies.wanted.iter().filter_map(|name| {
        let problem = match observed.reports.get(*name) {
            None => Some("has not been looked at yet".to_owned()),
            Some(report) => problem(report, desired),
        };
        problem.map(|problem| format!("{name} {problem}"))
    });
    unmet.collect()
}

fn problem(report: &ControlPlaneComponentStatus, desired: &str) -> Option<String> {
    if !holds(report, control_plane_component::AVAILABLE) {
        return Some("is not available".to_owned());
    }
    if !holds(report, control_plane_component::ROLLOUT_COMPLETE) {
        return Some("is not rolled out".to_owned());
    }
    match report.version.as_deref() {
        Some(version) if version == desired => None,
        Some(version) => Some(format!("has version {version}, not {desired}")),
        None => Some(format!("has no version yet, not {desired}")),
    }
}

/// Whether a condition of a report holds.
pub(crate) fn holds(report: &ControlPlaneComponentStatus, condition: ConditionType) -> bool {
    let mut conditions = report.conditions.iter();
    conditions.any(|one| one.type_ == condition.as_str() && one.status == "True")
}
