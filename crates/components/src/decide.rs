//! What to do about one component now.

use std::collections::BTreeMap;

use hyperplane_api::hypershift::control_plane_component::ControlPlaneComponentStatus;

use crate::{
    component::Component,
    inputs::Inputs,
    manifest::{Manifest, ObjectName, Workload},
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
    let _ = (component, inputs, observed);
    todo!()
}
