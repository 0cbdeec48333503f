//! The conditions of a control plane that speak of its certificates. They are there only while something is wrong or
//! waited for.

use hyperplane_api::{
    constants::{
        conditions::{certificate_rotation_degraded, hosted_control_plane::TARGET_CONFIG_CONTROLLER_DEGRADED},
        reasons::{ROTATION_ERROR, SYNCHRONIZATION_ERROR, WAITING_FOR_DEPENDENCIES},
    },
    hypershift::hosted_control_plane::HostedControlPlane,
};
use hyperplane_pki_issue::{Plan, Problem};
use hyperplane_runtime::{
    Context, EventType, Failure,
    conditions::{Observation, merge},
};
use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use serde_json::{Value, json};

/// Writes what is wrong and what is waited for, if that is news.
pub(crate) async fn report(
    context: &Context,
    control_plane: &HostedControlPlane,
    plan: &Plan,
    mistakes: &[String],
) -> Result<(), Failure> {
    let before = ours(control_plane);
    let observed = observations(&plan.problems, mistakes, &plan.waiting);
    // To wait is part of beginning, and nothing to warn of.
    let is_news = |observation: &&Observation| {
        let mut before = before.iter();
        observation.status == Some(true)
            && !before.any(|known| known.type_ == observation.type_ && known.message == observation.message)
    };
    for observation in observed.iter().filter(is_news) {
        let reason = if observation.type_ == TARGET_CONFIG_CONTROLLER_DEGRADED.as_str() {
            SYNCHRONIZATION_ERROR
        } else {
            ROTATION_ERROR
        };
        context.event(EventType::Warning, reason.as_str(), observation.message.clone());
    }
    match status(&before, observed, control_plane.metadata.generation, context.now()) {
        Some(status) => context.apply_status(control_plane, &status).await.map(drop),
        None => Ok(()),
    }
}

/// The conditions of ours that a control plane has.
fn ours(control_plane: &HostedControlPlane) -> Vec<Condition> {
    let (start, end) = affixes();
    let is_ours = |condition: &&Condition| {
        condition.type_ == TARGET_CONFIG_CONTROLLER_DEGRADED.as_str()
            || condition.type_.starts_with(&start) && condition.type_.ends_with(&end)
    };
    let conditions = control_plane.status.iter().flat_map(|status| &status.conditions);
    conditions.filter(is_ours).cloned().collect()
}

/// What the types of conditions about signers begin and end with.
fn affixes() -> (String, String) {
    let whole = certificate_rotation_degraded("/");
    let (start, end) = whole.split_once('/').unwrap_or_default();
    (start.to_owned(), end.to_owned())
}

fn observations(problems: &[Problem], mistakes: &[String], waiting: &[String]) -> Vec<Observation> {
    let mut observed: Vec<Observation> = problems
        .iter()
        .map(|problem| {
            let Problem { secret, fault, remedy } = problem;
            let message = format!("Secret {secret}: {fault}; {remedy}");
            Observation::holds(certificate_rotation_degraded(secret), ROTATION_ERROR.as_str(), message)
        })
        .collect();
    let condition = TARGET_CONFIG_CONTROLLER_DEGRADED.as_str();
    let waits = || format!("Waiting: {}", waiting.join("; "));
    match (mistakes.join("; "), waiting.is_empty()) {
        (mistakes, true) if mistakes.is_empty() => {}
        (mistakes, false) if mistakes.is_empty() => {
            observed.push(Observation::fails(
                condition,
                WAITING_FOR_DEPENDENCIES.as_str(),
                waits(),
            ));
        }
        (mut mistakes, is_whole) => {
            if !is_whole {
                mistakes = format!("{mistakes}. {}", waits());
            }
            observed.push(Observation::holds(condition, SYNCHRONIZATION_ERROR.as_str(), mistakes));
        }
    }
    observed
}

/// The status to write; none where there is nothing to say and nothing to take back.
fn status(before: &[Condition], observed: Vec<Observation>, generation: Option<i64>, now: Timestamp) -> Option<Value> {
    if observed.is_empty() {
        return (!before.is_empty()).then(|| json!({}));
    }
    Some(json!({"conditions": merge(before, observed, generation, now)}))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::constant(1_800_000_000, 0);

    #[test]
    fn nothing_is_written_where_nothing_is_wrong() {
        assert_eq!(status(&[], Vec::new(), Some(1), NOW), None);
    }

    #[test]
    fn what_is_waited_for_is_said_and_is_no_fault() {
        let waiting = ["Secret a: b".to_owned(), "Secret c: d".to_owned()];
        let said = |mistakes: &[String]| {
            let observed = observations(&[], mistakes, &waiting);
            let [one] = &observed[..] else { panic!("{observed:?}") };
            (one.status, one.reason.clone(), one.message.clone())
        };
        let (status, reason, message) = said(&[]);
        assert_eq!((status, reason.as_str()), (Some(false), "WaitingForDependencies"));
        assert_eq!(message, "Waiting: Secret a: b; Secret c: d");
        let (status, reason, message) = said(&["e: f".to_owned()]);
        assert_eq!((status, reason.as_str()), (Some(true), "SynchronizationError"));
        assert_eq!(message, "e: f. Waiting: Secret a: b; Secret c: d");
    }

    #[test]
    fn what_is_wrong_is_said_and_taken_back() {
        let problem = Problem {
            secret: "root-ca".to_owned(),
            fault: "its key is missing or cannot be read".to_owned(),
            remedy: "restore it",
        };
        let observed = observations(&[problem], &["a: b".to_owned(), "c: d".to_owned()], &[]);
        let written = status(&[], observed, Some(1), NOW).unwrap();
        let conditions: Vec<Condition> = hyperplane_objects::read(&written["conditions"]).unwrap();
        let said: Vec<(&str, &str, &str)> = conditions
            .iter()
            .map(|condition| {
                (
                    condition.type_.as_str(),
                    condition.status.as_str(),
                    condition.message.as_str(),
                )
            })
            .collect();
        assert_eq!(
            said,
            [
                (
                    "CertRotation_root-ca_Degraded",
                    "True",
                    "Secret root-ca: its key is missing or cannot be read; restore it"
                ),
                ("TargetConfigControllerDegraded", "True", "a: b; c: d"),
            ]
        );
        assert_eq!(status(&conditions, Vec::new(), Some(1), NOW), Some(json!({})));
    }
}
