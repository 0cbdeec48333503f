//! What is reported of a pool, computed from what was seen by one function. Nothing in it changes by itself: at rest it is
//! the same again and again.

mod addresses;
mod conditions;
mod hosts;
mod machines;
mod merging;
mod nodes;
#[cfg(test)]
mod tests;
mod updates;

use hyperplane_api::hypershift::node_pool::{
    NodePool,
    status::{KubeVirtNodePoolStatus, NodePoolPlatformStatus, NodePoolStatus},
};
use hyperplane_api::hypershift::paused::PauseState;
use hyperplane_runtime::Failure;
use jiff::Timestamp;

pub(crate) use self::machines::drains;
use crate::{
    build,
    dereference::{Machines, Seen},
    reconciler::Plan,
    target::Target,
};

/// From what the status is computed.
#[derive(Clone, Copy)]
pub(crate) struct Report<'a> {
    pub(crate) pool: &'a NodePool,
    pub(crate) seen: &'a Seen,
    pub(crate) plan: &'a Plan,
    pub(crate) pause: &'a PauseState,
    /// What ended the run, if something did.
    pub(crate) failure: Option<&'a Failure>,
    pub(crate) now: Timestamp,
}

impl Report<'_> {
    /// The target, where all machines have reached it.
    fn reached(&self) -> Option<&Target> {
        let target = self.plan.target.as_ref().filter(|_| self.plan.may_roll)?;
        build::is_complete(self.seen, self.pool, target).then_some(target)
    }
}

/// The status of a pool.
pub(crate) fn status(report: &Report<'_>) -> NodePoolStatus {
    let before = report.pool.status.clone().unwrap_or_default();
    let reached = report.reached();
    let version = reached.map(|target| target.release.version.number().to_owned());
    let version = version.or(before.version);
    let observed = conditions::observe(report);
    let generation = report.pool.metadata.generation;
    let machines = || report.seen.machines.all.iter().map(AsRef::as_ref);
    NodePoolStatus {
        // How many hosts of a pool have joined by themselves is not known, and not none.
        replicas: (!machines::joins_by_itself(report)).then(|| available(&report.seen.machines)),
        version,
        nodes_info: nodes::info(machines()),
        os_image_stream: nodes::os_image_stream(machines()).or(before.os_image_stream),
        platform: platform(report).or(before.platform),
        conditions: merging::merge(&before.conditions, observed, generation, report.now),
    }
}

/// Where machines of a pool are made, where that is another cluster. What was told once stays: the schema lets nobody change
/// it, and its end must find them.
fn platform(report: &Report<'_>) -> Option<NodePoolPlatformStatus> {
    let told = report.pool.status.as_ref().and_then(|status| status.platform.clone());
    let kubevirt = told.unwrap_or_default().kubevirt.unwrap_or_default();
    let settings = report.seen.cluster.as_ref()?.spec.platform.kubevirt.as_ref()?;
    let credentials = kubevirt.credentials.or_else(|| settings.credentials.clone())?;
    Some(NodePoolPlatformStatus {
        kubevirt: Some(KubeVirtNodePoolStatus {
            credentials: Some(credentials),
            ..kubevirt
        }),
    })
}

/// How many machines can be used.
fn available(machines: &Machines) -> i32 {
    let status = machines.deployment.as_ref().and_then(|live| live.status.as_ref());
    status.and_then(|status| status.available_replicas).unwrap_or(0)
}

/// The status of a pool that goes: what its end waits for, and what is left of its machines. The rest stays as it was.
pub(crate) fn deleting(pool: &NodePool, remains: &Machines, waiting: &Failure, now: Timestamp) -> NodePoolStatus {
    let mut status = pool.status.clone().unwrap_or_default();
    status.replicas = Some(available(remains));
    status.nodes_info = nodes::info(remains.all.iter().map(AsRef::as_ref));
    let mut observed = machines::together(remains, 0);
    observed.push(conditions::going(waiting.report()));
    for observation in observed {
        merging::set(&mut status.conditions, observation, pool.metadata.generation, now);
    }
    status
}
