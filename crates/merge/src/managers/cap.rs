//! The limit on how many updaters an object remembers by name.

use std::collections::BTreeMap;

use super::{Entry, Identity, Managers, encode::EPOCH};
use crate::{conflict::Operation, set::Set};

/// How many updaters are remembered; the same as upstream, because clients see which are not.
const MOST_UPDATERS: usize = 10;
/// The manager that the oldest updates are attributed to.
const ANCIENT: &str = "ancient-changes";

/// Merges the oldest updaters of each version until few enough are left.
pub(crate) fn cap(managers: &mut Managers<'_>) {
    let count = managers
        .keys()
        .filter(|identity| identity.operation == Operation::Update)
        .count();
    if count > MOST_UPDATERS {
        let oldest = oldest_first(managers);
        Buckets::default().fill(managers, &oldest, count - MOST_UPDATERS);
    }
}

fn oldest_first<'a>(managers: &Managers<'a>) -> Vec<Identity<'a>> {
    let updaters = managers
        .iter()
        .filter(|(identity, _)| identity.operation == Operation::Update);
    let mut keyed: Vec<(&str, String, Identity<'a>)> = updaters
        .map(|(identity, entry)| (entry.time.as_deref().unwrap_or(EPOCH), identity.text(), *identity))
        .collect();
    keyed.sort();
    keyed.into_iter().map(|(_, _, identity)| identity).collect()
}

/// What is being merged, by version.
#[derive(Default)]
struct Buckets<'a> {
    /// The oldest updater of each version; it is merged with the next one, never alone.
    first: BTreeMap<&'a str, Identity<'a>>,
    /// Sets that go into a bucket, joined at the end.
    sets: BTreeMap<&'a str, Vec<Set<'a>>>,
}

impl<'a> Buckets<'a> {
    fn fill(mut self, managers: &mut Managers<'a>, oldest: &[Identity<'a>], mut surplus: usize) {
        for identity in oldest {
            if surplus == 0 {
                break;
            }
            let version = managers[identity].api_version;
            if let Some(first) = self.first.get(version) {
                let first = *first;
                self.merge(managers, *identity, first, version);
                surplus -= 1;
            } else {
                self.first.insert(version, *identity);
            }
        }
        for (version, mut sets) in self.sets {
            if let Some(into) = managers.get_mut(&bucket(version)) {
                sets.push(std::mem::take(&mut into.set));
                *into = Entry::new(version, into.time.take(), Set::union_all(sets));
            }
        }
    }

    /// Puts what a manager owns into the bucket of its version. The bucket takes the time of what went in last. When the
    /// bucket itself is the manager, it is gone afterwards: upstream does this too.
    fn merge(&mut self, managers: &mut Managers<'a>, identity: Identity<'a>, first: Identity<'a>, version: &'a str) {
        let bucket = bucket(version);
        if !managers.contains_key(&bucket) {
            let oldest = managers.remove(&first);
            managers.extend(oldest.map(|entry| (bucket, entry)));
        }
        let Some(entry) = managers.remove(&identity) else {
            return;
        };
        if identity == bucket {
            self.sets.remove(version);
        } else if let Some(into) = managers.get_mut(&bucket) {
            into.time = entry.time;
            self.sets.entry(version).or_default().push(entry.set);
        }
    }
}

fn bucket(version: &str) -> Identity<'_> {
    Identity::new(ANCIENT, Operation::Update, version, "")
}
