//! Judging transactions. Owns which operations may happen and what they do to the head; does no I/O and publishes
//! nothing.

use std::sync::Arc;

use crate::{
    entry::{Change, Entry, Event, EventKind, Expect, Operation, Payload},
    key::Revision,
    snapshot::Snapshot,
    state::State,
};

/// The youngest state: what the next operation is judged against, durable or not.
pub(crate) struct Head<P> {
    pub(crate) state: State<P>,
    pub(crate) revision: Revision,
}

/// An operation found something else than it expected.
pub(crate) struct Conflict<P> {
    pub(crate) operation: usize,
    pub(crate) current: Option<Arc<Entry<P>>>,
}

impl<P: Payload> Head<P> {
    /// Applies a transaction, all of it or none. Appends its events to `events`.
    pub(crate) fn apply(
        &mut self,
        operations: Vec<Operation<P>>,
        events: &mut Vec<Arc<Event<P>>>,
    ) -> Result<(), Conflict<P>> {
        let start = events.len();
        for (index, operation) in operations.into_iter().enumerate() {
            match self.step(operation) {
                Ok(event) => events.push(Arc::new(event)),
                Err(current) => {
                    self.take_back(events.drain(start..));
                    return Err(Conflict {
                        operation: index,
                        current,
                    });
                }
            }
        }
        Ok(())
    }

    /// The head as readers may see it once it is durable.
    pub(crate) fn snapshot(&self) -> Snapshot<P> {
        Snapshot::new(self.revision, self.state.clone())
    }

    /// Applies one operation, or hands back what stands in its way.
    fn step(&mut self, operation: Operation<P>) -> Result<Event<P>, Option<Arc<Entry<P>>>> {
        let current = self.state.get(&operation.key);
        if !holds(operation.expect, current.map(|entry| entry.revision)) {
            return Err(current.cloned());
        }
        let revision = self.revision.next();
        let event = match operation.change {
            Change::Put(payload) => {
                let key = operation.key;
                self.put(Arc::new(Entry { key, revision, payload }))
            }
            Change::Delete => {
                let entry = self.state.remove(&operation.key).ok_or(None)?;
                Event {
                    revision,
                    kind: EventKind::Deleted,
                    previous: Some(Arc::clone(&entry)),
                    entry,
                }
            }
        };
        self.revision = revision;
        Ok(event)
    }

    /// Stores an entry that has its revision already.
    pub(crate) fn put(&mut self, entry: Arc<Entry<P>>) -> Event<P> {
        let previous = self.state.put(Arc::clone(&entry));
        let kind = match previous {
            Some(_) => EventKind::Updated,
            None => EventKind::Created,
        };
        Event {
            revision: entry.revision,
            kind,
            entry,
            previous,
        }
    }

    fn take_back(&mut self, events: impl DoubleEndedIterator<Item = Arc<Event<P>>>) {
        for event in events.rev() {
            self.state.undo(&event);
            self.revision = Revision(event.revision.0 - 1);
        }
    }
}

fn holds(expect: Expect, current: Option<Revision>) -> bool {
    match expect {
        Expect::Any => true,
        Expect::Absent => current.is_none(),
        Expect::Revision(revision) => current == Some(revision),
    }
}
