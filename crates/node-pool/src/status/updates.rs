//! Whether nodes are on their way to something else: another version, another configuration, another machine template. What
//! machines are made from tells it, not what was reached once: a roll that is taken back half way is one as well.

use hyperplane_api::{
    cluster_api::{machine::MachineSpec, machine_deployment::MachineDeployment, machine_set::MachineSet},
    constants::{ConditionType, Reason, conditions::node_pool as types, reasons},
    hypershift::node_pool::management::UpgradeStrategy,
};
use hyperplane_rollout::{RolloutInputs, short};
use hyperplane_runtime::conditions::Observation;

use super::{
    Report,
    conditions::{fails, holds, list, unknown},
    machines::{reason_of, sentence},
};
use crate::{names, target::Target};

/// How far nodes are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Progress {
    /// All of them have it.
    There,
    /// Machines are made with it, and there are others still.
    Moving,
    /// Machines are made with something else.
    Elsewhere,
}

/// The hash of the configuration that machines are made with: of the target, or where that is held, of what is there.
pub(super) fn active_hash(report: &Report<'_>) -> Option<String> {
    let target = report.plan.target.as_ref().filter(|_| report.plan.may_roll);
    if let Some(target) = target {
        return Some(target.hash.clone());
    }
    let deployment = report.seen.machines.deployment.as_ref()?;
    let name = deployment.spec.template.spec.bootstrap.data_secret_name.as_deref()?;
    names::hash_of(name).map(str::to_owned)
}

pub(super) fn observe(report: &Report<'_>) -> Vec<Observation> {
    let all = [
        types::UPDATING_VERSION,
        types::UPDATING_CONFIG,
        types::UPDATING_PLATFORM_MACHINE_TEMPLATE,
    ];
    let Some(target) = &report.plan.target else {
        return all
            .map(|type_| unknown(type_, "What nodes are to become cannot be said."))
            .into();
    };
    let wanted = target.release.version.number();
    let template = target.template.as_ref().map(|named| named.name.as_str());
    let version = progress(report, target, |spec| spec.version.as_deref() == Some(wanted));
    let config = progress(report, target, |spec| has_config(target, spec));
    let machines = progress(report, target, |spec| {
        template.is_none_or(|name| spec.infrastructure_ref.name.as_str() == name)
    });
    vec![
        told(report, all[0], version, &format!("version {wanted}")),
        told(report, all[1], config, &format!("configuration {}", target.config_hash)),
        told(
            report,
            all[2],
            machines,
            &format!("machine template {}", template.unwrap_or_default()),
        ),
    ]
}

/// How far nodes are with what some machines have.
fn progress(report: &Report<'_>, target: &Target, has: impl Fn(&MachineSpec) -> bool) -> Progress {
    let machines = &report.seen.machines;
    let Some(deployment) = machines.deployment.as_deref() else {
        // Where nobody makes machines, hosts are what they are.
        let is_made_by_nobody = target.template.is_none() && report.plan.may_roll;
        return if is_made_by_nobody {
            Progress::There
        } else {
            Progress::Elsewhere
        };
    };
    if !has(&deployment.spec.template.spec) {
        return Progress::Elsewhere;
    }
    let mut sets = machines.sets.iter().filter(|set| is_populated(set)).peekable();
    let is_everywhere = sets.peek().is_some() && sets.all(|set| has(&set.spec.template.spec));
    if is_everywhere || is_up_to_date(deployment) {
        Progress::There
    } else {
        Progress::Moving
    }
}

fn is_populated(set: &MachineSet) -> bool {
    let has = set.status.as_ref().and_then(|status| status.replicas).unwrap_or(0);
    set.spec.replicas != Some(0) || has > 0
}

/// Whether all machines of a deployment are made from what it says now. One that is to have machines and has none is on its
/// way.
fn is_up_to_date(deployment: &MachineDeployment) -> bool {
    let Some(status) = &deployment.status else {
        return false;
    };
    let (all, new) = (status.replicas.unwrap_or(0), status.up_to_date_replicas.unwrap_or(0));
    let is_seen = status.observed_generation >= deployment.metadata.generation;
    is_seen && all == new && (all > 0 || deployment.spec.replicas == Some(0))
}

/// Whether machines are configured as they are to be, of whichever version they are.
fn has_config(target: &Target, spec: &MachineSpec) -> bool {
    let hash = spec.bootstrap.data_secret_name.as_deref().and_then(names::hash_of);
    if hash == Some(target.hash.as_str()) {
        return true;
    }
    let inputs = RolloutInputs {
        release_version: spec.version.clone().unwrap_or_default(),
        ..target.inputs.clone()
    };
    hash == Some(short(&inputs.rollout_hash()))
}

/// A roll that is held updates nothing, and says so.
fn told(report: &Report<'_>, type_: ConditionType, progress: Progress, what: &str) -> Observation {
    let held = match progress {
        Progress::There => return fails(type_, reasons::AS_EXPECTED, "All nodes have it."),
        Progress::Moving => paused(report),
        Progress::Elsewhere => held(report),
    };
    if let Some((reason, why)) = held {
        return fails(type_, reason, format!("Nodes do not go to {what}: {why}."));
    }
    let replace = &report.pool.spec.management.replace;
    let mut message = if replace.strategy == Some(UpgradeStrategy::OnDelete) {
        format!("Nodes that users delete come back with {what}.")
    } else {
        format!("Nodes are on their way to {what}.")
    };
    if let Some(failure) = report.failure {
        message = format!("{message} {}.", sentence(failure));
    }
    holds(type_, reasons::AS_EXPECTED, message)
}

fn paused(report: &Report<'_>) -> Option<(Reason, String)> {
    let is_paused = report.pause.is_paused();
    is_paused.then(|| (reasons::RECONCILIATION_PAUSED, "the pool is paused".to_owned()))
}

/// Why machines are not made with what they are to be made with.
fn held(report: &Report<'_>) -> Option<(Reason, String)> {
    let verdict = report.plan.verdict.as_ref();
    let problems = verdict.map(|verdict| list(verdict.problems())).unwrap_or_default();
    if !problems.is_empty() {
        return Some((reasons::VALIDATION_FAILED, problems));
    }
    if verdict.is_some_and(|verdict| !verdict.is_sound()) {
        return Some((reasons::NOT_SUPPORTED, "UpdateManagementEnabled says why".to_owned()));
    }
    if !report.plan.may_roll {
        return Some((reasons::UNSUPPORTED_SKEW, "SupportedVersionSkew says why".to_owned()));
    }
    if report
        .plan
        .target
        .as_ref()
        .is_some_and(|target| target.template.is_none())
    {
        return Some((
            reasons::AS_EXPECTED,
            "machines of the cluster are not managed".to_owned(),
        ));
    }
    let failed = report.failure.map(|failure| (reason_of(failure), failure.report()));
    paused(report).or(failed)
}
