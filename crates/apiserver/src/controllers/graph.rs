//! The graph of owners and dependents, by uid. Pure: it is told of every change and says what is concerned by it.
//!
//! An owner that waits for its dependents is concerned when it begins to wait and when the last dependent that holds
//! it back has gone, not with each of them: thousands of dependents cost as many steps, not their square.

use std::collections::{BTreeMap, BTreeSet};

use hyperplane_store::Key;

use crate::{
    object::Facts,
    verbs::delete::{FOREGROUND, ORPHAN},
};

/// What an object that is deleted waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wait {
    /// Its dependents are let go.
    Orphan,
    /// Its dependents go first.
    Foreground,
}

impl Wait {
    /// What an object waits for, if it does.
    pub(super) fn of(facts: &Facts) -> Option<Self> {
        let has = |name: &str| facts.finalizers.iter().any(|finalizer| **finalizer == *name);
        match facts.is_deleting {
            true if has(ORPHAN) => Some(Self::Orphan),
            true if has(FOREGROUND) => Some(Self::Foreground),
            _ => None,
        }
    }
}

/// An object that depends on an owner.
#[derive(Debug)]
struct Dependent {
    uid: Box<str>,
    /// Whether the owner waits for it.
    blocks: bool,
}

#[derive(Debug, Default)]
struct Group {
    dependents: BTreeMap<Key, Dependent>,
    blocking: usize,
}

/// Owners and dependents.
#[derive(Debug, Default)]
pub(super) struct Graph {
    /// By the uid of the owner.
    groups: BTreeMap<Box<str>, Group>,
    /// Objects that wait for their dependents, by uid.
    waiting: BTreeMap<Box<str>, Key>,
    /// Owners that are known to be gone, as long as anything refers to them.
    gone: BTreeSet<Box<str>>,
    /// Objects with an owner of a kind that is not served.
    unresolved: BTreeSet<Key>,
}

impl Graph {
    /// An object is there, or has changed. Hands back what is concerned.
    pub(super) fn put(&mut self, previous: &Facts, key: &Key, facts: &Facts) -> BTreeSet<Key> {
        let mut concerned = BTreeSet::new();
        let has_new_owners = previous.owners != facts.owners;
        if has_new_owners {
            for owner in &previous.owners {
                self.unlink(&owner.uid, key);
            }
            for owner in &facts.owners {
                self.link(&owner.uid, key, facts);
            }
            for owner in &previous.owners {
                self.release(&owner.uid, &mut concerned);
            }
        }
        let wait = Wait::of(facts);
        if wait == Some(Wait::Foreground) {
            self.waiting.insert(facts.uid.clone(), key.clone());
        } else {
            self.waiting.remove(&facts.uid);
        }
        if has_new_owners || (wait.is_some() && wait != Wait::of(previous)) {
            concerned.insert(key.clone());
        }
        concerned
    }

    /// An object is gone. Hands back what is concerned.
    pub(super) fn delete(&mut self, key: &Key, facts: &Facts) -> BTreeSet<Key> {
        let mut concerned = BTreeSet::new();
        self.waiting.remove(&facts.uid);
        self.unresolved.remove(key);
        for owner in &facts.owners {
            self.unlink(&owner.uid, key);
            self.release(&owner.uid, &mut concerned);
        }
        if self.groups.contains_key(&facts.uid) {
            self.gone.insert(facts.uid.clone());
            concerned.extend(self.of(&facts.uid));
        }
        concerned
    }

    /// The dependents of an owner.
    pub(super) fn of(&self, uid: &str) -> Vec<Key> {
        self.groups
            .get(uid)
            .into_iter()
            .flat_map(|group| group.dependents.keys().cloned())
            .collect()
    }

    /// Whether an owner has dependents.
    pub(super) fn has_dependents(&self, uid: &str) -> bool {
        self.groups.contains_key(uid)
    }

    /// Whether a dependent holds an owner back.
    pub(super) fn is_held(&self, uid: &str) -> bool {
        self.groups.get(uid).is_some_and(|group| group.blocking > 0)
    }

    /// Whether an owner is known to be gone.
    pub(super) fn is_gone(&self, uid: &str) -> bool {
        self.gone.contains(uid)
    }

    /// Remembers that an owner is gone, as long as anything refers to it.
    pub(super) fn set_gone(&mut self, uid: &str) {
        if self.groups.contains_key(uid) {
            self.gone.insert(uid.into());
        }
    }

    /// Remembers an object with an owner of a kind that is not served.
    pub(super) fn add_unresolved(&mut self, key: Key) {
        self.unresolved.insert(key);
    }

    /// Hands out those objects.
    pub(super) fn take_unresolved(&mut self) -> BTreeSet<Key> {
        std::mem::take(&mut self.unresolved)
    }

    /// The dependents that hold an owner back and are held back by it themselves, which would last for ever.
    pub(super) fn in_circle(&self, uid: &str) -> Vec<Key> {
        let blocking = self
            .blocking(uid)
            .filter(|(_, dependent)| self.waiting.contains_key(&dependent.uid));
        blocking
            .filter(|(_, dependent)| self.waits_for(&dependent.uid, uid))
            .map(|(key, _)| key.clone())
            .collect()
    }

    /// Whether one object, which waits, waits for another in the end.
    fn waits_for(&self, one: &str, other: &str) -> bool {
        let mut seen: BTreeSet<&str> = BTreeSet::new();
        let mut rest = vec![one];
        while let Some(uid) = rest.pop() {
            for (_, dependent) in self.blocking(uid) {
                if *dependent.uid == *other {
                    return true;
                }
                if self.waiting.contains_key(&dependent.uid) && seen.insert(&dependent.uid) {
                    rest.push(&dependent.uid);
                }
            }
        }
        false
    }

    fn blocking(&self, uid: &str) -> impl Iterator<Item = (&Key, &Dependent)> {
        let group = self.groups.get(uid).filter(|group| group.blocking > 0);
        group
            .into_iter()
            .flat_map(|group| &group.dependents)
            .filter(|(_, dependent)| dependent.blocks)
    }

    fn link(&mut self, owner: &str, key: &Key, facts: &Facts) {
        // Nothing waits for itself; upstream would, for ever.
        let blocks = *facts.uid != *owner
            && facts
                .owners
                .iter()
                .any(|reference| *reference.uid == *owner && reference.block_owner_deletion);
        let group = self.groups.entry(owner.into()).or_default();
        let dependent = Dependent {
            uid: facts.uid.clone(),
            blocks,
        };
        let replaced = group.dependents.insert(key.clone(), dependent);
        group.blocking += usize::from(blocks);
        group.blocking -= usize::from(replaced.is_some_and(|replaced| replaced.blocks));
    }

    fn unlink(&mut self, owner: &str, key: &Key) {
        let Some(group) = self.groups.get_mut(owner) else {
            return;
        };
        let removed = group.dependents.remove(key);
        group.blocking -= usize::from(removed.is_some_and(|removed| removed.blocks));
        if group.dependents.is_empty() {
            self.groups.remove(owner);
            self.gone.remove(owner);
        }
    }

    /// An owner for which nothing is left to wait is concerned.
    fn release(&self, owner: &str, concerned: &mut BTreeSet<Key>) {
        if !self.is_held(owner) {
            concerned.extend(self.waiting.get(owner).cloned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::Owner;

    fn key(name: &str) -> Key {
        Key::new("things", "a", name)
    }

    fn facts(uid: &str, owners: &[(&str, bool)], is_waiting: bool) -> Facts {
        let owner = |(uid, blocks): &(&str, bool)| Owner {
            uid: (*uid).into(),
            block_owner_deletion: *blocks,
            ..Owner::default()
        };
        Facts {
            uid: uid.into(),
            owners: owners.iter().map(owner).collect(),
            is_deleting: is_waiting,
            finalizers: is_waiting.then(|| FOREGROUND.into()).into_iter().collect(),
            ..Facts::default()
        }
    }

    fn names(keys: &BTreeSet<Key>) -> Vec<&str> {
        keys.iter().map(|key| &*key.name).collect()
    }

    #[test]
    fn a_waiting_owner_is_concerned_when_it_begins_and_when_the_last_has_gone() {
        let mut graph = Graph::default();
        let (before, after) = (facts("o", &[], false), facts("o", &[], true));
        for name in ["a", "b"] {
            assert_eq!(
                names(&graph.put(&Facts::default(), &key(name), &facts(name, &[("o", true)], false))),
                [name]
            );
        }
        graph.put(&Facts::default(), &key("c"), &facts("c", &[("o", false)], false));
        assert_eq!(names(&graph.put(&before, &key("o"), &after)), ["o"]);
        assert_eq!(names(&graph.put(&after, &key("o"), &after)), Vec::<&str>::new());
        assert!(names(&graph.delete(&key("a"), &facts("a", &[("o", true)], false))).is_empty());
        assert_eq!(
            names(&graph.delete(&key("b"), &facts("b", &[("o", true)], false))),
            ["o"]
        );
        assert!(graph.has_dependents("o") && !graph.is_held("o"));
        assert_eq!(names(&graph.delete(&key("o"), &after)), ["c"]);
        assert!(graph.is_gone("o"));
        graph.delete(&key("c"), &facts("c", &[("o", false)], false));
        assert!(!graph.is_gone("o"), "nothing is remembered for ever");
    }

    #[test]
    fn a_dependent_that_lets_go_releases_its_owner() {
        let mut graph = Graph::default();
        graph.put(&Facts::default(), &key("a"), &facts("a", &[("o", true)], false));
        graph.put(&Facts::default(), &key("o"), &facts("o", &[], true));
        let (holds, lets) = (facts("a", &[("o", true)], false), facts("a", &[("o", false)], false));
        assert_eq!(names(&graph.put(&holds, &key("a"), &lets)), ["a", "o"]);
    }

    #[test]
    fn circles_are_found_and_chains_are_none() {
        let mut graph = Graph::default();
        let all = [("a", "c"), ("b", "a"), ("c", "b"), ("d", "a")];
        for (name, owner) in all {
            graph.put(&Facts::default(), &key(name), &facts(name, &[(owner, true)], true));
        }
        let found = graph.in_circle("a");
        assert_eq!(found, [key("b")], "b waits for c, c for a; d for nobody");
        graph.delete(&key("c"), &facts("c", &[("b", true)], true));
        assert!(graph.in_circle("a").is_empty());
    }

    #[test]
    fn nothing_waits_for_itself() {
        let mut graph = Graph::default();
        graph.put(&Facts::default(), &key("a"), &facts("a", &[("a", true)], true));
        assert!(graph.has_dependents("a") && !graph.is_held("a"));
    }
}
