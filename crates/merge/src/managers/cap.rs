//! The limit on how many updaters an object remembers by name.

use std::collections::BTreeMap;

use super::{Entry, Identity, Managers, encode::EPOCH};
use crate::conflict::Operation;

/// How many updaters are remembered; the same as upstream, because clients see which are not.
const MOST_UPDATERS: usize = 10;
/// The manager that the oldest updates are attributed to.
const ANCIENT: &str = "ancient-changes";

/// Merges the oldest updaters of each version until few enough are left.
pub(crate) fn cap(managers: &mut Managers<'_>) {
    let mut count = managers
        .keys()
        .filter(|identity| identity.operation == Operation::Update)
        .count();
    if count <= MOST_UPDATERS {
        return;
    }
    let mut first_of_version: BTreeMap<&str, Identity<'_>> = BTreeMap::new();
    for identity in oldest_first(managers) {
        if count <= MOST_UPDATERS {
            return;
        }
        let version = managers[&identity].api_version;
        match first_of_version.get(version) {
            Some(first) => {
                let first = *first;
                merge(managers, identity, first, version);
                count -= 1;
            }
            None => {
                first_of_version.insert(version, identity);
            }
        }
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

/// Puts what a manager owns into the bucket of its version. The bucket takes the time of what went in last. When the
/// bucket itself is the manager, it is gone afterwards: upstream does this too.
fn merge<'a>(managers: &mut Managers<'a>, identity: Identity<'a>, first: Identity<'a>, version: &'a str) {
    let bucket = Identity::new(ANCIENT, Operation::Update, version, "");
    if !managers.contains_key(&bucket) {
        let oldest = managers.remove(&first);
        managers.extend(oldest.map(|entry| (bucket, entry)));
    }
    let Some(entry) = managers.remove(&identity) else {
        return;
    };
    if identity == bucket {
        return;
    }
    if let Some(into) = managers.get_mut(&bucket) {
        let owned = std::mem::take(&mut into.set);
        *into = Entry::new(version, entry.time, entry.set.union(owned));
    }
}
