//! A Machine that goes: hooks, pods, volumes, instance and Node, in the order in which it is taken apart.

use hyperplane_api::constants::{conditions::machine as types, reasons};

use super::{Walk, deletion, kubectl, machine::Found};
use crate::{
    cause::Trouble,
    kind::Kind,
    object::{Condition, Object, Truth},
    rule,
    scene::Place,
};

/// How the machine says that a pod may not go.
const HELD: &[&str] = &["is held by PodDisruptionBudget", "cannot be evicted"];
/// How it speaks of a budget.
const BUDGETS: [&str; 2] = ["PodDisruptionBudget ", "PodDisruptionBudgets "];
/// After so long a provider that says nothing of an end is asked about.
const PATIENCE_SECONDS: i64 = 600;

/// What the end of a machine waits for.
pub(super) fn of_machine(walk: &mut Walk<'_>, machine: &Object) -> Found {
    let said = machine.condition(types::DELETING.as_str());
    let said = said.filter(|condition| condition.status == Truth::True);
    let Some(said) = said else {
        let mut held = deletion::held(machine);
        let trouble = held
            .pop()
            .unwrap_or_else(|| under_way(machine, "is about to be taken apart"));
        return Found::of(machine, "is being deleted", trouble);
    };
    let is = |reason: hyperplane_api::constants::Reason| said.reason == reason.as_str();
    let trouble = if is(reasons::DRAINING_NODE) {
        draining(walk, machine, &said)
    } else if is(reasons::WAITING_FOR_VOLUME_DETACH) {
        detaching(machine, &said)
    } else if is(reasons::WAITING_FOR_PRE_DRAIN_HOOK) || is(reasons::WAITING_FOR_PRE_TERMINATE_HOOK) {
        hooked(machine, &said)
    } else if is(reasons::WAITING_FOR_INFRASTRUCTURE_DELETION) {
        instance(walk, machine, &said)
    } else {
        under_way(machine, said.words())
    };
    let trouble = match trouble.since {
        Some(_) => trouble,
        None => trouble.since(said.since),
    };
    Found::of(machine, "is being deleted", trouble)
}

fn under_way(machine: &Object, what: &str) -> Trouble {
    let remedy = "Wait: hyperplane status -w shows how it goes on.";
    Trouble::new(machine.reference(), &rule::LEAVING, what, remedy).since(machine.deleted())
}

fn draining(walk: &mut Walk<'_>, machine: &Object, said: &Condition<'_>) -> Trouble {
    if !HELD.iter().any(|words| said.message.contains(words)) {
        return under_way(machine, said.words());
    }
    let remedy = format!(
        "In the hosted cluster, let the budget allow it: more replicas elsewhere, or a greater maxUnavailable. Or delete \
         the pod there; or give up after a time with spec.nodeDrainTimeout of the NodePool. {} says since when.",
        kubectl("describe", machine)
    );
    let trouble = Trouble::new(machine.reference(), &rule::DRAIN, said.words(), remedy);
    trouble
        .since(said.since)
        .fact("budget", budgets(walk, machine, said.message))
}

/// What the budgets that a message names allow, where the hosted cluster could be read.
fn budgets(walk: &mut Walk<'_>, machine: &Object, message: &str) -> Option<String> {
    let all = walk.list(Kind::PodDisruptionBudget, &Place::inside(machine.namespace()));
    let names: Vec<&str> = BUDGETS
        .iter()
        .filter_map(|word| Some(message.split_once(word)?.1))
        .collect();
    let names: Vec<&str> = names
        .iter()
        .filter_map(|rest| rest.split([';', ':', ' ']).next())
        .collect();
    let budget = all.iter().find(|budget| {
        let title = format!("{}/{}", budget.namespace(), budget.name());
        names.contains(&title.as_str())
    })?;
    let number = |field: &str| budget.number(&format!("/status/{field}"));
    let shown = |number: Option<i64>| number.map_or_else(|| "?".to_owned(), |number| number.to_string());
    Some(format!(
        "{}/{} allows {} disruptions: {} of {} pods are healthy, {} must be",
        budget.namespace(),
        budget.name(),
        shown(number("disruptionsAllowed")),
        shown(number("currentHealthy")),
        shown(number("expectedPods")),
        shown(number("desiredHealthy")),
    ))
}

fn detaching(machine: &Object, said: &Condition<'_>) -> Trouble {
    let remedy = "Look at the VolumeAttachments and at the driver of the volumes in the hosted cluster; or give up after \
                  a time with spec.nodeVolumeDetachTimeout of the NodePool.";
    Trouble::new(machine.reference(), &rule::DETACH, said.words(), remedy).since(said.since)
}

fn hooked(machine: &Object, said: &Condition<'_>) -> Trouble {
    let remedy = format!(
        "Whoever set the hook takes its annotation away when it is done: {} shows it.",
        kubectl("describe", machine)
    );
    Trouble::new(machine.reference(), &rule::HOOK, said.words(), remedy).since(said.since)
}

/// The instance of a machine that goes.
fn instance(walk: &mut Walk<'_>, machine: &Object, said: &Condition<'_>) -> Trouble {
    let instance = super::joining::instance_of(walk, machine);
    let lasted = said
        .since
        .map_or(0, |since| walk.scene.now.as_second() - since.as_second());
    match instance {
        Some(instance) if instance.is_leaving() && lasted >= PATIENCE_SECONDS => {
            let mut held = deletion::held(instance);
            held.pop().unwrap_or_else(|| deletion::of_instance(instance))
        }
        Some(instance) if instance.is_leaving() => deletion::of_instance(instance),
        _ if said.message.contains("somebody who can delete") => {
            let remedy =
                "Run the provider of the platform, or take the instance away by hand together with its finalizers.";
            Trouble::new(machine.reference(), &rule::MACHINES_HELD_UP, said.words(), remedy).since(said.since)
        }
        _ => under_way(machine, said.words()),
    }
}
