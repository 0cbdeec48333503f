//! One Machine that is not ready: at which step it is, and what that waits for.

use hyperplane_api::constants::{conditions::machine as types, reasons};
use jiff::Timestamp;

use super::{Walk, drain, joining, kubectl, pause};
use crate::{
    cause::Trouble,
    object::{Object, Reference, Truth},
    rule,
};

/// What was found at a machine.
#[derive(Clone, Debug)]
pub(super) struct Found {
    /// Which machine.
    pub(super) machine: Reference,
    /// The name of its set.
    pub(super) set: Option<String>,
    /// What is the matter with the machine itself.
    pub(super) words: String,
    /// Since when.
    pub(super) since: Option<Timestamp>,
    /// Where the way ends.
    pub(super) trouble: Trouble,
}

impl Found {
    pub(super) fn of(machine: &Object, words: &str, trouble: Trouble) -> Self {
        let owners = machine.items("/metadata/ownerReferences");
        let mut sets = owners.filter(|owner| owner["kind"] == "MachineSet");
        let set = sets.next().and_then(|owner| owner["name"].as_str());
        Self {
            machine: machine.reference(),
            set: set.map(str::to_owned),
            words: words.to_owned(),
            since: machine.deleted().or_else(|| machine.created()),
            trouble,
        }
    }
}

/// What is the matter with a machine, if something is.
pub(super) fn find(walk: &mut Walk<'_>, pool: Option<&Object>, machine: &Object) -> Option<Found> {
    if let Some(paused) = pause::of_machines(walk, pool, machine) {
        return Some(Found::of(machine, "is left alone", paused));
    }
    if machine.is_leaving() {
        return Some(drain::of_machine(walk, machine));
    }
    if machine.conditions().next().is_none() {
        let remedy = "Wait: its controller is about to look at it.";
        let trouble = Trouble::new(
            machine.reference(),
            &rule::STARTING,
            "was made, and has reported nothing yet",
            remedy,
        );
        return Some(Found::of(machine, "is new", trouble.since(machine.created())));
    }
    if machine.says(types::READY.as_str(), Truth::True) {
        return None;
    }
    let phase = machine.text("/status/phase").unwrap_or("Unknown");
    let trouble = step(walk, pool, machine)?;
    Some(Found::of(machine, &format!("is not ready (phase {phase})"), trouble))
}

/// The first step that has not been made.
fn step(walk: &mut Walk<'_>, pool: Option<&Object>, machine: &Object) -> Option<Trouble> {
    let bad = |type_: &str| machine.condition(type_).filter(|found| found.status != Truth::True);
    if let Some(bootstrap) = bad(types::BOOTSTRAP_CONFIG_READY.as_str()) {
        let remedy = format!("Do what the message asks for: {}.", kubectl("describe", machine));
        let trouble = Trouble::new(machine.reference(), &rule::MISSING_INPUT, bootstrap.words(), remedy);
        return Some(trouble.since(bootstrap.since));
    }
    if bad(types::INFRASTRUCTURE_READY.as_str()).is_some() {
        return Some(joining::instance(walk, machine));
    }
    if let Some(healthy) = bad(types::NODE_HEALTHY.as_str()) {
        return Some(without_good_node(walk, pool, machine, &healthy));
    }
    if let Some(check) = bad(types::HEALTH_CHECK_SUCCEEDED.as_str()) {
        let remedy = "Wait: its owner replaces it, unless too many are unhealthy.";
        let what = format!("is unhealthy: {}", check.words());
        return Some(Trouble::new(machine.reference(), &rule::ROLLING, what, remedy).since(check.since));
    }
    let ready = machine.condition(types::READY.as_str())?;
    let remedy = format!("Look at {}.", kubectl("describe", machine));
    Some(Trouble::new(machine.reference(), &rule::DEGRADED, ready.words(), remedy).since(ready.since))
}

fn without_good_node(
    walk: &mut Walk<'_>,
    pool: Option<&Object>,
    machine: &Object,
    healthy: &crate::object::Condition<'_>,
) -> Trouble {
    let is = |reason: hyperplane_api::constants::Reason| healthy.reason == reason.as_str();
    if is(reasons::CONNECTION_DOWN) {
        let remedy = "Look at the control plane first: hyperplane explain cluster.";
        return Trouble::new(machine.reference(), &rule::UNREACHABLE, healthy.words(), remedy).since(healthy.since);
    }
    if is(reasons::NODE_DELETED) {
        let remedy =
            "A health check replaces the machine where the pool asks for repair; delete the Machine otherwise.";
        return Trouble::new(machine.reference(), &rule::NODE, healthy.words(), remedy).since(healthy.since);
    }
    if machine.at("/status/nodeRef").is_none() || is(reasons::NODE_DOES_NOT_EXIST) {
        return joining::join(walk, pool, machine);
    }
    joining::node(walk, machine, healthy.words())
}
