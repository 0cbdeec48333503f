//! Server-side apply: an intent laid over the live object, and the ownership that follows from it.
//! The caller has found the object and decoded the intent; it defaults, validates and stores what comes out.

use serde_json::Value;

use crate::{
    author::{Author, Scope},
    conflict::{Conflict, Operation, describe_conflicts},
    last_applied,
    managers::{self, Entry, Identity, Managers, Planned, Unreadable, entries_of, plan, strip, take_list},
    prune::prune,
    set::Set,
    types::Types,
    update::track,
    value::equal,
    versions::{Pair, Versions, renew},
    walk::{Duplicates, check, merge, owned},
};

/// The manager that owns what an object had before it was first applied.
const BEFORE_FIRST_APPLY: &str = "before-first-apply";

/// Why an intent cannot be applied.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum ApplyError {
    /// Others own fields that the intent would change: 409, one cause per conflict. The client may force.
    #[error("{}", describe_conflicts(.0))]
    Conflicts(Vec<Conflict>),
    /// The request is wrong whatever the types are: 400.
    #[error("{0}")]
    BadRequest(String),
    /// The intent or the live object does not fit the types: upstream answers with 500 and this message.
    #[error("{0}")]
    Invalid(String),
}

/// The live object with the intent applied and its managedFields brought up to date.
///
/// When nothing would change, neither do the times, and the live object is given back as it is.
pub fn apply(
    live: Option<&Value>,
    intent: &Value,
    author: &Author<'_>,
    scope: &Scope<'_>,
    force: bool,
) -> Result<Value, ApplyError> {
    let types = (scope.types)(author.api_version)
        .ok_or_else(|| ApplyError::Invalid(format!("no corresponding type for {}", describe_kind(intent))))?;
    let managers = live
        .map_or_else(|| Ok(Managers::new()), entries_of)
        .map_err(|error| unreadable(&error))?;
    check_intent(live, intent, author)?;
    let request = Request {
        types,
        intent,
        author,
        scope,
        stamp: &author.stamp(),
    };
    let mut object = match live {
        None => request.create()?,
        Some(live) => request.change(live, managers, force)?,
    };
    if author.manager == last_applied::KUBECTL {
        last_applied::renew(&mut object, intent);
    }
    Ok(object)
}

fn unreadable(error: &Unreadable) -> ApplyError {
    ApplyError::Invalid(format!("failed to decode managed fields: {error}"))
}

fn check_intent(live: Option<&Value>, intent: &Value, author: &Author<'_>) -> Result<(), ApplyError> {
    if intent["apiVersion"] != author.api_version || live.is_some_and(|live| live["kind"] != intent["kind"]) {
        return Err(ApplyError::BadRequest(format!(
            "invalid object type: {}",
            describe_kind(intent)
        )));
    }
    if managers::list_of(intent).is_array() {
        return Err(ApplyError::BadRequest("metadata.managedFields must be nil".to_owned()));
    }
    Ok(())
}

#[derive(Clone, Copy)]
struct Request<'a, 't> {
    types: &'a Types,
    intent: &'a Value,
    author: &'a Author<'a>,
    scope: &'a Scope<'t>,
    stamp: &'a str,
}

/// What an apply comes to, free of borrows.
struct Outcome {
    object: Value,
    planned: Vec<Planned>,
}

impl<'a, 't: 'a> Request<'a, 't> {
    fn create(self) -> Result<Value, ApplyError> {
        self.check_types("patch", self.intent, Duplicates::Refused)?;
        let mut managers = Managers::new();
        self.enter(&mut managers, self.own(None, self.owned(), true));
        let planned = plan(managers);
        let mut object = self.intent.clone();
        managers::write(&mut object, planned, &mut []);
        Ok(object)
    }

    fn change(self, live: &'a Value, mut managers: Managers<'a>, force: bool) -> Result<Value, ApplyError> {
        if managers.is_empty() {
            managers = self.own_existing(live)?;
        }
        renew(&mut managers, self.scope, self.author.api_version, live)
            .map_err(|error| ApplyError::Invalid(error.to_string()))?;
        self.check_types("patch", self.intent, Duplicates::Refused)?;
        let outcome = self.merge(live, managers, force)?;
        let mut object = outcome.object;
        let mut read = take_list(&mut object);
        if !read.is_array() {
            // The intent said null, or someone owned the list and dropped it; neither is about ownership.
            read = managers::list_of(live).clone();
        }
        let read = read.as_array_mut().map_or(&mut [][..], Vec::as_mut_slice);
        managers::write(&mut object, outcome.planned, read);
        Ok(object)
    }

    /// What is there before the first apply belongs to nobody known; an apply must still not overwrite it unasked.
    fn own_existing(self, live: &'a Value) -> Result<Managers<'a>, ApplyError> {
        let author = Author {
            manager: BEFORE_FIRST_APPLY,
            ..*self.author
        };
        let pair = Pair {
            before: &self.types.empty,
            after: live,
        };
        track(Managers::new(), pair, &author, self.scope, self.stamp).map_err(|_| {
            let fault = check(self.types, live, Duplicates::Allowed).err().unwrap_or_default();
            let kind = describe_object(live);
            ApplyError::Invalid(format!(
                "failed to create manager for existing fields: failed to convert new object ({kind}) to smd typed: {fault}"
            ))
        })
    }

    fn check_types(self, role: &str, object: &Value, duplicates: Duplicates) -> Result<(), ApplyError> {
        check(self.types, object, duplicates).map_err(|fault| {
            ApplyError::Invalid(format!(
                "failed to create typed {role} object ({}): {fault}",
                describe_object(object)
            ))
        })
    }

    /// What the intent owns.
    fn owned(self) -> Set<'a> {
        let mut set = owned(self.types, self.intent);
        self.scope.reset.filter(self.author.api_version, &mut set);
        set
    }

    fn merge(self, live: &Value, mut managers: Managers<'a>, force: bool) -> Result<Outcome, ApplyError> {
        let identity = Identity::of(self.author, Operation::Apply);
        let before = managers.remove(&identity);
        let set = self.owned();
        let merged = merge(self.types, live, self.intent);
        let merged = self.prune(merged, before.as_ref(), &mut managers, &set)?;
        self.settle(
            &mut managers,
            Pair {
                before: live,
                after: &merged,
            },
            force,
        )?;

        let unchanged = equal(live, &merged);
        self.enter(&mut managers, self.own(before, set, !unchanged));
        let planned = plan(managers);
        // Equal objects may still write a number otherwise; the live one stays.
        let object = if unchanged && *live != merged {
            live.clone()
        } else {
            merged
        };
        Ok(Outcome { object, planned })
    }

    /// Most applies drop nothing, and then there is nothing to look for. Where several versions are in play, upstream
    /// converts even so, and its errors show.
    fn prune(
        self,
        merged: Value,
        before: Option<&Entry<'a>>,
        managers: &mut Managers<'a>,
        set: &Set<'a>,
    ) -> Result<Value, ApplyError> {
        let Some(before) = before.filter(|before| !before.set.is_empty()) else {
            return Ok(merged);
        };
        let is_given = |entry: &Entry<'_>| entry.api_version == self.author.api_version;
        let drops_nothing = before.set.is_subset(set) && !self.may_empty(before, &merged);
        if drops_nothing && is_given(before) && managers.values().all(is_given) {
            return Ok(merged);
        }
        let identity = Identity::of(self.author, Operation::Apply);
        let entry = Entry::new(self.author.api_version, None, set.clone());
        managers.insert(identity, entry);
        let pruned = prune(merged, self.author.api_version, before, managers, self.scope);
        managers.remove(&identity);
        pruned.map_err(|error| ApplyError::Invalid(error.to_string()))
    }

    /// Whether something that was applied empty has content now: upstream then takes out what in it nobody owns, although
    /// the applier drops nothing.
    fn may_empty(self, before: &Entry<'_>, merged: &Value) -> bool {
        has_empty(self.intent) && !before.set.is_subset(&owned(self.types, merged))
    }

    /// Takes from the others what the apply changed or removed, or says that it must not.
    fn settle(self, managers: &mut Managers<'_>, pair: Pair<'_>, force: bool) -> Result<(), ApplyError> {
        let mut versions = Versions::new(self.scope, self.author.api_version, pair);
        if versions.of(self.author.api_version).is_err() {
            self.check_types("live", pair.before, Duplicates::Allowed)?;
        }
        let mut conflicts = Vec::new();
        for (identity, entry) in managers.iter() {
            let changes = versions
                .of(entry.api_version)
                .map_err(|error| ApplyError::Invalid(error.to_string()))?;
            let contested = entry.set.intersection(&changes.changed);
            if !contested.is_empty() {
                conflicts.push((*identity, entry, contested));
            }
        }
        if !force && !conflicts.is_empty() {
            self.refuse(pair.before, &conflicts)?;
        }
        managers.retain(|_, entry| {
            if let Ok(changes) = versions.of(entry.api_version) {
                entry.subtract(&changes.changed);
                entry.subtract(&changes.removed);
            }
            !entry.set.is_empty()
        });
        Ok(())
    }

    /// Conflicts, unless all of them are about what kubectl itself applied from the client's side.
    fn refuse(self, live: &Value, conflicts: &[(Identity<'_>, &Entry<'_>, Set<'_>)]) -> Result<(), ApplyError> {
        let annotation = last_applied::last_applied(live).filter(|_| self.author.manager == last_applied::KUBECTL);
        let applied: Option<Value> = annotation.and_then(|text| serde_json::from_str(text).ok());
        let migrated = applied
            .as_ref()
            .and_then(|applied| last_applied::unchanged_since(self.types, live, applied, self.author.api_version));
        let mut remaining = Vec::new();
        for (identity, entry, contested) in conflicts {
            let mut contested = contested.clone();
            if let Some(migrated) = &migrated {
                contested.subtract(migrated);
            }
            remaining.extend(
                contested
                    .describe()
                    .into_iter()
                    .map(|field| conflict(identity, entry, field)),
            );
        }
        if remaining.is_empty() {
            Ok(())
        } else {
            Err(ApplyError::Conflicts(remaining))
        }
    }

    /// The applier's entry with its new set. Its time moves only when the object changed.
    fn own(self, before: Option<Entry<'a>>, mut set: Set<'a>, changed: bool) -> Entry<'a> {
        strip(&mut set);
        let time = if changed {
            Some(self.stamp.into())
        } else {
            before.as_ref().and_then(|before| before.time.clone())
        };
        match before {
            Some(before) if before.api_version == self.author.api_version && before.set == set => before.restamp(time),
            _ => Entry::new(self.author.api_version, time, set),
        }
    }

    /// Adds the applier to the managers, unless it owns nothing.
    fn enter(self, managers: &mut Managers<'a>, entry: Entry<'a>) {
        if !entry.set.is_empty() {
            managers.insert(Identity::of(self.author, Operation::Apply), entry);
        }
    }
}

/// Whether there is a null or an empty map in a value.
fn has_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Object(fields) => fields.is_empty() || fields.values().any(has_empty),
        Value::Array(items) => items.iter().any(has_empty),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

fn conflict(identity: &Identity<'_>, entry: &Entry<'_>, field: String) -> Conflict {
    Conflict {
        manager: identity.manager.to_owned(),
        operation: identity.operation,
        api_version: entry.api_version.to_owned(),
        subresource: identity.subresource.to_owned(),
        time: entry.time.as_deref().map(str::to_owned),
        field,
    }
}

/// `namespace/name; group/version, Kind=kind`, as upstream names an object in such messages.
fn describe_object(object: &Value) -> String {
    let metadata = |name: &str| object["metadata"][name].as_str().unwrap_or_default().to_owned();
    format!(
        "{}/{}; {}",
        metadata("namespace"),
        metadata("name"),
        describe_kind(object)
    )
}

fn describe_kind(object: &Value) -> String {
    let api_version = object["apiVersion"].as_str().unwrap_or_default();
    let separator = if api_version.contains('/') { "" } else { "/" };
    format!(
        "{separator}{api_version}, Kind={}",
        object["kind"].as_str().unwrap_or_default()
    )
}
