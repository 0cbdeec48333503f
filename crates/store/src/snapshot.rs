//! Reads. Owns what can be asked of a store at one revision; what is asked never waits and never changes.

use std::{fmt, ops::Bound, sync::Arc};

use crate::{
    entry::Entry,
    key::{Key, Revision},
    state::State,
};

/// A store as it was at one revision. Cheap to make and to copy; it keeps alive what it shows.
pub struct Snapshot<P> {
    revision: Revision,
    pub(crate) state: State<P>,
}

impl<P> Clone for Snapshot<P> {
    fn clone(&self) -> Self {
        Self::new(self.revision, self.state.clone())
    }
}

impl<P> fmt::Debug for Snapshot<P> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Snapshot({})", self.revision)
    }
}

impl<P> Snapshot<P> {
    pub(crate) fn new(revision: Revision, state: State<P>) -> Self {
        Self { revision, state }
    }

    /// The last operation that it shows.
    pub fn revision(&self) -> Revision {
        self.revision
    }
}

impl<P: 'static> Snapshot<P> {
    /// What is stored under a key.
    pub fn get(&self, key: &Key) -> Option<&Arc<Entry<P>>> {
        self.state.get(key)
    }

    /// The entries of a collection, or of one of its namespaces, in order; only those after a place if one is given.
    pub fn range<'s>(
        &'s self,
        collection: &str,
        namespace: Option<&str>,
        after: Option<(&str, &str)>,
    ) -> impl Iterator<Item = &'s Arc<Entry<P>>> + use<'s, P> {
        let first = namespace.map(|namespace| (namespace, ""));
        let start = match (first, after) {
            (Some(first), Some(after)) if after < first => Bound::Included(first),
            (_, Some(after)) => Bound::Excluded(after),
            (Some(first), None) => Bound::Included(first),
            (None, None) => Bound::Unbounded,
        };
        let namespace: Option<Box<str>> = namespace.map(Into::into);
        self.state.range(collection, start).take_while(move |entry| {
            namespace
                .as_deref()
                .is_none_or(|namespace| namespace == &*entry.key.namespace)
        })
    }

    /// How many entries a collection has.
    pub fn count(&self, collection: &str) -> usize {
        self.state.count(collection)
    }

    /// The collections that have entries, in order.
    pub fn collections(&self) -> impl Iterator<Item = &Arc<str>> {
        self.state.collections()
    }

    /// Every entry, in the order of keys.
    pub fn entries(&self) -> impl Iterator<Item = &Arc<Entry<P>>> {
        self.state.entries_after(None)
    }
}
