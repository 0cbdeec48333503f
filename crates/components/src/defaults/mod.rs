//! What every workload gets, whatever its component: one file per concern, applied in one order. What a component has
//! said itself stays.

mod disruption;
mod metadata;
mod placement;
mod priority;
mod resources;
mod security;
mod strategy;
#[cfg(test)]
mod tests;
mod volumes;

use crate::{
    component::Component,
    images,
    inputs::Inputs,
    manifest::{Manifest, Workload},
    replicas,
};

pub use self::resources::request_override;
pub(crate) use self::{
    metadata::POD_OWNER,
    resources::{keep_live_requests, override_requests, problems as request_problems},
};

/// Completes a workload that its component has adapted.
pub(crate) fn apply(component: &Component, inputs: &Inputs<'_>, workload: &mut Workload) {
    let replicas = replicas::of(component, inputs);
    strategy::apply(component, inputs, replicas, workload);
    metadata::workload(component, inputs, workload);
    placement::apply(component, inputs, replicas, workload);
    priority::apply(component, inputs, workload);
    volumes::apply(workload);
    security::apply(component, inputs, workload);
    containers(component, inputs, workload);
    volumes::annotate(workload);
}

/// Completes another manifest of a component.
pub(crate) fn complete(component: &Component, inputs: &Inputs<'_>, manifest: &mut Manifest) {
    metadata::manifest(component.name, inputs, manifest.meta_mut());
    match manifest {
        Manifest::PodDisruptionBudget(budget) => disruption::apply(component, inputs, budget),
        Manifest::RoleBinding(binding) => {
            for subject in binding.subjects.iter_mut().flatten() {
                subject.namespace.get_or_insert_with(|| inputs.namespace().to_owned());
            }
        }
        _ => {}
    }
}

/// Images by name become those of the release, and are pulled again only where their name may come to mean another.
fn containers(component: &Component, inputs: &Inputs<'_>, workload: &mut Workload) {
    for container in workload.containers_mut() {
        let name = container.image.as_deref().unwrap_or_default();
        let image = images::resolve(name, component.name, inputs)
            .expect("a component whose images are not all known is not rendered");
        let policy = if is_moving(&image) { "Always" } else { "IfNotPresent" };
        container.image = Some(image);
        container.image_pull_policy = Some(policy.to_owned());
        container
            .termination_message_policy
            .get_or_insert_with(|| "FallbackToLogsOnError".to_owned());
    }
}

/// Whether an image has neither a digest nor a tag, or the tag latest.
fn is_moving(image: &str) -> bool {
    if image.contains('@') {
        return false;
    }
    let name = image.rsplit('/').next().unwrap_or_default();
    name.split_once(':').is_none_or(|(_, tag)| tag == "latest")
}
