//! The scheduler: every pod without a node gets one, or a reason. Owns the loop and what it writes (Bindings and the
//! condition PodScheduled); where a pod fits is decided in `place`.

mod affinity;
mod cluster;
mod company;
mod place;
mod resources;
mod score;
mod spread;
#[cfg(test)]
mod tests;

use std::{
    cmp::Reverse,
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use hyperplane_runtime::{Api, Context, EventType, Failure, Next, ObjectKey, Reconciler, Store};
use k8s_openapi::{
    api::core::v1::{Binding, Namespace, Node, ObjectReference, Pod, PodCondition},
    apimachinery::pkg::apis::meta::v1::ObjectMeta,
};
use kube::{ResourceExt, api::PostParams};
use serde_json::json;

pub(crate) use self::{
    affinity::{fits_node, tolerates_node, toleration},
    cluster::{Assigned, Cluster},
    place::{Unplaceable, place},
};
use crate::{moment, pods};

/// Whose pods these are; others belong to another scheduler.
const NAME: &str = "default-scheduler";
/// A pod that fits nowhere is tried again this often, besides whenever a node changes or a pod ends.
const RETRY: Duration = Duration::from_mins(5);

/// The index of pods that wait, under one value.
const WAITING: &str = "waiting";

/// Places pods.
pub(crate) struct Scheduler {
    /// Every pod.
    pub(crate) pods: Store<Pod>,
    /// Every node.
    pub(crate) nodes: Store<Node>,
    /// Every namespace, for affinities that select them.
    pub(crate) namespaces: Store<Namespace>,
    /// Where pods were placed that the cache does not show there yet, by uid.
    pub(crate) assumed: Mutex<BTreeMap<String, String>>,
}

/// Whether a pod waits for a node of ours.
fn is_waiting(pod: &Pod) -> bool {
    let Some(spec) = pods::spec(pod) else { return false };
    let has_gates = spec.scheduling_gates.as_ref().is_some_and(|gates| !gates.is_empty());
    pods::node(pod).is_empty()
        && pods::is_active(pod)
        && !has_gates
        && spec.scheduler_name.as_deref().is_none_or(|name| name == NAME)
}

/// Keeps a list of the pods that wait.
pub(crate) fn index(pods: &Store<Pod>) {
    pods.add_index(WAITING, |pod| {
        let is_waiting = is_waiting(pod).then(|| WAITING.to_owned());
        is_waiting.into_iter().collect()
    });
}

/// The pods that wait, in order.
pub(crate) fn waiting(pods: &Store<Pod>) -> Vec<Arc<Pod>> {
    pods.by_index(WAITING, WAITING)
}

impl Reconciler for Scheduler {
    type Object = Pod;

    /// Places every pod that goes before this one, then this one: the order of priorities holds although the queue
    /// knows none.
    async fn reconcile(&self, context: &Context, pod: Arc<Pod>) -> Result<Next, Failure> {
        if !is_waiting(&pod) {
            self.forget(&pod);
            return Ok(Next::OnChange);
        }
        let line = self.line(&pod);
        if line.is_empty() {
            return Ok(Next::OnChange);
        }
        let mut cluster = self.cluster();
        for candidate in line {
            let is_this = candidate.uid() == pod.uid();
            let placed = self.place(context, &candidate, &mut cluster).await?;
            if is_this {
                return Ok(if placed { Next::OnChange } else { Next::After(RETRY) });
            }
        }
        Ok(Next::OnChange)
    }
}

impl Scheduler {
    /// The pods that wait, the most urgent first, up to this one.
    fn line(&self, pod: &Arc<Pod>) -> Vec<Arc<Pod>> {
        let mut waiting = waiting(&self.pods);
        let assumed = self.assumed.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.retain(|pod| !assumed.contains_key(&pod.uid().unwrap_or_default()));
        drop(assumed);
        let rank = |pod: &Pod| {
            let priority = pods::spec(pod).and_then(|spec| spec.priority).unwrap_or_default();
            (Reverse(priority), pods::created(pod), ObjectKey::of(pod))
        };
        let own = rank(pod);
        waiting.retain(|other| rank(other) <= own);
        waiting.sort_by_cached_key(|pod| rank(pod));
        waiting
    }

    async fn place(&self, context: &Context, pod: &Arc<Pod>, cluster: &mut Cluster) -> Result<bool, Failure> {
        match place(pod, cluster) {
            Ok(node) => {
                if self.bind(context, pod, &node).await? {
                    cluster.add(Assigned {
                        pod: Arc::clone(pod),
                        node: node.clone(),
                    });
                }
                context.event(
                    EventType::Normal,
                    "Scheduled",
                    format!("Successfully assigned {} to {node}", ObjectKey::of(pod.as_ref())),
                );
                Ok(true)
            }
            Err(reason) => {
                refuse(context, pod, &reason).await?;
                Ok(false)
            }
        }
    }

    /// The cluster with every pod that has a node, or was given one a moment ago.
    fn cluster(&self) -> Cluster {
        let mut assumed = self.assumed.lock().unwrap_or_else(PoisonError::into_inner);
        let mut cluster = Cluster::new(self.nodes.all(), self.namespaces.all());
        let mut alive = BTreeMap::new();
        for pod in self.pods.all() {
            let node = if pods::node(&pod).is_empty() {
                let uid = pod.uid().unwrap_or_default();
                let Some(node) = assumed.get(&uid) else { continue };
                alive.insert(uid, node.clone());
                node.clone()
            } else {
                pods::node(&pod).to_owned()
            };
            if !pods::is_over(&pod) {
                cluster.add(Assigned { pod, node });
            }
        }
        *assumed = alive;
        cluster
    }

    /// Gives a pod to a node; false if there is nothing to give any more.
    async fn bind(&self, context: &Context, pod: &Pod, node: &str) -> Result<bool, Failure> {
        let key = ObjectKey::of(pod);
        let binding = Binding {
            metadata: ObjectMeta {
                name: Some(key.name.clone()),
                namespace: Some(key.namespace.clone()),
                uid: pod.uid(),
                ..ObjectMeta::default()
            },
            target: ObjectReference {
                api_version: Some("v1".to_owned()),
                kind: Some("Node".to_owned()),
                name: Some(node.to_owned()),
                ..ObjectReference::default()
            },
        };
        let api: Api<Pod> = Api::namespaced(context.client().clone(), &key.namespace);
        let bound: Result<serde_json::Value, kube::Error> = api
            .create_subresource("binding", &key.name, &PostParams::default(), &binding)
            .await;
        match bound {
            Ok(_) => {
                let mut assumed = self.assumed.lock().unwrap_or_else(PoisonError::into_inner);
                assumed.insert(pod.uid().unwrap_or_default(), node.to_owned());
                Ok(true)
            }
            // It is bound, gone or going, which the cache will show.
            Err(kube::Error::Api(status)) if matches!(status.code, 404 | 409) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    fn forget(&self, pod: &Pod) {
        let mut assumed = self.assumed.lock().unwrap_or_else(PoisonError::into_inner);
        assumed.remove(&pod.uid().unwrap_or_default());
    }
}

/// Says on the pod why it has no node.
async fn refuse(context: &Context, pod: &Pod, reason: &Unplaceable) -> Result<(), Failure> {
    let message = reason.to_string();
    let before = pods::condition(pod, "PodScheduled").filter(|condition| condition.status == "False");
    let since = before.and_then(|condition| condition.last_transition_time.clone());
    let condition = PodCondition {
        type_: "PodScheduled".to_owned(),
        status: "False".to_owned(),
        reason: Some("Unschedulable".to_owned()),
        message: Some(message.clone()),
        last_transition_time: Some(since.unwrap_or_else(|| moment::written(context.now()))),
        ..PodCondition::default()
    };
    if before.is_none_or(|before| before.message.as_ref() != Some(&message)) {
        context.event(EventType::Warning, "FailedScheduling", message);
    }
    context
        .apply_status(pod, &json!({"conditions": [condition]}))
        .await
        .map(|_| ())
}
