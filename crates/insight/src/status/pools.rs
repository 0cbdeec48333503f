//! The pools of a cluster, one row each.

use std::collections::BTreeMap;

use hyperplane_api::{
    constants::{ConditionType, annotations, conditions::node_pool as types},
    hypershift::paused::PauseState,
};
use jiff::Timestamp;
use serde::Serialize;

use crate::{
    expectation::{Standing, standing},
    explain::pools_of,
    kind::Kind,
    object::{Object, Truth},
    scene::{Place, Scene},
    walk::is_of_pool,
};

/// One pool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PoolRow {
    /// Its name.
    pub name: String,
    /// When it was asked for.
    pub created: Option<Timestamp>,
    /// The version that all of its nodes have reached.
    pub version: Option<String>,
    /// How it is, in one word.
    pub state: &'static str,
    /// How it is, in a sentence, where it is not as it should be.
    pub message: Option<String>,
    /// Since when.
    pub since: Option<Timestamp>,
    /// How many machines are wanted.
    pub desired: Option<i64>,
    /// How many there are.
    pub current: Option<i64>,
    /// How many are ready.
    pub ready: Option<i64>,
    /// How many are made from what is asked for now.
    pub updated: Option<i64>,
    /// How many machines have which version; none where they are not known.
    pub machines: Option<Vec<VersionCount>>,
}

/// Machines of one version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct VersionCount {
    /// The version that they were made with.
    pub version: String,
    /// How many.
    pub count: usize,
}

/// All pools; none where they are not known.
pub(super) fn of(scene: &Scene, cluster: &Object, namespace: &str) -> Option<Vec<PoolRow>> {
    scene
        .list(Kind::NodePool, &Place::namespace(cluster.namespace()))
        .ok()?;
    let mut pools = pools_of(scene, cluster.namespace(), cluster.name());
    pools.sort_by_key(|pool| pool.name());
    Some(pools.into_iter().map(|pool| row(scene, pool, namespace)).collect())
}

fn row(scene: &Scene, pool: &Object, namespace: &str) -> PoolRow {
    let place = Place::namespace(namespace);
    let deployments = scene.list(Kind::MachineDeployment, &place).unwrap_or_default();
    let deployment = deployments.iter().find(|found| is_of_pool(found, pool));
    let number = |pointer: &str| deployment.and_then(|found| found.number(pointer));
    let (state, message) = state(scene, pool);
    // Of hosts that join by themselves nobody knows to which pool they belong.
    let counted = || {
        pool.number("/status/replicas")
            .filter(|_| pool.text("/spec/platform/type") != Some("None"))
    };
    PoolRow {
        name: pool.name().to_owned(),
        created: pool.created(),
        version: pool.text("/status/version").map(str::to_owned),
        state,
        message,
        since: pool.deleted().or_else(|| since(pool)),
        desired: desired(pool, deployment),
        current: number("/status/replicas"),
        ready: number("/status/readyReplicas").or_else(counted),
        updated: number("/status/upToDateReplicas"),
        machines: histogram(scene, pool, &place),
    }
}

/// How many machines are to be there. Where the pool scales by itself, its deployment knows.
pub(super) fn desired(pool: &Object, deployment: Option<&Object>) -> Option<i64> {
    let live = deployment.and_then(|found| found.number("/spec/replicas"));
    pool.number("/spec/replicas")
        .or(live)
        .or_else(|| pool.number("/spec/autoScaling/min"))
}

fn since(pool: &Object) -> Option<Timestamp> {
    let ready = pool.condition(types::READY.as_str())?;
    (ready.status != Truth::True).then_some(ready.since)?
}

/// How a pool is, and where it is not well why.
fn state(scene: &Scene, pool: &Object) -> (&'static str, Option<String>) {
    let words = |type_: ConditionType| pool.condition(type_.as_str()).map(|found| found.words().to_owned());
    let is_moving = |type_: &ConditionType| {
        let found = pool.condition(type_.as_str());
        found.is_some_and(|found| standing(&found) == Standing::Moving)
    };
    let updates = [
        types::UPDATING_VERSION,
        types::UPDATING_CONFIG,
        types::UPDATING_PLATFORM_MACHINE_TEMPLATE,
    ];
    let moving = updates.iter().find(|type_| is_moving(type_));
    let pause = PauseState::of(pool.text("/spec/pausedUntil"), scene.now);
    match (pool.condition(types::READY.as_str()).map(|found| found.status), moving) {
        _ if pool.is_leaving() => ("Deleting", words(types::READY)),
        _ if pause.is_paused() => ("Paused", words(types::RECONCILIATION_ACTIVE)),
        (_, Some(type_)) => ("Updating", words(*type_)),
        (Some(Truth::True), None) => ("Ready", None),
        (Some(Truth::False), None) => ("NotReady", words(types::READY)),
        (Some(Truth::Unknown) | None, None) => ("Unknown", None),
    }
}

/// How many machines of a pool have which version, the oldest first.
fn histogram(scene: &Scene, pool: &Object, place: &Place) -> Option<Vec<VersionCount>> {
    let all = scene.list(Kind::Machine, place).ok()?;
    let mut counts: BTreeMap<(Vec<u64>, &str), usize> = BTreeMap::new();
    for machine in all.iter().filter(|machine| is_of_pool(machine, pool)) {
        let version = machine.annotation(annotations::RELEASE_VERSION.as_str());
        let version = version.or_else(|| machine.text("/spec/version")).unwrap_or("?");
        let version = version.trim_start_matches('v');
        *counts.entry((numbers(version), version)).or_default() += 1;
    }
    let counts = counts.into_iter().map(|((_, version), count)| VersionCount {
        version: version.to_owned(),
        count,
    });
    Some(counts.collect())
}

/// The numbers in a version, so that 1.9 comes before 1.10.
fn numbers(version: &str) -> Vec<u64> {
    let digits = version.split(|one: char| !one.is_ascii_digit());
    digits.filter_map(|digits| digits.parse().ok()).collect()
}
