//! DaemonSets: one pod on every node that it fits. Owns which nodes get one and which pods are replaced; the scheduler
//! puts them where they belong, as upstream's does.

use std::{collections::BTreeMap, sync::Arc};

use hyperplane_runtime::{Context, Failure, Next, ObjectKey, Reconciler, Store};
use jiff::Timestamp;
use k8s_openapi::{
    api::{
        apps::v1::{ControllerRevision, DaemonSet, DaemonSetStatus},
        core::v1::{Node, NodeSelectorRequirement, NodeSelectorTerm, Pod, Toleration},
    },
    apimachinery::pkg::util::intstr::IntOrString,
};
use kube::{Resource, ResourceExt};

use crate::{
    moment, names,
    number::{count, scaled},
    pods,
    scheduler::{fits_node, tolerates_node},
    workloads::revisions,
    write,
};

/// What pods of DaemonSets bear, whatever they say; upstream's list.
const BORNE: [(&str, &str); 6] = [
    ("node.kubernetes.io/not-ready", "NoExecute"),
    ("node.kubernetes.io/unreachable", "NoExecute"),
    ("node.kubernetes.io/disk-pressure", "NoSchedule"),
    ("node.kubernetes.io/memory-pressure", "NoSchedule"),
    ("node.kubernetes.io/pid-pressure", "NoSchedule"),
    ("node.kubernetes.io/unschedulable", "NoSchedule"),
];

/// Drives DaemonSets.
pub(crate) struct DaemonSets {
    /// Every pod.
    pub(crate) pods: Store<Pod>,
    /// Every node.
    pub(crate) nodes: Store<Node>,
    /// Every template that was kept.
    pub(crate) revisions: Store<ControllerRevision>,
}

impl Reconciler for DaemonSets {
    type Object = DaemonSet;

    async fn reconcile(&self, context: &Context, set: Arc<DaemonSet>) -> Result<Next, Failure> {
        let (namespace, uid) = (set.namespace().unwrap_or_default(), set.uid());
        let known = pods::owned(self.revisions.namespace(&namespace).all(), uid.as_deref());
        let template = set.spec.clone().unwrap_or_default().template;
        let revision = revisions::name(&set.name_any(), &template, 0);
        if !known.iter().any(|known| known.name_any() == revision) {
            let kept = revisions::build(
                (&namespace, &revision),
                &template,
                set.controller_owner_ref(&()),
                &known,
            );
            write::create(context, &kept).await?;
        }
        let now = context.now();
        let owned = pods::owned(self.pods.namespace(&namespace).all(), uid.as_deref());
        let decision = decide(&set, &self.nodes.all(), &owned, &revision, now);
        for pod in &decision.create {
            write::create(context, pod).await?;
        }
        for pod in &decision.delete {
            context.delete(pod.as_ref()).await?;
        }
        context.apply_status(set.as_ref(), &decision.status).await?;
        Ok(decision
            .wake
            .map_or(Next::OnChange, |at| Next::After(moment::until(at, now))))
    }
}

#[derive(Default)]
struct Decision {
    create: Vec<Pod>,
    delete: Vec<Arc<Pod>>,
    status: DaemonSetStatus,
    wake: Option<Timestamp>,
}

fn decide(set: &DaemonSet, nodes: &[Arc<Node>], owned: &[Arc<Pod>], revision: &str, now: Timestamp) -> Decision {
    let spec = set.spec.as_ref();
    let seconds = spec.and_then(|spec| spec.min_ready_seconds).unwrap_or_default();
    let mut on: BTreeMap<String, Vec<&Arc<Pod>>> = BTreeMap::new();
    for pod in owned {
        on.entry(target(pod)).or_default().push(pod);
    }
    let mut decision = Decision::default();
    let (mut updated, mut available) = (0, 0);
    for node in nodes {
        let name = node.name_any();
        let there = on.remove(&name).unwrap_or_default();
        if let Some(pod) = decision.settle(node, build(set, &name, revision), &there) {
            updated += i32::from(is_of(pod, revision));
            available += i32::from(pods::is_available(pod, seconds, now));
        }
    }
    // Whatever is left is on nodes that are gone.
    let left = on.into_values().flatten();
    decision.delete.extend(left.filter(|pod| pods::is_active(pod)).cloned());
    let wanted = decision.status.desired_number_scheduled;
    let unavailable = wanted - available;
    let counted = |many: i32| Some(many).filter(|many| *many > 0);
    decision.status.observed_generation = set.metadata.generation;
    decision.status.updated_number_scheduled = counted(updated);
    decision.status.number_available = counted(available);
    decision.status.number_unavailable = counted(unavailable);
    let outdated = outdated(set, owned, revision, (wanted, unavailable), now);
    decision.delete.extend(outdated);
    let changes = owned.iter().filter_map(|pod| pods::available_at(pod, seconds));
    decision.wake = changes.filter(|at| *at > now).min();
    decision
}

impl Decision {
    /// Decides about one node, given the pod that it would get and those that are for it. Gives back the one that it has.
    fn settle<'a>(&mut self, node: &Node, wanted: Pod, there: &[&'a Arc<Pod>]) -> Option<&'a Arc<Pod>> {
        let active = |pod: &&&Arc<Pod>| pods::is_active(pod);
        if !fits_node(&wanted, node) || !tolerates_node(&wanted, node, &["NoSchedule", "NoExecute"]) {
            self.status.number_misscheduled += i32::from(!there.is_empty());
            self.delete.extend(there.iter().filter(active).copied().cloned());
            return None;
        }
        self.status.desired_number_scheduled += 1;
        let is_left = |pod: &&&Arc<Pod>| pods::is_over(pod) && !pods::is_terminating(pod);
        self.delete.extend(there.iter().filter(is_left).copied().cloned());
        // One that is going still has the name and the place.
        if there.is_empty() {
            self.create.push(wanted);
        }
        let pod = there.iter().find(active)?;
        self.status.current_number_scheduled += 1;
        self.status.number_ready += i32::from(pods::is_ready(pod));
        Some(pod)
    }
}

fn is_of(pod: &Pod, revision: &str) -> bool {
    pod.labels().get(revisions::HASH).map(String::as_str) == Some(revision)
}

/// The node that a pod is for, whether it is there yet or not.
fn target(pod: &Pod) -> String {
    if !pods::node(pod).is_empty() {
        return pods::node(pod).to_owned();
    }
    let affinity = pods::spec(pod).and_then(|spec| spec.affinity.as_ref()?.node_affinity.as_ref());
    let required = affinity.and_then(|affinity| affinity.required_during_scheduling_ignored_during_execution.as_ref());
    let terms = required.into_iter().flat_map(|required| &required.node_selector_terms);
    let fields = terms.flat_map(|term| term.match_fields.iter().flatten());
    let mut names = fields
        .filter(|field| field.key == "metadata.name")
        .filter_map(|field| field.values.as_ref()?.first());
    names.next().cloned().unwrap_or_default()
}

/// Pods of an older template that may go now: those that do not serve, and of the others as many as may be missing.
fn outdated(
    set: &DaemonSet,
    owned: &[Arc<Pod>],
    revision: &str,
    (wanted, unavailable): (i32, i32),
    now: Timestamp,
) -> Vec<Arc<Pod>> {
    let spec = set.spec.as_ref();
    let strategy = spec.and_then(|spec| spec.update_strategy.as_ref());
    if strategy.and_then(|strategy| strategy.type_.as_deref()) == Some("OnDelete") {
        return Vec::new();
    }
    let rolling = strategy.and_then(|strategy| strategy.rolling_update.as_ref());
    let most = rolling
        .and_then(|rolling| rolling.max_unavailable.clone())
        .unwrap_or(IntOrString::Int(1));
    let mut budget = scaled(&most, wanted, true).max(1) - unavailable;
    let seconds = spec.and_then(|spec| spec.min_ready_seconds).unwrap_or_default();
    let old = owned.iter().filter(|pod| pods::is_active(pod) && !is_of(pod, revision));
    let (serving, idle): (Vec<_>, Vec<_>) = old.partition(|pod| pods::is_available(pod, seconds, now));
    let mut going: Vec<Arc<Pod>> = idle.into_iter().cloned().collect();
    for pod in serving {
        if budget > 0 {
            budget -= 1;
            going.push(Arc::clone(pod));
        }
    }
    going
}

/// The pod for a node.
fn build(set: &DaemonSet, node: &str, revision: &str) -> Pod {
    let template = set.spec.clone().unwrap_or_default().template;
    let text = format!("{}/{revision}/{node}", set.uid().unwrap_or_default());
    let key = ObjectKey::namespaced(
        set.namespace().unwrap_or_default(),
        names::named(&set.name_any(), &text),
    );
    let mut pod = write::pod_of(&template, key, set.controller_owner_ref(&()));
    pod.metadata
        .labels
        .get_or_insert_default()
        .insert(revisions::HASH.to_owned(), revision.to_owned());
    let spec = pod.spec.get_or_insert_default();
    let affinity = spec
        .affinity
        .get_or_insert_default()
        .node_affinity
        .get_or_insert_default();
    let required = affinity
        .required_during_scheduling_ignored_during_execution
        .get_or_insert_default();
    if required.node_selector_terms.is_empty() {
        required.node_selector_terms.push(NodeSelectorTerm::default());
    }
    for term in &mut required.node_selector_terms {
        term.match_fields = Some(vec![NodeSelectorRequirement {
            key: "metadata.name".to_owned(),
            operator: "In".to_owned(),
            values: Some(vec![node.to_owned()]),
        }]);
    }
    let network = ("node.kubernetes.io/network-unavailable", "NoSchedule");
    let network = spec.host_network.unwrap_or_default().then_some(network);
    let borne = BORNE.into_iter().chain(network).map(|(key, effect)| Toleration {
        key: Some(key.to_owned()),
        operator: Some("Exists".to_owned()),
        effect: Some(effect.to_owned()),
        ..Toleration::default()
    });
    spec.tolerations.get_or_insert_default().extend(borne);
    pod
}

/// How many pods of a DaemonSet are wanted; a budget asks.
pub(crate) fn wanted(set: &DaemonSet) -> i32 {
    set.status
        .as_ref()
        .map_or_else(|| count(0), |status| status.desired_number_scheduled)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn set() -> DaemonSet {
        hyperplane_objects::read(json!({
            "metadata": {"name": "agent", "namespace": "n", "uid": "u"},
            "spec": {"selector": {}, "template": {
                "metadata": {"labels": {"app": "agent"}},
                "spec": {"nodeSelector": {"kind": "worker"}, "containers": [{"name": "c"}]},
            }},
        }))
        .unwrap()
    }

    fn node(name: &str, kind: &str, taint: &str) -> Arc<Node> {
        let taints = if taint.is_empty() {
            json!([])
        } else {
            json!([{"key": taint, "effect": "NoSchedule"}])
        };
        let node = json!({"metadata": {"name": name, "labels": {"kind": kind}}, "spec": {"taints": taints}});
        Arc::new(hyperplane_objects::read(&node).unwrap())
    }

    fn run(pods: &[Arc<Pod>], revision: &str) -> Decision {
        let nodes = [
            node("a", "worker", ""),
            node("b", "worker", "node.kubernetes.io/unschedulable"),
            node("c", "worker", "strange"),
            node("d", "other", ""),
        ];
        decide(&set(), &nodes, pods, revision, "2026-01-02T03:04:05Z".parse().unwrap())
    }

    fn ready(mut pod: Pod) -> Arc<Pod> {
        pod.status = hyperplane_objects::read(json!({"phase": "Running", "conditions": [
            {"type": "Ready", "status": "True", "lastTransitionTime": "2026-01-02T03:00:00Z"}]}))
        .unwrap();
        Arc::new(pod)
    }

    #[test]
    fn every_node_that_fits_gets_one() {
        let decision = run(&[], "one");
        let targets: Vec<String> = decision.create.iter().map(target).collect();
        assert_eq!(targets, ["a", "b"]);
        assert_eq!(decision.status.desired_number_scheduled, 2);
    }

    #[test]
    fn an_update_goes_node_by_node() {
        let pods: Vec<Arc<Pod>> = run(&[], "one").create.into_iter().map(ready).collect();
        assert!(run(&pods, "one").delete.is_empty());
        let decision = run(&pods, "two");
        assert_eq!(decision.delete.len(), 1);
        assert!(decision.create.is_empty(), "the old one has to be gone first");
        let left = &pods[1..];
        let decision = run(left, "two");
        assert_eq!(
            (decision.create.len(), decision.delete.len()),
            (1, 0),
            "one is missing already"
        );
    }

    #[test]
    fn pods_of_nodes_that_do_not_fit_go() {
        let mut stray = (*ready(build(&set(), "d", "one"))).clone();
        stray.spec.as_mut().unwrap().node_name = Some("d".to_owned());
        let decision = run(&[Arc::new(stray)], "one");
        assert_eq!(decision.delete.len(), 1);
        assert_eq!(decision.status.number_misscheduled, 1);
    }
}
