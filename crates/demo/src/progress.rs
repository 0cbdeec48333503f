//! What a story tells while it goes on: events as data, for whoever shows them. Knows no terminal.

use std::time::Duration;

use serde::Serialize;

use crate::{board::Board, claims::ClaimReport, story::StepId};

/// Who takes events. It must be quick: the story waits meanwhile.
pub type Sink<'a> = dyn FnMut(&Event) + Send + 'a;

/// Something that is told.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// A step begins.
    StepStarted(StepStart),
    /// Something happened.
    Noted(Moment),
    /// How everything stands: told whenever it differs from what was told last.
    Stands(Box<Board>),
    /// A step is over.
    StepEnded {
        /// Which.
        id: StepId,
        /// How long it took.
        took: Duration,
    },
    /// A claim was judged.
    Judged(ClaimReport),
}

/// A step that begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepStart {
    /// Which.
    pub id: StepId,
    /// Its place among the steps, from one.
    pub number: usize,
    /// How many steps there are.
    pub of: usize,
    /// What happens.
    pub title: String,
    /// What people would type to do the same, a line each.
    pub commands: Vec<String>,
    /// How long the story has been going on.
    pub at: Duration,
}

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Moment {
    /// How long the story had been going on, in milliseconds.
    #[serde(rename = "atMilliseconds", serialize_with = "milliseconds")]
    pub at: Duration,
    /// In which step.
    pub step: StepId,
    /// What.
    pub text: String,
}

/// Durations travel as whole milliseconds.
pub(crate) fn milliseconds<S: serde::Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX))
}
