//! PUT: the object as the client wants it, whole.

use hyperplane_wire::Failure;
use serde_json::Value;

use super::{
    create::place,
    modify::{Modification, Modified},
};
use crate::{call::Call, core::Core, metadata, ownership, reading};

impl Core {
    /// Replaces an object, or creates it where the kind allows that by PUT.
    pub(crate) async fn update(&self, call: &Call, mut object: Value) -> Result<Modified, Failure> {
        check_name_of_update(call, &object)?;
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

/// An update says in its body which object it is about, and that is the one in the path.
pub(crate) fn check_name_of_update(call: &Call, object: &Value) -> Result<(), Failure> {
    if metadata::text(object, "name").is_empty() {
        return Err(Failure::bad_request(format!(
            "the name of the object ({} based on URL) was undeterminable: name must be provided",
            call.name
        )));
    }
    reading::check_name(call, object)
}
