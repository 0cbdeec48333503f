//! Operators, simulated world and embedded API server wired together in one process: what `hyperplane up` runs on real
//! time and what whole-system simulations run on virtual time. It decides nothing; it only puts parts together.

pub mod approver;
mod arguments;
mod definitions;
mod discovery;
mod embedded;
pub mod ignition;
mod images;
mod installed;
mod operators;
mod programs;
mod recovery;
mod removal;
mod setup;

pub use self::{
    discovery::{Surroundings, discover, surroundings, surroundings_for},
    embedded::{BOOT_IMAGE, Embedded},
    images::images,
    operators::{OperatorSettings, Roles, manager},
    programs::{Entrance, Runner, provided},
    removal::remove,
    setup::{Outcome, Tell, furnish, install, set_up, until_available},
};
// Who runs operators says who makes machines, and as whom they come.
pub use hyperplane_install::{ACCOUNT, MachineManager, NAMESPACE};
