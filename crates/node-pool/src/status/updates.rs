//! Whether nodes are on their way to something else: another version, another configuration, another machine template.

use hyperplane_api::constants::{ConditionType, annotations, conditions::node_pool as types, reasons};
use hyperplane_runtime::conditions::Observation;

use super::{
    Report,
    conditions::{fails, holds, list, unknown},
};
use crate::names;

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

pub(super) fn observe(report: &Report<'_>, version: Option<&str>) -> Vec<Observation> {
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
    let is_reached = report.reached().is_some();
    let current = |key: hyperplane_api::constants::Annotation, wanted: &str| {
        let is_marked = key.of(report.pool) == Some(wanted);
        is_reached || is_marked
    };
    let wanted = target.release.version.number();
    let template = target.template.as_ref().map(|named| named.name.as_str());
    vec![
        told(report, all[0], version == Some(wanted), &format!("version {wanted}")),
        told(
            report,
            all[1],
            current(annotations::CURRENT_CONFIG, &target.config_hash),
            &format!("configuration {}", target.config_hash),
        ),
        told(
            report,
            all[2],
            template.is_none_or(|name| current(annotations::PLATFORM_MACHINE_TEMPLATE, name)),
            &format!("machine template {}", template.unwrap_or_default()),
        ),
    ]
}

/// A roll that is held updates nothing, and says so.
fn told(report: &Report<'_>, type_: ConditionType, is_there: bool, what: &str) -> Observation {
    if is_there {
        return fails(type_, reasons::AS_EXPECTED, "All nodes have it.");
    }
    if report.plan.may_roll {
        let message = format!("Nodes are on their way to {what}.");
        return holds(type_, reasons::AS_EXPECTED, message);
    }
    let verdict = report.plan.verdict.as_ref();
    let problems = verdict.map(|verdict| list(verdict.holds())).unwrap_or_default();
    if problems.is_empty() {
        let message = format!("Nodes do not go to {what}: SupportedVersionSkew says why.");
        fails(type_, reasons::UNSUPPORTED_SKEW, message)
    } else {
        let message = format!("Nodes do not go to {what}: {problems}");
        fails(type_, reasons::VALIDATION_FAILED, message)
    }
}
