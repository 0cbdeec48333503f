//! Whether a cluster is left alone, and for how long.

use std::time::Duration;

use hyperplane_api::hypershift::{
    hosted_cluster::HostedCluster,
    paused::{Pause, pause},
};
use jiff::Timestamp;

/// What the pause of a cluster comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PauseState {
    /// It is not paused.
    Active,
    /// It is paused; for so long, where an end is set.
    Paused {
        /// What the user wrote.
        text: String,
        /// How long it lasts from now.
        left: Option<Duration>,
    },
    /// What the user wrote means nothing, and so pauses nothing.
    Unreadable(String),
}

impl PauseState {
    /// The pause of a cluster at a point in time.
    pub(crate) fn of(cluster: &HostedCluster, now: Timestamp) -> Self {
        let Some(text) = &cluster.spec.paused_until else {
            return Self::Active;
        };
        let text = text.as_str();
        match pause(text) {
            Err(error) => Self::Unreadable(error.to_string()),
            Ok(found) if !found.holds_at(now) => Self::Active,
            Ok(found) => Self::Paused {
                text: text.to_owned(),
                left: match found {
                    Pause::Until(end) => Some(end.duration_since(now).unsigned_abs()),
                    Pause::Forever | Pause::No => None,
                },
            },
        }
    }

    /// Whether the cluster is left alone.
    pub(crate) const fn is_paused(&self) -> bool {
        matches!(self, Self::Paused { .. })
    }
}
