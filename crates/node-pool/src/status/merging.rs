//! Conditions of a pool: merging what is now into what was, so that nothing changes unless something happened. They have a
//! shape of their own, with a severity, because those of machines are handed on in them.

use hyperplane_api::{
    constants::{Reason, reasons},
    hypershift::node_pool::status::{ConditionSeverity, ConditionStatus, NodePoolCondition},
};
use hyperplane_runtime::conditions::{self, Observation};
use jiff::Timestamp;

/// The longest message and the longest reason, by the schema.
const LONGEST_MESSAGE: usize = 32_768;
const LONGEST_REASON: usize = 1024;

/// Reasons for which nobody has to look.
const CALM: [Reason; 4] = [
    reasons::AS_EXPECTED,
    reasons::WAITING_FOR_AVAILABLE,
    reasons::RECONCILIATION_PAUSED,
    reasons::DELETING,
];

/// The new conditions, in the order of their types; those that are not observed any more are left out.
pub(super) fn merge(
    before: &[NodePoolCondition],
    observed: impl IntoIterator<Item = Observation>,
    generation: Option<i64>,
    now: Timestamp,
) -> Vec<NodePoolCondition> {
    let mut merged: Vec<NodePoolCondition> = observed
        .into_iter()
        .map(|observation| {
            let earlier = before.iter().find(|condition| condition.type_ == observation.type_);
            condition(observation, earlier, generation, now)
        })
        .collect();
    merged.sort_by(|left, right| left.type_.cmp(&right.type_));
    merged
}

/// Sets one condition and leaves the others as they are.
pub(super) fn set(all: &mut Vec<NodePoolCondition>, observation: Observation, generation: Option<i64>, now: Timestamp) {
    let position = all.iter().position(|condition| condition.type_ == observation.type_);
    let earlier = position.map(|position| all.remove(position));
    all.push(condition(observation, earlier.as_ref(), generation, now));
    all.sort_by(|left, right| left.type_.cmp(&right.type_));
}

fn condition(
    observation: Observation,
    earlier: Option<&NodePoolCondition>,
    generation: Option<i64>,
    now: Timestamp,
) -> NodePoolCondition {
    let status = match observation.status {
        Some(true) => ConditionStatus::True,
        Some(false) => ConditionStatus::False,
        None => ConditionStatus::Unknown,
    };
    let since = match earlier {
        Some(earlier) if earlier.status == status => earlier.last_transition_time.clone(),
        _ => conditions::written(now),
    };
    NodePoolCondition {
        severity: (status == ConditionStatus::False).then(|| severity(&observation.reason)),
        type_: observation.type_,
        status,
        last_transition_time: since,
        reason: Some(shortened(observation.reason, LONGEST_REASON)),
        message: Some(shortened(observation.message, LONGEST_MESSAGE)),
        observed_generation: generation,
    }
}

/// How bad it is that a condition does not hold: not at all where that is as it should be or passes by itself.
fn severity(reason: &str) -> ConditionSeverity {
    if CALM.iter().any(|calm| calm.as_str() == reason) {
        ConditionSeverity::Info
    } else {
        ConditionSeverity::Warning
    }
}

fn shortened(mut text: String, longest: usize) -> String {
    if text.len() > longest {
        let end = (0..=longest).rev().find(|end| text.is_char_boundary(*end));
        text.truncate(end.unwrap_or(0));
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::constant(second, 999)
    }

    fn ready(status: Option<bool>) -> Observation {
        Observation {
            status,
            ..Observation::holds("Ready", "Because", "text")
        }
    }

    #[test]
    fn the_time_moves_with_the_status_only() {
        let first = merge(&[], [ready(Some(true))], Some(1), at(10));
        let mut same = ready(Some(true));
        same.message = "another".to_owned();
        let second = merge(&first, [same], Some(2), at(20));
        assert_eq!(second[0].last_transition_time, first[0].last_transition_time);
        assert_eq!(second[0].severity, None);
        let third = merge(&second, [ready(Some(false))], Some(2), at(30));
        assert_ne!(third[0].last_transition_time, first[0].last_transition_time);
        assert_eq!(third[0].severity, Some(ConditionSeverity::Warning));
        let calm = Observation::fails("UpdatingConfig", "AsExpected", "All nodes have it.");
        let fourth = merge(&[], [calm], Some(2), at(30));
        assert_eq!(fourth[0].severity, Some(ConditionSeverity::Info));
    }

    proptest! {
        #[test]
        fn merging_the_same_again_changes_nothing(
            statuses in prop::collection::vec(prop::option::of(any::<bool>()), 0..6), first: i32, second: i32
        ) {
            let observed = || statuses.iter().enumerate().map(|(number, status)| Observation {
                type_: format!("Type{number}"), ..ready(*status)
            });
            let once = merge(&[], observed(), Some(1), at(first.into()));
            let twice = merge(&once, observed(), Some(1), at(second.into()));
            prop_assert_eq!(once, twice);
        }
    }
}
