//! The status of a Machine, from what is known of it. Pure; its conditions are next door.

use hyperplane_api::cluster_api::{
    common::ObjectName,
    machine_status::{MachineInitialization, MachineNodeReference, MachinePhase, MachineStatus},
};
use hyperplane_runtime::conditions::{set, written};

use super::{
    conditions::{OURS, observe, paused},
    deletion::Ending,
    facts::{Facts, Infrastructure, NodeFacts},
    infrastructure::InstanceFacts,
};

/// The most addresses that a Machine may have.
const ADDRESSES: usize = 256;

/// The status of a machine, with how far its deletion has come if it is being deleted.
pub(crate) fn status(facts: &Facts, ending: Option<&Ending>) -> MachineStatus {
    let before = ours(facts);
    let instance = match &facts.infrastructure {
        Infrastructure::Present(_, instance) => Some(instance.as_ref()),
        Infrastructure::Unserved(_) | Infrastructure::Missing => None,
    };
    let node = match &facts.node {
        NodeFacts::Present(node) => Some(node.as_ref()),
        _ => None,
    };
    // What was seen once stands while nobody can look, or nothing is left to look at.
    let node_ref = node.map(|node| MachineNodeReference {
        name: ObjectName::stored(node.name()),
    });
    let node_info = node.and_then(|node| node.status.node_info.clone());
    let addresses = instance.and_then(|instance| instance.status.addresses.clone());
    let mut addresses = addresses.unwrap_or(before.addresses);
    addresses.truncate(ADDRESSES);
    let wanted_domain = facts.machine.spec.failure_domain.clone();
    let domain = instance.and_then(InstanceFacts::failure_domain).map(str::to_owned);
    let initialization = initialization(facts, before.initialization.as_ref(), instance);
    let node_ref = node_ref.or(before.node_ref);
    let phase = phase(initialization.as_ref(), node_ref.is_some(), ending);
    let is_same_phase = before.phase.as_ref() == Some(&phase);
    MachineStatus {
        conditions: observe(facts, ending),
        phase: Some(phase),
        last_updated: before
            .last_updated
            .filter(|_| is_same_phase)
            .or_else(|| Some(written(facts.now))),
        node_ref,
        node_info: node_info.or(before.node_info),
        addresses,
        failure_domain: domain.or(before.failure_domain).or(wanted_domain),
        initialization,
        deletion: ending.map(|ending| ending.times.clone()),
        observed_generation: facts.machine.metadata.generation,
        ..MachineStatus::default()
    }
}

/// The status of a machine that everybody leaves alone: as it was, but for that.
pub(crate) fn paused_status(facts: &Facts) -> MachineStatus {
    let mut status = ours(facts);
    let generation = facts.machine.metadata.generation;
    set(&mut status.conditions, paused(true), generation, facts.now);
    status
}

/// What the status has of ours: conditions of others must not become ours by being repeated, nor anything that older
/// versions left behind.
fn ours(facts: &Facts) -> MachineStatus {
    let mut status = facts.machine.status.clone().unwrap_or_default();
    let is_ours = |type_: &str| OURS.iter().any(|ours| ours.as_str() == type_);
    status.conditions.retain(|condition| is_ours(&condition.type_));
    status.deprecated = None;
    status.certificates_expiry_date = None;
    status
}

/// What was done once stays done.
fn initialization(
    facts: &Facts,
    before: Option<&MachineInitialization>,
    instance: Option<&InstanceFacts>,
) -> Option<MachineInitialization> {
    let was = |done: fn(&MachineInitialization) -> Option<bool>| before.and_then(done) == Some(true);
    let has_data = facts.machine.spec.bootstrap.data_secret_name.is_some();
    let is_data_there = has_data || was(|before| before.bootstrap_data_secret_created);
    let is_provisioned =
        instance.is_some_and(InstanceFacts::is_provisioned) || was(|before| before.infrastructure_provisioned);
    let said = |is_done: bool| is_done.then_some(true);
    let found = MachineInitialization {
        infrastructure_provisioned: said(is_provisioned),
        bootstrap_data_secret_created: said(is_data_there),
    };
    // The schema wants at least one field.
    (found != MachineInitialization::default()).then_some(found)
}

fn phase(initialization: Option<&MachineInitialization>, has_node: bool, ending: Option<&Ending>) -> MachinePhase {
    let is = |done: fn(&MachineInitialization) -> Option<bool>| initialization.and_then(done) == Some(true);
    match ending {
        Some(ending) if ending.is_instance_gone => MachinePhase::Deleted,
        Some(_) => MachinePhase::Deleting,
        None if is(|found| found.infrastructure_provisioned) && has_node => MachinePhase::Running,
        None if is(|found| found.infrastructure_provisioned) => MachinePhase::Provisioned,
        None if is(|found| found.bootstrap_data_secret_created) => MachinePhase::Provisioning,
        None => MachinePhase::Pending,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use jiff::SignedDuration;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::{
        super::{
            deletion::{Stage, ending, stage},
            facts::testing::{NOW, facts, instance, node},
        },
        *,
    };

    #[test]
    fn what_is_seen_is_told() {
        let mut known = facts(&json!({"status": null}));
        known.infrastructure = instance(&json!({"status": {"failureDomain": "zone-b"}}));
        let info = json!({"kubeletVersion": "v1.34.1", "architecture": "amd64", "bootID": "", "kernelVersion": "",
            "containerRuntimeVersion": "", "kubeProxyVersion": "", "machineID": "", "operatingSystem": "linux",
            "osImage": "", "systemUUID": ""});
        known.node = node(&json!({"status": {"nodeInfo": info}}));
        let found = status(&known, None);
        assert_eq!(found.node_ref.unwrap().name.as_str(), "m-1");
        assert_eq!(found.node_info.unwrap().kubelet_version, "v1.34.1");
        assert_eq!(found.addresses[0].address, "10.0.0.1");
        assert_eq!(found.failure_domain.as_deref(), Some("zone-b"));
        assert_eq!(found.phase, Some(MachinePhase::Running));
        assert_eq!(found.observed_generation, Some(3));
        assert_eq!(found.deletion, None);
    }

    #[test]
    fn phases_follow_what_exists() {
        let no_data = json!({"spec": {"bootstrap": {"dataSecretName": null}}, "status": null});
        let fresh = json!({"status": null});
        let waiting = || instance(&json!({"status": {"initialization": null}}));
        for (change, infrastructure, node, expected) in [
            (no_data, waiting(), NodeFacts::Unidentified, MachinePhase::Pending),
            (
                fresh.clone(),
                waiting(),
                NodeFacts::Unidentified,
                MachinePhase::Provisioning,
            ),
            (
                fresh,
                instance(&json!({})),
                NodeFacts::Missing,
                MachinePhase::Provisioned,
            ),
            (
                json!({}),
                instance(&json!({})),
                NodeFacts::Missing,
                MachinePhase::Running,
            ),
        ] {
            let mut known = facts(&change);
            known.infrastructure = infrastructure;
            known.node = node;
            assert_eq!(status(&known, None).phase, Some(expected), "{change}");
        }
        let known = facts(&json!({"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}}));
        let told = ending(&known, &stage(&known, false), None);
        assert_eq!(status(&known, Some(&told)).phase, Some(MachinePhase::Deleting));
        let told = ending(&known, &Stage::NodeUnseen("m-1".to_owned()), None);
        assert_eq!(status(&known, Some(&told)).phase, Some(MachinePhase::Deleted));
    }

    #[test]
    fn what_was_seen_stands_when_nothing_is_left_to_see() {
        let before = json!({"status": {"addresses": [{"type": "Hostname", "address": "old"}], "failureDomain": "a",
            "initialization": {"infrastructureProvisioned": true}}});
        let mut known = facts(&before);
        known.infrastructure = Infrastructure::Missing;
        known.node = NodeFacts::Missing;
        let found = status(&known, None);
        assert_eq!(found.addresses[0].address, "old");
        assert_eq!(found.failure_domain.as_deref(), Some("a"));
        assert!(found.node_ref.is_some());
        assert_eq!(found.initialization.unwrap().infrastructure_provisioned, Some(true));
    }

    fn condition(type_: &str) -> Value {
        json!({"type": type_, "status": "False", "reason": "x", "message": "", "lastTransitionTime": NOW.to_string()})
    }

    #[test]
    fn conditions_of_others_are_not_repeated() {
        let theirs = [
            condition("HealthCheckSucceeded"),
            condition("OwnerRemediated"),
            condition("NodeReady"),
        ];
        let known = facts(&json!({"status": {"conditions": theirs, "deprecated": {"v1beta1": {}}}}));
        for found in [status(&known, None), paused_status(&known)] {
            let types: Vec<&str> = found.conditions.iter().map(|found| found.type_.as_str()).collect();
            assert!(!types.contains(&"HealthCheckSucceeded") && !types.contains(&"OwnerRemediated"));
            assert!(types.contains(&"NodeReady"));
            assert_eq!(found.deprecated, None);
        }
        let paused = paused_status(&known);
        let word = paused.conditions.iter().find(|found| found.type_ == "Paused").unwrap();
        assert_eq!(word.status, "True");
    }

    proptest! {
        #[test]
        fn a_second_look_writes_nothing(seconds in 0_i64..10_000, has_node: bool, is_paused: bool) {
            let mut known = facts(&json!({"status": null}));
            if !has_node {
                known.node = NodeFacts::Missing;
            }
            let active: fn(&Facts) -> MachineStatus = |facts| status(facts, None);
            let tell: fn(&Facts) -> MachineStatus = if is_paused { paused_status } else { active };
            let first = tell(&known);
            let mut machine = (*known.machine).clone();
            machine.status = Some(first.clone());
            known.machine = Arc::new(machine);
            known.now += SignedDuration::from_secs(seconds);
            prop_assert_eq!(tell(&known), first);
        }
    }
}
