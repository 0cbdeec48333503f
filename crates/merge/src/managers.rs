//! `metadata.managedFields`: entries read from an object, kept by manager, and written back.
//! Must not know types or objects; what an entry owns is decided by its callers.

mod cap;
mod decode;
mod encode;

use std::{borrow::Cow, collections::BTreeMap};

use serde_json::Value;

use crate::{author::Author, conflict::Operation, set::Set};

pub(crate) use cap::cap;
pub(crate) use decode::{Unreadable, decode, entries_of, is_reset};
pub(crate) use encode::{Planned, plan, write};

/// All entries of an object.
pub(crate) type Managers<'a> = BTreeMap<Identity<'a>, Entry<'a>>;

/// What tells managers apart. The version is part of it for updates only: an applier keeps its identity when it moves
/// to another version.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) struct Identity<'a> {
    pub(crate) manager: &'a str,
    pub(crate) operation: Operation,
    version: &'a str,
    pub(crate) subresource: &'a str,
}

/// What a manager owns.
#[derive(Clone, Debug)]
pub(crate) struct Entry<'a> {
    pub(crate) api_version: &'a str,
    pub(crate) time: Option<Cow<'a, str>>,
    pub(crate) set: Set<'a>,
    /// Where the entry stands in the list that it was read from, as long as writing its set would give the same again.
    pub(crate) origin: Option<usize>,
    /// Whether the entry has another time than the one at its origin.
    pub(crate) restamped: bool,
}

impl<'a> Identity<'a> {
    pub(crate) fn new(manager: &'a str, operation: Operation, api_version: &'a str, subresource: &'a str) -> Self {
        let version = if operation == Operation::Apply { "" } else { api_version };
        Self {
            manager,
            operation,
            version,
            subresource,
        }
    }

    pub(crate) fn of(author: &Author<'a>, operation: Operation) -> Self {
        Self::new(author.name(), operation, author.api_version, author.subresource)
    }

    fn text(&self) -> String {
        crate::conflict::identity_text(self.manager, self.operation, self.version, self.subresource)
    }
}

impl<'a> Entry<'a> {
    pub(crate) fn new(api_version: &'a str, time: Option<Cow<'a, str>>, set: Set<'a>) -> Self {
        Self {
            api_version,
            time,
            set,
            origin: None,
            restamped: false,
        }
    }

    /// The entry with another time.
    pub(crate) fn restamp(self, time: Option<Cow<'a, str>>) -> Self {
        let restamped = self.restamped || self.time != time;
        Self {
            time,
            restamped,
            ..self
        }
    }

    /// Takes paths away.
    pub(crate) fn subtract(&mut self, paths: &Set<'_>) {
        if self.set.subtract(paths) {
            self.origin = None;
        }
    }
}

/// Takes out the paths that are never owned, and gives them: what identifies an object, and what the server alone writes.
pub(crate) fn strip<'a>(set: &mut Set<'a>) -> Set<'a> {
    const METADATA: [&str; 9] = [
        "clusterName",
        "creationTimestamp",
        "generation",
        "managedFields",
        "name",
        "namespace",
        "resourceVersion",
        "selfLink",
        "uid",
    ];
    let mut stripped = Set::default();
    for path in [["apiVersion"], ["kind"], ["metadata"]] {
        stripped.insert_fields(&path);
    }
    for name in METADATA {
        stripped.insert_fields(&["metadata", name]);
    }
    let taken = set.intersection(&stripped);
    set.subtract(&taken);
    taken
}

/// The list of entries as an object carries it.
pub(crate) fn list_of(object: &Value) -> &Value {
    &object["metadata"]["managedFields"]
}

/// Takes the list of entries out of an object; null when it has none.
pub(crate) fn take_list(object: &mut Value) -> Value {
    let metadata = object.get_mut("metadata").and_then(Value::as_object_mut);
    metadata
        .and_then(|metadata| metadata.remove("managedFields"))
        .unwrap_or_default()
}
