//! What access has to say about a write: nobody grants what they do not have, and nodes keep to their own.

use hyperplane_access::{Attributes, admission};
use hyperplane_wire::Failure;
use serde_json::Value;

use crate::{
    call::Call,
    core::Core,
    identity::{Latest, refused},
};

/// A write as access sees it.
pub(super) struct Write<'a> {
    /// `create`, `update` or `delete`.
    pub verb: &'a str,
    /// What would be stored.
    pub object: Option<&'a Value>,
    /// What is stored.
    pub old: Option<&'a Value>,
}

/// Refuses to make an object by the way of changing it, which is what an apply to a name that is free asks for: the right
/// to change does not stand for the right to make (apiserver, pkg/endpoints/handlers, `withAuthorization`).
pub(super) fn may_create(core: &Core, call: &Call) -> Result<(), Failure> {
    if call.name.is_empty() || !call.subresource.is_empty() {
        return Ok(());
    }
    let resource = &call.served.resource;
    let attributes = Attributes {
        version: &resource.version,
        ..Attributes::resource(
            &call.user,
            "create",
            &resource.group,
            &resource.plural,
            &call.namespace,
            &call.name,
        )
    };
    let decision = core.policy.authorize(&attributes);
    if decision.is_allowed() {
        return Ok(());
    }
    Err(Failure::forbidden(
        &call.group_resource(),
        &call.name,
        decision.reason(),
    ))
}

/// Refuses a write that would give its author more rights, or with which a node would reach beyond itself.
pub(super) fn check(core: &Core, call: &Call, write: &Write<'_>) -> Result<(), Failure> {
    let resource = &call.served.resource;
    let attributes = Attributes {
        version: &resource.version,
        subresource: &call.subresource,
        ..Attributes::resource(
            &call.user,
            write.verb,
            &resource.group,
            &resource.plural,
            &call.namespace,
            &call.name,
        )
    };
    admission::node_restriction(&admission::Write {
        attributes: &attributes,
        object: write.object,
        old: write.old,
        objects: &Latest(core),
        policy: &core.policy,
    })
    .map_err(|refusal| refused(&refusal))?;
    match write.object {
        Some(object) if resource.group == hyperplane_access::bootstrap::GROUP => core
            .policy
            .escalation(&attributes, object, write.old)
            .map_err(|refusal| refused(&refusal)),
        _ => Ok(()),
    }
}
