//! What is reported of a cluster that is being deleted: what it waits for, and otherwise what was last known.

use hyperplane_api::{
    constants::{
        ConditionType,
        conditions::{hosted_cluster as types, hosted_control_plane},
        reasons,
    },
    hypershift::{
        hosted_cluster::HostedCluster, hosted_cluster_status::HostedClusterStatus,
        hosted_control_plane::HostedControlPlane,
    },
};
use hyperplane_runtime::conditions::{self, Observation};
use jiff::Timestamp;

use super::copied;
use crate::{deletion::Step, elsewhere};

/// Conditions of the control plane that tell how its end goes on.
const TOLD: &[ConditionType] = &[
    hosted_control_plane::VALID_AWS_IDENTITY_PROVIDER,
    hosted_control_plane::AWS_DEFAULT_SECURITY_GROUP_DELETED,
    hosted_control_plane::CLOUD_RESOURCES_DESTROYED,
];

/// The status of a cluster that is being deleted; none when nothing holds it any more.
pub(crate) fn deleting(
    cluster: &HostedCluster,
    control_plane: Option<&HostedControlPlane>,
    step: &Step,
    now: Timestamp,
) -> Option<HostedClusterStatus> {
    let waiting = step.waits_for.as_ref()?;
    let mut status = cluster.status.clone().unwrap_or_default();
    let generation = cluster.metadata.generation;
    let mut observed = vec![
        Observation::holds(
            types::PROGRESSING.as_str(),
            reasons::DELETING.as_str(),
            format!("The cluster is being deleted, and waits for {waiting}."),
        ),
        available(control_plane),
    ];
    let told = control_plane.and_then(|found| found.status.as_ref());
    let told = told.iter().flat_map(|status| &status.conditions);
    let is_told = |type_: &str| TOLD.iter().any(|told| told.as_str() == type_);
    observed.extend(told.filter(|condition| is_told(&condition.type_)).map(copied::copy));
    observed.extend(step.unanswered.as_ref().map(|why| {
        Observation::unknown(
            elsewhere::CONDITION.as_str(),
            reasons::INFRA_CLUSTER_NETWORK_POLICY_CREATE_FAILED.as_str(),
            why,
        )
    }));
    observed.extend(step.is_destroyed.then(|| {
        Observation::holds(
            types::HOSTED_CLUSTER_DESTROYED.as_str(),
            reasons::WAITING_FOR_GRACE_PERIOD.as_str(),
            "Everything is gone; the object stays for its grace period.",
        )
    }));
    for observation in observed {
        conditions::set(&mut status.conditions, observation, generation, now);
    }
    if control_plane.is_none() {
        status.kubeconfig = None;
        status.custom_kubeconfig = None;
        status.kubeadmin_password = None;
    }
    Some(status)
}

/// A control plane that is on its way may serve for a while.
fn available(control_plane: Option<&HostedControlPlane>) -> Observation {
    let type_ = types::AVAILABLE.as_str();
    let Some(control_plane) = control_plane else {
        return Observation::fails(type_, reasons::DELETING.as_str(), "The control plane is gone.");
    };
    let conditions = control_plane.status.iter().flat_map(|status| &status.conditions);
    let mut found = conditions.filter(|condition| condition.type_ == type_);
    match found.next() {
        Some(condition) => copied::copy(condition),
        None => Observation::fails(type_, reasons::DELETING.as_str(), "The control plane never served."),
    }
}
