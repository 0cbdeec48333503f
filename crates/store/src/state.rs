//! The entries of a store at one moment, as a persistent ordered map: copies are free and share what did not change.
//! Knows nothing of revisions as a sequence, of events or of disks.

use std::{
    borrow::Borrow,
    cmp::Ordering,
    ops::{Bound, RangeBounds},
    sync::Arc,
};

use rpds::{RedBlackTreeMapSync, RedBlackTreeSetSync};

use crate::{
    entry::{Entry, Event, EventKind, Payload},
    key::Key,
};

#[cfg(test)]
mod tests;

/// Collection by collection, then by namespace and name. A collection without entries is not there.
pub(crate) struct State<P> {
    collections: RedBlackTreeMapSync<Arc<str>, RedBlackTreeSetSync<Item<P>>>,
    weight: usize,
}

impl<P> Clone for State<P> {
    fn clone(&self) -> Self {
        Self {
            collections: self.collections.clone(),
            weight: self.weight,
        }
    }
}

impl<P> Default for State<P> {
    fn default() -> Self {
        Self {
            collections: RedBlackTreeMapSync::new_sync(),
            weight: 0,
        }
    }
}

impl<P: Payload> State<P> {
    /// Stores an entry and hands back what it replaced.
    pub(crate) fn put(&mut self, entry: Arc<Entry<P>>) -> Option<Arc<Entry<P>>> {
        let previous = self.get(&entry.key).cloned();
        let collection = Arc::clone(&entry.key.collection);
        self.weight += entry.weight();
        self.weight -= previous.as_ref().map_or(0, |previous| previous.weight());
        let item = Item(entry);
        if let Some(items) = self.collections.get_mut(&collection) {
            items.insert_mut(item);
        } else {
            let mut items = RedBlackTreeSetSync::new_sync();
            items.insert_mut(item);
            self.collections.insert_mut(collection, items);
        }
        previous
    }

    /// Takes an entry out and hands it back.
    pub(crate) fn remove(&mut self, key: &Key) -> Option<Arc<Entry<P>>> {
        let previous = self.get(key).cloned()?;
        self.weight -= previous.weight();
        let items = self.collections.get_mut(&key.collection)?;
        items.remove_mut(&At(&key.namespace, &key.name) as &dyn Place);
        if items.is_empty() {
            self.collections.remove_mut(&key.collection);
        }
        Some(previous)
    }

    /// Takes back the last event that happened to this state.
    pub(crate) fn undo(&mut self, event: &Event<P>) {
        match (event.kind, &event.previous) {
            (EventKind::Created, _) | (_, None) => {
                self.remove(&event.entry.key);
            }
            (EventKind::Updated | EventKind::Deleted, Some(previous)) => {
                self.put(Arc::clone(previous));
            }
        }
    }

    /// About how many bytes all entries take.
    pub(crate) fn weight(&self) -> usize {
        self.weight
    }
}

impl<P: 'static> State<P> {
    /// What is stored under a key.
    pub(crate) fn get(&self, key: &Key) -> Option<&Arc<Entry<P>>> {
        let items = self.collections.get(&key.collection)?;
        items
            .get(&At(&key.namespace, &key.name) as &dyn Place)
            .map(|item| &item.0)
    }

    /// How many entries a collection has.
    pub(crate) fn count(&self, collection: &str) -> usize {
        self.collections.get(collection).map_or(0, RedBlackTreeSetSync::size)
    }

    /// The collections that have entries, in order.
    pub(crate) fn collections(&self) -> impl Iterator<Item = &Arc<str>> {
        self.collections.keys()
    }

    /// The entries of a collection in order, from a place on.
    pub(crate) fn range<'s>(
        &'s self,
        collection: &str,
        start: Bound<(&str, &str)>,
    ) -> impl Iterator<Item = &'s Arc<Entry<P>>> + use<'s, P> {
        let start = start.map(|(namespace, name)| (namespace.into(), name.into()));
        self.collections
            .get(collection)
            .into_iter()
            .flat_map(move |items| items.range::<dyn Place, _>(Onwards(start.clone())))
            .map(|item| &item.0)
    }

    /// Every entry in order, or those after a key.
    pub(crate) fn entries_after<'s>(
        &'s self,
        after: Option<&Key>,
    ) -> impl Iterator<Item = &'s Arc<Entry<P>>> + use<'s, P> {
        let first = after.map_or_else(|| Arc::from(""), |key| Arc::clone(&key.collection));
        let rest = (Bound::Excluded(Arc::clone(&first)), Bound::Unbounded);
        let start = after.map_or(Bound::Unbounded, |key| Bound::Excluded((&*key.namespace, &*key.name)));
        let later = self
            .collections
            .range::<Arc<str>, _>(rest)
            .flat_map(|(_, items)| items.iter());
        self.range(&first, start).chain(later.map(|item| &item.0))
    }
}

/// An entry, ordered by its place in its collection.
struct Item<P>(Arc<Entry<P>>);

impl<P> PartialEq for Item<P> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<P> Eq for Item<P> {}

impl<P> PartialOrd for Item<P> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<P> Ord for Item<P> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.place().cmp(&other.place())
    }
}

impl<'a, P: 'static> Borrow<dyn Place + 'a> for Item<P> {
    fn borrow(&self) -> &(dyn Place + 'a) {
        self
    }
}

/// What has a place in a collection. It is a trait so that a lookup needs no key of its own, only borrowed words.
trait Place {
    fn place(&self) -> (&str, &str);
}

impl<P> Place for Item<P> {
    fn place(&self) -> (&str, &str) {
        (&self.0.key.namespace, &self.0.key.name)
    }
}

/// A place in borrowed words.
struct At<'a>(&'a str, &'a str);

impl Place for At<'_> {
    fn place(&self) -> (&str, &str) {
        (self.0, self.1)
    }
}

/// A place in words of its own.
impl Place for (Box<str>, Box<str>) {
    fn place(&self) -> (&str, &str) {
        (&self.0, &self.1)
    }
}

impl PartialEq for dyn Place + '_ {
    fn eq(&self, other: &Self) -> bool {
        self.place() == other.place()
    }
}

impl Eq for dyn Place + '_ {}

impl PartialOrd for dyn Place + '_ {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for dyn Place + '_ {
    fn cmp(&self, other: &Self) -> Ordering {
        self.place().cmp(&other.place())
    }
}

/// From a place to the end. The iterator keeps its range, so the range owns its words.
struct Onwards(Bound<(Box<str>, Box<str>)>);

impl RangeBounds<dyn Place> for Onwards {
    fn start_bound(&self) -> Bound<&(dyn Place + 'static)> {
        match &self.0 {
            Bound::Included(place) => Bound::Included(place),
            Bound::Excluded(place) => Bound::Excluded(place),
            Bound::Unbounded => Bound::Unbounded,
        }
    }

    fn end_bound(&self) -> Bound<&(dyn Place + 'static)> {
        Bound::Unbounded
    }
}
