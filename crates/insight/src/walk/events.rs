//! What somebody said about an object: its last warning.

use jiff::Timestamp;

use super::Walk;
use crate::{kind::Kind, object::Object, scene::Place};

/// A warning.
#[derive(Clone, Copy, Debug)]
pub(super) struct Said<'a> {
    pub(super) reason: &'a str,
    pub(super) message: &'a str,
    pub(super) at: Option<Timestamp>,
}

impl Said<'_> {
    /// In one text.
    pub(super) fn words(&self) -> String {
        match (self.reason, self.message) {
            ("", message) => message.to_owned(),
            (reason, "") => reason.to_owned(),
            (reason, message) => format!("{reason}: {message}"),
        }
    }
}

/// The last warning about an object, of some reasons where any are named.
pub(super) fn last_warning<'a>(walk: &mut Walk<'a>, object: &Object, reasons: &[&str]) -> Option<Said<'a>> {
    let events = walk.list(Kind::Event, &Place::namespace(object.namespace()));
    let about = events.iter().filter(|event| {
        event.text("/involvedObject/kind") == Some(object.kind())
            && event.text("/involvedObject/name") == Some(object.name())
            && event.text("/type") == Some("Warning")
    });
    let said = about.map(|event| Said {
        reason: event.text("/reason").unwrap_or_default(),
        message: event.text("/message").unwrap_or_default(),
        at: when(event),
    });
    said.filter(|said| reasons.is_empty() || reasons.contains(&said.reason))
        .max_by_key(|said| said.at)
}

fn when(event: &Object) -> Option<Timestamp> {
    let times = [
        "/series/lastObservedTime",
        "/lastTimestamp",
        "/eventTime",
        "/firstTimestamp",
    ];
    let told = times.iter().filter_map(|pointer| event.time(pointer)).max();
    told.or_else(|| event.created())
}
