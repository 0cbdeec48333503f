//! New claims and volumes are held as long as they are in use.

use serde_json::Value;

use crate::{
    call::Call,
    controllers::protection::{CLAIM_FINALIZER, CLAIMS, VOLUME_FINALIZER, VOLUMES},
    metadata,
};

/// Adds the finalizer that holds a claim or a volume.
pub(super) fn complete(call: &Call, object: &mut Value) {
    let finalizer = match &*call.served.resource.collection {
        CLAIMS => CLAIM_FINALIZER,
        VOLUMES => VOLUME_FINALIZER,
        _ => return,
    };
    let mut finalizers: Vec<Value> = metadata::finalizers(object).map(Into::into).collect();
    if !finalizers.iter().any(|known| known == finalizer) {
        finalizers.push(finalizer.into());
        metadata::set_list(object, "finalizers", finalizers);
    }
}
