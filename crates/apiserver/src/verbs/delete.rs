//! DELETE: of one object, or of all that a selector finds. An object that finalizers or a grace period hold back is
//! marked and goes later; every other one goes at once.

use std::sync::Arc;

use hyperplane_kinds::Propagation;
use hyperplane_store::{Change, CommitError, Entry, Expect, Operation};
use hyperplane_wire::{
    Failure, GroupResource, Reason,
    delete_options::{DeleteOptions, DeletionPropagation, Preconditions},
    options::ListOptions,
    status::{Details, success_status},
};
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use super::{create::unavailable, list::Page};
use crate::{
    admission,
    call::{Answer, Call},
    core::Core,
    metadata,
    object::Object,
};

/// The finalizer of an object whose dependents stay.
pub(crate) const ORPHAN: &str = "orphan";
/// The finalizer of an object whose dependents go first.
pub(crate) const FOREGROUND: &str = "foregroundDeletion";

/// What a deletion does to an object.
enum Deletion {
    /// It goes now.
    Remove,
    /// It is marked, and goes later.
    Mark(Value),
    /// It is marked, and goes now: watchers of kinds with a grace period see both.
    MarkAndRemove(Value),
    /// It is on its way out already.
    Pending,
}

/// What a deletion did.
#[derive(Debug)]
pub(crate) struct Deleted {
    /// The object as it was or is, or a Status.
    pub answer: Answer,
    /// Whether it is gone.
    pub is_gone: bool,
}

impl Core {
    /// Deletes an object, or marks it.
    pub(crate) async fn delete(&self, call: &Call, options: &DeleteOptions) -> Result<Deleted, Failure> {
        for _ in 0..self.limits.write_attempts {
            let current = Self::find(&self.store.snapshot(), &call.served, &call.namespace, &call.name)
                .ok_or_else(|| call.not_found())?;
            if let Some(deleted) = self.try_delete(call, options, &current).await? {
                return Ok(deleted);
            }
        }
        Err(Failure::conflict(
            &call.group_resource(),
            &call.name,
            super::modify::STALE,
        ))
    }

    /// Deletes, or marks, all that a selector finds. What others delete meanwhile is no error.
    pub(crate) async fn delete_collection(
        &self,
        call: &Call,
        list: &ListOptions,
        options: &DeleteOptions,
    ) -> Result<Page, Failure> {
        let page = self.list(call, list).await?;
        for entry in &page.items {
            let single = call.of(&entry.key.namespace, &entry.key.name);
            match self.delete(&single, options).await {
                Ok(_) => {}
                Err(failure) if failure.reason == Reason::NotFound => {}
                Err(failure) => return Err(failure),
            }
        }
        Ok(page)
    }

    async fn try_delete(
        &self,
        call: &Call,
        options: &DeleteOptions,
        current: &Arc<Entry<Object>>,
    ) -> Result<Option<Deleted>, Failure> {
        let object = call.served.show(current, current.revision);
        check_preconditions(call, &options.preconditions, &object)?;
        admission::validate_delete(self, call, &object)?;
        match decide(call, options, &object, self.clock.now()) {
            Deletion::Pending => Ok(Some(Deleted {
                answer: Answer::Stored(Arc::clone(current)),
                is_gone: false,
            })),
            Deletion::Mark(marked) => {
                let marked = self.try_mark(call, current, marked).await?;
                Ok(marked.map(|entry| Deleted {
                    answer: Answer::Stored(entry),
                    is_gone: false,
                }))
            }
            Deletion::MarkAndRemove(marked) => match self.try_mark(call, current, marked).await? {
                Some(entry) => self.try_erase(call, &entry).await,
                None => Ok(None),
            },
            Deletion::Remove => self.try_erase(call, current).await,
        }
    }

    async fn try_mark(
        &self,
        call: &Call,
        current: &Arc<Entry<Object>>,
        marked: Value,
    ) -> Result<Option<Arc<Entry<Object>>>, Failure> {
        let mut kept = marked;
        call.served.keep(&mut kept);
        let payload = self.payload(&kept)?;
        if payload.is_same(&current.payload) || call.is_dry_run {
            let entry = Entry {
                key: current.key.clone(),
                revision: current.revision,
                payload,
            };
            return Ok(Some(Arc::new(entry)));
        }
        let committed = self.commit(Operation {
            key: current.key.clone(),
            expect: Expect::Revision(current.revision),
            change: Change::Put(payload),
        });
        match committed.await {
            Ok(entry) => Ok(Some(entry)),
            Err(CommitError::Conflict { .. }) => Ok(None),
            Err(error) => Err(unavailable(&error)),
        }
    }

    async fn try_erase(&self, call: &Call, current: &Arc<Entry<Object>>) -> Result<Option<Deleted>, Failure> {
        let mut revision = current.revision;
        if !call.is_dry_run {
            let committed = self.commit(Operation {
                key: current.key.clone(),
                expect: Expect::Revision(current.revision),
                change: Change::Delete,
            });
            match committed.await {
                Ok(gone) => revision = gone.revision,
                Err(CommitError::Conflict { .. }) => return Ok(None),
                Err(error) => return Err(unavailable(&error)),
            }
        }
        let object = call.served.show(current, revision);
        let answer = if call.served.resource.returns_deleted {
            Answer::Value(object)
        } else {
            let details = Details {
                uid: metadata::text(&object, "uid").to_owned(),
                ..Details::of_resource(&call.group_resource(), &call.name)
            };
            Answer::Status(success_status(&details))
        };
        Ok(Some(Deleted { answer, is_gone: true }))
    }
}

/// Whether the object is the one that the client has in mind.
pub(crate) fn check_preconditions(call: &Call, wanted: &Preconditions, object: &Value) -> Result<(), Failure> {
    // Upstream names the kind where the resource belongs.
    let subject = GroupResource::new(&call.served.resource.group, &call.served.resource.kind);
    let conflict = |message: String| Err(Failure::conflict(&subject, &call.name, message));
    let (uid, revision) = (metadata::text(object, "uid"), metadata::text(object, "resourceVersion"));
    if let Some(wanted) = wanted.uid.as_deref().filter(|wanted| *wanted != uid) {
        return conflict(format!(
            "the UID in the precondition ({wanted}) does not match the UID in record ({uid}). The object might have been \
             deleted and then recreated"
        ));
    }
    if let Some(wanted) = wanted.resource_version.as_deref().filter(|wanted| *wanted != revision) {
        return conflict(format!(
            "the ResourceVersion in the precondition ({wanted}) does not match the ResourceVersion in record \
             ({revision}). The object might have been modified"
        ));
    }
    Ok(())
}

/// What becomes of an object. Pure, so that every combination of grace, finalizers and propagation can be tried.
fn decide(call: &Call, options: &DeleteOptions, object: &Value, now: Timestamp) -> Deletion {
    let behaviour = &call.served.resource.behaviour;
    let requested = options
        .grace_period_seconds
        .map(|seconds| if seconds < 0 { 1 } else { seconds });
    let mut marked = object.clone();
    let granted = behaviour.grace_period_seconds(object, requested);
    let mut seconds = 0;
    // Whether there is a mark that was not there before, of a kind that has a grace period.
    let mut is_graceful = granted.is_some();
    if metadata::is_deleting(object) {
        match shorten(object, requested, now) {
            Grace::Pending => return Deletion::Pending,
            Grace::Shortened { until, remaining } => {
                metadata::set(&mut marked, "deletionTimestamp", metadata::time(until));
                metadata::set(&mut marked, "deletionGracePeriodSeconds", remaining);
                seconds = remaining;
            }
            Grace::Over => is_graceful = false,
        }
    } else {
        seconds = granted.unwrap_or_default();
    }
    set_finalizers(call, options, &mut marked);
    if !metadata::is_deleting(object) {
        behaviour.begin_deletion(&mut marked, now);
    }
    let is_held = metadata::finalizers(&marked).next().is_some() || behaviour.is_held(&marked);
    let goes_now = !is_held && seconds == 0;
    if goes_now && !is_graceful {
        return Deletion::Remove;
    }
    if !metadata::is_deleting(&marked) {
        let until = now
            .saturating_add(SignedDuration::from_secs(seconds))
            .unwrap_or(Timestamp::MAX);
        metadata::set(&mut marked, "deletionTimestamp", metadata::time(until));
        if !behaviour.is_held(&marked) {
            metadata::set(&mut marked, "deletionGracePeriodSeconds", seconds);
        }
        if metadata::generation(&marked) > 0 {
            let generation = metadata::generation(&marked) + 1;
            metadata::set(&mut marked, "generation", generation);
        }
    }
    if goes_now {
        Deletion::MarkAndRemove(marked)
    } else {
        Deletion::Mark(marked)
    }
}

enum Grace {
    /// Nothing but finalizers is waited for.
    Over,
    /// The grace period that was granted goes on.
    Pending,
    /// It ends sooner now.
    Shortened { until: Timestamp, remaining: i64 },
}

/// A second deletion may shorten the grace period, and do nothing else to it.
fn shorten(object: &Value, requested: Option<i64>, now: Timestamp) -> Grace {
    let granted = metadata::of(object)
        .get("deletionGracePeriodSeconds")
        .and_then(Value::as_i64);
    let granted = granted.unwrap_or_default();
    if granted == 0 {
        return Grace::Over;
    }
    let Some(requested) = requested.filter(|requested| *requested < granted) else {
        return Grace::Pending;
    };
    let deadline = metadata::text(object, "deletionTimestamp").parse().unwrap_or(now);
    let until = deadline
        .saturating_add(SignedDuration::from_secs(requested - granted))
        .unwrap_or(now);
    if until >= now {
        return Grace::Shortened {
            until,
            remaining: requested,
        };
    }
    Grace::Shortened {
        until: now,
        remaining: requested.min(1),
    }
}

/// Propagation is asked for by finalizers, which the garbage collector takes away when it is done.
fn set_finalizers(call: &Call, options: &DeleteOptions, object: &mut Value) {
    let had = |name: &str| metadata::finalizers(object).any(|finalizer| finalizer == name);
    let default = call.served.resource.default_propagation;
    let (orphans, foreground) = match (options.orphan_dependents, options.propagation_policy) {
        (Some(orphans), _) => (orphans, false),
        (None, Some(policy)) => (
            policy == DeletionPropagation::Orphan,
            policy == DeletionPropagation::Foreground,
        ),
        (None, None) if had(ORPHAN) => (true, false),
        (None, None) if had(FOREGROUND) => (false, true),
        (None, None) => (default == Propagation::Orphan, false),
    };
    let mut wanted: Vec<Value> = metadata::finalizers(object)
        .filter(|finalizer| !matches!(*finalizer, ORPHAN | FOREGROUND))
        .map(Into::into)
        .collect();
    wanted.extend(orphans.then(|| ORPHAN.into()));
    wanted.extend(foreground.then(|| FOREGROUND.into()));
    if wanted.is_empty() {
        metadata::remove(object, "finalizers");
    } else {
        metadata::set(object, "finalizers", wanted);
    }
}
