//! The events of a watch as lines of JSON, each a change, a bookmark or an error.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use bytes::Bytes;
use hyperplane_seams::Clock;
use hyperplane_store::{Entry, Revision};
use hyperplane_wire::{
    Failure,
    negotiate::{Format, MetaVersion, Shape},
    table::{self, IncludeObject, TableStyle},
};
use serde_json::{Value, json};

use crate::{object::Object, registry::Served, verbs::watch::Seen};

/// Marks the bookmark after which a client has seen everything that was there when its watch began.
const INITIAL_EVENTS_END: &str = "k8s.io/initial-events-end";

/// Writes events as one client wants them.
#[derive(Clone)]
pub(crate) struct EventWriter {
    served: Arc<Served>,
    shape: Shape,
    include: IncludeObject,
    clock: Clock,
    /// Only the first table of a watch names its columns.
    has_columns: Arc<AtomicBool>,
}

impl EventWriter {
    /// A writer, unless the client asks for what there is not.
    pub(crate) fn new(served: Arc<Served>, format: Format, query: &str, clock: Clock) -> Result<Self, Failure> {
        Ok(Self {
            served,
            shape: format.shape,
            include: if matches!(format.shape, Shape::Table(_)) {
                IncludeObject::parse(query)?
            } else {
                IncludeObject::default()
            },
            clock,
            has_columns: Arc::default(),
        })
    }

    /// Appends an event about an object.
    pub(crate) fn event(&self, seen: Seen, entry: &Entry<Object>, revision: Revision, out: &mut Vec<u8>) {
        if self.shape == Shape::Object && self.served.shows_as_stored(entry) {
            begin(seen.word(), out);
            entry.payload.write(revision, out);
            out.extend_from_slice(b"}\n");
        } else {
            let value = self.shaped(self.served.show(entry, revision));
            line(seen.word(), &value, out);
        }
    }

    /// Appends a bookmark: everything up to the revision has been sent.
    pub(crate) fn bookmark(&self, revision: Revision, is_initial_end: bool, out: &mut Vec<u8>) {
        let mut object = json!({
            "kind": self.served.resource.kind, "apiVersion": self.served.api_version,
            "metadata": {"resourceVersion": revision.to_string()},
        });
        if is_initial_end {
            object["metadata"]["annotations"] = json!({INITIAL_EVENTS_END: "true"});
        }
        let shaped = match self.shape {
            Shape::Table(version) => {
                table::bookmark_table(&self.served.resource, &object, self.is_first(), self.style(version))
            }
            _ => self.shaped(object),
        };
        line("BOOKMARK", &shaped, out);
    }

    /// An error, after which the watch ends.
    pub(crate) fn error(failure: &Failure) -> Bytes {
        let mut out = Vec::new();
        line("ERROR", &failure.to_status(), &mut out);
        Bytes::from(out)
    }

    fn shaped(&self, value: Value) -> Value {
        match self.shape {
            Shape::Object => value,
            Shape::Table(version) => {
                table::event_table(&self.served.resource, &value, self.is_first(), self.style(version))
            }
            Shape::PartialObjectMetadata(version) | Shape::PartialObjectMetadataList(version) => {
                table::partial_object_metadata(&value, version)
            }
        }
    }

    fn style(&self, version: MetaVersion) -> TableStyle {
        TableStyle {
            version,
            include: self.include,
            now: self.clock.now(),
        }
    }

    fn is_first(&self) -> bool {
        !self.has_columns.swap(true, Ordering::Relaxed)
    }
}

fn line(kind: &str, object: &Value, out: &mut Vec<u8>) {
    begin(kind, out);
    serde_json::to_writer(&mut *out, object).expect("a value becomes JSON");
    out.extend_from_slice(b"}\n");
}

fn begin(kind: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"type\":\"");
    out.extend_from_slice(kind.as_bytes());
    out.extend_from_slice(b"\",\"object\":");
}
