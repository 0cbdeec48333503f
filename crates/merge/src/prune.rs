//! What an applier drops from its intent disappears from the object, unless someone else owns it.
//! Must not decide who owns what.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::{
    author::Scope,
    managers::{Entry, Managers},
    set::Set,
    types::Types,
    versions::convert,
    walk::{name_fields, owned, remove},
};

/// Why an object cannot be pruned: it is not an object of a version in which someone owns fields.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub(crate) enum PruneError {
    #[error("failed to prune fields: failed to convert merged object to last applied version: {0}")]
    LastApplied(String),
    #[error("failed to prune fields: failed add back owned items: failed to convert merged object at version {0}: {1}")]
    Owned(String, String),
}

/// Takes out of a merged object what its applier owned before, does not apply now, and nobody else owns.
///
/// `version` is the one in which the object is given; `managers` are all owners as they are after the apply, the
/// applier with its new set included.
pub(crate) fn prune(
    merged: Value,
    version: &str,
    before: &Entry<'_>,
    managers: &Managers<'_>,
    scope: &Scope<'_>,
) -> Result<Value, PruneError> {
    let Some(types) = (scope.types)(before.api_version) else {
        return Ok(merged);
    };
    if before.api_version != version {
        convert(types, &merged).map_err(PruneError::LastApplied)?;
    }
    let mut last = before.set.clone();
    name_fields(types, &mut last);

    let mut pruned = without(types, &merged, &last);
    for (version, owners) in owners_by_version(managers, before.api_version) {
        let Some(types) = (scope.types)(version) else { continue };
        if version != before.api_version {
            convert(types, &merged).map_err(|fault| PruneError::Owned(version.to_owned(), fault))?;
        }
        pruned = add_back_owned(types, &merged, &pruned, owners);
    }
    Ok(without_dropped(types, &merged, &pruned, &last))
}

fn without(types: &Types, object: &Value, paths: &Set<'_>) -> Value {
    let mut object = object.clone();
    remove(types, &mut object, paths);
    object
}

/// All that is owned in each version, the version of the last apply first.
fn owners_by_version<'a>(managers: &Managers<'a>, first: &str) -> Vec<(&'a str, Set<'a>)> {
    let mut by_version: BTreeMap<&'a str, Vec<Set<'a>>> = BTreeMap::new();
    for entry in managers.values() {
        by_version.entry(entry.api_version).or_default().push(entry.set.clone());
    }
    let joined = by_version
        .into_iter()
        .map(|(version, sets)| (version, Set::union_all(sets)));
    let mut ordered: Vec<(&'a str, Set<'a>)> = joined.collect();
    ordered.sort_by_key(|(version, _)| *version != first);
    ordered
}

/// The merged object without what pruning removed and no one owns.
fn add_back_owned(types: &Types, merged: &Value, pruned: &Value, mut owners: Set<'_>) -> Value {
    name_fields(types, &mut owners);
    let mut gone = named(types, merged);
    gone.subtract(&named(types, pruned));
    gone.subtract(&owners);
    without(types, merged, &gone)
}

/// The merged object without what pruning removed and the applier owned: what nobody owned stays.
fn without_dropped(types: &Types, merged: &Value, pruned: &Value, last: &Set<'_>) -> Value {
    let mut gone = named(types, merged);
    gone.subtract(&named(types, pruned));
    without(types, merged, &gone.intersection(last))
}

fn named<'a>(types: &'a Types, object: &'a Value) -> Set<'a> {
    let mut set = owned(types, object);
    name_fields(types, &mut set);
    set
}
