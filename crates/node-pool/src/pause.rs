//! Whether a pool is left alone, and for how long.

use std::time::Duration;

use hyperplane_api::hypershift::{
    node_pool::NodePool,
    paused::{Pause, pause},
};
use jiff::Timestamp;

/// What the pause of a pool comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PauseState {
    /// It is not paused.
    Active,
    /// It is paused.
    Paused {
        /// What the user wrote.
        text: String,
        /// How long it lasts from now, where an end is set.
        left: Option<Duration>,
    },
    /// What the user wrote means nothing, and so pauses nothing.
    Unreadable(String),
}

impl PauseState {
    /// The pause of a pool at a point in time.
    pub(crate) fn of(pool: &NodePool, now: Timestamp) -> Self {
        let Some(text) = &pool.spec.paused_until else {
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

    /// Whether the pool is left alone.
    pub(crate) const fn is_paused(&self) -> bool {
        matches!(self, Self::Paused { .. })
    }

    /// When the pause ends by itself.
    pub(crate) const fn left(&self) -> Option<Duration> {
        match self {
            Self::Paused { left, .. } => *left,
            Self::Active | Self::Unreadable(_) => None,
        }
    }
}
