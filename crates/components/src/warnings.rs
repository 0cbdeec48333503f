//! What of the inputs is not carried out as it was asked for, over all components.

use crate::{
    catalogue::{catalogue, manager_catalogue},
    component::Component,
    defaults, images,
    inputs::Inputs,
    replicas,
};

/// What of the inputs is not carried out as it was asked for, in sentences: settings that cannot be understood, requests
/// for workloads that do not exist, and replicas that share a zone.
pub fn warnings(inputs: &Inputs<'_>) -> Vec<String> {
    let present = || all().filter(|component| images::exists(component, inputs));
    let mut warnings: Vec<String> = present().flat_map(|component| (component.warnings)(inputs)).collect();
    warnings.extend(defaults::request_problems(None, inputs, None));
    let zones = inputs.management.zones;
    let is_crowded = |component: &&Component| {
        let replicas = replicas::of(component, inputs);
        component.traits.is_spread && replicas > 1 && usize::try_from(replicas).is_ok_and(|wanted| wanted > zones)
    };
    let crowded: Vec<&str> = present().filter(is_crowded).map(|component| component.name).collect();
    if !crowded.is_empty() {
        warnings.push(format!(
            "the management cluster has nodes in {zones} zones: replicas of {} share zones",
            crowded.join(", ")
        ));
    }
    warnings
}

fn all() -> impl Iterator<Item = &'static Component> {
    catalogue().iter().chain(manager_catalogue())
}
