//! Tables of what a history becomes.

use std::collections::BTreeMap;

use hyperplane_api::hypershift::version_status::{ControlPlaneUpdate, ControlPlaneVersionStatus, UpdateState};
use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use serde_json::json;

use super::{MOST_HISTORY, control_plane_version, prune};
use crate::support::{World, release};

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).expect("it is a time")
}

fn step(
    world: &World,
    is_complete: bool,
    before: Option<&ControlPlaneVersionStatus>,
    second: i64,
) -> ControlPlaneVersionStatus {
    let reports = if is_complete {
        world.settled().reports
    } else {
        BTreeMap::new()
    };
    control_plane_version(&world.inputs(), &reports, before, at(second))
}

fn told(status: &ControlPlaneVersionStatus) -> Vec<(String, bool, i64, Option<i64>)> {
    let entry = |entry: &ControlPlaneUpdate| {
        (
            entry.version.as_str().to_owned(),
            entry.state == UpdateState::Completed,
            entry.started_time.0.as_second(),
            entry.completion_time.as_ref().map(|time| time.0.as_second()),
        )
    };
    status.history.iter().map(entry).collect()
}

#[test]
fn a_version_begins_is_reached_and_gives_way_to_the_next() {
    let change = |minor: &str| json!({"spec": {"releaseImage": release(minor).image}});
    let old = World::new(&change("1.35"), release("1.35"));
    let new = World::new(&change("1.36"), release("1.36"));
    let (first, second) = (
        old.inputs().desired_version().to_owned(),
        new.inputs().desired_version().to_owned(),
    );
    let begun = step(&old, false, None, 1);
    assert_eq!(told(&begun), [(first.clone(), false, 1, None)]);
    // Nothing changes while nothing happens.
    assert_eq!(step(&old, false, Some(&begun), 2), begun);
    let reached = step(&old, true, Some(&begun), 3);
    assert_eq!(told(&reached), [(first.clone(), true, 1, Some(3))]);
    // What was reached once stays so.
    assert_eq!(step(&old, false, Some(&reached), 4), reached);
    let next = step(&new, false, Some(&reached), 5);
    assert_eq!(
        told(&next),
        [(second.clone(), false, 5, None), (first.clone(), true, 1, Some(3))]
    );
    assert_eq!(next.desired.version, second);
    // One that was left before it was reached begins anew.
    let back = step(&old, true, Some(&next), 6);
    assert_eq!(told(&back)[0], (first, true, 6, Some(6)));
    assert_eq!(told(&back).len(), 3);
}

#[test]
fn a_long_history_keeps_its_ends_and_the_edges_of_minors() {
    let entry = |index: usize| {
        let (minor, patch) = (index / 40, index % 40);
        hyperplane_objects::read::<ControlPlaneUpdate>(json!({
            "state": if patch % 2 == 0 { "Completed" } else { "Partial" },
            "version": format!("1.{}.{}", 40 - minor, 40 - patch),
            "image": "example.com/image",
            "startedTime": Time(at(1_000_000 - i64::try_from(index).expect("it is small"))),
        }))
        .expect("it is an entry")
    };
    let whole: Vec<ControlPlaneUpdate> = (0..130).map(entry).collect();
    let kept = prune(whole.clone());
    assert_eq!(kept.len(), MOST_HISTORY);
    assert_eq!(kept.first(), whole.first());
    assert_eq!(kept.last(), whole.last());
    for edge in [0, 38, 40, 78, 80, 118, 120] {
        assert!(kept.contains(&whole[edge]), "{}", whole[edge].version.as_str());
    }
    // Tries within a minor go rather than what was reached.
    let lost = |state: &UpdateState| {
        let gone = whole.iter().filter(|entry| !kept.contains(entry));
        gone.filter(|entry| entry.state == *state).count()
    };
    assert!(lost(&UpdateState::Partial) > lost(&UpdateState::Completed));
    assert_eq!(prune(kept.clone()), kept);
}
