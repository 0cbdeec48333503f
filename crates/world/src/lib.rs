//! Operators, simulated world and embedded API server wired together in one process: what `hyperplane up` runs on real
//! time and what whole-system simulations run on virtual time. It decides nothing; it only puts parts together.

mod arguments;
mod discovery;
mod embedded;
mod images;
mod operators;
mod recovery;
mod setup;

pub use self::{
    discovery::{Surroundings, discover, surroundings},
    embedded::Embedded,
    images::images,
    operators::{OperatorSettings, Roles, manager},
    setup::{ACCOUNT, NAMESPACE, set_up},
};
