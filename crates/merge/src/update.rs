//! Ownership after a write that is not an apply: who changes or adds a field owns it, who removes it frees it.
//! Runs at every write, so it must not copy objects.

use serde_json::Value;

use crate::{
    author::{Author, Scope},
    conflict::Operation,
    managers::{
        self, Entry, Identity, Managers, Planned, cap, decode, entries_of, is_reset, list_of, plan, strip, take_list,
    },
    set::Set,
    versions::{Misfit, Pair, Versions, renew},
    walk::Changes,
};

/// The new object with its managedFields, for every write that is not an apply.
///
/// `old` is the live object, `None` when there is none yet. The managedFields of the new object are the client's: they
/// may reset ownership or edit it on the main resource, and are ignored where they cannot be read. An object that has
/// none keeps none until it is applied, unless it is created now.
pub fn update(old: Option<&Value>, mut new: Value, author: &Author<'_>, scope: &Scope<'_>) -> Value {
    let mut sent = take_list(&mut new);
    let stamp = author.stamp();
    let (planned, from_client) = {
        let (managers, from_client) = choose(old, &sent, author);
        (own(old, &new, managers, author, scope, &stamp), from_client)
    };
    if from_client {
        managers::write(&mut new, planned, list_mut(&mut sent));
        return new;
    }
    let live = old.map_or(&Value::Null, list_of);
    if sent != *live {
        sent = if planned.iter().any(|entry| !matches!(entry, Planned::Write(_))) {
            live.clone()
        } else {
            Value::Null
        };
    }
    managers::write(&mut new, planned, list_mut(&mut sent));
    new
}

fn list_mut(list: &mut Value) -> &mut [Value] {
    list.as_array_mut().map_or(&mut [], Vec::as_mut_slice)
}

/// The entries to start from, and whether they are the client's. A client that knows nothing of managedFields, or sends
/// rubbish, must not erase them; through a subresource they cannot be edited at all.
fn choose<'a>(old: Option<&'a Value>, sent: &'a Value, author: &Author<'_>) -> (Managers<'a>, bool) {
    if author.subresource.is_empty() {
        if is_reset(sent) {
            return (Managers::new(), true);
        }
        if let Ok(managers) = decode(sent)
            && !managers.is_empty()
        {
            return (managers, true);
        }
    }
    (old.and_then(|old| entries_of(old).ok()).unwrap_or_default(), false)
}

/// The entries after the write. Upstream gives up all ownership when an object does not fit its types.
fn own<'a, 't: 'a>(
    old: Option<&'a Value>,
    new: &'a Value,
    managers: Managers<'a>,
    author: &Author<'a>,
    scope: &'a Scope<'t>,
    stamp: &'a str,
) -> Vec<Planned> {
    let is_created = old.is_none_or(|old| old["metadata"]["uid"].as_str().unwrap_or_default().is_empty());
    let Some(types) = (scope.types)(author.api_version) else {
        return Vec::new();
    };
    if managers.is_empty() && !is_created {
        return Vec::new();
    }
    let pair = Pair {
        before: old.unwrap_or(&types.empty),
        after: new,
    };
    match track(managers, pair, author, scope, stamp) {
        Ok(managers) => plan(managers),
        Err(_) => Vec::new(),
    }
}

/// The entries after someone turned one object into the other.
pub(crate) fn track<'a, 't: 'a>(
    mut managers: Managers<'a>,
    pair: Pair<'a>,
    author: &Author<'a>,
    scope: &'a Scope<'t>,
    stamp: &'a str,
) -> Result<Managers<'a>, Misfit> {
    renew(&mut managers, scope, author.api_version, pair.before)?;
    let mut versions = Versions::new(scope, author.api_version, pair);
    versions.of(author.api_version)?;
    let identity = Identity::of(author, Operation::Update);
    let before = managers.remove(&identity);
    for entry in managers.values_mut() {
        let changes = versions.of(entry.api_version)?;
        entry.subtract(&changes.changed);
        entry.subtract(&changes.removed);
    }
    managers.retain(|_, entry| !entry.set.is_empty());
    let entry = own_changes(versions.take(author.api_version), before, author, stamp);
    managers.extend(entry.map(|entry| (identity, entry)));
    cap(&mut managers);
    Ok(managers)
}

/// The author's entry: what it owned and still is there, and what it changed.
fn own_changes<'a>(
    changes: Changes<'a>,
    before: Option<Entry<'a>>,
    author: &Author<'a>,
    stamp: &'a str,
) -> Option<Entry<'a>> {
    let Changes {
        changed: mut set,
        removed,
    } = changes;
    let stripped = strip(&mut set);
    let mut entry = before.unwrap_or_else(|| Entry::new(author.api_version, None, Set::default()));
    entry.subtract(&removed);
    entry.subtract(&stripped);
    if !set.is_empty() {
        // Most writers change what they own already; their set is then not written anew.
        if !set.is_subset(&entry.set) {
            entry.set = set.union(entry.set);
            entry.origin = None;
        }
        entry = entry.restamp(Some(stamp.into()));
    }
    (!entry.set.is_empty()).then_some(entry)
}
