//! Who owns which field: the seam between writes and server-side apply. Owns how a request becomes an author; what
//! ownership means is the business of the merge crate.

use std::collections::BTreeSet;

use hyperplane_kinds::Target;
use hyperplane_merge::{ApplyError, Author, ResetFields, Scope, describe_conflicts};
use hyperplane_wire::{Failure, status::Cause};
use serde_json::Value;

use crate::{
    call::{Call, Warnings},
    core::Core,
    metadata,
};

/// A new object, with all of its fields owned by who made it.
pub(crate) fn record_create(core: &Core, call: &Call, object: Value) -> Value {
    record_update(core, call, None, object)
}

/// A changed object, with what changed owned by who changed it.
pub(crate) fn record_update(core: &Core, call: &Call, old: Option<&Value>, object: Value) -> Value {
    with_scope(call, |scope| {
        hyperplane_merge::update(old, object, &author(core, call), scope)
    })
}

/// The object with the fields of an intent applied.
pub(crate) fn apply(
    core: &Core,
    call: &Call,
    old: Option<&Value>,
    intent: &Value,
    force: bool,
) -> Result<Value, Failure> {
    let applied = with_scope(call, |scope| {
        hyperplane_merge::apply(old, intent, &author(core, call), scope, force)
    });
    applied.map_err(refused)
}

fn author<'a>(core: &Core, call: &'a Call) -> Author<'a> {
    Author {
        manager: &call.manager,
        api_version: &call.served.api_version,
        subresource: &call.subresource,
        time: core.clock.now(),
    }
}

fn with_scope<R>(call: &Call, act: impl FnOnce(&Scope<'_>) -> R) -> R {
    let types = |api_version: &str| call.served.resource.behaviour.field_types(api_version);
    let behaviour = &call.served.resource.behaviour;
    let of_subresource = match call.target() {
        Target::Main | Target::Status => ResetFields::none(),
        target @ Target::Subresource(_) => {
            ResetFields::none().exclude(&call.served.api_version, behaviour.reset_fields(target))
        }
    };
    act(&Scope {
        types: &types,
        reset: match call.target() {
            Target::Main => &call.served.main_reset,
            Target::Status => &call.served.status_reset,
            Target::Subresource(_) => &of_subresource,
        },
    })
}

/// The error that a client gets.
pub(crate) fn refused(error: ApplyError) -> Failure {
    match error {
        ApplyError::Conflicts(conflicts) => {
            let causes = conflicts.iter().map(|conflict| Cause {
                reason: "FieldManagerConflict".to_owned(),
                message: conflict.message(),
                field: conflict.field.clone(),
            });
            Failure::apply_conflict(describe_conflicts(&conflicts), causes.collect())
        }
        ApplyError::BadRequest(message) => Failure::bad_request(message),
        ApplyError::Invalid(message) => Failure::unclassified(message),
    }
}

/// Owners that are named twice are named once, and the client hears of it.
pub(crate) fn deduplicate_owners(object: &mut Value, warnings: &Warnings) {
    let mut repeated = BTreeSet::new();
    let Some(Value::Array(owners)) = metadata::of_mut(object).get_mut("ownerReferences") else {
        return;
    };
    let mut kept: Vec<Value> = Vec::with_capacity(owners.len());
    for owner in owners.drain(..) {
        let uid = owner.get("uid").and_then(Value::as_str).unwrap_or_default().to_owned();
        if kept.contains(&owner) {
            repeated.insert(uid);
        } else {
            kept.push(owner);
        }
    }
    *owners = kept;
    if !repeated.is_empty() {
        let uids: Vec<String> = repeated.into_iter().collect();
        warnings.add(format!(
            ".metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, and may \
             reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: {}",
            uids.join(", ")
        ));
    }
}
