//! The server as its clients see it, in-process and on virtual time.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails where it stands")]

mod basics;
mod certificates;
mod definitions;
mod events;
mod garbage;
mod logs;
mod namespaces;
mod places;
mod roles;
mod simulation;
mod simulation_actors;
mod simulation_checks;
mod simulation_ground;
mod simulation_rest;
mod simulation_watchers;
mod support;
mod watching;
