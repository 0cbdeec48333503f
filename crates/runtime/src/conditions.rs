//! Conditions of a status: merging what is now into what was, so that nothing changes unless something happened.
//! Pure; knows no condition type in particular.

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};

use crate::failure::Failure;

/// The API server refuses longer messages (metav1.Condition, maxLength).
const MESSAGE_LIMIT: usize = 32_768;

/// What is true now. The time of the last transition is not part of it: that follows from what was before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observation {
    /// The condition type.
    pub type_: String,
    /// True, false, or unknown.
    pub status: Option<bool>,
    /// One word for the cause, in CamelCase.
    pub reason: String,
    /// One sentence for people.
    pub message: String,
}

impl Observation {
    /// The condition holds.
    pub fn holds(type_: impl Into<String>, reason: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            type_: type_.into(),
            status: Some(true),
            reason: reason.into(),
            message: message.into(),
        }
    }

    /// The condition does not hold.
    pub fn fails(type_: impl Into<String>, reason: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            status: Some(false),
            ..Self::holds(type_, reason, message)
        }
    }

    /// Nothing can be said.
    pub fn unknown(type_: impl Into<String>, reason: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            status: None,
            ..Self::holds(type_, reason, message)
        }
    }

    /// The condition does not hold because of a failure, in the words of the table of failures.
    pub fn failure(type_: impl Into<String>, failure: &Failure) -> Self {
        let reason = failure.disposition().meaning().condition_reason;
        Self::fails(type_, reason, failure.report())
    }
}

/// The new conditions: those observed now, each with the time of its last transition carried over from `before`, in
/// order of their types. Conditions that are not observed any more are left out.
pub fn merge(
    before: &[Condition],
    observed: impl IntoIterator<Item = Observation>,
    observed_generation: Option<i64>,
    now: Timestamp,
) -> Vec<Condition> {
    let mut conditions: Vec<Condition> = observed
        .into_iter()
        .map(|observation| {
            let earlier = before.iter().find(|condition| condition.type_ == observation.type_);
            to_condition(observation, earlier, observed_generation, now)
        })
        .collect();
    conditions.sort_by(|left, right| left.type_.cmp(&right.type_));
    conditions
}

/// Sets one condition and leaves the others as they are.
pub fn set(
    conditions: &mut Vec<Condition>,
    observation: Observation,
    observed_generation: Option<i64>,
    now: Timestamp,
) {
    let position = conditions
        .iter()
        .position(|condition| condition.type_ == observation.type_);
    let earlier = position.map(|position| conditions.remove(position));
    conditions.push(to_condition(observation, earlier.as_ref(), observed_generation, now));
    conditions.sort_by(|left, right| left.type_.cmp(&right.type_));
}

/// Whether the condition of this type is there and true.
pub fn holds(conditions: &[Condition], type_: &str) -> bool {
    conditions
        .iter()
        .any(|condition| condition.type_ == type_ && condition.status == "True")
}

/// A moment as the API writes it. The wire carries whole seconds; a fraction would differ from what comes back.
pub fn written(moment: Timestamp) -> Time {
    Time(Timestamp::from_second(moment.as_second()).unwrap_or(moment))
}

fn to_condition(
    observation: Observation,
    earlier: Option<&Condition>,
    observed_generation: Option<i64>,
    now: Timestamp,
) -> Condition {
    let status = match observation.status {
        Some(true) => "True",
        Some(false) => "False",
        None => "Unknown",
    };
    let last_transition_time = match earlier {
        Some(earlier) if earlier.status == status => earlier.last_transition_time.clone(),
        _ => written(now),
    };
    let mut message = observation.message;
    truncate(&mut message);
    Condition {
        type_: observation.type_,
        status: status.to_owned(),
        reason: observation.reason,
        message,
        observed_generation,
        last_transition_time,
    }
}

fn truncate(message: &mut String) {
    if message.len() > MESSAGE_LIMIT {
        let end = (0..=MESSAGE_LIMIT).rev().find(|end| message.is_char_boundary(*end));
        message.truncate(end.unwrap_or(0));
    }
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
        assert_eq!(first[0].last_transition_time.0, Timestamp::constant(10, 0));
        let mut same = ready(Some(true));
        same.message = "another text".to_owned();
        let second = merge(&first, [same], Some(2), at(20));
        assert_eq!(second[0].last_transition_time.0, Timestamp::constant(10, 0));
        assert_eq!(second[0].observed_generation, Some(2));
        let third = merge(&second, [ready(None)], Some(2), at(30));
        assert_eq!(third[0].status, "Unknown");
        assert_eq!(third[0].last_transition_time.0, Timestamp::constant(30, 0));
        assert!(holds(&second, "Ready") && !holds(&third, "Ready") && !holds(&[], "Ready"));
    }

    #[test]
    fn a_failure_is_told_in_the_words_of_the_table() {
        let failure = Failure::user("spec.size", "must be positive", "set it to 1 or more");
        let observation = Observation::failure("Valid", &failure);
        assert_eq!(observation.reason, "InvalidConfiguration");
        assert_eq!(observation.message, "spec.size: must be positive; set it to 1 or more");
    }

    #[test]
    fn long_messages_end_at_a_character() {
        let observation = Observation::holds("Ready", "Because", "ä".repeat(MESSAGE_LIMIT));
        let merged = merge(&[], [observation], None, at(0));
        assert_eq!(merged[0].message.len(), MESSAGE_LIMIT);
    }

    proptest! {
        #[test]
        fn setting_one_by_one_is_merging_all(
            statuses in proptest::collection::vec(proptest::option::of(any::<bool>()), 0..6)
        ) {
            let observed = || statuses.iter().enumerate().map(|(number, status)| Observation {
                type_: format!("Type{number}"), ..ready(*status)
            });
            let mut conditions = merge(&[], observed().map(|observation| Observation { status: None, ..observation }), None, at(1));
            let merged = merge(&conditions, observed(), Some(1), at(2));
            for observation in observed() {
                set(&mut conditions, observation, Some(1), at(2));
            }
            prop_assert_eq!(conditions, merged);
        }

        #[test]
        fn merging_the_same_again_changes_nothing(
            statuses in proptest::collection::vec(proptest::option::of(any::<bool>()), 0..6), first: i32, second: i32
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
