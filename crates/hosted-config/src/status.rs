//! What a run tells the HostedControlPlane of the hosted cluster. Pure.

use hyperplane_api::{
    constants::{ConditionType, conditions::hosted_control_plane as types, ours, reasons},
    hypershift::{
        hosted_control_plane::{HostedControlPlane, HostedControlPlaneStatus},
        version_status::{ClusterVersionStatus, UpdateState, VersionedRelease},
    },
};
use hyperplane_planner::release::Release;
use hyperplane_runtime::{
    Failure,
    conditions::{Observation, merge},
};
use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use serde_json::{Value, json};

use crate::{
    nodes::{self, Nodes},
    rollout::{self, Rollout},
    version::{self, Progress},
};

/// What one run found and did inside of the hosted cluster.
#[derive(Clone, Debug)]
pub(crate) struct Visit {
    /// What keeps the objects from being written yet.
    pub(crate) held_up: Option<String>,
    /// The workloads that we keep there.
    pub(crate) rollouts: Vec<Rollout>,
    /// The nodes.
    pub(crate) nodes: Nodes,
}

/// How far the cluster has come with its release: once its control plane has it, and where there are nodes, what runs on
/// them.
pub(crate) fn progress(control_plane: &HostedControlPlane, visit: &Visit) -> Progress {
    if let Some(why) = &visit.held_up {
        return Progress::Partial(why.clone());
    }
    if !has_rolled_out(control_plane) {
        return Progress::Partial("the control plane is being rolled out".to_owned());
    }
    let lagging = (visit.nodes.count > 0).then(|| rollout::unfinished(&visit.rollouts, visit.nodes.away));
    lagging.flatten().map_or(Progress::Complete, Progress::Partial)
}

/// Whether every component of the control plane has the release that it is asked to have now. The history may still end
/// with the one before.
fn has_rolled_out(control_plane: &HostedControlPlane) -> bool {
    let spec = &control_plane.spec;
    let wanted = spec.control_plane_release_image.as_ref().unwrap_or(&spec.release_image);
    let version = control_plane.status.as_ref();
    let version = version.and_then(|status| status.control_plane_version.as_ref());
    let newest = version.and_then(|version| version.history.first());
    newest.is_some_and(|newest| newest.image == *wanted && newest.state == UpdateState::Completed)
}

/// The status after a run that looked into the hosted cluster.
pub(crate) fn looked(
    control_plane: &HostedControlPlane,
    release: &Release,
    visit: &Visit,
    updates: Vec<VersionedRelease>,
    now: Timestamp,
) -> Value {
    let progress = progress(control_plane, visit);
    let version = version::version_status(control_plane, release, &progress, updates, now);
    let mut observed = version::conditions(release, &version, &progress);
    observed.extend(nodes::conditions(&visit.nodes, now));
    observed.push(Observation::holds(
        types::CONFIG_OPERATOR_RECONCILIATION_SUCCEEDED.as_str(),
        reasons::AS_EXPECTED.as_str(),
        "The hosted cluster has what it needs",
    ));
    written(control_plane, Some(&version), Some(visit.nodes.count), observed, now)
}

/// The status after a run that could not: what was known stays.
pub(crate) fn failed(control_plane: &HostedControlPlane, failure: &Failure, now: Timestamp) -> Value {
    let status = control_plane.status.clone().unwrap_or_default();
    let problem = failure.report();
    let mut observed = kept(&status.conditions, LOOKED_AT);
    observed.push(version::failing(&problem));
    observed.push(Observation::fails(
        types::CONFIG_OPERATOR_RECONCILIATION_SUCCEEDED.as_str(),
        reasons::RECONCILE_ERROR.as_str(),
        problem,
    ));
    as_before(control_plane, &status, observed, now)
}

/// The status while the cluster goes: what was known stays, and how far the removal has come.
pub(crate) fn ending(control_plane: &HostedControlPlane, removal: Observation, now: Timestamp) -> Value {
    let status = control_plane.status.clone().unwrap_or_default();
    let mut observed = kept(&status.conditions, LOOKED_AT);
    observed.extend(kept(&status.conditions, JUDGED));
    observed.push(removal);
    as_before(control_plane, &status, observed, now)
}

fn as_before(
    control_plane: &HostedControlPlane,
    status: &HostedControlPlaneStatus,
    observed: Vec<Observation>,
    now: Timestamp,
) -> Value {
    let version = status.version_status.as_ref();
    written(control_plane, version, status.node_count, observed, now)
}

fn written(
    control_plane: &HostedControlPlane,
    version: Option<&ClusterVersionStatus>,
    node_count: Option<i64>,
    observed: Vec<Observation>,
    now: Timestamp,
) -> Value {
    let before = control_plane.status.as_ref();
    let before = before.map_or(&[][..], |status| &status.conditions);
    json!({
        "conditions": merge(before, observed, control_plane.metadata.generation, now),
        "version": version.map(|version| &version.desired.version),
        "versionStatus": version,
        "nodeCount": node_count,
    })
}

/// Conditions that a run can only tell when it looked into the hosted cluster.
const LOOKED_AT: &[ConditionType] = &[
    types::CLUSTER_VERSION_AVAILABLE,
    types::CLUSTER_VERSION_PROGRESSING,
    types::CLUSTER_VERSION_RELEASE_ACCEPTED,
    types::CLUSTER_VERSION_UPGRADEABLE,
    types::CLUSTER_VERSION_RETRIEVED_UPDATES,
    types::DATA_PLANE_CONNECTION_AVAILABLE,
    types::CONTROL_PLANE_CONNECTION_AVAILABLE,
    ours::NETWORK_PLUGIN_AVAILABLE,
    ours::NODES_READY,
    ours::NODE_CERTIFICATES_APPROVED,
];

/// Conditions that every run tells.
const JUDGED: &[ConditionType] = &[
    types::CLUSTER_VERSION_FAILING,
    types::CONFIG_OPERATOR_RECONCILIATION_SUCCEEDED,
];

/// Conditions that an earlier run found and this one could not look at again.
fn kept(conditions: &[Condition], types: &[ConditionType]) -> Vec<Observation> {
    let is_kept = |condition: &&Condition| types.iter().any(|kept| kept.as_str() == condition.type_);
    let as_it_was = |condition: &Condition| Observation {
        type_: condition.type_.clone(),
        status: match condition.status.as_str() {
            "True" => Some(true),
            "False" => Some(false),
            _ => None,
        },
        reason: condition.reason.clone(),
        message: condition.message.clone(),
    };
    conditions.iter().filter(is_kept).map(as_it_was).collect()
}

#[cfg(test)]
pub(crate) mod tests;
