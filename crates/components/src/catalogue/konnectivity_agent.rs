//! A konnectivity agent beside the control plane: through it the API server reaches aggregated APIs that run there.

use hyperplane_api::constants::objects::components;

use super::openshift_apiserver;
use crate::{
    component::{Asset, Component, Traits, WorkloadKind, asset},
    images,
    inputs::Inputs,
};

const ASSETS: &[Asset] = &[asset!("konnectivity-agent/deployment.yaml")];

pub(super) const COMPONENT: Component = Component {
    dependencies: &[openshift_apiserver::NAME],
    traits: Traits {
        is_spread: true,
        ..Traits::ORDINARY
    },
    predicate: has_aggregated_api,
    ..Component::new(components::KONNECTIVITY_AGENT, WorkloadKind::Deployment, ASSETS)
};

fn has_aggregated_api(inputs: &Inputs<'_>) -> bool {
    images::exists(&openshift_apiserver::COMPONENT, inputs)
}
