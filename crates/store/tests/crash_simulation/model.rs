//! What a store must do, in the simplest words: a map and a list of events. Knows nothing of batches, disks or time.

use std::collections::BTreeMap;

use hyperplane_store::{Change, EventKind, Expect, Key, Operation, Revision};

use crate::text::Text;

/// One version of a key.
pub type Version = (Revision, String);
/// Everything at one revision.
pub type Entries = BTreeMap<Key, Version>;
/// A transaction.
pub type Transaction = Vec<Operation<Text>>;

/// What an event must say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Happening {
    pub revision: Revision,
    pub kind: EventKind,
    pub key: Key,
    pub version: Version,
    pub previous: Option<Version>,
}

/// The store as it should be.
#[derive(Clone, Debug, Default)]
pub struct Model {
    pub entries: Entries,
    pub happenings: Vec<Happening>,
}

impl Model {
    pub fn revision(&self) -> Revision {
        self.happenings
            .last()
            .map(|happening| happening.revision)
            .unwrap_or_default()
    }

    /// Applies a transaction, or says which operation stands against it and what it met.
    pub fn apply(&mut self, transaction: &Transaction) -> Result<Vec<Happening>, (usize, Option<Version>)> {
        let (entries, length) = (self.entries.clone(), self.happenings.len());
        for (index, operation) in transaction.iter().enumerate() {
            if let Err(current) = self.step(operation) {
                self.entries = entries;
                self.happenings.truncate(length);
                return Err((index, current));
            }
        }
        Ok(self.happenings[length..].to_vec())
    }

    /// The state after the operation with that revision.
    pub fn at(&self, revision: Revision) -> Entries {
        let mut entries = Entries::new();
        for happening in self
            .happenings
            .iter()
            .take_while(|happening| happening.revision <= revision)
        {
            match happening.kind {
                EventKind::Deleted => entries.remove(&happening.key),
                EventKind::Created | EventKind::Updated => {
                    entries.insert(happening.key.clone(), happening.version.clone())
                }
            };
        }
        entries
    }

    /// The events of a collection after a revision.
    pub fn events(&self, collection: &str, after: Revision) -> Vec<Happening> {
        let wanted = |happening: &&Happening| &*happening.key.collection == collection && happening.revision > after;
        self.happenings.iter().filter(wanted).cloned().collect()
    }

    fn step(&mut self, operation: &Operation<Text>) -> Result<(), Option<Version>> {
        let previous = self.entries.get(&operation.key).cloned();
        let is_fine = match (operation.expect, &previous) {
            (Expect::Any, _) | (Expect::Absent, None) => true,
            (Expect::Revision(revision), Some((current, _))) => revision == *current,
            (Expect::Absent, Some(_)) | (Expect::Revision(_), None) => false,
        };
        let revision = self.revision().next();
        let (kind, version) = match (&operation.change, &previous) {
            (Change::Put(text), None) => (EventKind::Created, (revision, text.0.clone())),
            (Change::Put(text), Some(_)) => (EventKind::Updated, (revision, text.0.clone())),
            (Change::Delete, Some(last)) => (EventKind::Deleted, last.clone()),
            (Change::Delete, None) => return Err(None),
        };
        if !is_fine {
            return Err(previous);
        }
        let key = operation.key.clone();
        match kind {
            EventKind::Deleted => self.entries.remove(&key),
            EventKind::Created | EventKind::Updated => self.entries.insert(key.clone(), version.clone()),
        };
        self.happenings.push(Happening {
            revision,
            kind,
            key,
            version,
            previous,
        });
        Ok(())
    }
}
