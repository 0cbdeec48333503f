//! GET of changes: first what is there, if the client wants that, then every change in order, each once. A client that
//! reads too slowly is cut off; it never holds up a write.

use std::{
    pin::Pin,
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use bytes::Bytes;
use futures::{Stream, stream};
use hyperplane_store::{Entry, Event, EventKind, Revision, Watcher};
use hyperplane_wire::{Failure, options::ListOptions};
use tokio::time::{Instant, Sleep};
use tokio_util::sync::CancellationToken;

use crate::{call::Call, core::Core, object::Object, render::EventWriter, selection::Selection, slots::Slot};

/// A bookmark shortly before the end spares the client a relist.
const LAST_BOOKMARK: Duration = Duration::from_secs(2);

/// What happened to an object in the eyes of a client, given what it selects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Seen {
    /// It is new to the client.
    Added,
    /// It changed.
    Modified,
    /// It is gone, or no longer selected.
    Deleted,
}

impl Seen {
    /// The type of the event.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Added => "ADDED",
            Self::Modified => "MODIFIED",
            Self::Deleted => "DELETED",
        }
    }
}

/// A watch that has begun.
pub(crate) struct Watching {
    watcher: Watcher<Object>,
    selection: Selection,
    writer: EventWriter,
    initial: std::vec::IntoIter<Arc<Entry<Object>>>,
    /// The revision that the bookmark after the initial events claims; none where the client asked for no such mark.
    initial_end: Option<Revision>,
    bookmarks: Option<Bookmarks>,
    deadline: Pin<Box<Sleep>>,
    batch_bytes: usize,
    ends: [CancellationToken; 2],
    is_over: bool,
    /// Held as long as the watch lives: there are only so many.
    _slot: Slot,
}

struct Bookmarks {
    interval: Duration,
    next: Instant,
    last: Instant,
}

/// How a watch begins.
enum Beginning {
    /// With what is there.
    Everything { wants_mark: bool },
    /// After a revision.
    After(Revision),
    /// Now.
    Now,
}

impl Core {
    /// Begins a watch. What is wrong with the revision is told in the stream, where clients look for it; what is wrong
    /// with the request is an error at once.
    pub(crate) async fn watch(
        &self,
        call: &Call,
        options: &ListOptions,
        writer: EventWriter,
        slot: Slot,
    ) -> Result<Pin<Box<dyn Stream<Item = Bytes> + Send>>, Failure> {
        let selection = Selection::new(
            &call.served,
            &call.namespace,
            options.label_selector.clone(),
            options.field_selector.clone(),
        )?;
        let revision = Revision(options.revision()?.unwrap_or_default());
        match self
            .begin(call, options, revision, selection, writer.clone(), slot)
            .await
        {
            Ok(watching) => Ok(Box::pin(stream::unfold(watching, Watching::step))),
            Err(failure) => Ok(Box::pin(stream::iter([EventWriter::error(&failure)]))),
        }
    }

    async fn begin(
        &self,
        call: &Call,
        options: &ListOptions,
        revision: Revision,
        selection: Selection,
        writer: EventWriter,
        slot: Slot,
    ) -> Result<Watching, Failure> {
        let collection = &call.served.resource.collection;
        let beginning = beginning(options, revision);
        if matches!(beginning, Beginning::Everything { .. }) {
            self.reach(revision).await?;
        }
        let snapshot = self.store.snapshot();
        let after = match beginning {
            Beginning::After(revision) => revision,
            Beginning::Everything { .. } | Beginning::Now => snapshot.revision(),
        };
        if after > snapshot.revision() || after.0 < self.floor.load(Ordering::Relaxed) {
            return Err(too_old(after, snapshot.revision()));
        }
        let watcher = self
            .store
            .watch(collection, after)
            .map_err(|error| too_old(after, error.oldest))?;
        let initial = match beginning {
            Beginning::Everything { .. } => initial(&snapshot, collection, &selection),
            Beginning::After(_) | Beginning::Now => Vec::new(),
        };
        let initial_end = matches!(beginning, Beginning::Everything { wants_mark: true }).then_some(after);
        let timeout = options
            .timeout_seconds
            .map_or(self.limits.watch_timeout, Duration::from_secs);
        let now = Instant::now();
        Ok(Watching {
            watcher,
            selection,
            writer,
            initial: initial.into_iter(),
            initial_end,
            bookmarks: options.allow_watch_bookmarks.then(|| Bookmarks {
                interval: self.limits.bookmark_interval,
                next: now + self.limits.bookmark_interval,
                last: now + timeout.saturating_sub(LAST_BOOKMARK),
            }),
            deadline: Box::pin(tokio::time::sleep(timeout)),
            batch_bytes: self.limits.watch_batch_bytes,
            ends: [self.stop.clone(), call.served.gone.clone()],
            is_over: false,
            _slot: slot,
        })
    }
}

fn beginning(options: &ListOptions, revision: Revision) -> Beginning {
    let wants_from_now = matches!(options.resource_version.as_str(), "" | "0");
    match options.send_initial_events {
        Some(true) => Beginning::Everything {
            wants_mark: options.allow_watch_bookmarks,
        },
        Some(false) if wants_from_now => Beginning::Now,
        None if wants_from_now => Beginning::Everything { wants_mark: false },
        Some(false) | None => Beginning::After(revision),
    }
}

fn initial(
    snapshot: &hyperplane_store::Snapshot<Object>,
    collection: &str,
    selection: &Selection,
) -> Vec<Arc<Entry<Object>>> {
    let namespace = Some(selection.namespace.as_str()).filter(|namespace| !namespace.is_empty());
    let entries = snapshot.range(collection, namespace, None);
    entries.filter(|entry| selection.holds(entry)).map(Arc::clone).collect()
}

/// The error that makes a client list again.
fn too_old(wanted: Revision, oldest: Revision) -> Failure {
    Failure::expired(format!("too old resource version: {wanted} ({oldest})"))
}

impl Watching {
    /// The next bytes: everything that is ready, up to a limit, or the first thing that comes.
    async fn step(mut self) -> Option<(Bytes, Self)> {
        if self.is_over {
            return None;
        }
        let mut out = Vec::new();
        self.write_initial(&mut out);
        if self.initial.as_slice().is_empty() {
            self.write_ready(&mut out);
        }
        while out.is_empty() {
            if !self.wait(&mut out).await {
                return None;
            }
        }
        Some((Bytes::from(out), self))
    }

    fn write_initial(&mut self, out: &mut Vec<u8>) {
        while out.len() < self.batch_bytes {
            let Some(entry) = self.initial.next() else {
                if let Some(revision) = self.initial_end.take() {
                    self.writer.bookmark(revision, true, out);
                }
                return;
            };
            self.writer.event(Seen::Added, &entry, entry.revision, out);
        }
    }

    fn write_ready(&mut self, out: &mut Vec<u8>) {
        while out.len() < self.batch_bytes {
            match self.watcher.try_next() {
                Ok(Some(event)) => self.write(&event, out),
                Ok(None) => return,
                Err(_) => return self.cut(out),
            }
        }
    }

    /// Waits for a change, a bookmark that is due, or the end. False when the watch is over.
    async fn wait(&mut self, out: &mut Vec<u8>) -> bool {
        let due = self
            .bookmarks
            .as_ref()
            .map(|bookmarks| bookmarks.next.min(bookmarks.last));
        let bookmark = async {
            match due {
                Some(due) => tokio::time::sleep_until(due).await,
                None => std::future::pending().await,
            }
        };
        let [stop, gone] = &self.ends;
        tokio::select! {
            biased;
            () = stop.cancelled() => return false,
            event = self.watcher.next() => match event {
                Ok(event) => { self.write(&event, out); self.write_ready(out); }
                Err(_) => self.cut(out),
            },
            () = gone.cancelled() => return false,
            () = &mut self.deadline => return false,
            () = bookmark => self.write_bookmark(out),
        }
        true
    }

    fn write(&self, event: &Event<Object>, out: &mut Vec<u8>) {
        let is_selected = event.kind != EventKind::Deleted && self.selection.holds(&event.entry);
        let previous = event
            .previous
            .as_ref()
            .filter(|previous| self.selection.holds(previous));
        match (previous, is_selected) {
            (None, true) => self.writer.event(Seen::Added, &event.entry, event.revision, out),
            (Some(_), true) => self.writer.event(Seen::Modified, &event.entry, event.revision, out),
            (Some(previous), false) => self.writer.event(Seen::Deleted, previous, event.revision, out),
            (None, false) => {}
        }
    }

    fn write_bookmark(&mut self, out: &mut Vec<u8>) {
        let Some(bookmarks) = &mut self.bookmarks else {
            return;
        };
        let now = Instant::now();
        if now >= bookmarks.last {
            // Never again: the end is near.
            bookmarks.last = now + Duration::from_hours(24);
        }
        bookmarks.next = now + bookmarks.interval;
        self.writer.bookmark(self.watcher.revision(), false, out);
    }

    /// The client fell behind what is kept: it must list again.
    fn cut(&mut self, out: &mut Vec<u8>) {
        let failure = Failure::expired(format!("too old resource version: {}", self.watcher.revision()));
        out.extend_from_slice(&EventWriter::error(&failure));
        self.is_over = true;
    }
}
