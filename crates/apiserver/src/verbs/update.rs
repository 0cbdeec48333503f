//! PUT: the object as the client wants it, whole.

use hyperplane_wire::Failure;
use serde_json::Value;

use super::{
    create::place,
    modify::{Modification, Modified},
};
use crate::{call::Call, core::Core, metadata, ownership};

impl Core {
    /// Replaces an object, or creates it where the kind allows that by PUT.
    pub(crate) async fn update(&self, call: &Call, mut object: Value) -> Result<Modified, Failure> {
        let name = metadata::text(&object, "name");
        if name.is_empty() {
            return Err(Failure::bad_request(format!(
                "the name of the object ({} based on URL) was undeterminable: name must be provided",
                call.name
            )));
        }
        if name != call.name {
            return Err(Failure::bad_request(format!(
                "the name of the object ({name}) does not match the name on the URL ({})",
                call.name
            )));
        }
        place(call, &mut object)?;
        ownership::deduplicate_owners(&mut object, &call.warnings);
        let uid = Some(metadata::text(&object, "uid").to_owned()).filter(|uid| !uid.is_empty());
        let next = |old: Option<&Value>| Ok(ownership::record_update(self, call, old, object.clone()));
        self.modify(
            call,
            &Modification {
                uid,
                creates: call.served.resource.creates_on_update && call.subresource.is_empty(),
                next: &next,
            },
        )
        .await
    }
}
