//! The operator that keeps the certificates of hosted control planes issued and fresh. What there is to issue and when is
//! decided by `pki-issue`; here are the reads and the writes around it.
//!
//! ```text
//!  HostedControlPlane, Services ─► build ─► Wanted ─┐
//!  caches ─► dereference ─► Existing ───────────────┴─► plan ─(nothing to do)─► next look
//!                                                         │
//!                        the server itself ─► Existing ─► plan ─► issue ─► apply ─► status
//! ```
//!
//! A plan that was made of caches only says that there may be something to do. Before a key is made, the server itself is
//! asked: a cache that lags, or a label that somebody took off, must not cost an authority.

mod apply;
mod build;
mod dereference;
mod reconciler;
mod status;

use hyperplane_api::{constants::ours, hypershift::hosted_control_plane::HostedControlPlane};
use hyperplane_component_driver::Facts;
use hyperplane_runtime::{Manager, Scope};
use k8s_openapi::api::core::v1::{ConfigMap, Secret, Service};
use kube::ResourceExt as _;

use self::{
    dereference::Stores,
    reconciler::{Pki, RESYNC},
};

/// The name of the controller, and of its field manager for ever.
pub const NAME: &str = "pki";

/// The index of control planes by their namespace.
const INDEX: &str = "namespace";

/// What the operator is told from outside.
#[derive(Clone, Debug)]
pub struct PkiSettings {
    /// Which namespaces it serves.
    pub scope: Scope,
    /// What is known of the management cluster.
    pub facts: Facts,
}

/// Adds the operator to a manager.
pub fn register(manager: &mut Manager, settings: PkiSettings) {
    let selector = ours::selector();
    let scope = settings.scope.clone();
    let secrets = scope.watch::<Secret>().labels(&selector);
    let config_maps = scope.watch::<ConfigMap>().labels(&selector);
    let services = scope.watch::<Service>().labels(&selector);
    let stores = Stores {
        secrets: manager.store(secrets.clone()),
        config_maps: manager.store(config_maps.clone()),
        services: manager.store(services.clone()),
    };
    // Whatever of ours changes in a namespace concerns its control plane, whoever owns it: keys that users gave are copied
    // there by others.
    let home = |control_plane: &HostedControlPlane| control_plane.namespace().into_iter().collect();
    manager
        .controller(NAME, scope.watch::<HostedControlPlane>(), Pki { stores, settings })
        .watches_referenced(secrets, INDEX, home, |secret| secret.namespace().into_iter().collect())
        .watches_referenced(config_maps, INDEX, home, |map| map.namespace().into_iter().collect())
        .watches_referenced(services, INDEX, home, |service| {
            service.namespace().into_iter().collect()
        })
        .resync(RESYNC)
        .register();
}
