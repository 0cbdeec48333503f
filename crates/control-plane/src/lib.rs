//! The operator from a HostedControlPlane to the components that run it, and back to its status.
//!
//! It serves all namespaces in one process, or one namespace in a process of its own; the code is the same. It writes as
//! the service account of the control plane that it works for.

mod apply;
mod balancers;
mod conditions;
mod dereference;
mod health;
mod reconciler;
mod status;

use hyperplane_api::{
    constants::ours, hyperplane::distribution_release::DistributionRelease,
    hypershift::hosted_control_plane::HostedControlPlane,
};
use hyperplane_component_driver::{Driver, Facts, Owners};
use hyperplane_planner::release::Shelf;
use hyperplane_runtime::{Manager, Reach, Scope, Watch};
use k8s_openapi::api::core::v1::ServiceAccount;

use self::reconciler::ControlPlanes;

/// The name of the controller, and of its field manager for ever.
pub const NAME: &str = "control-plane";

/// What the operator is told from outside.
#[derive(Clone, Debug)]
pub struct ControlPlaneSettings {
    /// Which namespaces it serves.
    pub scope: Scope,
    /// What is known of the management cluster.
    pub facts: Facts,
    /// How hosted API servers are reached.
    pub reach: Reach,
    /// The only release that this process works on. A dedicated operator belongs to a release: while the next one takes
    /// over, the old one must keep its hands off.
    pub only_release: Option<String>,
}

/// Adds the operator to a manager.
pub fn register(manager: &mut Manager, settings: ControlPlaneSettings) {
    let driver = Driver::new(manager, &settings.scope, settings.facts.has_monitors);
    let releases = manager.store(Watch::<DistributionRelease>::all());
    let accounts = settings.scope.watch::<ServiceAccount>().labels(&ours::selector());
    let watch = settings.scope.watch::<HostedControlPlane>();
    let reconciler = ControlPlanes {
        driver: driver.clone(),
        releases: releases.clone(),
        shelf: Shelf::default(),
        settings,
    };
    let builder = manager
        .controller(NAME, watch, reconciler)
        .reads(&releases)
        .owns(accounts);
    let builder = driver.watched(builder, Owners::References).watches_referenced(
        Watch::<DistributionRelease>::all(),
        "release-image",
        dereference::release_images,
        |release| release.spec.image.iter().map(ToString::to_string).collect(),
    );
    builder.register();
}
