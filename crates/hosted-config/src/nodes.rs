//! What the nodes tell of the way between them and the control plane, in both directions. Pure.

use hyperplane_api::constants::{conditions::hosted_control_plane as types, reasons};
use hyperplane_runtime::conditions::Observation;
use jiff::{SignedDuration, Timestamp};

/// A node that renewed its lease within this time reaches the API server; kubelets renew every ten seconds.
const FRESH: SignedDuration = SignedDuration::from_mins(5);

/// What was seen of the nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Nodes {
    /// How many there are.
    pub(crate) count: i64,
    /// When a node last renewed its lease.
    pub(crate) last_renewal: Option<Timestamp>,
    /// What came of asking a node something through the tunnel; none where no agent runs.
    pub(crate) tunnel: Option<Result<(), String>>,
}

/// Whether each side reaches the other.
pub(crate) fn conditions(nodes: &Nodes, now: Timestamp) -> Vec<Observation> {
    vec![to_nodes(nodes), from_nodes(nodes, now)]
}

fn to_nodes(nodes: &Nodes) -> Observation {
    let condition = types::DATA_PLANE_CONNECTION_AVAILABLE.as_str();
    match &nodes.tunnel {
        _ if nodes.count == 0 => nobody(condition),
        Some(Ok(())) => Observation::holds(
            condition,
            reasons::AS_EXPECTED.as_str(),
            "The control plane reaches nodes",
        ),
        Some(Err(problem)) => Observation::fails(condition, reasons::LOGS_ACCESS_FAILED.as_str(), problem),
        None => {
            let reason = reasons::KONNECTIVITY_AGENT_PODS_NOT_FOUND.as_str();
            Observation::fails(condition, reason, "No konnectivity agent runs on any node")
        }
    }
}

fn from_nodes(nodes: &Nodes, now: Timestamp) -> Observation {
    let condition = types::CONTROL_PLANE_CONNECTION_AVAILABLE.as_str();
    match nodes.last_renewal {
        _ if nodes.count == 0 => nobody(condition),
        // Which second it was is not told: the text must not change while nothing happens.
        Some(last) if now.duration_since(last) <= FRESH => {
            Observation::holds(condition, reasons::AS_EXPECTED.as_str(), "Nodes reach the API server")
        }
        Some(last) => {
            let message = format!("No node has reached the API server since {last}");
            Observation::fails(condition, reasons::CONNECTION_CHECK_STALE.as_str(), message)
        }
        None => {
            let message = "No node has a lease";
            Observation::fails(condition, reasons::KAS_ACCESS_FAILED.as_str(), message)
        }
    }
}

fn nobody(condition: &str) -> Observation {
    let reason = reasons::NO_WORKER_NODES_AVAILABLE.as_str();
    Observation::unknown(condition, reason, "The hosted cluster has no nodes")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn statuses(nodes: &Nodes, now: i64) -> Vec<(Option<bool>, String)> {
        let conditions = conditions(nodes, Timestamp::constant(now, 0));
        conditions
            .into_iter()
            .map(|found| (found.status, found.reason))
            .collect()
    }

    #[test]
    fn each_direction_has_its_own_word() {
        let (yes, no) = (Some(true), Some(false));
        let renewed = Some(Timestamp::constant(1000, 0));
        let cases = [
            (
                0,
                None,
                None,
                [(None, "NoWorkerNodesAvailable"), (None, "NoWorkerNodesAvailable")],
            ),
            (1, renewed, Some(Ok(())), [(yes, "AsExpected"), (yes, "AsExpected")]),
            (
                1,
                renewed,
                Some(Err("refused".to_owned())),
                [(no, "LogsAccessFailed"), (yes, "AsExpected")],
            ),
            (
                1,
                None,
                None,
                [(no, "KonnectivityAgentPodsNotFound"), (no, "KASAccessFailed")],
            ),
            (
                2,
                Some(Timestamp::constant(500, 0)),
                Some(Ok(())),
                [(yes, "AsExpected"), (no, "ConnectionCheckStale")],
            ),
        ];
        for (count, last_renewal, tunnel, expected) in cases {
            let nodes = Nodes {
                count,
                last_renewal,
                tunnel,
            };
            let expected = expected.map(|(status, reason)| (status, reason.to_owned()));
            assert_eq!(statuses(&nodes, 1200), expected, "{nodes:?}");
        }
    }
}
