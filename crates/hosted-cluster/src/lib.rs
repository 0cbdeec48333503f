//! The operator from a HostedCluster to its control-plane namespace, HostedControlPlane and infrastructure objects, and
//! back to its status.
//!
//! ```text
//!  caches, users' objects ─► dereference ─► Seen ─► defaults (written back, then everything begins anew)
//!                                            ├────► validate ─► Verdict: all that is wrong, at once
//!                                            └────► build ─► Desired ─► apply ─► components ─► status
//!  machines on another cluster: visit ─► Outcome ─► status, again after some time
//!  deletion: look ─► Remains ─► next ─► Step ─► carry out ─► status, until nothing remains
//! ```
//!
//! Decisions are functions from values to values; `dereference`, `apply`, `components`, visits to other clusters and the
//! carrying out of a deletion are all that touches a client. Beside all that, `without_effect` says on objects of some
//! kinds that nothing acts on them.

mod apply;
mod build;
mod certificates;
mod components;
mod defaults;
mod deletion;
mod dereference;
mod duration;
mod elsewhere;
mod infra_id;
mod metadata;
mod names;
mod network;
mod nodes;
mod operator_image;
mod reconciler;
mod recovery;
mod references;
mod settings;
mod status;
mod stores;
mod surroundings;
mod sweep;
#[cfg(test)]
mod testing;
mod triggers;
mod user_ids;
mod validate;
mod verifying_keys;
mod without_effect;

use std::sync::Once;

use hyperplane_component_driver::{Driver, Owners};
use hyperplane_runtime::{Manager, Scope, Watch};

pub use self::{
    build::manager_rules,
    names::{control_plane_namespace, secrets_beside},
    settings::{HostedClusterSettings, ManagementNetworks, ServedKinds},
    validate::rules,
    without_effect::register_without_effect,
};
use self::{elsewhere::Elsewhere, reconciler::HostedClusters, stores::Stores, user_ids::UserIds};

/// The name of the controller, and of its field manager for ever.
pub const NAME: &str = "hosted-cluster";

/// Whether a text is a network in CIDR notation, and what is wrong with it where it is not.
pub fn check_network(text: &str) -> Result<(), String> {
    let read = text.parse::<network::Network>();
    read.map(drop).map_err(|error| error.to_string())
}

/// Adds the operator to a manager.
pub fn register(manager: &mut Manager, settings: HostedClusterSettings) {
    let driver = Driver::new(manager, &Scope::Everywhere, settings.facts.has_monitors);
    let stores = Stores::new(manager, settings.served);
    let reconciler = HostedClusters {
        driver: driver.clone(),
        stores: stores.clone(),
        elsewhere: Elsewhere::new(settings.reach.clone(), manager.fence()),
        settings,
        user_ids: UserIds::default(),
        warned: Once::new(),
    };
    let builder = manager.controller(NAME, Watch::all(), reconciler);
    let builder = driver.watched(builder, Owners::Annotation);
    triggers::add(builder, &stores).register();
}
