//! The machines of a pool: MachineDeployment, MachineSets, and what their machines have in common.

use hyperplane_api::constants::{
    annotations,
    conditions::{machine_deployment, machine_health_check, machine_set},
};

use super::{
    Walk, few, leads,
    machine::{self, Found},
    pause,
};
use crate::{
    cause::{Trouble, gathered},
    explain::Link,
    kind::Kind,
    object::{Object, Reference, Truth},
    rule,
    scene::Place,
};

/// What stands before the reason why machines are neither made nor deleted.
const HELD_UP: &str = "; held up: ";

/// Whether an object was made for a pool.
pub(crate) fn is_of_pool(object: &Object, pool: &Object) -> bool {
    let title = format!("{}/{}", pool.namespace(), pool.name());
    object.annotation(annotations::NODE_POOL.as_str()) == Some(title.as_str())
}

/// The way from a pool through its machines.
pub(super) fn of_pool(walk: &mut Walk<'_>, pool: &Object, place: &Place) -> Vec<Link> {
    let deployments = walk.list(Kind::MachineDeployment, place);
    let mine = deployments.iter().find(|found| is_of_pool(found, pool));
    let all = walk.list(Kind::Machine, place);
    let machines: Vec<&Object> = all.iter().filter(|found| is_of_pool(found, pool)).collect();
    let found: Vec<Found> = machines
        .iter()
        .filter_map(|machine| machine::find(walk, Some(pool), machine))
        .collect();
    let Some(deployment) = mine else {
        return links(walk, &found);
    };
    let before = walk.found();
    let paused = pause::of_machines(walk, Some(pool), deployment);
    let mut because: Vec<Link> = walk.settle_all(paused);
    because.extend(sets(walk, deployment, found, place));
    because.extend(repair(walk, pool, place));
    if walk.found() == before {
        let rest = on_its_way(pool, deployment);
        because.extend(walk.settle_all(rest));
    }
    if because.is_empty() {
        return Vec::new();
    }
    vec![leads(deployment, counted(deployment), because)]
}

/// Machines that are left where nothing else is.
pub(super) fn leaving(walk: &mut Walk<'_>, place: &Place) -> Vec<Link> {
    let all = walk.list(Kind::Machine, place);
    let going = all.iter().filter(|machine| machine.is_leaving());
    let found: Vec<Found> = going.filter_map(|machine| machine::find(walk, None, machine)).collect();
    links(walk, &found)
}

fn counted(deployment: &Object) -> String {
    let number = |pointer: &str| {
        deployment
            .number(pointer)
            .map_or_else(|| "?".to_owned(), |number| number.to_string())
    };
    format!(
        "{} of {} machines are ready, {} are up to date",
        number("/status/readyReplicas"),
        number("/spec/replicas"),
        number("/status/upToDateReplicas"),
    )
}

/// Sets with the troubles of their machines. Machines of no set that is known hang on the deployment itself.
fn sets(walk: &mut Walk<'_>, deployment: &Object, found: Vec<Found>, place: &Place) -> Vec<Link> {
    let all = walk.list(Kind::MachineSet, place);
    let mine: Vec<&Object> = all
        .iter()
        .filter(|set| set.is_owned_by("MachineDeployment", deployment.name()))
        .collect();
    let mut rest = found;
    let mut result = Vec::new();
    for set in mine {
        let (of_set, others): (Vec<Found>, Vec<Found>) = rest
            .into_iter()
            .partition(|found| found.set.as_deref() == Some(set.name()));
        rest = others;
        let mut because: Vec<Link> = walk.settle_all(held_up(set));
        because.extend(links(walk, &of_set));
        if !because.is_empty() {
            let ready = set.number("/status/readyReplicas").unwrap_or(0);
            let has = set.number("/status/replicas").unwrap_or(0);
            result.push(leads(set, format!("{ready} of {has} machines are ready"), because));
        }
    }
    result.extend(links(walk, &rest));
    result
}

/// What a set says of why it neither makes nor deletes machines.
fn held_up(set: &Object) -> Option<Trouble> {
    let scaling = [machine_set::SCALING_UP, machine_set::SCALING_DOWN];
    let mut said = scaling.iter().filter_map(|type_| set.condition(type_.as_str()));
    let (why, since) = said.find_map(|said| Some((said.message.split_once(HELD_UP)?.1, said.since)))?;
    let remedy = "Let the management cluster have what the message names; it goes on by itself then.";
    Some(Trouble::new(set.reference(), &rule::MACHINES_HELD_UP, why, remedy).since(since))
}

/// Machines with their troubles; what several have is told once.
fn links(walk: &mut Walk<'_>, found: &[Found]) -> Vec<Link> {
    let groups = gathered(found.iter().map(|found| Trouble {
        // Troubles of one kind count as the same for machines, whatever they end at.
        object: found.machine.clone(),
        key: key(found),
        ..found.trouble.clone()
    }));
    let mut result = Vec::new();
    for (first, others) in groups {
        let first = found.iter().find(|found| found.machine == first.object);
        let ends = ends(found, &others);
        result.extend(first.map(|first| link(walk, first, &others, &ends)));
    }
    result
}

/// What is the same for machines of different names.
fn key(found: &Found) -> String {
    let mut key = found.trouble.key.replace(&found.trouble.object.name, "*");
    if !found.machine.name.is_empty() {
        key = key.replace(&found.machine.name, "*");
    }
    key
}

/// Where the ways of other machines end.
fn ends(found: &[Found], others: &[Reference]) -> Vec<Reference> {
    let mine = found.iter().filter(|found| others.contains(&found.machine));
    mine.map(|found| found.trouble.object.clone()).collect()
}

fn link(walk: &mut Walk<'_>, found: &Found, others: &[Reference], ends: &[Reference]) -> Link {
    let mut end = walk.settle(&found.trouble, ends);
    let names: Vec<&str> = others.iter().map(|other| other.name.as_str()).collect();
    let also = (!names.is_empty()).then(|| few(&names));
    if found.trouble.object == found.machine {
        end.evidence.extend(also.map(|names| ("also", names)));
        return end;
    }
    let mut evidence = std::collections::BTreeMap::new();
    evidence.extend(also.map(|names| ("also", names)));
    Link {
        object: found.machine.clone(),
        what: found.words.clone(),
        since: found.since,
        evidence,
        cause: None,
        because: vec![end],
    }
}

/// That unhealthy machines are not replaced.
fn repair(walk: &mut Walk<'_>, pool: &Object, place: &Place) -> Vec<Link> {
    let checks = walk.list(Kind::MachineHealthCheck, place);
    let mine = checks.iter().filter(|check| is_of_pool(check, pool));
    let refused = mine.filter_map(|check| {
        let allowed = check.condition(machine_health_check::REMEDIATION_ALLOWED.as_str())?;
        let is_refused = allowed.status == Truth::False;
        let remedy = "Look for what so many machines have in common: it is rarely the machines. They are replaced again \
                      once few enough are unhealthy.";
        let what = format!("replaces no machine: {}", allowed.words());
        let trouble = Trouble::new(check.reference(), &rule::REPAIR, what, remedy).since(allowed.since);
        is_refused.then_some(trouble)
    });
    walk.settle_all(refused.collect::<Vec<_>>())
}

/// What is under way where nothing is wrong.
fn on_its_way(pool: &Object, deployment: &Object) -> Option<Trouble> {
    let said = |type_: hyperplane_api::constants::ConditionType| {
        deployment
            .condition(type_.as_str())
            .filter(|found| found.status == Truth::True)
    };
    let is_on_delete = pool.text("/spec/management/replace/strategy") == Some("OnDelete");
    if let Some(rolling) = said(machine_deployment::ROLLING_OUT) {
        let (rule, remedy) = if is_on_delete {
            let remedy = "The strategy is OnDelete: delete Machines, and they come back as the pool asks for.";
            (&rule::USER, remedy)
        } else {
            (
                &rule::ROLLING,
                "Wait: machines are exchanged as spec.management of the NodePool says.",
            )
        };
        return Some(Trouble::new(deployment.reference(), rule, rolling.words(), remedy).since(rolling.since));
    }
    let scaling = said(machine_deployment::SCALING_UP).or_else(|| said(machine_deployment::SCALING_DOWN))?;
    let what = format!("goes {}", scaling.words());
    let remedy = "Wait: machines are made and deleted one after the other.";
    Some(Trouble::new(deployment.reference(), &rule::STARTING, what, remedy).since(scaling.since))
}
