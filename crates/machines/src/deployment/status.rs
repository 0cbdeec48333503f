//! The status of a deployment, as a function of what was seen.

use std::sync::Arc;

use hyperplane_api::{
    cluster_api::{
        machine::Machine,
        machine_deployment::{MachineDeploymentPhase, MachineDeploymentStatus},
    },
    constants::{conditions::machine_deployment as types, reasons},
};
use hyperplane_rollout::{Pace, Strategy};
use hyperplane_runtime::conditions::{Observation, merge};
use jiff::Timestamp;
use kube::core::Selector;

use super::{
    dereference::Seen,
    plan::{Moment, current, others, strategy},
};
use crate::{
    conditions::{self, either, observe},
    counts::{Counts, is_deleting, versions, wanted, written},
};

pub(super) fn status(seen: &Seen, now: Timestamp) -> MachineDeploymentStatus {
    let deployment = seen.deployment.as_ref();
    let desired = wanted(deployment.spec.replicas);
    let machines: Vec<Arc<Machine>> = seen
        .sets
        .iter()
        .flat_map(|seen| seen.machines.iter().cloned())
        .collect();
    let counts = Counts::of(&machines);
    let position = current(seen, Moment::of(deployment, now).passed);
    let outdated: u32 = others(seen, position)
        .map(|seen| Counts::of(&seen.machines).replicas)
        .sum();
    let mut observed = observe(&conditions::Seen {
        desired,
        machines: &machines,
        outdated,
        is_deleting: is_deleting(&deployment.metadata),
        pause: seen.pause,
        held_up: seen.sets.iter().find_map(|seen| conditions::held_up(&seen.set)),
    });
    observed.push(available(seen, desired, counts));
    observed.push(either(
        outdated > 0,
        types::ROLLING_OUT,
        (
            reasons::ROLLING_OUT,
            &format!("{outdated} of {} machines are to be replaced", counts.replicas),
        ),
        reasons::NOT_ROLLING_OUT,
    ));
    let before = deployment.status.as_ref();
    let before = before.map(|status| &*status.conditions).unwrap_or_default();
    let generation = deployment.metadata.generation;
    MachineDeploymentStatus {
        conditions: merge(before, observed, generation, now),
        selector: Selector::try_from(deployment.spec.selector.clone())
            .ok()
            .map(|selector| selector.to_string())
            .filter(|selector| !selector.is_empty()),
        replicas: Some(written(counts.replicas)),
        ready_replicas: Some(written(counts.ready)),
        available_replicas: Some(written(counts.available)),
        up_to_date_replicas: Some(written(counts.replicas - outdated)),
        phase: Some(phase(counts.replicas, desired)),
        versions: versions(&machines),
        observed_generation: generation,
        deprecated: None,
    }
}

/// Whether no more machines are missing than the strategy allows.
fn available(seen: &Seen, desired: u32, counts: Counts) -> Observation {
    let missing = match strategy(&seen.deployment, desired) {
        Ok(Strategy::RollingUpdate(Pace { unavailable, .. })) => unavailable,
        Ok(Strategy::OnDelete | Strategy::Held) | Err(_) => 0,
    };
    let least = desired.saturating_sub(missing);
    let type_ = types::AVAILABLE.as_str();
    if counts.available >= least {
        Observation::holds(type_, reasons::AVAILABLE.as_str(), "")
    } else {
        let message = format!(
            "{} machines are available, and at least {least} are needed",
            counts.available
        );
        Observation::fails(type_, reasons::NOT_AVAILABLE.as_str(), message)
    }
}

const fn phase(replicas: u32, desired: u32) -> MachineDeploymentPhase {
    if replicas < desired {
        MachineDeploymentPhase::ScalingUp
    } else if replicas > desired {
        MachineDeploymentPhase::ScalingDown
    } else {
        MachineDeploymentPhase::Running
    }
}
