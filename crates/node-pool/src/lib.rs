//! The operator from a NodePool to what its machines are made from, and from its machines back to its status.
//!
//! ```text
//!  caches, users' ConfigMaps ─► dereference ─► Seen ─► validate ─► Verdict: all that is wrong, at once
//!                                               └────► target (hash, template) ─► skew ─► Roll: to the target, or held
//!                                                        └─► build ─► Desired ─► apply ─► status
//!  deletion: machines first, then what they were made from
//! ```
//!
//! - **Nodes roll for few reasons**, all of them inputs of one hash or parts of the machine template. [`explain()`] tells
//!   which of them an edit touches. Replicas, labels, taints, timeouts, pace and repair never roll anything.
//! - **A roll can be held**: by versions that must not stand beside each other, or by input that cannot be used. Machines
//!   then go on to be made as they were; scaling, repair and deletion never wait for it.
//! - **Labels and taints** reach machines that are made later, and no others: nodes that exist keep theirs.
//! - **Tokens** have one writer, here: they are made, replaced and taken away on the clock that is given. Only the mark
//!   that a machine came, and how the making of its configuration ended, are written by the ignition server.

mod access;
mod apply;
mod build;
mod deletion;
mod dereference;
mod documents;
mod explain;
mod inputs;
mod instances;
mod metadata;
mod names;
mod reconciler;
mod settings;
mod skew;
mod status;
mod stores;
mod surroundings;
mod sweep;
mod target;
#[cfg(test)]
mod testing;
mod texts;
mod token;
mod triggers;
mod validate;

use hyperplane_planner::release::Shelf;
use hyperplane_runtime::{Manager, Watch};
use prometheus_client::metrics::counter::Counter;

pub use self::{
    access::manager_rules,
    explain::{Explanation, Manner, Skew, SkewOutcome, Subject, explain, skew as explain_skew},
    settings::{NodePoolSettings, ServedTemplates},
    validate::rules,
};
use self::{reconciler::NodePools, stores::Stores, texts::Texts};

/// The name of the controller, and of its field manager for ever.
pub const NAME: &str = "node-pool";

/// The newest revision by which configurations of nodes are made. A pool keeps the one that its nodes have until they roll
/// for another reason: a newer program alone rolls nothing.
pub const RENDER_REVISION: u32 = 1;

/// The metric of tokens that were replaced; dashboards of the reference know it by this name.
const ROTATIONS: &str = "ign_server_token_rotation";

/// Adds the operator to a manager.
pub fn register(manager: &mut Manager, settings: NodePoolSettings) {
    let stores = Stores::new(manager, settings.served);
    let rotations = Counter::default();
    manager.metrics().extend(|registry| {
        registry.register(
            ROTATIONS,
            "Tokens of machines that another took the place of",
            rotations.clone(),
        );
    });
    let reconciler = NodePools {
        stores: stores.clone(),
        settings,
        shelf: Shelf::default(),
        texts: Texts::default(),
        rotations,
    };
    let builder = manager.controller(NAME, Watch::all(), reconciler);
    triggers::add(builder, &stores).register();
}
