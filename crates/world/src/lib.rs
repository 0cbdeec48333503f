//! Operators, simulated world and embedded API server wired together in one process: what `hyperplane up` runs on real
//! time and what whole-system simulations run on virtual time. It decides nothing; it only puts parts together.

pub mod approver;
mod arguments;
mod definitions;
mod discovery;
mod embedded;
pub mod ignition;
mod images;
mod operators;
mod programs;
mod recovery;
mod setup;

pub use self::{
    discovery::{Surroundings, discover, surroundings},
    embedded::{BOOT_IMAGE, Embedded},
    images::images,
    operators::{MachineManager, OperatorSettings, Roles, manager},
    programs::{Entrance, Runner, provided},
    setup::{ACCOUNT, NAMESPACE, set_up},
};
