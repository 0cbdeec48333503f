//! Records: what a frame's body consists of. Owns their encoding; knows nothing of payloads beyond their bytes.

use thiserror::Error;

use crate::key::{Key, Revision};

const PUT: u8 = 1;
const DELETE: u8 = 2;
const CARRY: u8 = 3;

/// One line of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Record<'a> {
    pub(crate) collection: &'a str,
    pub(crate) namespace: &'a str,
    pub(crate) name: &'a str,
    /// Of the operation; of a carried entry the one that wrote it long ago.
    pub(crate) revision: Revision,
    pub(crate) action: Action<'a>,
}

/// What a record says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action<'a> {
    /// An operation stored these bytes.
    Put(&'a [u8]),
    /// An operation removed the entry.
    Delete,
    /// No operation: the entry is still there, repeated so that older segments can go.
    Carry(&'a [u8]),
}

impl<'a> Record<'a> {
    /// A record about a key.
    pub(crate) fn new(key: &'a Key, revision: Revision, action: Action<'a>) -> Self {
        Self {
            collection: &key.collection,
            namespace: &key.namespace,
            name: &key.name,
            revision,
            action,
        }
    }

    /// Appends it to a body.
    pub(super) fn write(&self, body: &mut Vec<u8>) {
        let (kind, payload): (u8, &[u8]) = match self.action {
            Action::Put(payload) => (PUT, payload),
            Action::Delete => (DELETE, &[]),
            Action::Carry(payload) => (CARRY, payload),
        };
        body.push(kind);
        body.extend_from_slice(&self.revision.0.to_le_bytes());
        for part in [
            self.collection.as_bytes(),
            self.namespace.as_bytes(),
            self.name.as_bytes(),
            payload,
        ] {
            body.extend_from_slice(&(part.len() as u64).to_le_bytes());
            body.extend_from_slice(part);
        }
    }
}

/// The checksum holds but the content makes no sense: a mistake of ours, or of who forged it.
#[derive(Debug, Error)]
#[error("malformed record")]
pub(super) struct Malformed;

/// Reads the records of a body, in order.
pub(super) struct Records<'a>(pub(super) &'a [u8]);

impl<'a> Iterator for Records<'a> {
    type Item = Result<Record<'a>, Malformed>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() {
            return None;
        }
        let record = self.read();
        if record.is_none() {
            self.0 = &[];
        }
        Some(record.ok_or(Malformed))
    }
}

impl<'a> Records<'a> {
    fn read(&mut self) -> Option<Record<'a>> {
        let kind = self.take(1)?[0];
        let revision = Revision(self.number()?);
        let (collection, namespace, name) = (self.text()?, self.text()?, self.text()?);
        let payload = self.bytes()?;
        let action = match kind {
            PUT => Action::Put(payload),
            DELETE if payload.is_empty() => Action::Delete,
            CARRY => Action::Carry(payload),
            _ => return None,
        };
        Some(Record {
            collection,
            namespace,
            name,
            revision,
            action,
        })
    }

    fn text(&mut self) -> Option<&'a str> {
        std::str::from_utf8(self.bytes()?).ok()
    }

    fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = usize::try_from(self.number()?).ok()?;
        self.take(length)
    }

    fn number(&mut self) -> Option<u64> {
        Some(u64::from_le_bytes(*self.take(8)?.first_chunk()?))
    }

    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }
}
