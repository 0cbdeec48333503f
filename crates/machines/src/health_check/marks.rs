//! What a check says of each machine, as conditions on it: HealthCheckSucceeded, and OwnerRemediated where the owner is
//! to replace it. Pure. A condition that is not said any more disappears, because it is applied without it.

use std::sync::Arc;

use hyperplane_api::{
    cluster_api::machine::Machine,
    constants::{conditions::machine as types, reasons},
};
use hyperplane_rollout::health::{Cause, Judgement};
use hyperplane_runtime::conditions::{Observation, merge};
use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;

use super::targets::{Selected, condition, is_marked};

/// What is to be written on one machine.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Mark {
    /// The machine.
    pub(crate) machine: Arc<Machine>,
    /// All that checks say of it.
    pub(crate) conditions: Vec<Condition>,
    /// It is unhealthy, and was not before.
    pub(crate) is_new: bool,
    /// What is wrong, if something is.
    pub(crate) why: String,
}

/// The machines of which something else is to be said than before.
pub(crate) fn marks(selected: &Selected, judgement: &Judgement, is_external: bool, now: Timestamp) -> Vec<Mark> {
    let is_owners = judgement.may_remediate && !is_external;
    let judged = selected.targets.iter().map(|machine| {
        let cause = judgement
            .unhealthy
            .get(machine.metadata.name.as_deref().unwrap_or_default());
        (machine, said_of_target(machine, cause, is_owners), cause)
    });
    let judged = judged.filter_map(|(machine, said, cause)| mark(machine, said, cause, now));
    judged.chain(withdrawn(&selected.excluded, now)).collect()
}

/// What takes back everything that was said of these machines, where something was.
pub(crate) fn withdrawn(machines: &[Arc<Machine>], now: Timestamp) -> Vec<Mark> {
    let marks = machines.iter().map(|machine| mark(machine, Vec::new(), None, now));
    marks.flatten().collect()
}

/// The mark, unless it is there already. What is told of a machine that goes stands: its owner has already acted.
fn mark(machine: &Arc<Machine>, said: Vec<Observation>, cause: Option<&Cause>, now: Timestamp) -> Option<Mark> {
    let before = ours(machine);
    let conditions = merge(&before, said, machine.metadata.generation, now);
    let is_leaving = machine.metadata.deletion_timestamp.is_some();
    (conditions != before && !is_leaving).then(|| Mark {
        machine: machine.clone(),
        conditions,
        is_new: cause.is_some() && !is_marked(machine),
        why: cause.map(Cause::message).unwrap_or_default(),
    })
}

fn said_of_target(machine: &Machine, cause: Option<&Cause>, is_owners: bool) -> Vec<Observation> {
    let type_ = types::HEALTH_CHECK_SUCCEEDED.as_str();
    let before = condition(machine, type_);
    let Some(cause) = cause else {
        // A machine on its way to a first node is not called healthy yet; that saves a write for each.
        let has_started = machine.status.as_ref().is_some_and(|status| status.node_ref.is_some());
        let is_told = has_started || before.is_some();
        let healthy = Observation::holds(type_, reasons::HEALTH_CHECK_SUCCEEDED.as_str(), "");
        return is_told.then_some(healthy).into_iter().collect();
    };
    let unhealthy = match (cause, before) {
        // Nothing new is known: what was said stands word for word.
        (Cause::Earlier, Some(before)) => Observation::fails(type_, before.reason.clone(), before.message.clone()),
        _ => Observation::fails(type_, cause.reason(), cause.message()),
    };
    let awaited = Observation::fails(
        types::OWNER_REMEDIATED.as_str(),
        reasons::WAITING_FOR_REMEDIATION.as_str(),
        "Waiting for the owner to replace the machine",
    );
    let mut said = vec![unhealthy];
    said.extend(is_owners.then_some(awaited));
    said
}

/// What checks said of a machine before, in the order of types.
fn ours(machine: &Machine) -> Vec<Condition> {
    let mut wanted = [types::HEALTH_CHECK_SUCCEEDED.as_str(), types::OWNER_REMEDIATED.as_str()];
    wanted.sort_unstable();
    wanted
        .iter()
        .filter_map(|type_| condition(machine, type_))
        .cloned()
        .collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::{
        super::targets::testing::{condition_of, machine, marked},
        *,
    };

    const NOW: Timestamp = Timestamp::constant(1_800_000_000, 0);

    fn judgement(unhealthy: &[(&str, Cause)], may_remediate: bool) -> Judgement {
        Judgement {
            expected: 3,
            healthy: 0,
            unhealthy: unhealthy
                .iter()
                .map(|(name, cause)| ((*name).to_owned(), cause.clone()))
                .collect::<BTreeMap<_, _>>(),
            may_remediate,
            remediations_allowed: 0,
            refusal: None,
            next: None,
        }
    }

    fn selected(machine: Machine) -> Selected {
        Selected {
            targets: vec![Arc::new(machine)],
            excluded: Vec::new(),
        }
    }

    fn words(marks: &[Mark]) -> Vec<(&str, &str, &str)> {
        let conditions = marks.iter().flat_map(|mark| &mark.conditions);
        conditions
            .map(|found| (found.type_.as_str(), found.status.as_str(), found.reason.as_str()))
            .collect()
    }

    #[test]
    fn only_what_may_be_replaced_awaits_its_owner() {
        let started = json!({"nodeRef": {"name": "n"}});
        let sick = [("m", Cause::NodeGone)];
        let said = |unhealthy: &[(&str, Cause)], may_remediate, is_external| {
            let known = selected(machine("m", &json!({}), &started));
            marks(&known, &judgement(unhealthy, may_remediate), is_external, NOW)
        };
        let check = ("HealthCheckSucceeded", "False", "NodeDeleted");
        let owner = ("OwnerRemediated", "False", "WaitingForRemediation");
        let found = said(&sick, true, false);
        assert_eq!(words(&found), [check, owner]);
        assert!(found[0].is_new && !found[0].why.is_empty());
        assert_eq!(words(&said(&sick, false, false)), [check]);
        assert_eq!(words(&said(&sick, true, true)), [check]);
        let healthy = ("HealthCheckSucceeded", "True", "HealthCheckSucceeded");
        assert_eq!(words(&said(&[], true, false)), [healthy]);
    }

    #[test]
    fn a_machine_on_its_way_and_one_that_goes_are_not_written_to() {
        let sick = judgement(&[("m", Cause::Asked)], true);
        let well = judgement(&[], true);
        let starting = selected(machine("m", &json!({}), &json!({})));
        assert!(marks(&starting, &well, false, NOW).is_empty());
        assert_eq!(marks(&starting, &sick, false, NOW).len(), 1);
        let going = json!({"deletionTimestamp": "2026-01-01T00:00:00Z"});
        let going = selected(machine("m", &going, &marked()));
        assert!(marks(&going, &sick, false, NOW).is_empty());
    }

    #[test]
    fn what_was_said_is_taken_back_from_machines_to_be_left_alone() {
        let known = Selected {
            targets: Vec::new(),
            excluded: vec![
                Arc::new(machine("a", &json!({}), &marked())),
                Arc::new(machine("b", &json!({}), &json!({}))),
            ],
        };
        let found = marks(&known, &judgement(&[], true), false, NOW);
        assert_eq!(found.len(), 1);
        assert!(found[0].conditions.is_empty());
    }

    #[test]
    fn silence_changes_no_word() {
        let before = json!({"nodeRef": {"name": "n"}, "conditions": [
            condition_of("HealthCheckSucceeded", "False", "UnhealthyNode"),
            condition_of("OwnerRemediated", "False", "WaitingForRemediation")]});
        let known = selected(machine("m", &json!({"generation": 1}), &before));
        let found = marks(&known, &judgement(&[("m", Cause::Earlier)], true), false, NOW);
        let reasons: Vec<&str> = words(&found).iter().map(|(_, _, reason)| *reason).collect();
        assert!(!reasons.contains(&"HealthCheckUnknown"), "{found:?}");
    }

    fn any_status() -> impl Strategy<Value = Value> {
        prop_oneof![
            Just(json!({})),
            Just(json!({"nodeRef": {"name": "n"}})),
            Just(marked()),
            Just(json!({"conditions": [condition_of("Ready", "True", "Ready"),
                condition_of("OwnerRemediated", "False", "WaitingForRemediation")]})),
        ]
    }

    proptest! {
        #[test]
        fn marking_twice_writes_once(
            status in any_status(), is_sick: bool, may_remediate: bool, is_external: bool, later in 0_i64..10_000
        ) {
            let sick = [("m", Cause::NodeGone)];
            let judged = judgement(&sick[..usize::from(is_sick)], may_remediate);
            let mut known = machine("m", &json!({"generation": 4}), &status);
            let first = marks(&selected(known.clone()), &judged, is_external, NOW);
            if let [mark] = first.as_slice() {
                let conditions = &mut known.status.get_or_insert_default().conditions;
                conditions.retain(|found| found.type_ == "Ready");
                conditions.extend(mark.conditions.clone());
                let is_awaited = mark.conditions.iter().any(|found| found.type_ == "OwnerRemediated");
                prop_assert_eq!(is_awaited, is_sick && may_remediate && !is_external);
            }
            let now = NOW + jiff::SignedDuration::from_secs(later);
            prop_assert!(marks(&selected(known), &judged, is_external, now).is_empty());
        }
    }
}
