//! The conditions of a Machine, from what is known of it. Pure; which of them there are, and their reasons, is Cluster
//! API's v1beta2.

use std::time::Duration;

use hyperplane_api::{
    cluster_api::common::ConditionPolarity,
    constants::{ConditionType, Reason, conditions::machine as types, ours, reasons},
};
use hyperplane_runtime::conditions::{Observation, merge};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;

use super::{
    deletion::Ending,
    facts::{Facts, Infrastructure, NodeFacts},
    infrastructure::InstanceFacts,
};
use crate::nodes::{NodeView, age, bounded};

/// The conditions that this controller writes. Those of health checks on the same Machine are not among them.
pub(crate) const OURS: &[ConditionType] = &[
    types::AVAILABLE,
    types::READY,
    types::UP_TO_DATE,
    types::BOOTSTRAP_CONFIG_READY,
    types::INFRASTRUCTURE_READY,
    types::NODE_HEALTHY,
    types::NODE_READY,
    types::DELETING,
    types::PAUSED,
];

/// What a node that is in order says.
const HEALTHY: &[(&str, &str)] = &[
    ("Ready", "True"),
    ("MemoryPressure", "False"),
    ("DiskPressure", "False"),
    ("PIDPressure", "False"),
];

/// Every condition of ours.
pub(crate) fn observe(facts: &Facts, ending: Option<&Ending>) -> Vec<Condition> {
    let mut observed = vec![
        bootstrap(facts),
        infrastructure(facts),
        node_ready(facts),
        node_healthy(facts),
        deleting(ending),
        paused(false),
    ];
    observed.extend(facts.is_up_to_date.map(up_to_date));
    observed.push(ready(facts, &observed));
    let (before, generation) = (facts.conditions(), facts.machine.metadata.generation);
    let mut conditions = merge(before, observed, generation, facts.now);
    let available = available(facts, &conditions);
    conditions.extend(merge(before, [available], generation, facts.now));
    conditions.sort_by(|one, other| one.type_.cmp(&other.type_));
    conditions
}

/// Whether everybody leaves the machine alone.
pub(crate) fn paused(is_paused: bool) -> Observation {
    if is_paused {
        let message = "The Machine or its Cluster is paused";
        holds(types::PAUSED, reasons::PAUSED, message)
    } else {
        fails(types::PAUSED, reasons::NOT_PAUSED, "")
    }
}

/// How long a machine that is ready has yet to stay so before it is available; none if it is not ready, or is
/// available.
pub(crate) fn until_available(facts: &Facts, conditions: &[Condition]) -> Option<Duration> {
    let ready = conditions
        .iter()
        .find(|condition| condition.type_ == types::READY.as_str())?;
    let seconds = u64::try_from(facts.machine.spec.min_ready_seconds.unwrap_or(0)).unwrap_or(0);
    // A clock that went back makes the wait begin anew.
    let lasted = age(ready.last_transition_time.0, facts.now).unwrap_or(Duration::ZERO);
    let left = Duration::from_secs(seconds).checked_sub(lasted)?;
    (ready.status == "True" && !left.is_zero()).then_some(left)
}

fn bootstrap(facts: &Facts) -> Observation {
    let type_ = types::BOOTSTRAP_CONFIG_READY;
    let bootstrap = &facts.machine.spec.bootstrap;
    match (&bootstrap.data_secret_name, &bootstrap.config_ref) {
        (Some(_), _) => holds(type_, reasons::DATA_SECRET_PROVIDED, ""),
        (None, Some(reference)) => {
            let message = format!(
                "{} is made by a bootstrap provider, and this manager runs none: set spec.bootstrap.dataSecretName",
                reference.kind
            );
            fails(type_, reasons::NOT_READY, message)
        }
        (None, None) => fails(
            type_,
            reasons::NOT_READY,
            "Waiting for spec.bootstrap.dataSecretName to be set",
        ),
    }
}

fn infrastructure(facts: &Facts) -> Observation {
    let type_ = types::INFRASTRUCTURE_READY;
    let kind = &facts.machine.spec.infrastructure_ref.kind;
    match &facts.infrastructure {
        Infrastructure::Unserved(what) => fails(type_, reasons::NOT_READY, what.clone()),
        Infrastructure::Missing if was_provisioned(facts) => {
            fails(type_, reasons::OBJECT_DELETED, format!("The {kind} has been deleted"))
        }
        Infrastructure::Missing => fails(
            type_,
            reasons::OBJECT_DOES_NOT_EXIST,
            format!("The {kind} does not exist"),
        ),
        Infrastructure::Present(_, instance) => of_instance(facts, kind.as_str(), instance),
    }
}

/// What the provider says, in its own words where it has any.
fn of_instance(facts: &Facts, kind: &str, instance: &InstanceFacts) -> Observation {
    let type_ = types::INFRASTRUCTURE_READY;
    if let Some(owner) = instance.foreign_controller(facts.machine.metadata.uid.as_deref()) {
        return fails(type_, reasons::NOT_READY, format!("The {kind} belongs to {owner}"));
    }
    if let Some(failure) = instance.failure() {
        let message = format!("The {kind} failed for good: {}", bounded(&failure));
        return fails(type_, reasons::NOT_READY, message);
    }
    let said = instance.readiness();
    let words = said.and_then(|said| said.message.as_deref()).map(bounded);
    match said.map(|said| said.status.as_str()) {
        _ if !instance.is_provisioned() => {
            let message = words.filter(|words| !words.is_empty());
            let waits = || format!("Waiting for the {kind} to be provisioned");
            fails(type_, reasons::NOT_PROVISIONED, message.unwrap_or_else(waits))
        }
        Some("False") => fails(type_, reasons::NOT_READY, words.unwrap_or_default()),
        Some("Unknown") => unknown(type_, reasons::READY_UNKNOWN, words.unwrap_or_default()),
        _ => holds(type_, reasons::PROVISIONED, ""),
    }
}

fn node_ready(facts: &Facts) -> Observation {
    let type_ = types::NODE_READY;
    let node = match present(facts, type_) {
        Ok(node) => node,
        Err(absent) => return absent,
    };
    let said = node.condition("Ready");
    let message = said.and_then(|said| said.message.as_deref()).map(bounded);
    let message = message.unwrap_or_default();
    match said.map(|said| said.status.as_str()) {
        Some("True") if node.is_uninitialized() => fails(type_, reasons::NODE_NOT_READY, uninitialized()),
        Some("True") => holds(type_, reasons::NODE_READY, ""),
        Some("False") => fails(type_, reasons::NODE_NOT_READY, message),
        _ => unknown(type_, reasons::NODE_READY_UNKNOWN, message),
    }
}

fn node_healthy(facts: &Facts) -> Observation {
    let type_ = types::NODE_HEALTHY;
    let node = match present(facts, type_) {
        Ok(node) => node,
        Err(absent) => return absent,
    };
    let (mut bad, mut unclear) = (Vec::new(), Vec::new());
    for (condition, good) in HEALTHY {
        match node.condition(condition).map(|found| found.status.as_str()) {
            Some(status) if status == *good => {}
            Some(status @ ("True" | "False")) => bad.push(format!("Node.{condition} is {status}")),
            Some(_) => unclear.push(format!("Node.{condition} is Unknown")),
            None => unclear.push(format!("Node.{condition} is not reported yet")),
        }
    }
    if node.is_uninitialized() {
        bad.push(uninitialized());
    }
    if !bad.is_empty() {
        fails(type_, reasons::NODE_NOT_HEALTHY, bad.join("; "))
    } else if unclear.is_empty() {
        holds(type_, reasons::NODE_HEALTHY, "")
    } else {
        unknown(type_, reasons::NODE_HEALTHY_UNKNOWN, unclear.join("; "))
    }
}

fn uninitialized() -> String {
    format!(
        "Node has the taint {} until it has its labels and taints",
        ours::UNINITIALIZED_TAINT
    )
}

/// The node, or what a condition of it says where there is none to look at.
fn present(facts: &Facts, type_: ConditionType) -> Result<&NodeView, Observation> {
    let kind = &facts.machine.spec.infrastructure_ref.kind;
    Err(match &facts.node {
        NodeFacts::Present(node) => return Ok(node),
        NodeFacts::Unidentified if facts.is_cluster_leaving() => {
            let message = "The node is not looked at any more: its cluster is being deleted";
            unknown(type_, reasons::INSPECTION_FAILED, message)
        }
        NodeFacts::Unidentified => {
            let message = format!("Waiting for the {kind} to report spec.providerID");
            unknown(type_, reasons::INSPECTION_FAILED, message)
        }
        NodeFacts::Unseen(no_answer) => {
            // A short silence says nothing of the node; machines must not all turn Unknown at each restart of an API
            // server.
            let before = facts.conditions().iter().find(|found| found.type_ == type_.as_str());
            let before = before.filter(|_| !no_answer.is_lasting).map(as_before);
            // Without the words of the failure: they differ from look to look, and each would be a write.
            let message = "The API server of the hosted cluster does not answer";
            before.unwrap_or_else(|| unknown(type_, reasons::CONNECTION_DOWN, message))
        }
        NodeFacts::Contested(names) => {
            let message = format!("Several nodes have spec.providerID of this machine: {}", few(names));
            unknown(type_, reasons::INSPECTION_FAILED, message)
        }
        NodeFacts::Missing => {
            if let Some(name) = facts.known_node() {
                fails(type_, reasons::NODE_DELETED, format!("Node {name} has been deleted"))
            } else {
                let provider_id = facts.provider_id().unwrap_or_default();
                let message = format!("Waiting for a Node with spec.providerID {provider_id} to exist");
                unknown(type_, reasons::NODE_DOES_NOT_EXIST, message)
            }
        }
    })
}

fn deleting(ending: Option<&Ending>) -> Observation {
    match ending {
        Some(ending) => holds(types::DELETING, ending.reason, ending.message()),
        None => fails(types::DELETING, reasons::NOT_DELETING, ""),
    }
}

fn up_to_date(is_up_to_date: bool) -> Observation {
    if is_up_to_date {
        holds(types::UP_TO_DATE, reasons::UP_TO_DATE, "")
    } else {
        let message = "The MachineDeployment has a newer revision";
        fails(types::UP_TO_DATE, reasons::NOT_UP_TO_DATE, message)
    }
}

/// The sum of what has to be good, of gates that users add, and of health checks if there are any.
fn ready(facts: &Facts, observed: &[Observation]) -> Observation {
    let (mut bad, mut unclear) = (Vec::new(), Vec::new());
    let mut judge = |type_: &str, status: Option<bool>, good: bool, message: &str| match status {
        Some(status) if status == good => {}
        Some(_) => bad.push(format!("{type_}: {message}")),
        None => unclear.push(format!("{type_}: {message}")),
    };
    for (type_, good) in [
        (types::DELETING, false),
        (types::BOOTSTRAP_CONFIG_READY, true),
        (types::INFRASTRUCTURE_READY, true),
        (types::NODE_HEALTHY, true),
    ] {
        let found = observed.iter().find(|observation| observation.type_ == type_.as_str());
        if let Some(found) = found {
            // How a deletion goes on is told there; repeating it would only double the writes.
            let is_deleting = type_ == types::DELETING;
            let message = if is_deleting {
                "the Machine is being deleted"
            } else {
                found.message.as_str()
            };
            judge(type_.as_str(), found.status, good, message);
        }
    }
    let elsewhere = |type_: &str| facts.conditions().iter().find(|found| found.type_ == type_);
    if let Some(check) = elsewhere(types::HEALTH_CHECK_SUCCEEDED.as_str()) {
        judge(&check.type_, status_of(check), true, &check.message);
    }
    for gate in &facts.machine.spec.readiness_gates {
        let good = gate.polarity != Some(ConditionPolarity::Negative);
        let type_ = gate.condition_type.as_str();
        match elsewhere(type_) {
            Some(found) => judge(type_, status_of(found), good, &found.message),
            None => judge(type_, None, good, "not reported yet"),
        }
    }
    if !bad.is_empty() {
        bad.extend(unclear);
        fails(types::READY, reasons::NOT_READY, bad.join("; "))
    } else if unclear.is_empty() {
        holds(types::READY, reasons::READY, "")
    } else {
        unknown(types::READY, reasons::READY_UNKNOWN, unclear.join("; "))
    }
}

fn available(facts: &Facts, conditions: &[Condition]) -> Observation {
    let type_ = types::AVAILABLE;
    let is_ready = hyperplane_runtime::conditions::holds(conditions, types::READY.as_str());
    if !is_ready {
        fails(type_, reasons::NOT_READY, "")
    } else if until_available(facts, conditions).is_some() {
        fails(type_, reasons::WAITING_FOR_MIN_READY_SECONDS, "")
    } else {
        holds(type_, reasons::AVAILABLE, "")
    }
}

fn was_provisioned(facts: &Facts) -> bool {
    let status = facts.machine.status.as_ref();
    let initialization = status.and_then(|status| status.initialization.as_ref());
    initialization.and_then(|found| found.infrastructure_provisioned) == Some(true)
}

/// Names, of bounded number.
fn few(names: &[String]) -> String {
    const NAMED: usize = 3;
    let text = names.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(NAMED) {
        0 => text,
        more => format!("{text} and {more} more"),
    }
}

fn as_before(condition: &Condition) -> Observation {
    Observation {
        type_: condition.type_.clone(),
        status: status_of(condition),
        reason: condition.reason.clone(),
        message: condition.message.clone(),
    }
}

fn status_of(condition: &Condition) -> Option<bool> {
    match condition.status.as_str() {
        "True" => Some(true),
        "False" => Some(false),
        _ => None,
    }
}

fn holds(type_: ConditionType, reason: Reason, message: impl Into<String>) -> Observation {
    Observation::holds(type_.as_str(), reason.as_str(), message)
}

fn fails(type_: ConditionType, reason: Reason, message: impl Into<String>) -> Observation {
    Observation::fails(type_.as_str(), reason.as_str(), message)
}

fn unknown(type_: ConditionType, reason: Reason, message: impl Into<String>) -> Observation {
    Observation::unknown(type_.as_str(), reason.as_str(), message)
}

#[cfg(test)]
mod tests;
