//! How machines are replaced, as functions from values to values: what makes a machine outdated (`inputs`, `explain`),
//! how many may be exchanged at a time (`pace`, `step`), which go first (`victims`), and which are unhealthy
//! (`health`). Who reads and writes machines is not known here; time is a parameter.
//!
//! ```text
//!  RolloutInputs ──► rollout hash ──► another set of machines
//!                                            │
//!  Rollout (desired, pace, sets) ──► step ──► replicas of each set ──► victims ──► machines that go
//!  Policy, Targets, now ──► judge ──► machines that are to be replaced
//! ```

mod explain;
mod hash;
pub mod health;
mod inputs;
mod names;
mod pace;
mod step;
mod victims;

pub use self::{
    explain::{Change, explain},
    hash::{fingerprint, short},
    inputs::{ConfigDocument, RolloutInputs},
    names::joined,
    pace::{InvalidAmount, Pace, Rounding, amount},
    step::{Rollout, SetState, Step, Strategy, step},
    victims::{Candidate, Order, victims},
};
