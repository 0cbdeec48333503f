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
mod reconcile;
mod status;

use std::sync::Arc;

use hyperplane_api::{
    constants::ours::{MANAGED_BY, MANAGED_BY_US},
    hypershift::hosted_control_plane::HostedControlPlane,
};
use hyperplane_components::Management;
use hyperplane_runtime::{Kind, Manager, Watch};
use k8s_openapi::{
    NamespaceResourceScope,
    api::core::v1::{ConfigMap, Secret, Service},
};
use kube::ResourceExt as _;

use self::{
    dereference::Stores,
    reconcile::{Pki, RESYNC},
};

/// The name of the controller, and with it of its field manager.
pub const CONTROLLER: &str = "pki";

/// What the operator is told from outside.
#[derive(Clone, Debug)]
pub struct PkiSettings {
    /// The management cluster.
    pub management: Arc<Management>,
    /// Which control planes it serves.
    pub scope: Scope,
}

/// Which control planes a process serves, and as whom it writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    /// All, except those that have operators of their own. Everything is written as the service account of the operator in
    /// the namespace that it is written to.
    Shared,
    /// That of one namespace, as whoever the process is.
    Dedicated(String),
}

/// Adds the operator to a manager.
pub fn register(manager: &mut Manager, settings: PkiSettings) {
    let stores = Stores {
        secrets: manager.store(ours::<Secret>(&settings.scope)),
        config_maps: manager.store(ours::<ConfigMap>(&settings.scope)),
        services: manager.store(ours::<Service>(&settings.scope)),
    };
    let (secrets, config_maps, services) = (
        ours::<Secret>(&settings.scope),
        ours::<ConfigMap>(&settings.scope),
        ours::<Service>(&settings.scope),
    );
    let watch = select::<HostedControlPlane>(&settings.scope);
    // Whatever of ours changes in a namespace concerns its control plane, whoever owns it: keys that users gave are copied
    // there by others.
    let home = |control_plane: &HostedControlPlane| control_plane.namespace().into_iter().collect();
    manager
        .controller(CONTROLLER, watch, Pki { stores, settings })
        .watches_referenced(secrets, INDEX, home, |secret| secret.namespace().into_iter().collect())
        .watches_referenced(config_maps, INDEX, home, |map| map.namespace().into_iter().collect())
        .watches_referenced(services, INDEX, home, |service| {
            service.namespace().into_iter().collect()
        })
        .resync(RESYNC)
        .register();
}

/// The index of control planes by their namespace.
const INDEX: &str = "namespace";

fn select<K: Kind + kube::Resource<Scope = NamespaceResourceScope>>(scope: &Scope) -> Watch<K> {
    match scope {
        Scope::Shared => Watch::all(),
        Scope::Dedicated(namespace) => Watch::namespace(namespace),
    }
}

/// The objects of a kind that we made.
fn ours<K: Kind + kube::Resource<Scope = NamespaceResourceScope>>(scope: &Scope) -> Watch<K> {
    select(scope).labels(&format!("{MANAGED_BY}={MANAGED_BY_US}"))
}
