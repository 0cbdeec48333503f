//! Machines of a set, counted and described. Pure; reads what the Machine controller has found out.

use std::{collections::BTreeMap, sync::Arc};

use hyperplane_api::{
    cluster_api::{machine::Machine, machine_set::MachineSet, replicas::StatusVersion},
    constants::{ConditionType, annotations, conditions::machine},
};
use hyperplane_rollout::{Candidate, SetState};
use hyperplane_runtime::conditions::holds;
use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, ObjectMeta};
use kube::ResourceExt as _;

/// The most versions that a status lists, by its schema.
const MOST_VERSIONS: usize = 100;

/// How many machines there are, and how many of them can be used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) replicas: u32,
    pub(crate) ready: u32,
    pub(crate) available: u32,
    pub(crate) deleting: u32,
    pub(crate) remediating: u32,
}

impl Counts {
    pub(crate) fn of<'a>(machines: impl IntoIterator<Item = &'a Arc<Machine>>) -> Self {
        let mut counts = Self::default();
        for machine in machines {
            counts.replicas += 1;
            counts.ready += u32::from(is(machine, machine::READY));
            counts.available += u32::from(is(machine, machine::AVAILABLE));
            counts.deleting += u32::from(is_deleting(&machine.metadata));
            counts.remediating += u32::from(awaits_owner(machine));
        }
        counts
    }
}

/// Whether a condition of a machine holds. One that goes is nothing any more, whatever its conditions still say.
pub(crate) fn is(machine: &Machine, type_: ConditionType) -> bool {
    !is_deleting(&machine.metadata) && holds(conditions(machine), type_.as_str())
}

/// Whether the health check wants the owner to replace a machine, or the owner has begun to.
pub(crate) fn awaits_owner(machine: &Machine) -> bool {
    let mut found = conditions(machine).iter();
    found.any(|condition| condition.type_ == machine::OWNER_REMEDIATED.as_str() && condition.status == "False")
}

/// Whether an object is being deleted.
pub(crate) const fn is_deleting(metadata: &ObjectMeta) -> bool {
    metadata.deletion_timestamp.is_some()
}

/// When an object was made; one that was not written yet, never.
pub(crate) fn created(metadata: &ObjectMeta) -> Timestamp {
    let created = metadata.creation_timestamp.as_ref();
    created.map_or(Timestamp::MIN, |created| created.0)
}

/// A set as the arithmetic of rollouts sees it. One that is being deleted is told to have nothing.
pub(crate) fn set_state(set: &MachineSet, machines: &[Arc<Machine>]) -> SetState {
    let counts = Counts::of(machines);
    let marked = machines
        .iter()
        .filter(|machine| is_marked(machine) && is(machine, machine::AVAILABLE));
    SetState {
        replicas: if is_deleting(&set.metadata) {
            0
        } else {
            wanted(set.spec.replicas)
        },
        live: counts.replicas - counts.deleting,
        deleting: counts.deleting,
        available: counts.available,
        marked: marked.fold(0, |count, _| count + 1),
    }
}

/// A number of replicas as it is meant: unset is one.
pub(crate) fn wanted(replicas: Option<i32>) -> u32 {
    u32::try_from(replicas.unwrap_or(1)).unwrap_or_default()
}

/// A count as statuses write it.
pub(crate) fn written(count: u32) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}

/// A machine that could go.
pub(crate) fn candidate(machine: &Machine) -> Candidate {
    let node = machine.status.as_ref().and_then(|status| status.node_ref.as_ref());
    Candidate {
        name: machine.name_any(),
        created: created(&machine.metadata),
        is_deleting: is_deleting(&machine.metadata),
        is_marked: is_marked(machine),
        has_node: node.is_some(),
        is_healthy: is(machine, machine::NODE_HEALTHY) && !awaits_owner(machine),
        is_available: is(machine, machine::AVAILABLE),
    }
}

/// How many machines run which version of Kubernetes, the oldest first; those without a node run none.
pub(crate) fn versions<'a>(machines: impl IntoIterator<Item = &'a Arc<Machine>>) -> Vec<StatusVersion> {
    let mut found: BTreeMap<(Vec<u64>, &str), u32> = BTreeMap::new();
    for machine in machines {
        let info = machine.status.as_ref().and_then(|status| status.node_info.as_ref());
        if let Some(info) = info.filter(|info| !info.kubelet_version.is_empty()) {
            let version = info.kubelet_version.as_str();
            *found.entry((numbers(version), version)).or_default() += 1;
        }
    }
    found
        .into_iter()
        .take(MOST_VERSIONS)
        .map(|((_, version), replicas)| StatusVersion {
            version: version.to_owned(),
            replicas: Some(written(replicas)),
        })
        .collect()
}

fn is_marked(machine: &Machine) -> bool {
    machine.annotations().contains_key(annotations::DELETE_MACHINE.as_str())
}

fn conditions(machine: &Machine) -> &[Condition] {
    let status = machine.status.as_ref();
    status.map(|status| &*status.conditions).unwrap_or_default()
}

/// The numbers in a version, so that 1.9 comes before 1.10.
fn numbers(version: &str) -> Vec<u64> {
    let digits = version.split(|character: char| !character.is_ascii_digit());
    digits.filter_map(|digits| digits.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::conditions::tests::machine;

    #[test]
    fn a_machine_that_goes_is_no_longer_available() {
        let machines = [
            Arc::new(machine("a", "Ready Available", &json!({}))),
            Arc::new(machine("b", "Ready", &json!({}))),
            Arc::new(machine(
                "c",
                "Ready Available",
                &json!({"deletionTimestamp": "2026-01-01T00:00:00Z"}),
            )),
            Arc::new(machine(
                "d",
                "Ready Available",
                &json!({"annotations": {"cluster.x-k8s.io/delete-machine": ""}}),
            )),
        ];
        let counts = Counts::of(&machines);
        let expected = Counts {
            replicas: 4,
            ready: 3,
            available: 2,
            deleting: 1,
            remediating: 0,
        };
        assert_eq!(counts, expected);
        let set: MachineSet = hyperplane_objects::read(json!({
            "metadata": {}, "spec": {"clusterName": "c", "replicas": 7, "selector": {}, "template": {"spec": {
                "clusterName": "c", "bootstrap": {}, "infrastructureRef": {"apiGroup": "g", "kind": "K", "name": "n"}}}},
        }))
        .unwrap();
        let state = set_state(&set, &machines);
        let expected = SetState {
            replicas: 7,
            live: 3,
            deleting: 1,
            available: 2,
            marked: 1,
        };
        assert_eq!(state, expected);
    }

    #[test]
    fn versions_are_ordered_as_people_count() {
        let with = |name: &str, version: &str| {
            let mut machine = machine(name, "", &json!({}));
            let status = machine.status.get_or_insert_default();
            let info = status.node_info.get_or_insert_default();
            version.clone_into(&mut info.kubelet_version);
            Arc::new(machine)
        };
        let machines = [
            with("a", "v1.10.0"),
            with("b", "v1.9.3"),
            with("c", "v1.10.0"),
            with("d", ""),
        ];
        let found: Vec<(String, Option<i32>)> = versions(&machines)
            .into_iter()
            .map(|version| (version.version, version.replicas))
            .collect();
        assert_eq!(found, [("v1.9.3".to_owned(), Some(1)), ("v1.10.0".to_owned(), Some(2))]);
    }

    #[test]
    fn negative_and_missing_numbers_have_a_meaning() {
        assert_eq!(wanted(None), 1);
        assert_eq!(wanted(Some(-3)), 0);
        assert_eq!(written(u32::MAX), i32::MAX);
    }
}
