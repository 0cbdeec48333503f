//! Whether somebody has paused a cluster, a pool or something of Cluster API.

use hyperplane_api::hypershift::paused::PauseState;

use super::{Walk, kubectl};
use crate::{
    cause::Trouble,
    kind::Kind,
    object::{Object, Truth},
    rule,
};

/// That an object is paused, if it is.
pub(super) fn trouble(walk: &Walk<'_>, object: &Object) -> Option<Trouble> {
    let text = object.text("/spec/pausedUntil");
    let PauseState::Paused { text, .. } = PauseState::of(text, walk.scene.now) else {
        return None;
    };
    let until = match text.as_str() {
        "true" | "True" => "until somebody ends the pause".to_owned(),
        time => format!("until {time}"),
    };
    let remedy = format!(
        "End the pause when you are done with what it is for: {} --type=merge -p '{{\"spec\":{{\"pausedUntil\":null}}}}'",
        kubectl("patch", object)
    );
    let what = format!("is paused {until}: nothing of it is changed");
    let since = object
        .condition("ReconciliationActive")
        .and_then(|condition| condition.since);
    Some(Trouble::new(object.reference(), &rule::PAUSED, what, remedy).since(since))
}

/// That something of Cluster API says that it is paused. Where its pool or the cluster of that is, it follows from there.
pub(super) fn of_machines(walk: &Walk<'_>, pool: Option<&Object>, object: &Object) -> Option<Trouble> {
    let paused = object.condition("Paused")?;
    if paused.status != Truth::True || pool.is_some_and(|pool| is_told(walk, pool)) {
        return None;
    }
    let what = format!("is paused: {}", paused.words());
    let remedy = format!("Take the pause away where it was set: {}.", kubectl("describe", object));
    Some(Trouble::new(object.reference(), &rule::PAUSED, what, remedy).since(paused.since))
}

/// Whether a pool or its cluster tells that it is paused.
fn is_told(walk: &Walk<'_>, pool: &Object) -> bool {
    let name = pool.text("/spec/clusterName").unwrap_or_default();
    let cluster = walk.scene.find(Kind::HostedCluster, pool.namespace(), name);
    let mut above = cluster.into_iter().chain([pool]);
    above.any(|object| trouble(walk, object).is_some())
}
