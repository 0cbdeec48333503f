//! The ignition server: where a machine that starts fetches its configuration.

use hyperplane_api::{constants::objects::components, hypershift::services::PublishedService};

use crate::{
    component::{Asset, Component, Traits, WorkloadKind, asset},
    infrastructure::is_served,
    inputs::Inputs,
};

const ASSETS: &[Asset] = &[
    asset!("ignition-server/service-account.yaml"),
    asset!("ignition-server/role.yaml"),
    asset!("ignition-server/role-binding.yaml"),
    asset!("ignition-server/pod-monitor.yaml"),
    asset!("ignition-server/deployment.yaml"),
];

pub(super) const COMPONENT: Component = Component {
    traits: Traits {
        is_spread: true,
        needs_management_api: true,
        precedes_api_server: true,
        ..Traits::ORDINARY
    },
    predicate: is_wanted,
    ..Component::new(components::IGNITION_SERVER, WorkloadKind::Deployment, ASSETS)
};

fn is_wanted(inputs: &Inputs<'_>) -> bool {
    is_served(inputs.control_plane, &PublishedService::Ignition)
}
