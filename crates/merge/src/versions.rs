//! What changed between two objects, seen from each version in which someone owns fields.
//! Versions of one resource share field paths here: an object of one version is an object of the others as it is.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::{
    author::Scope,
    managers::Managers,
    types::Types,
    walk::{Changes, Duplicates, check, compare, reconcile},
};

/// The two objects of a write.
#[derive(Clone, Copy)]
pub(crate) struct Pair<'a> {
    pub(crate) before: &'a Value,
    pub(crate) after: &'a Value,
}

/// Why an object cannot be seen from a version. Upstream refuses to apply such an object, and forgets all owners when it
/// is updated: a field that one version declares and another one does not is enough.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub(crate) enum Misfit {
    #[error("{0}")]
    Live(String),
    #[error("failed to convert old object: {0}")]
    Before(String),
    #[error("failed to convert new object: {0}")]
    After(String),
    #[error("failed to compare objects")]
    Compare,
}

/// The changes of a write, by version.
pub(crate) struct Versions<'a, 't> {
    scope: &'a Scope<'t>,
    pair: Pair<'a>,
    /// The version in which the objects are given.
    version: &'a str,
    known: BTreeMap<&'a str, Changes<'a>>,
}

impl<'a, 't: 'a> Versions<'a, 't> {
    pub(crate) fn new(scope: &'a Scope<'t>, version: &'a str, pair: Pair<'a>) -> Self {
        Self {
            scope,
            pair,
            version,
            known: BTreeMap::new(),
        }
    }

    /// The changes in a version. There are none in one that is not served.
    pub(crate) fn of(&mut self, version: &'a str) -> Result<&Changes<'a>, Misfit> {
        if !self.known.contains_key(version) {
            let changes = self.compare(version)?;
            self.known.insert(version, changes);
        }
        Ok(&self.known[version])
    }

    fn compare(&self, version: &str) -> Result<Changes<'a>, Misfit> {
        let Some(types) = (self.scope.types)(version) else {
            return Ok(Changes::default());
        };
        if version != self.version {
            convert(types, self.pair.before).map_err(Misfit::Before)?;
            convert(types, self.pair.after).map_err(Misfit::After)?;
        }
        let mut changes = compare(types, self.pair.before, self.pair.after).ok_or(Misfit::Compare)?;
        self.scope.reset.filter(version, &mut changes.changed);
        self.scope.reset.filter(version, &mut changes.removed);
        Ok(changes)
    }

    /// The changes in a version, as far as they were asked for.
    pub(crate) fn take(mut self, version: &str) -> Changes<'a> {
        self.known.remove(version).unwrap_or_default()
    }
}

/// Checks that an object is one of another version too. Unlike in its own, duplicates are a fault there.
pub(crate) fn convert(types: &Types, object: &Value) -> Result<(), String> {
    check(types, object, Duplicates::Refused)
}

/// Drops entries of versions that are not served, and fits the others to the types of their version.
pub(crate) fn renew(managers: &mut Managers<'_>, scope: &Scope<'_>, version: &str, live: &Value) -> Result<(), Misfit> {
    managers.retain(|_, entry| (scope.types)(entry.api_version).is_some());
    let mut converted = vec![version];
    for entry in managers.values_mut() {
        let Some(types) = (scope.types)(entry.api_version) else {
            continue;
        };
        if !converted.contains(&entry.api_version) {
            convert(types, live).map_err(Misfit::Live)?;
            converted.push(entry.api_version);
        }
        if reconcile(types, &mut entry.set) {
            entry.origin = None;
        }
    }
    Ok(())
}
