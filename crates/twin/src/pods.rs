//! What can be said of a pod: whether it is ready, counts, belongs to somebody. Pure.

use std::sync::Arc;

use jiff::Timestamp;
use k8s_openapi::{
    api::core::v1::{Container, Pod, PodCondition, PodSpec},
    apimachinery::pkg::apis::meta::v1::OwnerReference,
};
use kube::Resource;

use crate::moment;

/// The condition of a type.
pub(crate) fn condition<'a>(pod: &'a Pod, type_: &str) -> Option<&'a PodCondition> {
    let conditions = pod.status.as_ref()?.conditions.as_ref()?;
    conditions.iter().find(|condition| condition.type_ == type_)
}

/// Whether it serves.
pub(crate) fn is_ready(pod: &Pod) -> bool {
    condition(pod, "Ready").is_some_and(|condition| condition.status == "True")
}

/// Whether it has been ready for so many seconds.
pub(crate) fn is_available(pod: &Pod, seconds: i32, now: Timestamp) -> bool {
    is_ready(pod) && available_at(pod, seconds).is_none_or(|at| at <= now)
}

/// When a pod that is ready will have been so for so many seconds.
pub(crate) fn available_at(pod: &Pod, seconds: i32) -> Option<Timestamp> {
    let condition = condition(pod, "Ready").filter(|condition| condition.status == "True")?;
    let since = condition.last_transition_time.as_ref()?.0;
    Some(moment::after_seconds(since, i64::from(seconds)))
}

/// Its phase; empty before anybody said something.
pub(crate) fn phase(pod: &Pod) -> &str {
    pod.status
        .as_ref()
        .and_then(|status| status.phase.as_deref())
        .unwrap_or_default()
}

/// Whether it is over: nothing of it will run again.
pub(crate) fn is_over(pod: &Pod) -> bool {
    matches!(phase(pod), "Succeeded" | "Failed")
}

/// Whether it is being deleted.
pub(crate) fn is_terminating(pod: &Pod) -> bool {
    pod.metadata.deletion_timestamp.is_some()
}

/// Whether a controller counts it among its replicas.
pub(crate) fn is_active(pod: &Pod) -> bool {
    !is_over(pod) && !is_terminating(pod)
}

/// Whether it has been told to end, and has not ended yet.
pub(crate) fn is_leaving(pod: &Pod) -> bool {
    !is_over(pod) && is_terminating(pod)
}

/// Its node; empty before it has one.
pub(crate) fn node(pod: &Pod) -> &str {
    spec(pod).and_then(|spec| spec.node_name.as_deref()).unwrap_or_default()
}

/// The service account that a pod runs as.
pub(crate) fn service_account(pod: &Pod) -> &str {
    let name = pod.spec.as_ref().and_then(|spec| spec.service_account_name.as_deref());
    name.unwrap_or("default")
}

/// What it asks for.
pub(crate) const fn spec(pod: &Pod) -> Option<&PodSpec> {
    pod.spec.as_ref()
}

/// The containers that run first, in order.
pub(crate) fn init_containers(pod: &Pod) -> &[Container] {
    spec(pod)
        .and_then(|spec| spec.init_containers.as_deref())
        .unwrap_or_default()
}

/// The containers that it is about.
pub(crate) fn containers(pod: &Pod) -> &[Container] {
    spec(pod).map(|spec| spec.containers.as_slice()).unwrap_or_default()
}

/// Whether an init container goes on running beside the others.
pub(crate) fn is_sidecar(container: &Container) -> bool {
    container.restart_policy.as_deref() == Some("Always")
}

/// Who controls an object.
pub(crate) fn controller<K: Resource>(object: &K) -> Option<&OwnerReference> {
    let owners = object.meta().owner_references.as_ref()?;
    owners.iter().find(|owner| owner.controller == Some(true))
}

/// Whether an object is controlled by the one with a uid.
pub(crate) fn is_controlled_by<K: Resource>(object: &K, uid: Option<&str>) -> bool {
    uid.is_some() && controller(object).map(|owner| owner.uid.as_str()) == uid
}

/// Those that one owner controls.
pub(crate) fn owned<K: Resource>(all: Vec<Arc<K>>, uid: Option<&str>) -> Vec<Arc<K>> {
    let mut all = all;
    all.retain(|object| is_controlled_by(object.as_ref(), uid));
    all
}

/// When it was created, for orders that are the same every time.
pub(crate) fn created<K: Resource>(object: &K) -> Timestamp {
    let created = object.meta().creation_timestamp.as_ref();
    created.map_or(Timestamp::MIN, |created| created.0)
}
