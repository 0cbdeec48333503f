//! A bound on how many of something there are at once, each held by a value that gives its place back.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

/// So many places.
#[derive(Clone, Debug)]
pub(crate) struct Slots {
    taken: Arc<AtomicUsize>,
    limit: usize,
}

/// One place that is taken.
#[derive(Debug)]
pub(crate) struct Slot(Arc<AtomicUsize>);

impl Slots {
    /// As many places as the limit says.
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            taken: Arc::default(),
            limit,
        }
    }

    /// A place, if one is free.
    pub(crate) fn take(&self) -> Option<Slot> {
        let slot = Slot(Arc::clone(&self.taken));
        // The slot gives back what was counted here even where it is one too many.
        (self.taken.fetch_add(1, Ordering::Relaxed) < self.limit).then_some(slot)
    }

    /// How many are taken.
    pub(crate) fn taken(&self) -> usize {
        self.taken.load(Ordering::Relaxed)
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_come_back() {
        let slots = Slots::new(1);
        let first = slots.take();
        assert!(first.is_some());
        assert!(slots.take().is_none());
        assert_eq!(slots.taken(), 1);
        drop(first);
        assert!(slots.take().is_some());
    }
}
