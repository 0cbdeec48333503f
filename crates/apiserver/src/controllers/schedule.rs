//! What is due when: every name once, the earliest first. Owns no clock, so that it serves any time.

use std::collections::{BTreeMap, BTreeSet};

/// Names and their times.
#[derive(Debug)]
pub(super) struct Schedule<T, M> {
    times: BTreeMap<T, M>,
    order: BTreeSet<(M, T)>,
}

impl<T, M> Default for Schedule<T, M> {
    fn default() -> Self {
        Self {
            times: BTreeMap::new(),
            order: BTreeSet::new(),
        }
    }
}

impl<T: Ord + Clone, M: Ord + Copy> Schedule<T, M> {
    /// Puts a name at a time, wherever it was before.
    pub(super) fn set(&mut self, name: T, time: M) {
        self.remove(&name);
        self.order.insert((time, name.clone()));
        self.times.insert(name, time);
    }

    /// Puts a name at a time, unless it is due earlier.
    pub(super) fn hasten(&mut self, name: T, time: M) {
        if self.times.get(&name).is_none_or(|known| *known > time) {
            self.set(name, time);
        }
    }

    /// Takes a name out.
    pub(super) fn remove(&mut self, name: &T) {
        if let Some(time) = self.times.remove(name) {
            self.order.remove(&(time, name.clone()));
        }
    }

    /// Whether a name is there.
    pub(super) fn has(&self, name: &T) -> bool {
        self.times.contains_key(name)
    }

    /// Every time and its name, the earliest first.
    pub(super) fn iter(&self) -> impl Iterator<Item = &(M, T)> {
        self.order.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_due_once() {
        let mut schedule = Schedule::default();
        schedule.set("a", 5);
        schedule.set("b", 3);
        schedule.hasten("a", 7);
        assert_eq!(schedule.iter().collect::<Vec<_>>(), [&(3, "b"), &(5, "a")]);
        schedule.hasten("a", 1);
        schedule.set("b", 9);
        assert_eq!(schedule.iter().collect::<Vec<_>>(), [&(1, "a"), &(9, "b")]);
        schedule.remove(&"a");
        schedule.remove(&"c");
        assert!(schedule.has(&"b") && !schedule.has(&"a"));
        assert_eq!(schedule.iter().collect::<Vec<_>>(), [&(9, "b")]);
    }
}
