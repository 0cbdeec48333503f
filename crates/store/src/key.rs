//! Where an entry lives and when it was written: keys and revisions. Knows nothing of what is stored.

use std::{fmt, sync::Arc};

/// A point in the history of one store. Zero is before the first write; every operation takes the next number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Revision(pub u64);

impl Revision {
    /// The revision of the operation after this one.
    pub fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

/// The name of an entry. Keys are ordered by collection, then namespace, then name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    /// What is watched and listed together, such as one resource of an API group.
    pub collection: Arc<str>,
    /// The namespace; empty for what has none.
    pub namespace: Arc<str>,
    /// The name inside of its namespace.
    pub name: Arc<str>,
}

impl Key {
    /// Callers that hold their collection and namespace as `Arc<str>` share them between keys.
    pub fn new(collection: impl Into<Arc<str>>, namespace: impl Into<Arc<str>>, name: impl Into<Arc<str>>) -> Self {
        Self {
            collection: collection.into(),
            namespace: namespace.into(),
            name: name.into(),
        }
    }

    /// The bytes of its three parts.
    pub(crate) fn weight(&self) -> usize {
        self.collection.len() + self.namespace.len() + self.name.len()
    }
}

impl fmt::Display for Key {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}/{}", self.collection, self.namespace, self.name)
    }
}
