//! From a pool and what was seen to everything that is to exist for it. Pure, one file per object; chance and time come in
//! as values.

mod deployment;
mod health_check;
mod template;
#[cfg(test)]
mod tests;
mod tokens;
pub(crate) mod user_data;

use std::{sync::Arc, time::Duration};

use hyperplane_api::{
    cluster_api::{machine_deployment::MachineDeployment, machine_health_check::MachineHealthCheck},
    hypershift::node_pool::NodePool,
};
use jiff::Timestamp;
use k8s_openapi::api::core::v1::Secret;
use kube::ResourceExt as _;

pub(crate) use self::{
    deployment::{is_rolled_out, replicas, with_pause},
    template::{TemplateObject, unused_agents, unused_kubevirt},
    tokens::{Active, data, reached},
};
use crate::{
    dereference::Seen,
    metadata::Owner,
    names,
    surroundings::Surroundings,
    target::{Roll, Target},
    token::{self, Outdated},
};

/// From what everything is built.
#[derive(Clone, Copy)]
pub(crate) struct Blueprint<'a> {
    pub(crate) pool: &'a NodePool,
    pub(crate) seen: &'a Seen,
    pub(crate) surroundings: &'a Surroundings<'a>,
    /// What machines become, or that they stay.
    pub(crate) roll: &'a Roll,
    /// The token of the configuration that machines are made with.
    pub(crate) active: &'a Active,
    pub(crate) now: Timestamp,
}

impl Blueprint<'_> {
    /// For whom everything is made.
    pub(crate) fn owner(&self) -> Owner<'_> {
        self.surroundings.owner(self.pool)
    }
}

/// Everything that is to exist, and what is not to any more.
#[derive(Clone, Debug, Default)]
pub(crate) struct Desired {
    pub(crate) template: Option<TemplateObject>,
    pub(crate) token: Secret,
    pub(crate) user_data: Secret,
    /// Tokens and user data of configurations that sets from before still make machines with.
    pub(crate) older: Vec<Secret>,
    pub(crate) deployment: Option<MachineDeployment>,
    pub(crate) health_check: Option<MachineHealthCheck>,
    /// Whether a health check that is there goes.
    pub(crate) drops_health_check: bool,
    /// Tokens that get an end.
    pub(crate) expiring: Vec<Secret>,
    /// Secrets that go.
    pub(crate) unused: Vec<Arc<Secret>>,
    /// When the clock, and nothing else, changes something.
    pub(crate) next: Option<Duration>,
}

/// Builds everything.
pub(crate) fn build(blueprint: &Blueprint<'_>) -> Desired {
    let target = blueprint.roll.target();
    let named = target.and_then(|target| target.template.as_ref());
    let owner = blueprint.owner();
    let mut desired = Desired {
        template: named.and_then(|named| template::build(&owner, named)),
        token: tokens::active(blueprint),
        user_data: user_data::build(blueprint),
        older: blueprint
            .active
            .older
            .iter()
            .flat_map(|older| {
                let user_data = user_data::build(&Blueprint {
                    active: older,
                    ..*blueprint
                });
                [tokens::older(blueprint, older), user_data]
            })
            .collect(),
        deployment: deployment::build(&owner, target, blueprint.seen.machines.deployment.as_deref()),
        ..Desired::default()
    };
    let wants_repair = blueprint.pool.spec.management.auto_repair;
    let is_reached = reached(blueprint.seen, &blueprint.active.hash);
    let is_there = blueprint.seen.machines.health_check.is_some();
    // Machines that cannot fetch their configuration are not cured by being replaced. Once there is a health check, a new
    // configuration that no machine has fetched yet does not take it away.
    if wants_repair && desired.deployment.is_some() && (is_reached || is_there) {
        desired.health_check = Some(health_check::build(&owner, blueprint.surroundings.cluster));
    }
    desired.drops_health_check = drops_health_check(blueprint.pool, blueprint.seen);
    retire(blueprint, &mut desired);
    desired
}

/// Whether a health check that is there goes: where nobody asks for repair, or where there are no machines to repair.
/// Machines that are not managed any more keep theirs, as they keep everything else.
pub(crate) fn drops_health_check(pool: &NodePool, seen: &Seen) -> bool {
    let is_needed = pool.spec.management.auto_repair && seen.machines.deployment.is_some();
    seen.machines.health_check.is_some() && !is_needed
}

/// The deployment of machines whose configuration cannot be cared for any more, because its token is not there: it is made as
/// it is, and its number follows the pool all the same.
pub(crate) fn held(owner: &Owner<'_>, seen: &Seen) -> Option<MachineDeployment> {
    deployment::build(owner, None, seen.machines.deployment.as_deref())
}

/// What becomes of Secrets of configurations that machines are not made with any more.
fn retire(blueprint: &Blueprint<'_>, desired: &mut Desired) {
    let active = std::iter::once(blueprint.active).chain(&blueprint.active.older);
    let used: Vec<String> = active
        .clone()
        .map(|one| names::token(blueprint.pool, &one.hash))
        .collect();
    let mut next = active.filter_map(|one| one.next).min();
    for live in &blueprint.seen.tokens {
        if used.contains(&live.name_any()) || live.metadata.deletion_timestamp.is_some() {
            continue;
        }
        let left = match token::outdated(live, blueprint.now) {
            Outdated::Expire(end) => {
                desired.expiring.push(tokens::expiring(blueprint, live, end));
                end.duration_since(blueprint.now).unsigned_abs()
            }
            Outdated::Wait(left) => left,
            Outdated::Remove => {
                desired.unused.push(live.clone());
                continue;
            }
        };
        next = Some(next.map_or(left, |next| next.min(left)));
    }
    desired.unused.extend(user_data::unused(blueprint));
    desired.next = next;
}

/// Whether a target is what all machines of a pool are made with by now.
pub(crate) fn is_complete(seen: &Seen, pool: &NodePool, target: &Target) -> bool {
    let deployment = seen.machines.deployment.as_deref();
    let Some(named) = &target.template else {
        // Nobody makes machines, so that nobody has to replace any. Those that were made before stay what they are.
        return deployment.is_none();
    };
    let user_data = names::user_data(pool, &target.hash);
    deployment.is_some_and(|deployment| is_rolled_out(deployment, &user_data, &named.name))
}
