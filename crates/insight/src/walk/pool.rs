//! A NodePool: what it says of itself, what its machines are configured with, then its machines.

use hyperplane_api::constants::{conditions::node_pool as types, reasons};

use super::{Walk, cluster, deletion, judgements, kubectl, leads, machines, pause};
use crate::{
    cause::Trouble,
    expectation::{Standing, standing},
    explain::{Link, namespace_of_pool},
    kind::Kind,
    object::{Condition, Object, Truth},
    rule,
    scene::Place,
};

/// What a pool waits for; nothing where it does not wait, or was walked already.
pub(crate) fn pool(walk: &mut Walk<'_>, pool: &Object) -> Option<Link> {
    if !walk.enters(pool) {
        return None;
    }
    walk.list(Kind::NodePool, &Place::namespace(pool.namespace()));
    let before = walk.found();
    let paused = pause::trouble(walk, pool);
    let mut because = walk.settle_all(paused);
    if pool.is_leaving() {
        because.extend(deletion::of_pool(walk, pool));
        return Some(headed(pool, because));
    }
    let judged = judgements::of_pool(walk, pool);
    because.extend(walk.settle_all(judged));
    because.extend(payload(walk, pool));
    because.extend(machines::of_pool(
        walk,
        pool,
        &Place::namespace(&namespace_of_pool(pool)),
    ));
    if walk.found() == before {
        because.extend(of_cluster(walk, pool));
    }
    if because.is_empty() {
        let left = leftover(walk, pool);
        because.extend(walk.settle_all(left));
    }
    (!because.is_empty()).then(|| headed(pool, because))
}

fn headed(pool: &Object, because: Vec<Link>) -> Link {
    let ready = pool.condition(types::READY.as_str());
    let what = match ready {
        _ if pool.is_leaving() => "is being deleted".to_owned(),
        Some(ready) if ready.status == Truth::True => "is ready, and not as it is asked for".to_owned(),
        Some(_) => "is not ready".to_owned(),
        None => "has not said whether it is ready".to_owned(),
    };
    let since = ready
        .filter(|ready| ready.status != Truth::True)
        .and_then(|ready| ready.since);
    Link {
        since: pool.deleted().or(since),
        ..leads(pool, what, because)
    }
}

/// A configuration that the ignition server cannot make. That it has not made it yet follows from something else.
fn payload(walk: &mut Walk<'_>, pool: &Object) -> Vec<Link> {
    let Some(condition) = pool.condition(types::VALID_GENERATED_PAYLOAD.as_str()) else {
        return Vec::new();
    };
    let is_missing = condition.reason == reasons::NOT_FOUND.as_str();
    if standing(&condition) != Standing::Bad || is_missing {
        return Vec::new();
    }
    let remedy = "Correct the ConfigMaps that spec.config names, as the message says.";
    let what = format!(
        "the configuration of its machines cannot be made: {}",
        condition.words()
    );
    let trouble = Trouble::new(pool.reference(), &rule::INVALID_CONFIGURATION, what, remedy);
    let trouble = trouble.since(condition.since).part(condition.type_);
    walk.settle_all([trouble])
}

/// The cluster of a pool that waits for it, or that is not there.
fn of_cluster(walk: &mut Walk<'_>, pool: &Object) -> Vec<Link> {
    if !is_waiting(pool) {
        return Vec::new();
    }
    let name = pool.text("/spec/clusterName").unwrap_or_default();
    let place = Place::namespace(pool.namespace());
    let clusters = walk.list(Kind::HostedCluster, &place);
    if let Some(found) = clusters.iter().find(|found| found.name() == name) {
        return cluster(walk, found).into_iter().collect();
    }
    let trouble = if walk.knows(Kind::HostedCluster, &place) {
        let what = format!("its cluster {name} does not exist");
        let remedy = format!(
            "Create HostedCluster {name} in namespace {}, or delete the pool.",
            pool.namespace()
        );
        Some(Trouble::new(pool.reference(), &rule::MISSING_INPUT, what, remedy).since(pool.created()))
    } else {
        walk.unread_trouble(pool, Kind::HostedCluster, &place)
    };
    walk.settle_all(trouble)
}

/// Whether a pool is not ready, or has not said.
fn is_waiting(pool: &Object) -> bool {
    !pool.says(types::READY.as_str(), Truth::True)
}

/// What a pool says that nothing below explained.
fn leftover(walk: &Walk<'_>, pool: &Object) -> Option<Trouble> {
    let moving = [
        types::READY,
        types::UPDATING_VERSION,
        types::UPDATING_CONFIG,
        types::UPDATING_PLATFORM_MACHINE_TEMPLATE,
    ];
    let said: Vec<Condition<'_>> = moving
        .iter()
        .filter_map(|type_| pool.condition(type_.as_str()))
        .collect();
    let look = format!("Look again in a moment, and at {}.", kubectl("describe", pool));
    let Some(condition) = said.iter().find(|said| standing(said) != Standing::Good) else {
        let is_silent = pool.conditions().next().is_none();
        return is_silent.then(|| {
            let what = "has no conditions yet: no operator has looked at it";
            Trouble::new(pool.reference(), &rule::UNREPORTED, what, look).since(pool.created())
        });
    };
    // That it waits for its cluster, whose causes are told, is no cause of its own.
    if walk.found() > 0 && condition.reason == reasons::WAITING_FOR_AVAILABLE.as_str() {
        return None;
    }
    let rule = match standing(condition) {
        Standing::Unknown => &rule::UNREPORTED,
        Standing::Moving => &rule::ROLLING,
        Standing::Good | Standing::Bad if condition.reason == reasons::RECONCILE_ERROR.as_str() => &rule::FAILED,
        Standing::Good | Standing::Bad if condition.reason == reasons::WAITING_FOR_AVAILABLE.as_str() => {
            &rule::STARTING
        }
        Standing::Good | Standing::Bad => &rule::DEGRADED,
    };
    Some(Trouble::new(pool.reference(), rule, condition.words(), look).since(condition.since))
}
