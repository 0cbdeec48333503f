//! A HostedCluster: what it says of itself, then its control plane.

use hyperplane_api::constants::{conditions::hosted_cluster as types, reasons};

use super::{Walk, control_plane, deletion, judgements, kubectl, leads, pause};
use crate::{
    cause::Trouble,
    expectation::{Standing, standing},
    explain::Link,
    kind::Kind,
    object::{Object, Truth},
    rule,
    scene::{Place, control_plane_namespace},
};

/// What a cluster waits for; nothing where it does not wait, or was walked already.
pub(crate) fn cluster(walk: &mut Walk<'_>, cluster: &Object) -> Option<Link> {
    if !walk.enters(cluster) {
        return None;
    }
    walk.list(Kind::HostedCluster, &Place::namespace(cluster.namespace()));
    let before = walk.found();
    let mut because: Vec<Link> = Vec::new();
    let paused = pause::trouble(walk, cluster);
    because.extend(walk.settle_all(paused));
    if cluster.is_leaving() {
        because.extend(deletion::of_cluster(walk, cluster));
        return Some(headed(cluster, because));
    }
    let judged = judgements::of_cluster(walk, cluster);
    because.extend(walk.settle_all(judged));
    because.extend(below(walk, cluster));
    if walk.found() == before {
        let left = leftover(cluster);
        because.extend(walk.settle_all(left));
    }
    (!because.is_empty()).then(|| headed(cluster, because))
}

/// The control plane, as far as it is there.
fn below(walk: &mut Walk<'_>, cluster: &Object) -> Option<Link> {
    let namespace = control_plane_namespace(cluster.namespace(), cluster.name());
    let place = Place::namespace(&namespace);
    let planes = walk.list(Kind::HostedControlPlane, &place);
    let plane = planes.iter().find(|plane| plane.name() == cluster.name());
    if let Some(plane) = plane {
        return control_plane::control_plane(walk, plane);
    }
    if !walk.knows(Kind::HostedControlPlane, &place) {
        let is_bad = leftover(cluster).is_some();
        let unread = walk
            .unread_trouble(cluster, Kind::HostedControlPlane, &place)
            .filter(|_| is_bad);
        return unread.map(|trouble| walk.settle(&trouble, &[]));
    }
    None
}

/// What a cluster says that nothing below explained.
fn leftover(cluster: &Object) -> Option<Trouble> {
    let reference = cluster.reference();
    let decisive = [types::AVAILABLE, types::PROGRESSING, types::DEGRADED];
    let mut said = decisive.iter().filter_map(|type_| cluster.condition(type_.as_str()));
    let look = format!("Look again in a moment, and at {}.", kubectl("describe", cluster));
    let Some(condition) = said.find(|condition| standing(condition) != Standing::Good) else {
        let is_silent = cluster.conditions().next().is_none();
        return is_silent.then(|| {
            let what = "has no conditions yet: no operator has looked at it";
            let remedy = "Look whether the operators run: hyperplane operator, or hyperplane up on this machine.";
            Trouble::new(reference, &rule::UNREPORTED, what, remedy).since(cluster.created())
        });
    };
    let rule = match standing(&condition) {
        Standing::Unknown => &rule::UNREPORTED,
        Standing::Moving => &rule::ROLLING,
        Standing::Bad | Standing::Good if condition.reason == reasons::WAITING_FOR_AVAILABLE.as_str() => {
            &rule::STARTING
        }
        Standing::Bad | Standing::Good => &rule::DEGRADED,
    };
    Some(Trouble::new(reference, rule, condition.words(), look).since(condition.since))
}

/// The link of a cluster, headed by what it says of itself.
fn headed(cluster: &Object, because: Vec<Link>) -> Link {
    let (what, since) = headline(cluster);
    Link {
        since,
        ..leads(cluster, what, because)
    }
}

fn headline(cluster: &Object) -> (String, Option<jiff::Timestamp>) {
    if cluster.is_leaving() {
        return ("is being deleted".to_owned(), cluster.deleted());
    }
    let condition =
        |type_: &str, status: Truth| cluster.condition(type_).filter(|condition| condition.status == status);
    let blocked = condition(types::PROGRESSING.as_str(), Truth::False)
        .filter(|condition| condition.reason == reasons::BLOCKED.as_str());
    let unavailable = condition(types::AVAILABLE.as_str(), Truth::False);
    let degraded = condition(types::DEGRADED.as_str(), Truth::True);
    let moving = condition(types::PROGRESSING.as_str(), Truth::True);
    match (unavailable, blocked, degraded, moving) {
        (Some(found), ..) => ("is not available".to_owned(), found.since),
        (None, Some(found), ..) => ("cannot go on".to_owned(), found.since),
        (None, None, Some(found), _) => ("is degraded".to_owned(), found.since),
        (None, None, None, Some(found)) => ("is on its way".to_owned(), found.since),
        (None, None, None, None) => ("is not as it should be".to_owned(), None),
    }
}
