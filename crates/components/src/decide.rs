//! What to do about one component now.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use hyperplane_api::hypershift::control_plane_component::ControlPlaneComponentStatus;

use crate::{
    component::Component,
    dependencies, images,
    inputs::Inputs,
    manifest::{Manifest, ObjectName, Workload},
    mounts,
    render::{all_names, render},
};

/// What is there of all components.
#[derive(Clone, Debug, Default)]
pub struct Observed {
    /// The reports of components, by name.
    pub reports: BTreeMap<String, ControlPlaneComponentStatus>,
    /// The live workloads, by name of the component.
    pub workloads: BTreeMap<String, Workload>,
}

/// What to do.
#[derive(Clone, Debug, PartialEq)]
pub enum Decision {
    /// The control plane does not have the component: these objects of it are to go, and its report with them.
    Absent(Vec<ObjectName>),
    /// Nothing is to be written before all of this has happened.
    Waiting(Vec<String>),
    /// This is to be written.
    Apply(Box<Rendered>),
}

/// The objects of a component.
#[derive(Clone, Debug, PartialEq)]
pub struct Rendered {
    /// Everything but the workload, in the order in which it is to be written.
    pub manifests: Vec<Manifest>,
    /// The workload.
    pub workload: Workload,
    /// Objects of the component that this control plane does not have.
    pub unwanted: Vec<ObjectName>,
}

/// What to do about a component.
pub fn decide(component: &Component, inputs: &Inputs<'_>, observed: &Observed) -> Decision {
    let newest = inputs.newest_revision;
    if !(1..=newest).contains(&inputs.revision) {
        // A newer program has rendered this control plane, and rendering it by an older revision would restart it.
        return Decision::Waiting(vec![format!(
            "the revision of manifests is {}, and this program knows 1 to {newest}: run a newer one",
            inputs.revision
        )]);
    }
    if !images::exists(component, inputs) {
        let names = all_names(component).into_iter();
        // A server that does not know monitors cannot be asked to remove one.
        let is_known = |name: &ObjectName| inputs.management.has_monitors || !name.kind.is_monitor();
        return Decision::Absent(names.filter(is_known).collect());
    }
    let lacking = images::lacking(component, inputs);
    if !lacking.is_empty() {
        let sentence = |name: String| format!("the release {} has no image for {name}", inputs.release_image());
        return Decision::Waiting(lacking.into_iter().map(sentence).collect());
    }
    let dependencies = dependencies::of(component, inputs);
    let mut waiting = dependencies::unmet(&dependencies, inputs, observed);
    waiting.extend((component.waits)(inputs));
    let live = observed.workloads.get(component.name);
    let (rendered, needs, waits) = render(component, inputs, live);
    waiting.extend(waits);
    waiting.extend(mounts::missing(&needs, &rendered.manifests, inputs.objects));
    if waiting.is_empty() {
        Decision::Apply(Box::new(rendered))
    } else {
        Decision::Waiting(waiting)
    }
}
