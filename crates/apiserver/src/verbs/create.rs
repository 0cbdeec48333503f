//! POST: a new object. The server decides its identity; a generated name is tried again when it is taken.

use std::sync::Arc;

use hyperplane_kinds::Target;
use hyperplane_schema::FieldError;
use hyperplane_store::{Change, CommitError, Entry, Expect, Operation};
use hyperplane_wire::{Failure, GroupKind};
use serde_json::Value;

use crate::{
    admission,
    call::{Answer, Call},
    core::Core,
    metadata,
    object::Object,
    ownership, strategy,
    strategy::Birth,
};

/// The collection of Events.
const EVENTS: &str = "events";

impl Core {
    /// Creates an object.
    pub(crate) async fn create(&self, call: &Call, mut object: Value) -> Result<Answer, Failure> {
        place(call, &mut object)?;
        // Only the store would mind, and a dry run does not come that far.
        if !call.is_dry_run && !metadata::text(&object, "resourceVersion").is_empty() {
            return Err(Failure::unclassified(
                "resourceVersion should not be set on objects to be created",
            ));
        }
        let prefix = metadata::text(&object, "generateName").to_owned();
        let is_generated = metadata::text(&object, "name").is_empty() && !prefix.is_empty();
        for field in ["deletionTimestamp", "deletionGracePeriodSeconds", "selfLink"] {
            metadata::remove(&mut object, field);
        }
        ownership::deduplicate_owners(&mut object, &call.warnings);
        let mut object = ownership::record_create(self, call, object);
        let attempts = if is_generated { self.limits.name_attempts } else { 1 };
        let mut last = None;
        for _ in 0..attempts {
            let candidate = if is_generated {
                let mut named = object.clone();
                metadata::set(&mut named, "name", self.entropy.name(&prefix));
                named
            } else {
                std::mem::take(&mut object)
            };
            let finished = self.finish_create(call, candidate)?;
            match self.insert(call, finished).await {
                Err(Insertion::Taken(name)) => last = Some(name),
                Err(Insertion::Failed(failure)) => return Err(failure),
                Ok(answer) => return Ok(answer),
            }
        }
        let name = last.unwrap_or_default();
        Err(if is_generated {
            Failure::generate_name_conflict(&call.group_resource(), &name, 1)
        } else {
            Failure::already_exists(&call.group_resource(), &name)
        })
    }

    /// Everything between a named object and the store: admission, what the server decides, the kind's rules.
    pub(crate) fn finish_create(&self, call: &Call, mut object: Value) -> Result<Value, Failure> {
        let resource = &call.served.resource;
        admission::mutate_create(self, call, &mut object)?;
        let birth = Birth {
            uid: self.entropy.uid(),
            time: metadata::time(self.clock.now()),
        };
        strategy::prepare_create(resource, &mut object, &birth);
        admission::sign(call, &mut object);
        resource
            .behaviour
            .stamp(&mut object, None, Target::Main, self.clock.now());
        let errors = strategy::validate_create(resource, &object);
        if !errors.is_empty() {
            return Err(Self::invalid(call, &object, &errors));
        }
        admission::validate_create(self, call, &object)?;
        for warning in resource.behaviour.warnings(&object, None) {
            call.warnings.add(warning);
        }
        Ok(object)
    }

    async fn insert(&self, call: &Call, mut object: Value) -> Result<Answer, Insertion> {
        let name = metadata::text(&object, "name").to_owned();
        let key = call.served.key(metadata::text(&object, "namespace"), &name);
        if call.is_dry_run {
            return match self.store.snapshot().get(&key) {
                Some(_) => Err(Insertion::Taken(name)),
                None => Ok(Answer::Value(object)),
            };
        }
        call.served.keep(&mut object);
        let payload = self.payload(&object).map_err(Insertion::Failed)?;
        let operation = Operation {
            key,
            expect: Expect::Absent,
            change: Change::Put(payload),
        };
        match self.commit(operation).await {
            Ok(entry) => Ok(Answer::Stored(entry)),
            Err(CommitError::Conflict { .. }) => Err(Insertion::Taken(name)),
            Err(error) => Err(Insertion::Failed(unavailable(&error))),
        }
    }

    /// Commits one operation and gives the entry that it made, or unmade.
    pub(crate) async fn commit(&self, operation: Operation<Object>) -> Result<Arc<Entry<Object>>, CommitError<Object>> {
        let events = self.store.commit(vec![operation]).await?;
        let event = events.first().expect("each operation has an event");
        Ok(Arc::clone(&event.entry))
    }

    /// An object to store, unless it is too large.
    pub(crate) fn payload(&self, object: &Value) -> Result<Object, Failure> {
        let payload = Object::new(object);
        if payload.size() > self.limits.object_bytes {
            return Err(Failure::too_large("etcdserver: request is too large"));
        }
        Ok(payload)
    }

    /// The error that lists complaints.
    pub(crate) fn invalid(call: &Call, object: &Value, errors: &[FieldError]) -> Failure {
        let mut kind = GroupKind::of(&call.served.resource);
        if &*call.served.resource.collection == EVENTS {
            // Both groups of Events are one to validation, which calls it the core's.
            kind.group.clear();
        }
        Failure::invalid(&kind, metadata::text(object, "name"), errors)
    }
}

enum Insertion {
    Taken(String),
    Failed(Failure),
}

/// The error for a write that the store could not take.
pub(crate) fn unavailable(error: &CommitError<Object>) -> Failure {
    match error {
        CommitError::TooLarge => Failure::too_large("the object is too large to be stored"),
        CommitError::Overloaded => {
            Failure::too_many_requests("the server has too many writes in flight, please try again later", 1)
        }
        CommitError::Conflict { .. } | CommitError::Closed | CommitError::Failed => {
            Failure::service_unavailable("the store of this server takes no writes: look at its log and restart it")
        }
    }
}

/// Puts the object where the path says, or says why not.
pub(crate) fn place(call: &Call, object: &mut Value) -> Result<(), Failure> {
    let namespace = metadata::text(object, "namespace");
    if !call.served.resource.is_namespaced() {
        if !namespace.is_empty() {
            metadata::remove(object, "namespace");
        }
        return Ok(());
    }
    if namespace.is_empty() {
        metadata::set(object, "namespace", call.namespace.as_str());
        return Ok(());
    }
    if namespace == call.namespace {
        return Ok(());
    }
    Err(Failure::bad_request(
        "the namespace of the provided object does not match the namespace sent on the request",
    ))
}
