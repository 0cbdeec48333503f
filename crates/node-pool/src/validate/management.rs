//! How nodes are replaced and how many there are: that the strategy is whole, and that its numbers are numbers.

use hyperplane_api::{
    common::{GoDuration, IntOrString},
    hypershift::{
        node_pool::management::{RollingUpdate, UpgradeStrategy, UpgradeType},
        platform_type::PlatformType,
    },
};
use hyperplane_platforms::{Problem, Rule};
use hyperplane_rollout::{Rounding, amount};

use super::{Case, Verdict};

const STRATEGY: Rule = Rule {
    name: "pool-strategy",
    asks: "Replace needs the strategy RollingUpdate or OnDelete",
};
const ROLLING_UPDATE: Rule = Rule {
    name: "pool-rolling-update",
    asks: "the strategy RollingUpdate needs rollingUpdate",
};
const PACE: Rule = Rule {
    name: "pool-pace",
    asks: "maxSurge and maxUnavailable are numbers or percentages",
};
const TIMEOUT: Rule = Rule {
    name: "pool-timeout",
    asks: "timeouts are durations such as 20m",
};
const REPLICAS: Rule = Rule {
    name: "pool-replicas",
    asks: "replicas cannot be negative",
};
const SCALE_FROM_ZERO: Rule = Rule {
    name: "pool-scale-from-zero",
    asks: "autoScaling.min can be 0 only where the size of a machine is known before there is one",
};

pub(super) const RULES: &[Rule] = &[STRATEGY, ROLLING_UPDATE, PACE, TIMEOUT, REPLICAS, SCALE_FROM_ZERO];

pub(super) fn judge(case: &Case<'_>, verdict: &mut Verdict) {
    let spec = &case.pool.spec;
    match spec.management.upgrade_type {
        UpgradeType::InPlace => verdict.is_in_place = true,
        UpgradeType::Replace | UpgradeType::Unrecognised(_) => verdict.management.extend(strategy(case)),
    }
    for (field, timeout) in [
        ("spec.nodeDrainTimeout", &spec.node_drain_timeout),
        ("spec.nodeVolumeDetachTimeout", &spec.node_volume_detach_timeout),
    ] {
        verdict.management.extend(bad_timeout(field, timeout.as_ref()));
    }
    if spec.replicas.is_some_and(|replicas| replicas < 0) {
        let remedy = "set it to 0 or more";
        let problem = Problem::new(&REPLICAS, "spec.replicas", "it is negative", remedy);
        verdict.management.push(problem);
    }
    verdict.autoscaling.extend(from_zero(case));
}

fn strategy(case: &Case<'_>) -> Vec<Problem> {
    let management = &case.pool.spec.management;
    let field = "spec.management.replace";
    let wrong = |rule: &Rule, what: &str, remedy: &str| vec![Problem::new(rule, field, what, remedy)];
    if management.upgrade_type != UpgradeType::Replace {
        return vec![Problem::new(
            &STRATEGY,
            "spec.management.upgradeType",
            format!("{} is not known here", management.upgrade_type),
            "make a new pool with Replace",
        )];
    }
    match (&management.replace.strategy, &management.replace.rolling_update) {
        (Some(UpgradeStrategy::OnDelete), _) => Vec::new(),
        (Some(UpgradeStrategy::RollingUpdate), Some(update)) => pace(update),
        (Some(UpgradeStrategy::RollingUpdate), None) => wrong(
            &ROLLING_UPDATE,
            "rollingUpdate is missing",
            "set rollingUpdate, with maxSurge and maxUnavailable",
        ),
        (Some(UpgradeStrategy::Unrecognised(_)) | None, _) => wrong(
            &STRATEGY,
            "the strategy is missing or not known here",
            "set it to RollingUpdate or OnDelete",
        ),
    }
}

fn pace(update: &RollingUpdate) -> Vec<Problem> {
    let bad = |field: &str, given: Option<&IntOrString>, rounding: Rounding| {
        let error = amount(given?, 1, rounding).err()?;
        Some(Problem::new(
            &PACE,
            format!("spec.management.replace.rollingUpdate.{field}"),
            error.to_string(),
            "write a number such as 1, or a percentage such as 25%",
        ))
    };
    [
        bad("maxSurge", update.max_surge.as_ref(), Rounding::Up),
        bad("maxUnavailable", update.max_unavailable.as_ref(), Rounding::Down),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn bad_timeout(field: &str, timeout: Option<&GoDuration>) -> Option<Problem> {
    let error = timeout?.to_duration().err()?;
    Some(Problem::new(
        &TIMEOUT,
        field,
        error.to_string(),
        "write a duration such as 20m, or take it away to wait as long as it takes",
    ))
}

/// A timeout in whole seconds, as Cluster API has it. None means without end, and so does zero. Less than a second is one,
/// lest it become no end at all.
pub(crate) fn seconds(timeout: Option<&GoDuration>) -> Option<i32> {
    let duration = timeout?.to_duration().ok()?;
    if duration.is_zero() {
        return None;
    }
    Some(i32::try_from(duration.as_secs().max(1)).unwrap_or(i32::MAX))
}

fn from_zero(case: &Case<'_>) -> Option<Problem> {
    let spec = &case.pool.spec;
    let scaling = spec.auto_scaling.as_ref()?;
    let can = matches!(spec.platform.type_, PlatformType::Aws | PlatformType::Azure);
    (scaling.min == 0 && !can).then(|| {
        Problem::new(
            &SCALE_FROM_ZERO,
            "spec.autoScaling.min",
            format!("0 is not possible on {}", spec.platform.type_),
            "set it to 1 or more",
        )
    })
}
