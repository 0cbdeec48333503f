//! The operators of one control plane, where they do not run shared: in its namespace, under its accounts.

use hyperplane_api::constants::{annotations, objects::roles};

use crate::{
    component::{Asset, Component, Traits, WorkloadKind, asset},
    flags,
    inputs::Inputs,
    manifest::Workload,
};

const CONTROL_PLANE_ASSETS: &[Asset] = &[
    asset!("control-plane-operator/pod-monitor.yaml"),
    asset!("control-plane-operator/deployment.yaml"),
];

const PKI_ASSETS: &[Asset] = &[
    asset!("control-plane-pki-operator/pod-monitor.yaml"),
    asset!("control-plane-pki-operator/deployment.yaml"),
];

const CONFIG_ASSETS: &[Asset] = &[
    asset!("hosted-cluster-config-operator/pod-monitor.yaml"),
    asset!("hosted-cluster-config-operator/deployment.yaml"),
];

const TRAITS: Traits = Traits {
    needs_management_api: true,
    ..Traits::ORDINARY
};

/// The operator that runs all other components.
pub(super) const CONTROL_PLANE: Component = Component {
    traits: Traits {
        precedes_api_server: true,
        ..TRAITS
    },
    predicate: are_dedicated,
    adapt: bind_to_release,
    ..Component::new(
        roles::CONTROL_PLANE_OPERATOR,
        WorkloadKind::Deployment,
        CONTROL_PLANE_ASSETS,
    )
};

/// The operator of certificates. The API server waits for what it issues, and so it cannot wait for the API server.
pub(super) const PKI: Component = Component {
    traits: Traits {
        precedes_api_server: true,
        ..TRAITS
    },
    predicate: has_pki_operator,
    ..Component::new(roles::PKI_OPERATOR, WorkloadKind::Deployment, PKI_ASSETS)
};

/// The operator of what is inside of the hosted cluster.
pub(super) const CONFIG: Component = Component {
    traits: TRAITS,
    predicate: are_dedicated,
    adapt: bind_to_cluster_release,
    ..Component::new(roles::CONFIG_OPERATOR, WorkloadKind::Deployment, CONFIG_ASSETS)
};

/// While an upgrade replaces the operator, the old one keeps its hands off what the new one does.
fn bind_to_release(inputs: &Inputs<'_>, workload: &mut Workload) {
    if let Some(container) = workload.container_mut(roles::CONTROL_PLANE_OPERATOR) {
        flags::set(container, "only-release", inputs.release_image());
    }
}

/// What is inside of the hosted cluster follows the release of the cluster.
fn bind_to_cluster_release(inputs: &Inputs<'_>, workload: &mut Workload) {
    if let Some(container) = workload.container_mut(roles::CONFIG_OPERATOR) {
        flags::set(container, "only-release", &inputs.control_plane.spec.release_image);
    }
}

fn are_dedicated(inputs: &Inputs<'_>) -> bool {
    inputs.has_dedicated_operators()
}

fn has_pki_operator(inputs: &Inputs<'_>) -> bool {
    inputs.has_dedicated_operators() && inputs.annotation(annotations::DISABLE_PKI_RECONCILIATION).is_none()
}
