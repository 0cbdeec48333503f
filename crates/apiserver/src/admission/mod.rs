//! What the server itself has to say about a write, besides the rules of the kind: a list of plugins, asked in order.
//! Each is one file; adding one is one line here.

mod access;
mod certificates;
mod namespace_lifecycle;
mod nodes;
mod pods;
mod services;
mod volumes;

use hyperplane_wire::Failure;
use serde_json::Value;

use self::access::Write;
use crate::{call::Call, core::Core};

/// Lets plugins complete a new object.
pub(crate) fn mutate_create(core: &Core, call: &Call, object: &mut Value) -> Result<(), Failure> {
    namespace_lifecycle::create(core, call, object)?;
    pods::complete(core, call, object)?;
    nodes::complete(call, object);
    volumes::complete(call, object);
    services::complete(core, call, object, None)
}

/// Writes into a new object what the server knows of its author, after what the client wrote there is gone.
pub(crate) fn sign(call: &Call, object: &mut Value) {
    certificates::sign(call, object);
}

/// Lets plugins judge a new object, which is complete.
pub(crate) fn validate_create(core: &Core, call: &Call, object: &Value) -> Result<(), Failure> {
    access::may_create(core, call)?;
    certificates::create(call, object)?;
    let write = Write {
        verb: "create",
        object: Some(object),
        old: None,
    };
    access::check(core, call, &write)
}

/// Lets plugins complete a changed object.
pub(crate) fn mutate_update(core: &Core, call: &Call, object: &mut Value, old: &Value) -> Result<(), Failure> {
    services::complete(core, call, object, Some(old))
}

/// Lets plugins judge a change.
pub(crate) fn validate_update(core: &Core, call: &Call, object: &Value, old: &Value) -> Result<(), Failure> {
    certificates::update(core, call, object, old)?;
    let write = Write {
        verb: "update",
        object: Some(object),
        old: Some(old),
    };
    access::check(core, call, &write)
}

/// Lets plugins judge a deletion.
pub(crate) fn validate_delete(core: &Core, call: &Call, object: &Value) -> Result<(), Failure> {
    namespace_lifecycle::delete(call)?;
    let write = Write {
        verb: "delete",
        object: None,
        old: Some(object),
    };
    access::check(core, call, &write)
}
