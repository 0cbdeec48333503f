//! The one way by which a stored object changes: read, compute, compare, swap; again when another write was faster.
//! PUT, every kind of PATCH, and subresources differ only in how they compute.

use std::sync::Arc;

use hyperplane_schema::{FieldError, go_text};
use hyperplane_store::{Change, CommitError, Entry, Expect, Operation};
use hyperplane_wire::{Failure, GroupKind};
use serde_json::Value;

use super::create::{place, unavailable};
use crate::{
    admission,
    call::{Answer, Call},
    core::Core,
    metadata,
    object::Object,
    strategy,
};

/// What a client is told when its resourceVersion is not the current one.
pub(crate) const STALE: &str =
    "the object has been modified; please apply your changes to the latest version and try again";

/// How a write computes the next state of an object.
pub(crate) struct Modification<'a> {
    /// The identity that the client has in mind, if it named one.
    pub uid: Option<String>,
    /// Whether an absent object is created.
    pub creates: bool,
    /// The next state, given the current one as the resource shows it.
    pub next: &'a (dyn Fn(Option<&Value>) -> Result<Value, Failure> + Send + Sync),
}

/// What a write did.
#[derive(Debug)]
pub(crate) struct Modified {
    /// The object.
    pub answer: Answer,
    /// Whether it was absent before.
    pub is_created: bool,
}

enum Attempt {
    Done(Modified),
    Overtaken,
}

impl Core {
    /// Changes an object, or creates it where the modification allows that.
    pub(crate) async fn modify(&self, call: &Call, modification: &Modification<'_>) -> Result<Modified, Failure> {
        for _ in 0..self.limits.write_attempts {
            let current = Self::find(&self.store.snapshot(), &call.served, &call.namespace, &call.name);
            let attempt = match current {
                Some(current) => self.try_change(call, modification, &current).await?,
                None if modification.creates => self.try_create(call, modification).await?,
                None => return Err(call.not_found()),
            };
            if let Attempt::Done(modified) = attempt {
                return Ok(modified);
            }
        }
        Err(Failure::conflict(&call.group_resource(), &call.name, STALE))
    }

    async fn try_create(&self, call: &Call, modification: &Modification<'_>) -> Result<Attempt, Failure> {
        let mut object = (modification.next)(None)?;
        place(call, &mut object)?;
        metadata::remove(&mut object, "resourceVersion");
        let mut object = self.finish_create(call, object)?;
        if call.is_dry_run {
            return Ok(Attempt::created(Answer::Value(object)));
        }
        call.served.keep(&mut object);
        let operation = Operation {
            key: call.served.key(&call.namespace, &call.name),
            expect: Expect::Absent,
            change: Change::Put(self.payload(&object)?),
        };
        match self.commit(operation).await {
            Ok(entry) => Ok(Attempt::created(Answer::Stored(entry))),
            Err(CommitError::Conflict { .. }) => Ok(Attempt::Overtaken),
            Err(error) => Err(unavailable(&error)),
        }
    }

    async fn try_change(
        &self,
        call: &Call,
        modification: &Modification<'_>,
        current: &Arc<Entry<Object>>,
    ) -> Result<Attempt, Failure> {
        if let Some(uid) = &modification.uid
            && **uid != *current.payload.facts().uid
        {
            return Err(uid_conflict(call, uid, &current.payload.facts().uid));
        }
        let old = call.served.show(current, current.revision);
        let mut object = (modification.next)(Some(&old))?;
        admission::mutate_update(self, call, &mut object, &old)?;
        check_revision(call, &mut object, &old)?;
        place(call, &mut object)?;
        self.finish_update(call, &mut object, &old)?;
        if is_finished(call, &object, &old) {
            return self.try_remove(call, current, object).await;
        }
        self.try_replace(call, current, object).await
    }

    /// Everything between a proposed state and the store.
    fn finish_update(&self, call: &Call, object: &mut Value, old: &Value) -> Result<(), Failure> {
        let resource = &call.served.resource;
        strategy::prepare_update(resource, object, old, call.target());
        let (errors, tolerated) = strategy::validate_update(resource, object, old, call.target());
        for error in tolerated {
            call.warnings.add(error.to_string());
        }
        if !errors.is_empty() {
            return Err(Self::invalid(call, object, &errors));
        }
        resource
            .behaviour
            .stamp(object, Some(old), call.target(), self.clock.now());
        // A change of times alone is none (kubernetes#88816).
        hyperplane_merge::keep_times(old, object);
        admission::validate_update(self, call, object, old)?;
        for warning in resource.behaviour.warnings(object, Some(old)) {
            call.warnings.add(warning);
        }
        Ok(())
    }

    async fn try_replace(&self, call: &Call, current: &Arc<Entry<Object>>, object: Value) -> Result<Attempt, Failure> {
        let mut kept = object;
        call.served.keep(&mut kept);
        let payload = self.payload(&kept)?;
        if payload.is_same(&current.payload) {
            return Ok(Attempt::changed(Answer::Stored(Arc::clone(current))));
        }
        if call.is_dry_run {
            let entry = Entry {
                key: current.key.clone(),
                revision: current.revision,
                payload,
            };
            return Ok(Attempt::changed(Answer::Stored(Arc::new(entry))));
        }
        let operation = Operation {
            key: current.key.clone(),
            expect: Expect::Revision(current.revision),
            change: Change::Put(payload),
        };
        match self.commit(operation).await {
            Ok(entry) => Ok(Attempt::changed(Answer::Stored(entry))),
            Err(CommitError::Conflict { .. }) => Ok(Attempt::Overtaken),
            Err(error) => Err(unavailable(&error)),
        }
    }

    /// The last finalizer is gone: so is the object.
    async fn try_remove(&self, call: &Call, current: &Arc<Entry<Object>>, object: Value) -> Result<Attempt, Failure> {
        if call.is_dry_run {
            return Ok(Attempt::changed(Answer::Value(object)));
        }
        let operation = Operation {
            key: current.key.clone(),
            expect: Expect::Revision(current.revision),
            change: Change::Delete,
        };
        match self.commit(operation).await {
            Ok(_) => Ok(Attempt::changed(Answer::Value(object))),
            Err(CommitError::Conflict { .. }) => Ok(Attempt::Overtaken),
            Err(error) => Err(unavailable(&error)),
        }
    }
}

impl Attempt {
    const fn created(answer: Answer) -> Self {
        Self::Done(Modified {
            answer,
            is_created: true,
        })
    }

    const fn changed(answer: Answer) -> Self {
        Self::Done(Modified {
            answer,
            is_created: false,
        })
    }
}

/// Whether an update let go of the last thing that held a deleted object back.
fn is_finished(call: &Call, object: &Value, old: &Value) -> bool {
    let grace = metadata::of(old)
        .get("deletionGracePeriodSeconds")
        .and_then(Value::as_i64);
    metadata::is_deleting(old)
        && metadata::finalizers(object).next().is_none()
        && grace.unwrap_or_default() == 0
        && !call.served.resource.behaviour.is_held(object)
}

/// Whether the client has the current state in mind. An update that names none gets the current one where the kind
/// allows that.
fn check_revision(call: &Call, object: &mut Value, old: &Value) -> Result<(), Failure> {
    let (wanted, current) = (
        metadata::text(object, "resourceVersion"),
        metadata::text(old, "resourceVersion"),
    );
    if wanted == current {
        return Ok(());
    }
    let resource = &call.served.resource;
    if !wanted.is_empty()
        && let Err(message) = go_text::parse_unsigned(wanted)
    {
        return Err(Failure::unclassified(message));
    }
    if !matches!(wanted, "" | "0") {
        return Err(Failure::conflict(&call.group_resource(), &call.name, STALE));
    }
    if !resource.allows_unconditional_update {
        let error = FieldError::invalid("metadata.resourceVersion", 0, "must be specified for an update");
        // Upstream names the resource where the kind belongs.
        let kind = GroupKind::new(&resource.group, &resource.plural);
        return Err(Failure::invalid(&kind, &call.name, &[error]));
    }
    metadata::copy(object, old, "resourceVersion");
    Ok(())
}

fn uid_conflict(call: &Call, wanted: &str, found: &str) -> Failure {
    let resource = &call.served.resource;
    let group = if call.served.is_custom {
        format!("{}/", resource.group)
    } else {
        String::new()
    };
    let namespace = if call.namespace.is_empty() {
        String::new()
    } else {
        format!("{}/", call.namespace)
    };
    let key = format!("/registry/{group}{}/{namespace}{}", resource.plural, call.name);
    let message = format!(
        "StorageError: invalid object, Code: 4, Key: {key}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID \
         in precondition: {wanted}, UID in object meta: {found}"
    );
    Failure::conflict(&call.group_resource(), &call.name, message)
}
