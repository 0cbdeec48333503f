//! The story that `hyperplane up --demo` plays, on any management cluster, embedded or real: a hosted cluster with two pools
//! is made, its control plane is upgraded, then one pool; the other one is asked to go ahead of its control plane, and is
//! refused with the reason. Every claim about it is read again from the API.
//!
//! ```text
//!  Plan ─► story (steps as data) ─► act ─► API
//!                                           │ watches
//!  renderers ◄─ progress ◄─ play ◄─ scene ◄─┘
//!                            └─► read (requests of its own) ─► claims ─► Outcome
//! ```
//!
//! It is told a client of the management cluster, a way to hosted API servers, a clock, a speed and who takes its progress;
//! it knows neither operators nor what machines are made of.

mod act;
mod board;
mod claims;
mod clear;
pub mod fleet;
mod json;
mod manifests;
mod observe;
mod outcome;
mod picture;
mod plan;
mod play;
mod progress;
mod read;
mod record;
pub mod render;
mod scene;
mod speed;
mod story;
mod until;

pub use self::{
    board::{Board, ComponentState, Phase, PoolState},
    claims::ClaimReport,
    manifests::manifests,
    outcome::{ClusterRow, Ending, NodeRow, Outcome, PoolRow, StepReport, Tables},
    plan::{Availability, Plan, PlanError, PoolPlan, Version, Versions},
    play::{PATIENCE, Stage, play},
    progress::{Event, Moment, Sink, StepStart},
    speed::{Speed, SpeedError},
    story::StepId,
};
