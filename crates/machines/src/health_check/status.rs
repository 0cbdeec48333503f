//! The status of a MachineHealthCheck, from what was judged. Pure.

use hyperplane_api::{
    cluster_api::machine_health_check::{MachineHealthCheck, MachineHealthCheckStatus},
    constants::{conditions::machine_health_check as types, reasons},
};
use hyperplane_rollout::health::Judgement;
use hyperplane_runtime::conditions::{Observation, merge, set};
use jiff::Timestamp;

/// The most machines that a status names.
const TARGETS: usize = 10_000;

/// What became of a look at the machines of a check.
#[derive(Clone, Debug)]
pub(crate) enum Outcome<'a> {
    /// There was none: the check is paused, for this reason.
    Paused(&'static str),
    /// They were judged.
    Judged {
        /// The result.
        judgement: &'a Judgement,
        /// The names of all of them.
        targets: Vec<String>,
        /// Machines are to be repaired by requests that nobody here makes.
        is_external: bool,
    },
}

/// The status that follows.
pub(crate) fn status(check: &MachineHealthCheck, outcome: &Outcome<'_>, now: Timestamp) -> MachineHealthCheckStatus {
    let mut before = check.status.clone().unwrap_or_default();
    before.deprecated = None;
    let generation = check.metadata.generation;
    match outcome {
        Outcome::Paused(why) => {
            let paused = Observation::holds(types::PAUSED.as_str(), reasons::PAUSED.as_str(), *why);
            set(&mut before.conditions, paused, generation, now);
            before
        }
        Outcome::Judged {
            judgement,
            targets,
            is_external,
        } => {
            let running = Observation::fails(types::PAUSED.as_str(), reasons::NOT_PAUSED.as_str(), "");
            let observed = [allowed(judgement, *is_external), running];
            MachineHealthCheckStatus {
                conditions: merge(&before.conditions, observed, generation, now),
                expected_machines: Some(count(judgement.expected)),
                current_healthy: Some(count(judgement.healthy)),
                remediations_allowed: Some(count(judgement.remediations_allowed)),
                targets: targets.iter().take(TARGETS).cloned().collect(),
                observed_generation: generation,
                deprecated: None,
            }
        }
    }
}

fn allowed(judgement: &Judgement, is_external: bool) -> Observation {
    let type_ = types::REMEDIATION_ALLOWED.as_str();
    if is_external {
        let message = "This manager makes no requests for repair from templates: remove spec.remediation.templateRef, or \
                       have unhealthy machines replaced by hand";
        Observation::fails(type_, reasons::REMEDIATION_REQUEST_CREATION_FAILED.as_str(), message)
    } else if judgement.may_remediate {
        Observation::holds(type_, reasons::REMEDIATION_ALLOWED.as_str(), "")
    } else {
        let message = judgement.refusal.clone().unwrap_or_default();
        Observation::fails(type_, reasons::TOO_MANY_UNHEALTHY.as_str(), message)
    }
}

fn count(number: u32) -> i32 {
    i32::try_from(number).unwrap_or(i32::MAX)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;
    use serde_json::json;

    use super::{super::targets::testing::check, *};

    const NOW: Timestamp = Timestamp::constant(1_800_000_000, 0);

    fn judgement(may_remediate: bool) -> Judgement {
        Judgement {
            expected: 5,
            healthy: 2,
            unhealthy: BTreeMap::new(),
            may_remediate,
            remediations_allowed: 1,
            refusal: (!may_remediate).then(|| "3 of 5 are unhealthy".to_owned()),
            next: None,
        }
    }

    fn word(status: &MachineHealthCheckStatus, type_: &str) -> (String, String, String) {
        let found = status.conditions.iter().find(|found| found.type_ == type_).unwrap();
        (found.status.clone(), found.reason.clone(), found.message.clone())
    }

    fn told(judgement: &Judgement, is_external: bool) -> MachineHealthCheckStatus {
        let judged = Outcome::Judged {
            judgement,
            targets: vec!["m".to_owned()],
            is_external,
        };
        status(&check("a", &json!({})), &judged, NOW)
    }

    #[test]
    fn what_was_judged_is_counted() {
        let found = told(&judgement(true), false);
        assert_eq!(
            (
                found.expected_machines,
                found.current_healthy,
                found.remediations_allowed
            ),
            (Some(5), Some(2), Some(1))
        );
        assert_eq!(
            (found.targets.as_slice(), found.observed_generation),
            (&["m".to_owned()][..], Some(2))
        );
        assert_eq!(word(&found, "RemediationAllowed").0, "True");
        assert_eq!(word(&found, "Paused").0, "False");
        let refused = word(&told(&judgement(false), false), "RemediationAllowed");
        assert_eq!((refused.0.as_str(), refused.1.as_str()), ("False", "TooManyUnhealthy"));
        assert!(refused.2.contains("3 of 5"));
        assert_eq!(word(&told(&judgement(true), true), "RemediationAllowed").0, "False");
    }

    #[test]
    fn a_pause_keeps_what_was_known() {
        let mut known = check("a", &json!({}));
        known.status = Some(told(&judgement(false), false));
        let found = status(&known, &Outcome::Paused("its cluster is paused"), NOW);
        assert_eq!(word(&found, "Paused").0, "True");
        assert_eq!(word(&found, "RemediationAllowed").0, "False");
        assert_eq!(found.expected_machines, Some(5));
    }

    proptest! {
        #[test]
        fn saying_the_same_again_changes_nothing(may_remediate: bool, is_external: bool, later in 0_i64..10_000) {
            let judged = judgement(may_remediate);
            let first = told(&judged, is_external);
            let mut known = check("a", &json!({}));
            known.status = Some(first.clone());
            let outcome = Outcome::Judged { judgement: &judged, targets: vec!["m".to_owned()], is_external };
            let now = NOW + jiff::SignedDuration::from_secs(later);
            prop_assert_eq!(status(&known, &outcome, now), first);
        }
    }
}
