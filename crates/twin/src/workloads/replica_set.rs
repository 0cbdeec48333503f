//! ReplicaSets: so many pods of a template. Owns which pods come and which go; names follow from the set, so that a run
//! that does not see its own last writes repeats them.

use std::{cmp::Reverse, collections::BTreeMap, sync::Arc};

use hyperplane_runtime::{Context, Failure, Next, ObjectKey, Reconciler, Store};
use jiff::Timestamp;
use k8s_openapi::api::{
    apps::v1::{ReplicaSet, ReplicaSetStatus},
    core::v1::Pod,
};
use kube::{Resource, ResourceExt};

use crate::{
    moment, names,
    number::count,
    pods,
    selector::{self, Labels},
    write,
};

/// Pods that one run makes or removes at most; upstream's.
const BURST: usize = 500;
/// How a user says which pods are dearer.
const COST: &str = "controller.kubernetes.io/pod-deletion-cost";

/// Makes and removes pods.
pub(crate) struct ReplicaSets {
    /// Every pod.
    pub(crate) pods: Store<Pod>,
}

impl Reconciler for ReplicaSets {
    type Object = ReplicaSet;

    async fn reconcile(&self, context: &Context, set: Arc<ReplicaSet>) -> Result<Next, Failure> {
        let namespace = set.namespace().unwrap_or_default();
        let all = self.pods.namespace(&namespace).all();
        let owned = pods::owned(all.clone(), set.uid().as_deref());
        let terminating = owned.iter().filter(|pod| pods::is_leaving(pod)).count();
        let active: Vec<Arc<Pod>> = owned.into_iter().filter(|pod| pods::is_active(pod)).collect();
        for name in missing(&set, &active, &all) {
            if let Some(template) = set.spec.as_ref().and_then(|spec| spec.template.as_ref()) {
                let key = ObjectKey::namespaced(&namespace, name);
                write::create(context, &write::pod_of(template, key, set.controller_owner_ref(&()))).await?;
            }
        }
        for pod in surplus(&set, &active) {
            context.delete(pod.as_ref()).await?;
        }
        let now = context.now();
        let (status, wake) = status(&set, &active, terminating, now);
        context.apply_status(set.as_ref(), &status).await?;
        Ok(wake.map_or(Next::OnChange, |at| Next::After(moment::until(at, now))))
    }
}

fn wanted(set: &ReplicaSet) -> usize {
    let replicas = set.spec.as_ref().and_then(|spec| spec.replicas).unwrap_or(1);
    usize::try_from(replicas).unwrap_or_default()
}

/// The names of pods that are to be made: the first that are free, of a sequence that the set has to itself.
fn missing(set: &ReplicaSet, active: &[Arc<Pod>], all: &[Arc<Pod>]) -> Vec<String> {
    let many = wanted(set).saturating_sub(active.len()).min(BURST);
    let (prefix, uid) = (set.name_any(), set.uid().unwrap_or_default());
    let is_free = |name: &String| all.binary_search_by(|pod| pod.name_any().cmp(name)).is_err();
    let sequence = (0_u64..).map(|number| names::named(&prefix, &format!("{uid}/{number}")));
    sequence.filter(is_free).take(many).collect()
}

/// The pods that are to go: those whose loss costs the least, in upstream's order.
fn surplus(set: &ReplicaSet, active: &[Arc<Pod>]) -> Vec<Arc<Pod>> {
    let many = active.len().saturating_sub(wanted(set)).min(BURST);
    if many == 0 {
        return Vec::new();
    }
    let mut crowd: BTreeMap<&str, usize> = BTreeMap::new();
    for pod in active {
        *crowd.entry(pods::node(pod)).or_default() += 1;
    }
    let mut order = active.to_vec();
    order.sort_by_key(|pod| {
        let phase = match pods::phase(pod) {
            "Running" => 2,
            "Unknown" => 1,
            _ => 0,
        };
        let cost = pod.annotations().get(COST).and_then(|text| text.parse::<i64>().ok());
        let ready = pods::available_at(pod, 0);
        (
            (!pods::node(pod).is_empty(), phase, pods::is_ready(pod)),
            cost.unwrap_or_default(),
            Reverse(crowd.get(pods::node(pod)).copied().unwrap_or_default()),
            Reverse(ready),
            Reverse(restarts(pod)),
            Reverse(pods::created(pod.as_ref())),
            pod.name_any(),
        )
    });
    order.truncate(many);
    order
}

fn restarts(pod: &Pod) -> i32 {
    let statuses = pod
        .status
        .as_ref()
        .and_then(|status| status.container_statuses.as_ref());
    statuses
        .into_iter()
        .flatten()
        .map(|status| status.restart_count)
        .max()
        .unwrap_or_default()
}

/// The counts, and when one of them will change by itself.
fn status(
    set: &ReplicaSet,
    active: &[Arc<Pod>],
    terminating: usize,
    now: Timestamp,
) -> (ReplicaSetStatus, Option<Timestamp>) {
    let spec = set.spec.as_ref();
    let seconds = spec.and_then(|spec| spec.min_ready_seconds).unwrap_or_default();
    let template = spec
        .and_then(|spec| spec.template.as_ref())
        .and_then(|template| template.metadata.as_ref());
    let labels: Labels = template.and_then(|meta| meta.labels.clone()).unwrap_or_default();
    let many =
        |is: &dyn Fn(&Pod) -> bool| Some(count(active.iter().filter(|pod| is(pod)).count())).filter(|many| *many > 0);
    let wake = active
        .iter()
        .filter_map(|pod| pods::available_at(pod, seconds))
        .filter(|at| *at > now)
        .min();
    let status = ReplicaSetStatus {
        replicas: count(active.len()),
        fully_labeled_replicas: many(&|pod| selector::contains(pod.labels(), &labels)),
        ready_replicas: many(&pods::is_ready),
        available_replicas: many(&|pod| pods::is_available(pod, seconds, now)),
        // Zero is written here, unlike in the other counts.
        terminating_replicas: Some(count(terminating)),
        observed_generation: set.metadata.generation,
        ..ReplicaSetStatus::default()
    };
    (status, wake)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn set(replicas: i32) -> ReplicaSet {
        hyperplane_objects::read(json!({
            "metadata": {"name": "web-1", "namespace": "n", "uid": "u"},
            "spec": {"replicas": replicas, "selector": {}, "template": {"metadata": {"labels": {"a": "b"}}}},
        }))
        .unwrap()
    }

    fn pod(name: &str, node: &str, phase: &str, more: &Value) -> Arc<Pod> {
        let mut pod = json!({
            "metadata": {"name": name, "namespace": "n", "creationTimestamp": "2026-01-01T00:00:00Z"},
            "spec": {"containers": []}, "status": {"phase": phase},
        });
        if !node.is_empty() {
            pod["spec"]["nodeName"] = json!(node);
        }
        if let Some(fields) = more.as_object() {
            for (field, value) in fields {
                pod["metadata"][field] = value.clone();
            }
        }
        Arc::new(hyperplane_objects::read(&pod).unwrap())
    }

    fn ready(name: &str, node: &str) -> Arc<Pod> {
        let mut pod = (*pod(name, node, "Running", &json!({}))).clone();
        let condition = json!({"type": "Ready", "status": "True", "lastTransitionTime": "2026-01-01T00:01:00Z"});
        pod.status.as_mut().unwrap().conditions = hyperplane_objects::read(json!([condition])).unwrap();
        Arc::new(pod)
    }

    #[test]
    fn the_same_names_come_again_until_they_are_seen() {
        let first = missing(&set(3), &[], &[]);
        assert_eq!(first, missing(&set(3), &[], &[]));
        let seen = vec![pod(&first[1], "", "Pending", &json!({}))];
        let rest = missing(&set(3), &seen, &seen);
        assert_eq!(rest, [first[0].clone(), first[2].clone()]);
    }

    #[test]
    fn the_cheapest_go_first() {
        let pods = vec![
            ready("ready-a", "a"),
            ready("ready-b", "b"),
            pod("pending", "a", "Pending", &json!({})),
            pod("unassigned", "", "Pending", &json!({})),
            pod("running", "c", "Running", &json!({})),
            ready("ready-b2", "b"),
        ];
        let order: Vec<String> = surplus(&set(1), &pods).iter().map(|pod| pod.name_any()).collect();
        assert_eq!(order, ["unassigned", "pending", "running", "ready-a", "ready-b"]);
    }

    #[test]
    fn a_pod_counts_as_available_after_some_time() {
        let mut set = set(1);
        set.spec.as_mut().unwrap().min_ready_seconds = Some(30);
        let pods = [ready("a", "a")];
        let at = |text: &str| status(&set, &pods, 0, text.parse().unwrap());
        let (early, wake) = at("2026-01-01T00:01:10Z");
        assert_eq!((early.ready_replicas, early.available_replicas), (Some(1), None));
        assert_eq!(wake, Some("2026-01-01T00:01:30Z".parse().unwrap()));
        assert_eq!(at("2026-01-01T00:01:30Z").0.available_replicas, Some(1));
    }
}
