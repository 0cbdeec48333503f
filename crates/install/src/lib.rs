//! What a management cluster is given, as manifests: our kinds, priorities, accounts with their rights, the roles of
//! people, and the operators themselves. Pure: from options to values, in the order in which they are to be written.
//! Who writes them, and what is left alone because somebody else wrote it, is not decided here.
//!
//! ```text
//!  Options ─► definitions    the kinds
//!          ─► furniture      what operators need: namespace, kinds, priorities, versions, accounts and their rights
//!          ─► manifests      the same, with the roles of people, the operators and what looks after them
//! ```

mod access;
mod definitions;
mod furniture;
mod labels;
mod metrics;
mod options;
mod personas;
mod program;
mod rules;
mod workload;

use serde_json::Value;

pub use self::{
    definitions::{Origin, definitions, origin},
    furniture::furniture,
    labels::operator_selector,
    options::{DEFAULT_IMAGE, Kinds, MachineManager, NAMESPACE, Options, OptionsError, PullPolicy, TenantOperators},
    personas::{RELEASE_READER, instance_admin, personas},
    program::Program,
    rules::united,
};

/// The service account of the manager.
pub const ACCOUNT: &str = Program::Operator.account();

/// Everything, in the order in which it is to be written: what others refer to comes before them.
pub fn manifests(options: &Options) -> Vec<Value> {
    let mut all = furniture(options);
    all.extend(personas(options));
    all.extend(metrics::manifests(options));
    all.extend(workload::manifests(options));
    all
}

#[cfg(test)]
mod tests;
