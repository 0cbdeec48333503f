//! What MachineDeployment and MachineSet say alike of their machines, as observations. Pure.

use std::sync::Arc;

use hyperplane_api::{
    cluster_api::{machine::Machine, machine_set::MachineSet},
    constants::{ConditionType, Reason, conditions::machine, conditions::machine_set as types, reasons},
};
use hyperplane_runtime::conditions::Observation;
use kube::ResourceExt as _;

use crate::counts::{Counts, is};

/// The most machines that a message names: statuses are read by people and copied by programs.
const MOST_NAMES: usize = 5;

/// What stands before the reason why machines are neither made nor deleted.
const HELD_UP: &str = "; held up: ";

/// What is known of the machines of a set or of a deployment.
#[derive(Clone, Debug)]
pub(crate) struct Seen<'a> {
    /// How many are wanted.
    pub(crate) desired: u32,
    /// All of them.
    pub(crate) machines: &'a [Arc<Machine>],
    /// How many are of an older template.
    pub(crate) outdated: u32,
    /// Whether their owner is being deleted.
    pub(crate) is_deleting: bool,
    /// Why their owner is left alone, where it is.
    pub(crate) pause: Option<&'static str>,
    /// What holds their owner up, where something does.
    pub(crate) held_up: Option<&'a str>,
}

/// The conditions that follow.
pub(crate) fn observe(seen: &Seen<'_>) -> Vec<Observation> {
    let counts = Counts::of(seen.machines);
    let wanted = if seen.is_deleting { 0 } else { seen.desired };
    let held_up = seen.held_up.map(|why| format!("{HELD_UP}{why}")).unwrap_or_default();
    let change = format!("from {} to {wanted} machines{held_up}", counts.replicas);
    let up = counts.replicas < wanted;
    let down = counts.replicas > wanted;
    let remediating = counts.remediating > 0;
    vec![
        ready(seen.machines),
        up_to_date(seen, counts),
        either(
            up,
            types::SCALING_UP,
            (reasons::SCALING_UP, &change),
            reasons::NOT_SCALING_UP,
        ),
        either(
            down,
            types::SCALING_DOWN,
            (reasons::SCALING_DOWN, &change),
            reasons::NOT_SCALING_DOWN,
        ),
        either(
            remediating,
            types::REMEDIATING,
            (
                reasons::REMEDIATING,
                &format!("{} unhealthy machines are replaced", counts.remediating),
            ),
            reasons::NOT_REMEDIATING,
        ),
        either(
            seen.is_deleting,
            types::DELETING,
            (reasons::DELETING, &format!("{} machines are left", counts.replicas)),
            reasons::NOT_DELETING,
        ),
        either(
            seen.pause.is_some(),
            types::PAUSED,
            (reasons::PAUSED, seen.pause.unwrap_or_default()),
            reasons::NOT_PAUSED,
        ),
    ]
}

/// What holds a set up, as it says itself: its deployment tells it, too.
pub(crate) fn held_up(set: &MachineSet) -> Option<&str> {
    let mut conditions = set.status.iter().flat_map(|status| &status.conditions);
    let is_scaling = |type_: &str| {
        [types::SCALING_UP, types::SCALING_DOWN]
            .iter()
            .any(|known| known.as_str() == type_)
    };
    conditions.find_map(|condition| {
        let (_, why) = condition.message.split_once(HELD_UP)?;
        is_scaling(&condition.type_).then_some(why)
    })
}

/// A condition that holds for a reason with a message, or does not hold and has nothing to say.
pub(crate) fn either(is_so: bool, type_: ConditionType, yes: (Reason, &str), no: Reason) -> Observation {
    if is_so {
        Observation::holds(type_.as_str(), yes.0.as_str(), yes.1)
    } else {
        Observation::fails(type_.as_str(), no.as_str(), "")
    }
}

fn ready(machines: &[Arc<Machine>]) -> Observation {
    let type_ = types::MACHINES_READY.as_str();
    let waiting: Vec<String> = machines
        .iter()
        .filter(|machine| !is(machine, machine::READY))
        .map(|machine| machine.name_any())
        .collect();
    if machines.is_empty() {
        Observation::holds(type_, reasons::NO_REPLICAS.as_str(), "")
    } else if waiting.is_empty() {
        Observation::holds(type_, reasons::READY.as_str(), "")
    } else {
        Observation::fails(type_, reasons::NOT_READY.as_str(), not_ready(&waiting))
    }
}

fn not_ready(names: &[String]) -> String {
    let shown = &names[..names.len().min(MOST_NAMES)];
    let rest = names.len() - shown.len();
    let more = if rest == 0 {
        String::new()
    } else {
        format!(" and {rest} more")
    };
    format!("not ready: {}{more}", shown.join(", "))
}

fn up_to_date(seen: &Seen<'_>, counts: Counts) -> Observation {
    let type_ = types::MACHINES_UP_TO_DATE.as_str();
    if counts.replicas == 0 {
        return Observation::holds(type_, reasons::NO_REPLICAS.as_str(), "");
    }
    if seen.outdated == 0 {
        return Observation::holds(type_, reasons::UP_TO_DATE.as_str(), "");
    }
    let message = format!(
        "{} of {} machines are of an older template",
        seen.outdated, counts.replicas
    );
    Observation::fails(type_, reasons::NOT_UP_TO_DATE.as_str(), message)
}

#[cfg(test)]
pub(crate) mod tests {
    use hyperplane_api::cluster_api::replicas::MachineTemplateSpec;
    use serde_json::{Value, json};

    use super::*;

    /// A machine with conditions that hold, given by their types; a type with a dash in front does not hold.
    pub(crate) fn machine(name: &str, conditions: &str, metadata: &Value) -> Machine {
        let conditions: Vec<Value> = conditions
            .split_whitespace()
            .map(|type_| {
                let status = if type_.starts_with('-') { "False" } else { "True" };
                json!({"type": type_.trim_start_matches('-'), "status": status, "reason": "Test", "message": "",
                    "lastTransitionTime": "2026-01-01T00:00:00Z"})
            })
            .collect();
        let mut machine: Machine = hyperplane_objects::read(json!({
            "metadata": metadata,
            "spec": {"clusterName": "c", "bootstrap": {"dataSecretName": "data"}, "infrastructureRef": {
                "apiGroup": "infrastructure.cluster.x-k8s.io", "kind": "KubevirtMachine", "name": name}},
            "status": {"conditions": conditions},
        }))
        .unwrap();
        machine.metadata.name = Some(name.to_owned());
        machine.metadata.uid = Some(format!("uid-of-{name}"));
        machine
    }

    /// Changes what rolls nobody: a label, which only machines of later have, and a timeout, which all of them are told.
    pub(crate) fn change_in_place(template: &mut MachineTemplateSpec) {
        let metadata = template.metadata.get_or_insert_default();
        metadata.labels.insert("new".to_owned(), "label".to_owned());
        let deletion = template.spec.deletion.get_or_insert_default();
        deletion.node_drain_timeout_seconds = Some(60);
    }

    fn check(desired: u32, machines: &[Machine], outdated: u32, expected: &[(&str, bool)]) {
        let machines: Vec<Arc<Machine>> = machines.iter().cloned().map(Arc::new).collect();
        let found = observe(&Seen {
            desired,
            machines: &machines,
            outdated,
            is_deleting: false,
            pause: None,
            held_up: None,
        });
        for (type_, status) in expected {
            let condition = found.iter().find(|observation| observation.type_ == *type_).unwrap();
            assert_eq!(condition.status, Some(*status), "{condition:?}");
        }
    }

    #[test]
    fn conditions_follow_from_the_machines() {
        let good = |name: &str| machine(name, "Ready Available", &json!({}));
        let bad = machine("bad", "-Ready -OwnerRemediated", &json!({}));
        check(
            0,
            &[],
            0,
            &[
                ("MachinesReady", true),
                ("MachinesUpToDate", true),
                ("ScalingUp", false),
                ("ScalingDown", false),
            ],
        );
        check(
            2,
            &[good("a")],
            0,
            &[("ScalingUp", true), ("ScalingDown", false), ("MachinesReady", true)],
        );
        check(
            1,
            &[good("a"), good("b")],
            1,
            &[("ScalingDown", true), ("MachinesUpToDate", false)],
        );
        check(
            1,
            &[bad],
            0,
            &[("MachinesReady", false), ("Remediating", true), ("Paused", false)],
        );
    }

    #[test]
    fn deletion_and_pause_are_told() {
        let found = observe(&Seen {
            desired: 3,
            machines: &[],
            outdated: 0,
            is_deleting: true,
            pause: Some("an annotation says so"),
            held_up: None,
        });
        let status = |type_: &str| {
            found
                .iter()
                .find(|observation| observation.type_ == type_)
                .unwrap()
                .status
        };
        assert_eq!(status("Deleting"), Some(true));
        assert_eq!(status("Paused"), Some(true));
        assert_eq!(
            status("ScalingUp"),
            Some(false),
            "nothing is made for an owner that goes"
        );
    }

    #[test]
    fn what_holds_a_set_up_is_told_by_its_deployment_too() {
        let seen = |held_up| Seen {
            desired: 3,
            machines: &[],
            outdated: 0,
            is_deleting: false,
            pause: None,
            held_up,
        };
        let message = |held_up| {
            let observed = observe(&seen(held_up)).into_iter();
            let mut observed = observed.filter(|observation| observation.type_ == "ScalingUp");
            observed.next().unwrap().message
        };
        assert_eq!(message(None), "from 0 to 3 machines");
        let told = message(Some("exceeded quota"));
        assert_eq!(told, "from 0 to 3 machines; held up: exceeded quota");
        let condition = json!({"type": "ScalingUp", "status": "True", "reason": "ScalingUp", "message": told,
            "lastTransitionTime": "2026-01-01T00:00:00Z"});
        let template = json!({"spec": {"clusterName": "c", "bootstrap": {}, "infrastructureRef": {
            "apiGroup": "g", "kind": "KubevirtMachineTemplate", "name": "t"}}});
        let set = json!({"metadata": {}, "spec": {"clusterName": "c", "selector": {}, "template": template},
            "status": {"conditions": [condition]}});
        let set: MachineSet = hyperplane_objects::read(&set).unwrap();
        assert_eq!(held_up(&set), Some("exceeded quota"));
    }

    #[test]
    fn long_lists_are_cut() {
        let names: Vec<String> = (0..9).map(|number| format!("m{number}")).collect();
        assert_eq!(not_ready(&names), "not ready: m0, m1, m2, m3, m4 and 4 more");
        assert_eq!(not_ready(&names[..1]), "not ready: m0");
    }
}
