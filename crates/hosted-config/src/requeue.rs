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

/// How long to wait before the next visit. A failed connection is tried again soon, and less often the longer it fails: most
/// failures are of a start or a restart and end in seconds, while one that stays must not cost a fleet its processors.
pub(crate) fn requeue_after(control_plane: &HostedControlPlane, visit: &Visit, now: Timestamp) -> Duration {
    if status::progress(control_plane, visit) != Progress::Complete {
        return PROGRESS_INTERVAL;
    }
    let conditions = nodes::conditions(&visit.nodes, now);
    let failing = conditions.iter().filter(|found| found.status == Some(false));
    let newest = failing.map(|found| failing_for(control_plane, found, now)).min();
    newest.map_or(RESYNC_INTERVAL, |elapsed| {
        elapsed.clamp(PROGRESS_INTERVAL, RESYNC_INTERVAL)
    })
}

/// For how long a condition has been failing, by what was reported before.
fn failing_for(control_plane: &HostedControlPlane, found: &Observation, now: Timestamp) -> Duration {
    let reported = control_plane
        .status
        .as_ref()
        .map_or(&[][..], |status| &status.conditions);
    let reported = reported.iter().find(|condition| condition.type_ == found.type_);
    let since = reported
        .filter(|condition| condition.status == "False")
        .map_or(now, |condition| condition.last_transition_time.0);
    Duration::try_from(now.duration_since(since)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::nodes::Nodes;

    const NOW: Timestamp = Timestamp::constant(10_000, 0);

    /// A control plane that has its release, and that reported a condition some seconds ago.
    fn control_plane(reported: Option<(&str, i64)>) -> HostedControlPlane {
        let mut control_plane = status::tests::rolled_out();
        let conditions = reported.map(|(status, seconds)| {
            let since = Timestamp::constant(10_000 - seconds, 0).to_string();
            json!({
                "type": "DataPlaneConnectionAvailable", "status": status, "reason": "Before", "message": "",
                "lastTransitionTime": since,
            })
        });
        let conditions: Vec<_> = conditions.into_iter().collect();
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
    fn a_rollout_is_watched_closely() {
        let visit = Visit {
            held_up: Some("the API server still has v1.35.8".to_owned()),
            rollouts: Vec::new(),
            nodes: Nodes::default(),
        };
        assert_eq!(requeue_after(&control_plane(None), &visit, NOW), PROGRESS_INTERVAL);
    }
}
