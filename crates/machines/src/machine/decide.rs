//! What a machine that is to stay needs next: writes, and when to look again. Pure.

use std::{collections::BTreeMap, time::Duration};

use hyperplane_api::constants::annotations;
use kube::ResourceExt as _;

use super::facts::{Facts, Infrastructure, NodeFacts};
use crate::{drain::cordoned_for, nodes::NodeView};

/// How often a node is looked for, or looked at until it is ready, at most and at least: a person waits for it, and the
/// longer it takes the less a moment matters.
const LOOK_SOONEST: Duration = Duration::from_secs(1);
pub(crate) const LOOK_SOON: Duration = Duration::from_secs(10);
/// How often a machine at rest is looked at, because its hosted cluster announces nothing.
pub(crate) const LOOK_AT_REST: Duration = Duration::from_mins(1);

/// One thing to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Make the Machine the controller of its instance.
    Adopt,
    /// Copy the identity that the provider gave.
    SetProviderId(String),
    /// Take our cordon off the node: the machine stays.
    Release(String),
    /// Say on the node to which machine it belongs; others find the Machine by this.
    Annotate(BTreeMap<String, String>),
}

/// What is to be done for a machine that is to stay, in this order.
pub(crate) fn decide(facts: &Facts) -> Vec<Step> {
    if facts.is_paused() {
        return Vec::new();
    }
    let mut steps = instance_steps(facts);
    if let NodeFacts::Present(node) = &facts.node {
        if cordoned_for(node).is_some() {
            steps.push(Step::Release(node.name().to_owned()));
        }
        let missing = missing_annotations(facts, node);
        if !missing.is_empty() {
            steps.push(Step::Annotate(missing));
        }
    }
    steps
}

/// When no event will announce what comes next. None while the provider is at work: its objects are watched.
pub(crate) fn next_look(facts: &Facts) -> Option<Duration> {
    if facts.is_paused() {
        return None;
    }
    match &facts.node {
        NodeFacts::Unidentified => None,
        NodeFacts::Present(node) if node.is_ready() => Some(LOOK_AT_REST),
        // A node that was deleted does not come back soon.
        NodeFacts::Missing if facts.known_node().is_some() => Some(LOOK_AT_REST),
        // Nor does a cluster that has been silent for long.
        NodeFacts::Unseen(no_answer) if no_answer.is_lasting => Some(LOOK_AT_REST),
        _ => Some(soon(facts)),
    }
}

/// How old an answer of the hosted cluster may be: half of the time until the next look.
pub(crate) fn oldest_answer(facts: &Facts, is_at_rest: bool) -> Duration {
    if is_at_rest { LOOK_AT_REST / 2 } else { soon(facts) / 2 }
}

/// A part of the time for which the machine has been there.
fn soon(facts: &Facts) -> Duration {
    let age = facts
        .machine
        .creation_timestamp()
        .map(|made| facts.now.duration_since(made.0));
    let age = age.and_then(|age| Duration::try_from(age).ok()).unwrap_or_default();
    (age / 4).clamp(LOOK_SOONEST, LOOK_SOON)
}

/// The annotations of Cluster API that a node lacks or has otherwise.
pub(crate) fn missing_annotations(facts: &Facts, node: &NodeView) -> BTreeMap<String, String> {
    let machine = &facts.machine;
    let mut wanted = vec![
        (annotations::NODE_CLUSTER_NAME, machine.spec.cluster_name.clone()),
        (
            annotations::NODE_CLUSTER_NAMESPACE,
            machine.namespace().unwrap_or_default(),
        ),
        (annotations::NODE_MACHINE, facts.name().to_owned()),
    ];
    let mut owners = machine.owner_references().iter();
    if let Some(owner) = owners.find(|owner| owner.controller == Some(true)) {
        wanted.push((annotations::NODE_OWNER_KIND, owner.kind.clone()));
        wanted.push((annotations::NODE_OWNER_NAME, owner.name.clone()));
    }
    wanted
        .into_iter()
        .filter(|(key, value)| node.annotation(key.as_str()) != Some(value.as_str()))
        .map(|(key, value)| (key.as_str().to_owned(), value))
        .collect()
}

fn instance_steps(facts: &Facts) -> Vec<Step> {
    let Infrastructure::Present(_, instance) = &facts.infrastructure else {
        return Vec::new();
    };
    let machine = &facts.machine;
    // Somebody else's instance is not ours to take, and one that goes needs no owner.
    if instance.foreign_controller(machine.metadata.uid.as_deref()).is_some()
        || instance.metadata.deletion_timestamp.is_some()
    {
        return Vec::new();
    }
    let mut steps = Vec::new();
    if !instance.is_adopted(machine) {
        steps.push(Step::Adopt);
    }
    let provider_id = instance.provider_id().filter(|_| instance.is_provisioned());
    if let Some(provider_id) = provider_id
        && machine.spec.provider_id.as_deref() != Some(provider_id)
    {
        steps.push(Step::SetProviderId(provider_id.to_owned()));
    }
    steps
}

#[cfg(test)]
mod tests {
    use jiff::SignedDuration;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::{
        super::facts::testing::{facts, instance, node},
        *,
    };
    use crate::nodes::NoAnswer;

    #[test]
    fn a_machine_at_rest_needs_nothing() {
        let known = facts(&json!({}));
        assert!(decide(&known).is_empty());
        assert_eq!(next_look(&known), Some(LOOK_AT_REST));
    }

    #[test]
    fn each_lack_has_its_step() {
        let set_id = || Step::SetProviderId("kubevirt://m-1".to_owned());
        let no_id = json!({"spec": {"providerID": null}});
        let unlabelled = json!({"metadata": {"labels": null}});
        let foreign = json!({"metadata": {"ownerReferences": [{"apiVersion": "v1", "kind": "Other", "name": "o",
            "uid": "o", "controller": true}]}});
        let going = json!({"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z", "ownerReferences": null}});
        let waiting = json!({"status": {"initialization": null}});
        for (machine_change, instance_change, expected) in [
            (
                json!({}),
                json!({"metadata": {"ownerReferences": null}}),
                vec![Step::Adopt],
            ),
            (json!({}), unlabelled.clone(), vec![Step::Adopt]),
            (no_id.clone(), json!({}), vec![set_id()]),
            (no_id.clone(), unlabelled, vec![Step::Adopt, set_id()]),
            (no_id.clone(), waiting, vec![]),
            (no_id.clone(), json!({"spec": {"providerID": null}}), vec![]),
            (no_id.clone(), foreign, vec![]),
            (no_id, going, vec![]),
        ] {
            let mut known = facts(&machine_change);
            known.infrastructure = instance(&instance_change);
            assert_eq!(decide(&known), expected, "{machine_change} {instance_change}");
        }
    }

    #[test]
    fn a_cordon_of_ours_is_taken_off_a_node_that_stays() {
        let mut known = facts(&json!({}));
        let closed = json!({"metadata": {"annotations": {"hyperplane.dev/cordoned-for": "m-1"}},
            "spec": {"unschedulable": true}});
        known.node = node(&closed);
        assert_eq!(decide(&known), [Step::Release("m-1".to_owned())]);
        known.node = node(&json!({"spec": {"unschedulable": true}}));
        assert!(decide(&known).is_empty(), "somebody else closed it");
    }

    #[test]
    fn a_node_is_told_whose_it_is() {
        let owner = json!({"metadata": {"ownerReferences": [{"apiVersion": "cluster.x-k8s.io/v1beta2",
            "kind": "MachineSet", "name": "s", "uid": "s", "controller": true}]}});
        let steps = decide(&facts(&owner));
        let [Step::Annotate(missing)] = steps.as_slice() else {
            panic!("one step");
        };
        let missing: Vec<(&str, &str)> = missing
            .iter()
            .map(|(key, value)| (key.as_str(), value.as_str()))
            .collect();
        assert_eq!(
            missing,
            [
                ("cluster.x-k8s.io/owner-kind", "MachineSet"),
                ("cluster.x-k8s.io/owner-name", "s")
            ]
        );
    }

    #[test]
    fn the_next_look_is_soon_only_while_something_is_to_come() {
        let silent = NodeFacts::Unseen(NoAnswer::new("x"));
        let lasting = NodeFacts::Unseen(NoAnswer {
            is_lasting: true,
            ..NoAnswer::new("x")
        });
        let new = json!({"status": null});
        let not_ready = json!({"status": {"conditions": []}});
        for (machine_change, node, expected) in [
            (json!({}), NodeFacts::Unidentified, None),
            (json!({}), silent, Some(LOOK_SOON)),
            (json!({}), lasting, Some(LOOK_AT_REST)),
            (new, NodeFacts::Missing, Some(LOOK_SOON)),
            (json!({}), NodeFacts::Missing, Some(LOOK_AT_REST)),
            (json!({}), node(&not_ready), Some(LOOK_SOON)),
        ] {
            let mut known = facts(&machine_change);
            known.now = known.machine.creation_timestamp().unwrap().0 + SignedDuration::from_mins(10);
            known.node = node;
            assert_eq!(next_look(&known), expected, "{:?}", known.node);
        }
    }

    #[test]
    fn a_new_machine_is_looked_at_more_often_than_an_old_one() {
        let mut known = facts(&json!({"status": null}));
        known.node = NodeFacts::Missing;
        for (age, expected) in [(-5, 1), (0, 1), (4, 1), (12, 3), (40, 10), (4_000, 10)] {
            known.now = known.machine.creation_timestamp().unwrap().0 + SignedDuration::from_secs(age);
            let expected = Duration::from_secs(expected);
            assert_eq!(next_look(&known), Some(expected), "{age} s");
            assert_eq!(oldest_answer(&known, false), expected / 2, "{age} s");
            assert_eq!(oldest_answer(&known, true), LOOK_AT_REST / 2);
        }
    }

    fn any_instance() -> impl Strategy<Value = Value> {
        (any::<bool>(), any::<bool>(), any::<bool>()).prop_map(|(has_owner, has_id, is_provisioned)| {
            let mut change = json!({"status": {"initialization": {"provisioned": is_provisioned}}});
            if !has_owner {
                change["metadata"] = json!({"ownerReferences": null});
            }
            if !has_id {
                change["spec"] = json!({"providerID": null});
            }
            change
        })
    }

    proptest! {
        #[test]
        fn a_pause_stops_every_write(change in any_instance()) {
            let mut known = facts(&json!({"metadata": {"annotations": {"cluster.x-k8s.io/paused": "x"}}}));
            known.infrastructure = instance(&change);
            prop_assert!(decide(&known).is_empty());
            prop_assert_eq!(next_look(&known), None);
        }

        #[test]
        fn an_identity_is_copied_only_from_an_instance_that_exists(change in any_instance()) {
            let mut known = facts(&json!({"spec": {"providerID": null}}));
            known.infrastructure = instance(&change);
            let copies = decide(&known).iter().any(|step| matches!(step, Step::SetProviderId(_)));
            let Infrastructure::Present(_, instance) = &known.infrastructure else {
                panic!("it is there");
            };
            prop_assert_eq!(copies, instance.is_provisioned() && instance.provider_id().is_some());
        }
    }
}
