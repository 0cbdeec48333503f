//! The operator that keeps what a hosted cluster needs inside of it, through its own API: access for nodes, names,
//! services, the tunnel, guards. It tells what it finds there to the HostedControlPlane.
//!
//! Communication goes from the management side to the hosted side: nothing that is read there steers the manager.

mod ending;
mod hosted;
mod nodes;
mod objects;
mod reconciler;
mod rollout;
#[cfg(test)]
#[path = "../../api/tests/support/samples.rs"]
mod samples;
mod status;
mod version;
mod webhooks;

use hyperplane_api::{
    constants::ours, hyperplane::distribution_release::DistributionRelease,
    hypershift::hosted_control_plane::HostedControlPlane,
};
use hyperplane_component_driver::Facts;
use hyperplane_planner::release::Shelf;
use hyperplane_runtime::{Manager, Reach, Scope, Watch};
use k8s_openapi::api::core::v1::{ConfigMap, Secret, Service};

use self::reconciler::HostedConfig;

/// The name of the controller, and of its field manager for ever.
pub const NAME: &str = "hosted-config";

/// What the operator is told from outside.
#[derive(Clone, Debug)]
pub struct HostedConfigSettings {
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
pub fn register(manager: &mut Manager, settings: HostedConfigSettings) {
    let selector = ours::selector();
    let scope = settings.scope.clone();
    let secrets = scope.watch::<Secret>().labels(&selector);
    let config_maps = scope.watch::<ConfigMap>().labels(&selector);
    let services = scope.watch::<Service>().labels(&selector);
    let releases = Watch::<DistributionRelease>::all();
    let reconciler = HostedConfig {
        secrets: manager.store(secrets.clone()),
        config_maps: manager.store(config_maps.clone()),
        services: manager.store(services.clone()),
        releases: manager.store(releases.clone()),
        shelf: Shelf::default(),
        fence: manager.fence(),
        settings,
    };
    let known = reconciler.releases.clone();
    manager
        .controller(NAME, scope.watch::<HostedControlPlane>(), reconciler)
        .on_status()
        .reads(&known)
        .owns(secrets)
        .owns(config_maps)
        .owns(services)
        .register();
}
