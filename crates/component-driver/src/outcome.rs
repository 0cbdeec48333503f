//! What became of one component, and the object that tells it to others.

use std::collections::BTreeMap;

use hyperplane_api::{
    constants::{annotations, conditions::control_plane_component, labels, ours},
    hypershift::{
        control_plane_component::{
            ComponentResource, ControlPlaneComponent, ControlPlaneComponentSpec, ControlPlaneComponentStatus,
        },
        hosted_control_plane::HostedControlPlane,
    },
};
use hyperplane_components::{ComponentReport, Judgement};
use hyperplane_runtime::{Failure, conditions, conditions::Observation};
use jiff::Timestamp;
use kube::Resource as _;

/// What became of one component in one pass.
#[derive(Debug)]
pub struct Outcome {
    /// The component.
    pub name: &'static str,
    /// How far it has come; none where the control plane does not have it.
    pub report: Option<ComponentReport>,
    /// The same as it is stored.
    pub status: Option<ControlPlaneComponentStatus>,
    /// What went wrong.
    pub failure: Option<Failure>,
}

impl Outcome {
    pub(crate) const fn absent(name: &'static str, failure: Option<Failure>) -> Self {
        Self {
            name,
            report: None,
            status: None,
            failure,
        }
    }
}

/// The object of a component, without its status.
pub(crate) fn object(control_plane: &HostedControlPlane, name: &str) -> ControlPlaneComponent {
    let mut object = ControlPlaneComponent::new(name, ControlPlaneComponentSpec::default());
    object.metadata.namespace.clone_from(&control_plane.metadata.namespace);
    object.metadata.owner_references = control_plane.controller_owner_ref(&()).map(|owner| vec![owner]);
    object.metadata.labels = Some(BTreeMap::from([
        ours::label(),
        (labels::CONTROL_PLANE_COMPONENT.as_str().to_owned(), name.to_owned()),
    ]));
    let cluster = annotations::CLUSTER.as_str();
    let of_control_plane = control_plane.metadata.annotations.as_ref();
    let value = of_control_plane.and_then(|annotations| annotations.get(cluster));
    object.metadata.annotations = value.map(|value| BTreeMap::from([(cluster.to_owned(), value.clone())]));
    object
}

/// A report as it is stored.
pub(crate) fn status(
    report: &ComponentReport,
    before: Option<&ControlPlaneComponentStatus>,
    generation: Option<i64>,
    now: Timestamp,
) -> ControlPlaneComponentStatus {
    let observed = [
        observation(control_plane_component::AVAILABLE.as_str(), &report.available),
        observation(
            control_plane_component::ROLLOUT_COMPLETE.as_str(),
            &report.rollout_complete,
        ),
    ];
    let before = before.map_or(&[][..], |before| &before.conditions);
    ControlPlaneComponentStatus {
        conditions: conditions::merge(before, observed, generation, now),
        version: report.version.clone(),
        resources: report.resources.iter().map(resource).collect(),
        observed_generation: generation,
    }
}

fn observation(condition: &str, judgement: &Judgement) -> Observation {
    Observation {
        type_: condition.to_owned(),
        status: Some(judgement.holds),
        reason: judgement.reason.to_owned(),
        message: judgement.message.clone(),
    }
}

fn resource(name: &hyperplane_components::ObjectName) -> ComponentResource {
    ComponentResource {
        group: name.kind.group().to_owned(),
        kind: name.kind.as_str().to_owned(),
        name: name.name.clone(),
    }
}
