//! What is told, for control planes and hosted clusters in each state.

use hyperplane_planner::catalogue;

use super::*;
use crate::samples::{self, IMAGE as NEW};

const OLD: &str = "hyperplane.dev/kubernetes:v1.36.3";

/// A control plane that is asked to have the new release, with the history of its components and what was told before.
fn control_plane(own_release: Option<&str>, history: &[(&str, &str)], conditions: &Value) -> HostedControlPlane {
    let entry = |(image, state): &(&str, &str)| json!({"state": state, "version": "1.36.4", "image": image, "startedTime": "2027-01-15T08:00:00Z"});
    let history: Vec<Value> = history.iter().map(entry).collect();
    let history = json!({"desired": {"version": "1.36.4", "image": NEW}, "history": history, "observedGeneration": 3});
    hyperplane_objects::read(samples::hosted_control_plane(&json!({
        "metadata": {"generation": 3},
        "spec": {"controlPlaneReleaseImage": own_release, "services": []},
        "status": {"conditions": conditions, "controlPlaneVersion": history},
    })))
    .unwrap()
}

/// A control plane whose components all have the release that it is asked to have.
pub(crate) fn rolled_out() -> HostedControlPlane {
    control_plane(None, &[(NEW, "Completed")], &json!([]))
}

fn visit(nodes: i64, updated: i32) -> Visit {
    let rollout = Rollout {
        title: "DaemonSet kube-proxy".to_owned(),
        is_seen: true,
        wanted: 2,
        updated,
        outdated: 2 - updated,
        available: 2,
        is_on_every_node: true,
    };
    Visit {
        held_up: None,
        rollouts: vec![rollout],
        nodes: Nodes {
            count: nodes,
            ..Nodes::default()
        },
    }
}

#[test]
fn a_release_is_reached_when_control_plane_and_nodes_have_it() {
    let (done, begun) = ("Completed", "Partial");
    let cases = [
        ("nothing yet", None, vec![], visit(0, 0), false),
        ("only the release before", None, vec![(OLD, done)], visit(0, 0), false),
        ("under way", None, vec![(NEW, begun), (OLD, done)], visit(0, 0), false),
        (
            "there, without nodes",
            None,
            vec![(NEW, done), (OLD, done)],
            visit(0, 0),
            true,
        ),
        ("nodes lag", None, vec![(NEW, done)], visit(2, 1), false),
        ("all there", None, vec![(NEW, done)], visit(2, 2), true),
        (
            "the other one's release",
            Some(OLD),
            vec![(NEW, done)],
            visit(0, 0),
            false,
        ),
        ("its own release", Some(OLD), vec![(OLD, done)], visit(0, 0), true),
    ];
    for (what, own_release, history, visit, expected) in cases {
        let control_plane = control_plane(own_release, &history, &json!([]));
        let found = progress(&control_plane, &visit);
        assert_eq!(found == Progress::Complete, expected, "{what}: {found:?}");
    }
    let held_up = Visit {
        held_up: Some("the API server still has 1.35.8".to_owned()),
        ..visit(0, 0)
    };
    let found = progress(&control_plane(None, &[(NEW, done)], &json!([])), &held_up);
    assert_eq!(found, Progress::Partial("the API server still has 1.35.8".to_owned()));
}

fn statuses(status: &Value) -> Vec<(String, String)> {
    let conditions = status["conditions"].as_array().unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    conditions
        .iter()
        .map(|found| (text(&found["type"]), text(&found["status"])))
        .collect()
}

#[test]
fn what_could_not_be_looked_at_stays_as_it_was() {
    let now = Timestamp::constant(1000, 0);
    let release = catalogue::by_version("v1.36.4").unwrap();
    let before = control_plane(None, &[(NEW, "Completed")], &json!([]));
    let looked = looked(&before, release, &visit(2, 2), Vec::new(), now);
    let known = statuses(&looked);
    assert!(known.contains(&("ConfigOperatorReconciliationSucceeded".to_owned(), "True".to_owned())));

    let mut later = before.clone();
    later.status = hyperplane_objects::read(&looked).unwrap();
    let failure = Failure::wait("an answer");
    let failed = failed(&later, &failure, now);
    for (type_, status) in statuses(&failed) {
        let expected = match type_.as_str() {
            "ClusterVersionFailing" => "True",
            "ConfigOperatorReconciliationSucceeded" => "False",
            _ => status.as_str(),
        };
        assert_eq!(status, expected, "{type_}");
    }
    let names = |statuses: Vec<(String, String)>| statuses.into_iter().map(|(name, _)| name).collect::<Vec<_>>();
    assert_eq!(names(statuses(&failed)), names(known.clone()));
    assert_eq!(failed["versionStatus"], looked["versionStatus"]);
    assert_eq!(failed["nodeCount"], json!(2));

    let removal = Observation::holds("CloudResourcesDestroyed", "CloudResourcesDestroyed", "");
    let ending = statuses(&ending(&later, removal, now));
    let mut expected = known;
    expected.push(("CloudResourcesDestroyed".to_owned(), "True".to_owned()));
    expected.sort();
    assert_eq!(ending, expected);
}
