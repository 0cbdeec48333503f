//! Objects are created only in namespaces that exist and stay, and of definitions that stay; the
//! namespaces of the system are never deleted.

use hyperplane_wire::{Failure, status::Cause};
use serde_json::Value;

use crate::{call::Call, core::Core, metadata};

/// Namespaces that the system needs.
const IMMORTAL: [&str; 3] = ["default", "kube-system", "kube-public"];

/// Refuses new objects in namespaces that are absent or on their way out.
pub(super) fn create(core: &Core, call: &Call, object: &Value) -> Result<(), Failure> {
    if call.served.terminating.is_cancelled() {
        let message = "create not allowed while custom resource definition is terminating";
        return Err(Failure::forbidden(
            &call.group_resource(),
            metadata::text(object, "name"),
            message,
        ));
    }
    if !call.served.resource.is_namespaced() {
        return Ok(());
    }
    let name = metadata::text(object, "namespace");
    let snapshot = core.store.snapshot();
    let registry = core.registry.get();
    let Some(namespaces) = registry.find("", "v1", "namespaces") else {
        return Ok(());
    };
    let Some(namespace) = snapshot.get(&namespaces.key("", name)) else {
        return Err(Failure::not_found(
            &hyperplane_wire::GroupResource::of(&namespaces.resource),
            name,
        ));
    };
    if !namespace.payload.facts().is_deleting {
        return Ok(());
    }
    let object_name = metadata::text(object, "name");
    let message = format!("unable to create new content in namespace {name} because it is being terminated");
    let cause = Cause {
        reason: "NamespaceTerminating".to_owned(),
        message: format!("namespace {name} is being terminated"),
        field: "metadata.namespace".to_owned(),
    };
    Err(Failure::forbidden(&call.group_resource(), object_name, message).with_cause(cause))
}

/// Refuses to delete what the system needs.
pub(super) fn delete(call: &Call) -> Result<(), Failure> {
    let resource = &call.served.resource;
    let is_namespace = resource.group.is_empty() && resource.plural == "namespaces";
    if is_namespace && IMMORTAL.contains(&call.name.as_str()) {
        return Err(Failure::forbidden(
            &call.group_resource(),
            &call.name,
            "this namespace may not be deleted",
        ));
    }
    Ok(())
}
