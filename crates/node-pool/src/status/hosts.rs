//! What is told of a pool whose hosts join by themselves. No machine stands for them, and nobody knows to which pool one
//! belongs: what is known are the nodes of the whole cluster.

use hyperplane_api::constants::{ConditionType, conditions::node_pool as types, ours, reasons};
use hyperplane_runtime::conditions::Observation;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;

use super::conditions::{fails, holds, unknown};
use crate::dereference::Seen;

/// Who has to do something before a host is a node.
const APPROVAL: &str = "Hosts fetch their configuration and join by themselves, and somebody approves their requests for \
                        certificates in the hosted cluster: NodeCertificatesApproved of the HostedCluster names those that \
                        wait.";

/// Whether hosts are there and ready, as far as the cluster knows.
pub(super) fn ready(seen: &Seen, wanted: i32) -> Observation {
    let type_ = types::READY;
    if wanted == 0 {
        return holds(type_, reasons::AS_EXPECTED, "The pool is to have no nodes.");
    }
    match (count(seen), of_cluster(seen, ours::NODES_READY)) {
        (None | Some(0), _) => {
            let message = format!("No host has joined the cluster. {APPROVAL}");
            fails(type_, reasons::WAITING_FOR_AVAILABLE, message)
        }
        (Some(_), Some(condition)) => judged(type_, condition),
        (Some(_), None) => unknown(
            type_,
            "Whether the nodes of the cluster are ready was not observed yet.",
        ),
    }
}

/// What is told of machines and their nodes where there are no machines.
pub(super) fn together(seen: &Seen) -> Vec<Observation> {
    let healthy = match of_cluster(seen, ours::NODES_READY) {
        Some(condition) => judged(types::ALL_NODES_HEALTHY, condition),
        None => unknown(
            types::ALL_NODES_HEALTHY,
            format!("No node of the cluster was observed. {APPROVAL}"),
        ),
    };
    let machines = "Hosts join by themselves: no machines stand for them.";
    vec![unknown(types::ALL_MACHINES_READY, machines), healthy]
}

/// What the cluster says of all of its nodes, said of a pool.
fn judged(type_: ConditionType, condition: &Condition) -> Observation {
    let message = format!(
        "{} in the cluster; which of them are of this pool is not known.",
        condition.message
    );
    if condition.status == "True" {
        holds(type_, reasons::AS_EXPECTED, message)
    } else {
        fails(type_, ours::NODES_NOT_READY, message)
    }
}

/// How many nodes the cluster has, once somebody has looked.
fn count(seen: &Seen) -> Option<i64> {
    seen.control_plane.as_ref()?.status.as_ref()?.node_count
}

fn of_cluster(seen: &Seen, type_: ConditionType) -> Option<&Condition> {
    let conditions = &seen.control_plane.as_ref()?.status.as_ref()?.conditions;
    conditions.iter().find(|condition| condition.type_ == type_.as_str())
}
