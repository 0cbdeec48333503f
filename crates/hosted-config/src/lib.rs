//! The operator that keeps what a hosted cluster needs inside of it, through its own API: access for nodes, names,
//! services, the tunnel, guards. It tells what it finds there to the HostedControlPlane. Nodes that are new get the labels
//! and taints of their pools, once.
//!
//! Communication goes from the management side to the hosted side: nothing that is read there steers the manager.

mod ending;
mod hosted;
mod new_nodes;
mod node_metadata;
mod nodes;
mod objects;
mod reconciler;
mod requeue;
mod rollout;
#[cfg(test)]
#[path = "../../api/tests/support/samples.rs"]
mod samples;
mod status;
mod version;
mod webhooks;

use hyperplane_api::{
    cluster_api::machine::Machine, constants::ours, hyperplane::distribution_release::DistributionRelease,
    hypershift::hosted_control_plane::HostedControlPlane,
};
use hyperplane_component_driver::{Facts, serves};
use hyperplane_planner::release::Shelf;
use hyperplane_runtime::{Manager, Reach, Scope, Watch};
use k8s_openapi::api::core::v1::{ConfigMap, Secret, Service};

use self::{new_nodes::NewNodes, reconciler::HostedConfig};

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

impl HostedConfigSettings {
    /// Whether this process serves a control plane, and works on the release that it asks for.
    pub(crate) fn serves(&self, control_plane: &HostedControlPlane) -> bool {
        let only = self.only_release.as_ref();
        serves(&self.scope, control_plane) && only.is_none_or(|only| *only == control_plane.spec.release_image)
    }
}

/// Adds the operator to a manager.
pub fn register(manager: &mut Manager, settings: HostedConfigSettings) {
    add_new_nodes(manager, settings.clone());
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
        machines: manager.store(machines(&scope)),
        shelf: Shelf::default(),
        fence: manager.fence(),
        settings,
    };
    // It is not waited for them: a management cluster may have none, and not even their kind.
    new_nodes::index_machines(&reconciler.machines);
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

fn add_new_nodes(manager: &mut Manager, settings: HostedConfigSettings) {
    let selector = ours::selector();
    let scope = settings.scope.clone();
    let reconciler = NewNodes {
        control_planes: manager.store(scope.watch::<HostedControlPlane>()),
        secrets: manager.store(scope.watch::<Secret>().labels(&selector)),
        fence: manager.fence(),
        settings,
    };
    let (control_planes, secrets) = (reconciler.control_planes.clone(), reconciler.secrets.clone());
    manager
        .controller(new_nodes::NAME, machines(&scope), reconciler)
        .on_status()
        .concurrency(new_nodes::CONCURRENCY)
        .reads(&control_planes)
        .reads(&secrets)
        .register();
}

/// Machines that are ours.
fn machines(scope: &Scope) -> Watch<Machine> {
    scope.watch::<Machine>().labels(&ours::selector())
}
