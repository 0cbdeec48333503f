//! PATCH: a change in place of the whole object. JSON patches and both merge patches are computed on the current state,
//! again when another write was faster; an apply states an intent, and creates what is not there.

use bytes::Bytes;
use hyperplane_wire::{
    Failure,
    negotiate::BodyFormat,
    patch::{self, Patched},
};
use serde_json::Value;

use super::{
    create::place,
    modify::{Modification, Modified},
    strategic,
};
use crate::{call::Call, core::Core, metadata, ownership, reading};

/// A change.
#[derive(Clone, Debug)]
pub(crate) enum Patch {
    /// RFC 6902.
    Json(Bytes),
    /// RFC 7386.
    Merge(Bytes),
    /// By the merge keys of the kind.
    Strategic(Bytes),
    /// An intent of a field manager.
    Apply { body: Bytes, force: bool },
}

impl Core {
    /// Changes an object.
    pub(crate) async fn patch(&self, call: &Call, patch: &Patch) -> Result<Modified, Failure> {
        match patch {
            Patch::Json(body) => {
                self.patch_with(call, &|old| patch::json_patch(old, body, call.field_validation))
                    .await
            }
            Patch::Merge(body) => {
                self.patch_with(call, &|old| patch::merge_patch(old, body, call.field_validation))
                    .await
            }
            Patch::Strategic(body) => self.patch_strategically(call, body).await,
            Patch::Apply { body, force } => self.apply(call, body, *force).await,
        }
    }

    async fn patch_with(
        &self,
        call: &Call,
        change: &(dyn Fn(&Value) -> Result<Patched, Failure> + Send + Sync),
    ) -> Result<Modified, Failure> {
        let change = |old: &Value| {
            let Patched { mut value, complaints } = change(old)?;
            reading::settle_patched(call, &mut value, complaints)?;
            Ok(value)
        };
        self.patch_to(call, &change).await
    }

    async fn patch_strategically(&self, call: &Call, body: &[u8]) -> Result<Modified, Failure> {
        let types = call.served.resource.behaviour.field_types(&call.served.api_version);
        let types = types.ok_or_else(|| Failure::internal("the kind has no types to merge by"))?;
        let change = |old: &Value| {
            let strategic::Outcome {
                mut value,
                complaints,
                printed,
            } = strategic::patch(old, body, call.field_validation, types)?;
            reading::settle_strategic(call, &mut value, complaints, &printed)?;
            Ok(value)
        };
        self.patch_to(call, &change).await
    }

    /// Changes an object to what `change` makes of it.
    async fn patch_to(
        &self,
        call: &Call,
        change: &(dyn Fn(&Value) -> Result<Value, Failure> + Send + Sync),
    ) -> Result<Modified, Failure> {
        let next = |old: Option<&Value>| {
            let old = old.ok_or_else(|| call.not_found())?;
            let mut object = change(old)?;
            reading::check_name(call, &object)?;
            place(call, &mut object)?;
            ownership::deduplicate_owners(&mut object, &call.warnings);
            Ok(ownership::record_update(self, call, Some(old), object))
        };
        self.modify(
            call,
            &Modification {
                uid: None,
                creates: false,
                next: &next,
            },
        )
        .await
    }

    async fn apply(&self, call: &Call, body: &[u8], force: bool) -> Result<Modified, Failure> {
        let intent = reading::intent(call, body, BodyFormat::Yaml)?;
        let uid = metadata::text(&intent, "uid");
        let next = |old: Option<&Value>| {
            if old.is_none() && !uid.is_empty() {
                let message =
                    format!("uid mismatch: the provided object specified uid {uid}, and no existing object was found");
                return Err(Failure::conflict(&call.group_resource(), &call.name, message));
            }
            let mut object = ownership::apply(self, call, old, &intent, force)?;
            let behaviour = &call.served.resource.behaviour;
            // What was merged is read like any body, so that it has the form that the kind gives to bodies.
            behaviour
                .read(&mut object)
                .map_err(|malformed| Failure::unclassified(malformed.0))?;
            behaviour.default(&mut object);
            Ok(object)
        };
        self.modify(
            call,
            &Modification {
                uid: None,
                creates: call.subresource.is_empty(),
                next: &next,
            },
        )
        .await
    }
}
