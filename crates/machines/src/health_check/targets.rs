//! Which machines a check looks at, and what is known of each in the terms of the arithmetic. Pure.

use std::sync::Arc;

use hyperplane_api::{
    cluster_api::{cluster::Cluster, machine::Machine, machine_health_check::MachineHealthCheck},
    constants::{annotations, conditions::cluster as cluster_types, conditions::machine as types},
};
use hyperplane_rollout::health::{NodeFacts, ObservedCondition, Target};
use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::ResourceExt as _;

use crate::{
    nodes::{Found, NodeList, NodeView},
    owners::selects,
};

/// The machines of a check.
#[derive(Clone, Debug, Default)]
pub(crate) struct Selected {
    /// Those that are judged, in order of their names.
    pub(crate) targets: Vec<Arc<Machine>>,
    /// Those that are selected and left alone: what was said of them before is taken back.
    pub(crate) excluded: Vec<Arc<Machine>>,
}

impl Selected {
    /// The names of those that are judged.
    pub(crate) fn names(&self) -> Vec<String> {
        self.targets.iter().map(|machine| machine.name_any()).collect()
    }
}

/// Whether a check selects a machine.
pub(crate) fn is_selected(check: &MachineHealthCheck, machine: &Machine) -> bool {
    let is_same_cluster = check.spec.cluster_name == machine.spec.cluster_name;
    is_same_cluster && selects(&check.spec.selector, machine)
}

/// The machines of a check, among those of its cluster, without those that one of the `earlier` checks selects.
pub(crate) fn select(
    check: &MachineHealthCheck,
    earlier: &[Arc<MachineHealthCheck>],
    machines: Vec<Arc<Machine>>,
) -> Selected {
    let mut selected = Selected::default();
    for machine in machines {
        let is_ours = is_selected(check, &machine) && !earlier.iter().any(|earlier| is_selected(earlier, &machine));
        match is_ours.then(|| is_looked_at(&machine)) {
            Some(true) => selected.targets.push(machine),
            Some(false) => selected.excluded.push(machine),
            None => {}
        }
    }
    selected
}

/// What is known of a machine. Without `nodes` the hosted cluster does not answer.
pub(crate) fn target(machine: &Machine, cluster: Option<&Cluster>, nodes: Option<&NodeList>) -> Target {
    let was_unhealthy = is_marked(machine);
    Target {
        name: machine.name_any(),
        startup_since: startup_since(machine, cluster),
        node: node(machine, nodes, was_unhealthy),
        machine_conditions: conditions(machine).iter().map(of_machine).collect(),
        is_asked: has(machine, annotations::REMEDIATE_MACHINE.as_str()),
        was_unhealthy,
    }
}

/// Whether a check has said of a machine that it is unhealthy.
pub(crate) fn is_marked(machine: &Machine) -> bool {
    condition(machine, types::HEALTH_CHECK_SUCCEEDED.as_str()).is_some_and(|found| found.status == "False")
}

/// The condition of a type that a machine has.
pub(crate) fn condition<'a>(machine: &'a Machine, type_: &str) -> Option<&'a Condition> {
    conditions(machine).iter().find(|condition| condition.type_ == type_)
}

/// Machines that are to be left alone are not looked at, nor those that go although nothing was wrong with them: their
/// nodes fall silent because of that, and must not use up what may be unhealthy.
fn is_looked_at(machine: &Machine) -> bool {
    let is_left_alone =
        has(machine, annotations::SKIP_REMEDIATION.as_str()) || has(machine, annotations::PAUSED.as_str());
    let is_leaving = machine.metadata.deletion_timestamp.is_some();
    !is_left_alone && (!is_leaving || is_marked(machine))
}

fn has(machine: &Machine, annotation: &str) -> bool {
    machine.annotations().contains_key(annotation)
}

/// The time before the cluster could take nodes is not the machine's. Who says nothing of it, as where nobody reports on
/// Clusters, is taken to be able to.
fn startup_since(machine: &Machine, cluster: Option<&Cluster>) -> Timestamp {
    let created = machine.metadata.creation_timestamp.as_ref().map(|time| time.0);
    let status = cluster.and_then(|cluster| cluster.status.as_ref());
    let found = status.into_iter().flat_map(|status| &status.conditions);
    let since = found.filter_map(|condition| {
        let is_meant = [
            cluster_types::INFRASTRUCTURE_READY.as_str(),
            cluster_types::CONTROL_PLANE_INITIALIZED.as_str(),
        ];
        is_meant.contains(&condition.type_.as_str()).then(|| {
            // A cluster that cannot take nodes yet makes no machine late.
            let is_able = condition.status == "True";
            if is_able {
                condition.last_transition_time.0
            } else {
                Timestamp::MAX
            }
        })
    });
    // Without a time of its own nothing was ever late.
    since.chain(created).max().unwrap_or(Timestamp::MAX)
}

fn node(machine: &Machine, nodes: Option<&NodeList>, was_unhealthy: bool) -> NodeFacts {
    let is_leaving = machine.metadata.deletion_timestamp.is_some();
    let known = machine.status.as_ref().and_then(|status| status.node_ref.as_ref());
    let known = known.map(|node| node.name.as_str());
    // One that is being replaced counts as it was until it is gone.
    let nodes = nodes.filter(|_| !(is_leaving && was_unhealthy));
    let Some(nodes) = nodes else {
        return NodeFacts::Unseen;
    };
    let provider_id = machine.spec.provider_id.as_deref().unwrap_or_default();
    match (nodes.find(provider_id, known), known) {
        (Found::One(node), _) => NodeFacts::Present(of_node(node)),
        (Found::None, Some(_)) => NodeFacts::Gone,
        (Found::None, None) => NodeFacts::Awaited,
        (Found::Several(_), _) => NodeFacts::Unseen,
    }
}

fn of_node(node: &NodeView) -> Vec<ObservedCondition> {
    let conditions = node.status.conditions.iter().flatten();
    let observed = conditions.filter_map(|condition| {
        Some(ObservedCondition {
            type_: condition.type_.clone(),
            status: condition.status.clone(),
            since: condition.last_transition_time.as_ref()?.0,
        })
    });
    observed.collect()
}

fn of_machine(condition: &Condition) -> ObservedCondition {
    ObservedCondition {
        type_: condition.type_.clone(),
        status: condition.status.clone(),
        since: condition.last_transition_time.0,
    }
}

fn conditions(machine: &Machine) -> &[Condition] {
    let status = machine.status.as_ref();
    status.map(|status| status.conditions.as_slice()).unwrap_or_default()
}

#[cfg(test)]
pub(crate) mod testing {
    //! Checks and machines for tests.

    use serde_json::{Value, json};

    use super::*;

    pub(crate) fn check(name: &str, spec: &Value) -> MachineHealthCheck {
        let mut all = json!({"clusterName": "c", "selector": {"matchLabels": {"pool": "p"}}});
        if let (Some(all), Some(spec)) = (all.as_object_mut(), spec.as_object()) {
            all.extend(spec.clone());
        }
        hyperplane_objects::read(json!({
            "apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "MachineHealthCheck",
            "metadata": {"name": name, "namespace": "cp", "generation": 2}, "spec": all,
        }))
        .unwrap()
    }

    pub(crate) fn machine(name: &str, metadata: &Value, status: &Value) -> Machine {
        let mut all = json!({"name": name, "namespace": "cp", "uid": name, "labels": {"pool": "p"},
            "creationTimestamp": "2026-01-01T00:00:00Z"});
        if let (Some(all), Some(metadata)) = (all.as_object_mut(), metadata.as_object()) {
            all.extend(metadata.clone());
        }
        hyperplane_objects::read(json!({
            "apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Machine", "metadata": all,
            "spec": {"clusterName": "c", "bootstrap": {}, "providerID": format!("kubevirt://{name}"),
                "infrastructureRef": {"apiGroup": "infrastructure.cluster.x-k8s.io", "kind": "KubevirtMachine",
                    "name": name}},
            "status": status,
        }))
        .unwrap()
    }

    pub(crate) fn condition_of(type_: &str, status: &str, reason: &str) -> Value {
        json!({"type": type_, "status": status, "reason": reason, "message": "", "observedGeneration": 1,
            "lastTransitionTime": "2026-01-01T00:00:00Z"})
    }

    /// The status of a machine that a check has marked.
    pub(crate) fn marked() -> Value {
        json!({"nodeRef": {"name": "n"}, "conditions": [condition_of("HealthCheckSucceeded", "False", "UnhealthyNode")]})
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{
        testing::{check, condition_of, machine, marked},
        *,
    };

    fn annotated(key: &str) -> Value {
        json!({"annotations": {key: ""}})
    }

    #[test]
    fn each_machine_has_its_place() {
        let leaving = json!({"deletionTimestamp": "2026-01-01T00:00:00Z"});
        for (metadata, status, expected) in [
            (json!({}), json!({}), (1, 0)),
            (json!({"labels": {"pool": "other"}}), json!({}), (0, 0)),
            (annotated("cluster.x-k8s.io/skip-remediation"), json!({}), (0, 1)),
            (annotated("cluster.x-k8s.io/paused"), json!({}), (0, 1)),
            (leaving.clone(), json!({}), (0, 1)),
            (leaving, marked(), (1, 0)),
        ] {
            let machines = vec![Arc::new(machine("m", &metadata, &status))];
            let found = select(&check("a", &json!({})), &[], machines);
            assert_eq!(
                (found.targets.len(), found.excluded.len()),
                expected,
                "{metadata} {status}"
            );
        }
        let machines = || vec![Arc::new(machine("m", &json!({}), &json!({})))];
        let everything = check("b", &json!({"selector": {}}));
        assert!(select(&everything, &[], machines()).targets.is_empty());
        let elsewhere = check("b", &json!({"clusterName": "another"}));
        assert!(select(&elsewhere, &[], machines()).targets.is_empty());
        let earlier = [Arc::new(check("a", &json!({})))];
        let later = select(&check("b", &json!({})), &earlier, machines());
        assert!(later.targets.is_empty() && later.excluded.is_empty());
    }

    fn nodes(provider_id: &str) -> NodeList {
        let node = json!({"metadata": {"name": "n"}, "spec": {"providerID": provider_id}, "status": {"conditions": [
            {"type": "Ready", "status": "False", "lastTransitionTime": "2026-01-01T00:00:00Z"},
            {"type": "NoTime", "status": "True"}]}});
        NodeList::new(vec![hyperplane_objects::read(&node).unwrap()])
    }

    #[test]
    fn nodes_are_awaited_there_gone_or_unseen() {
        let had = json!({"nodeRef": {"name": "n"}});
        let leaving = json!({"deletionTimestamp": "2026-01-01T00:00:00Z"});
        let of = |metadata: &Value, status: &Value, nodes: Option<&NodeList>| {
            target(&machine("m", metadata, status), None, nodes).node
        };
        let none = NodeList::default();
        assert_eq!(of(&json!({}), &json!({}), Some(&none)), NodeFacts::Awaited);
        assert_eq!(of(&json!({}), &had, Some(&none)), NodeFacts::Gone);
        assert_eq!(of(&json!({}), &had, None), NodeFacts::Unseen);
        assert_eq!(of(&json!({}), &json!({}), None), NodeFacts::Unseen);
        let found = of(&json!({}), &had, Some(&nodes("kubevirt://m")));
        assert!(matches!(found, NodeFacts::Present(conditions) if conditions.len() == 1));
        assert_eq!(of(&leaving, &marked(), Some(&none)), NodeFacts::Unseen);
    }

    #[test]
    fn the_time_to_start_begins_when_the_cluster_can_take_nodes() {
        let known = machine("m", &json!({}), &json!({}));
        let at = |text: &str| text.parse::<Timestamp>().unwrap();
        assert_eq!(startup_since(&known, None), at("2026-01-01T00:00:00Z"));
        let mut later = condition_of("ControlPlaneInitialized", "True", "Initialized");
        later["lastTransitionTime"] = json!("2026-01-02T00:00:00Z");
        let cluster: Cluster = hyperplane_objects::read(json!({
            "metadata": {"name": "c"}, "spec": {}, "status": {"conditions": [later]},
        }))
        .unwrap();
        assert_eq!(startup_since(&known, Some(&cluster)), at("2026-01-02T00:00:00Z"));
        let mut unable = cluster;
        unable.status.as_mut().unwrap().conditions[0].status = "False".to_owned();
        assert_eq!(startup_since(&known, Some(&unable)), Timestamp::MAX);
    }

    #[test]
    fn people_ask_by_annotation() {
        let asked = machine("m", &annotated("cluster.x-k8s.io/remediate-machine"), &marked());
        let found = target(&asked, None, None);
        assert!(found.is_asked && found.was_unhealthy);
    }
}
