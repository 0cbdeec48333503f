//! How nodes are replaced and how many there are: that the strategy is known, and that its numbers are numbers. What cannot
//! be used stays as it was carried out before, and holds nothing but rolls.

use hyperplane_api::{
    common::{GoDuration, IntOrString},
    hypershift::{
        node_pool::management::{ReplaceUpgrade, RollingUpdate, UpgradeStrategy, UpgradeType},
        platform_type::PlatformType,
    },
};
use hyperplane_platforms::{Problem, Rule};
use hyperplane_rollout::{Rounding, amount};

use super::{Case, Verdict};

const UPGRADE_TYPE: Rule = Rule {
    name: "pool-upgrade-type",
    asks: "nodes are changed by Replace or InPlace",
};
const STRATEGY: Rule = Rule {
    name: "pool-strategy",
    asks: "Replace needs the strategy RollingUpdate or OnDelete",
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

pub(super) const RULES: &[Rule] = &[UPGRADE_TYPE, STRATEGY, PACE, TIMEOUT, REPLICAS, SCALE_FROM_ZERO];

pub(super) fn judge(case: &Case<'_>, verdict: &mut Verdict) {
    let spec = &case.pool.spec;
    match &spec.management.upgrade_type {
        UpgradeType::InPlace => verdict.is_in_place = true,
        UpgradeType::Replace => verdict.pace.extend(strategy(&spec.management.replace)),
        UpgradeType::Unrecognised(other) => verdict.management.push(Problem::new(
            &UPGRADE_TYPE,
            "spec.management.upgradeType",
            format!("{other} is not known here"),
            "make a new pool with Replace",
        )),
    }
    for (field, timeout) in [
        ("spec.nodeDrainTimeout", &spec.node_drain_timeout),
        ("spec.nodeVolumeDetachTimeout", &spec.node_volume_detach_timeout),
    ] {
        verdict.pace.extend(bad_timeout(field, timeout.as_ref()));
    }
    if spec.replicas.is_some_and(|replicas| replicas < 0) {
        let remedy = "set it to 0 or more";
        let problem = Problem::new(&REPLICAS, "spec.replicas", "it is negative", remedy);
        verdict.pace.push(problem);
    }
    verdict.autoscaling.extend(from_zero(case));
}

/// Whether nodes can be replaced in the way and at the pace that a pool says.
pub(crate) fn has_pace(replace: &ReplaceUpgrade) -> bool {
    strategy(replace).is_empty()
}

/// A pace that is not given is the one that the API documents: one node more, none less.
fn strategy(replace: &ReplaceUpgrade) -> Vec<Problem> {
    match (&replace.strategy, &replace.rolling_update) {
        (Some(UpgradeStrategy::OnDelete), _) | (Some(UpgradeStrategy::RollingUpdate), None) => Vec::new(),
        (Some(UpgradeStrategy::RollingUpdate), Some(update)) => pace(update),
        (Some(UpgradeStrategy::Unrecognised(_)) | None, _) => vec![Problem::new(
            &STRATEGY,
            "spec.management.replace",
            "the strategy is missing or not known here",
            "set it to RollingUpdate or OnDelete",
        )],
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
/// lest it become no end at all. One that cannot be read is the one that is in force.
pub(crate) fn seconds(timeout: Option<&GoDuration>, in_force: Option<i32>) -> Option<i32> {
    let Ok(duration) = timeout?.to_duration() else {
        return in_force;
    };
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
