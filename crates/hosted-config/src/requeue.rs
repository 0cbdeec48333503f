//! When a hosted cluster is visited next, although nothing changed on the management side. Pure.

use std::time::Duration;

use hyperplane_api::hypershift::hosted_control_plane::HostedControlPlane;
use hyperplane_runtime::conditions::Observation;
use jiff::Timestamp;

use crate::{
    nodes,
    status::{self, Visit},
    version::Progress,
};

/// The interval at rest. Nothing in a hosted cluster is watched: what a user changed by hand is put back after this time at
/// the latest.
const RESYNC_INTERVAL: Duration = Duration::from_mins(2);

/// The interval while a rollout is under way, and after a connection has just failed.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(15);

/// The longest interval while nodes are expected: one asks for a certificate, or there are machines and no nodes. Whoever
/// approves a request or starts a host waits for what the conditions say.
const JOIN_INTERVAL: Duration = Duration::from_secs(30);

/// How long to wait before the next visit. What does not hold yet is looked at again soon, and less often the longer it
/// fails: most failures are of a start or a restart and end in seconds, while one that stays must not cost a fleet its
/// processors.
pub(crate) fn requeue_after(control_plane: &HostedControlPlane, visit: &Visit, now: Timestamp) -> Duration {
    if status::progress(control_plane, visit) != Progress::Complete {
        return PROGRESS_INTERVAL;
    }
    let conditions = nodes::conditions(&visit.nodes, now);
    let unmet = conditions.iter().filter(|found| found.status != Some(true));
    let newest = unmet.map(|found| unmet_for(control_plane, found, now)).min();
    let longest = if expects_nodes(visit) {
        JOIN_INTERVAL
    } else {
        RESYNC_INTERVAL
    };
    newest.map_or(longest, |elapsed| elapsed.clamp(PROGRESS_INTERVAL, longest))
}

/// Whether a node is about to join, as far as anybody knows.
fn expects_nodes(visit: &Visit) -> bool {
    let nodes = &visit.nodes;
    !nodes.pending.is_empty() || (nodes.count == 0 && nodes.has_machines)
}

/// For how long a condition has not been met, by what was reported before.
fn unmet_for(control_plane: &HostedControlPlane, found: &Observation, now: Timestamp) -> Duration {
    let reported = control_plane
        .status
        .as_ref()
        .map_or(&[][..], |status| &status.conditions);
    let reported = reported.iter().find(|condition| condition.type_ == found.type_);
    let since = reported
        .filter(|condition| condition.status != "True")
        .map_or(now, |condition| condition.last_transition_time.0);
    Duration::try_from(now.duration_since(since)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::nodes::Nodes;

    const NOW: Timestamp = Timestamp::constant(10_000, 0);

    /// A control plane that has its release, and that reported its connections some seconds ago.
    fn control_plane(reported: Option<(&str, i64)>) -> HostedControlPlane {
        let mut control_plane = status::tests::rolled_out();
        let types = ["DataPlaneConnectionAvailable", "ControlPlaneConnectionAvailable"];
        let conditions = reported.into_iter().flat_map(|(status, seconds)| {
            let since = Timestamp::constant(10_000 - seconds, 0).to_string();
            types.map(|type_| {
                json!({"type": type_, "status": status, "reason": "Before", "message": "", "lastTransitionTime": since})
            })
        });
        let conditions: Vec<_> = conditions.collect();
        control_plane.status.get_or_insert_default().conditions = hyperplane_objects::read(json!(conditions)).unwrap();
        control_plane
    }

    #[test]
    fn a_failed_connection_is_tried_again_soon_and_then_less_often() {
        let cases = [
            (true, None, 120),
            (true, Some(("False", 3600)), 120),
            (false, None, 15),
            (false, Some(("True", 3600)), 15),
            (false, Some(("False", 1)), 15),
            (false, Some(("False", 50)), 50),
            (false, Some(("False", 3600)), 120),
            // A clock that was set back.
            (false, Some(("False", -3600)), 15),
        ];
        for (is_connected, reported, expected) in cases {
            let tunnel = if is_connected {
                Ok(())
            } else {
                Err("refused".to_owned())
            };
            let visit = Visit {
                held_up: None,
                rollouts: Vec::new(),
                nodes: Nodes {
                    count: 1,
                    last_renewal: Some(NOW),
                    tunnel: Some(tunnel),
                    ..Nodes::default()
                },
            };
            let found = requeue_after(&control_plane(reported), &visit, NOW).as_secs();
            assert_eq!(found, expected, "{is_connected} {reported:?}");
        }
    }

    #[test]
    fn nodes_that_are_expected_are_seen_soon() {
        let request = || nodes::PendingRequest {
            created: NOW,
            name: "csr-1".to_owned(),
            user: "system:bootstrap:abcdef".to_owned(),
        };
        // Whether there are machines, requests, since when the connection has been unknown, and the interval.
        for (has_machines, pending, reported, expected) in [
            (false, vec![], Some(("Unknown", 3600)), 120),
            (false, vec![], Some(("Unknown", 1)), 15),
            (true, vec![], Some(("Unknown", 3600)), 30),
            (false, vec![request()], Some(("Unknown", 3600)), 15),
        ] {
            let visit = Visit {
                held_up: None,
                rollouts: Vec::new(),
                nodes: Nodes {
                    has_machines,
                    pending: pending.clone(),
                    ..Nodes::default()
                },
            };
            let found = requeue_after(&control_plane(reported), &visit, NOW).as_secs();
            assert_eq!(found, expected, "{has_machines} {pending:?} {reported:?}");
        }
    }

    #[test]
    fn a_rollout_is_watched_closely() {
        let visit = Visit {
            held_up: Some("the API server still has v1.35.8".to_owned()),
            rollouts: Vec::new(),
            nodes: Nodes::default(),
        };
        assert_eq!(requeue_after(&control_plane(None), &visit, NOW), PROGRESS_INTERVAL);
    }
}
