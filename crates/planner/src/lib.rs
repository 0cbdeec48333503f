//! What may stand beside what. Versions with the order of their distribution, releases, skew policies as tables, the
//! check of a state or of a move between two, and the certificate of a whole path.
//!
//! Everything here is a function from values to values: no I/O, no clock.

pub mod blocker;
pub mod catalogue;
pub mod certify;
pub mod check;
pub mod policy;
pub mod release;
pub mod state;
pub mod version;
