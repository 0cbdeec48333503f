//! How a cluster is, in one word and one sentence.

use hyperplane_api::{
    constants::{conditions::hosted_cluster as types, reasons},
    hypershift::paused::PauseState,
};
use jiff::Timestamp;
use serde::Serialize;

use super::versions;
use crate::object::{Object, Truth};

/// How a cluster is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub enum State {
    /// It serves, and is as it is asked for.
    Available,
    /// It serves, and moves to what is asked for.
    Progressing,
    /// It serves, and part of it does not work.
    Degraded,
    /// It has never served yet.
    Starting,
    /// It served once, and does not now.
    Unavailable,
    /// It cannot go on before somebody corrects something.
    Blocked,
    /// Somebody has paused it.
    Paused,
    /// It is being deleted.
    Deleting,
    /// It says nothing.
    Unknown,
}

/// The state with its words.
pub(super) struct Told {
    pub(super) state: State,
    pub(super) message: String,
    pub(super) since: Option<Timestamp>,
}

/// The state of a cluster: the first that holds, the gravest first.
pub(super) fn of(cluster: &Object, now: Timestamp) -> Told {
    let condition = |type_: hyperplane_api::constants::ConditionType, status: Truth| {
        cluster.condition(type_.as_str()).filter(|found| found.status == status)
    };
    let progressing = condition(types::PROGRESSING, Truth::True);
    if cluster.is_leaving() {
        let words = progressing.map_or("The cluster is being deleted.", |found| found.words());
        return told(State::Deleting, words, cluster.deleted());
    }
    if let PauseState::Paused { text, .. } = PauseState::of(cluster.text("/spec/pausedUntil"), now) {
        let since = condition(types::RECONCILIATION_ACTIVE, Truth::False).and_then(|found| found.since);
        return told(
            State::Paused,
            &format!("The cluster is paused: pausedUntil is {text}."),
            since,
        );
    }
    let stopped = condition(types::PROGRESSING, Truth::False);
    if let Some(found) = stopped.filter(|found| found.reason == reasons::BLOCKED.as_str()) {
        return told(State::Blocked, found.words(), found.since);
    }
    if let Some(found) = condition(types::AVAILABLE, Truth::False) {
        let has_served = versions::of(cluster).reached.is_some();
        let state = if has_served {
            State::Unavailable
        } else {
            State::Starting
        };
        return told(state, found.words(), found.since);
    }
    if let Some(found) = condition(types::DEGRADED, Truth::True) {
        return told(State::Degraded, found.words(), found.since);
    }
    if let Some(found) = progressing {
        return told(State::Progressing, found.words(), found.since);
    }
    match condition(types::AVAILABLE, Truth::True) {
        Some(found) => told(State::Available, found.words(), found.since),
        None => told(State::Unknown, "Nothing has been reported yet.", cluster.created()),
    }
}

fn told(state: State, message: &str, since: Option<Timestamp>) -> Told {
    Told {
        state,
        message: message.to_owned(),
        since,
    }
}
