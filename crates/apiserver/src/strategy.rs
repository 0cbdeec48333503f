//! What happens to every object on its way in, whatever its kind: which fields the server decides, which the client may
//! not change, and when a change counts. Pure: time and identity come in as parameters.

use hyperplane_kinds::{Resource, Target};
use hyperplane_schema::FieldError;
use serde_json::Value;

use crate::{metadata, metadata_rules};

/// What the server decides about a new object.
#[derive(Clone, Debug)]
pub(crate) struct Birth {
    /// The identity over time.
    pub uid: String,
    /// The time, as the wire writes it.
    pub time: String,
}

/// Makes a new object of what a client sent: its identity is ours, and what only updates may set is gone.
pub(crate) fn prepare_create(resource: &Resource, object: &mut Value, birth: &Birth) {
    let fields = metadata::of_mut(object);
    for field in ["deletionTimestamp", "deletionGracePeriodSeconds", "selfLink"] {
        fields.remove(field);
    }
    fields.insert("uid".to_owned(), birth.uid.clone().into());
    fields.insert("creationTimestamp".to_owned(), birth.time.clone().into());
    if resource.has_generation {
        fields.insert("generation".to_owned(), 1.into());
    }
    resource.behaviour.prepare_create(object);
}

/// Complaints about a new object. What the kind says goes first, and alone where it says anything: its words are the
/// more specific ones.
pub(crate) fn validate_create(resource: &Resource, object: &Value) -> Vec<FieldError> {
    let mut errors = metadata_rules::check(object, resource.is_namespaced(), |name| {
        resource.behaviour.validate_name(name)
    });
    errors.extend(metadata_rules::check_finalizers(resource, object));
    resource
        .behaviour
        .validate_after(&mut errors, object, None, Target::Main);
    errors
}

/// Carries over what a client may not change.
pub(crate) fn prepare_update(resource: &Resource, object: &mut Value, old: &Value, target: Target<'_>) {
    metadata::copy(object, old, "generation");
    resource.behaviour.prepare_update(object, old, target);
    if metadata::text(object, "uid").is_empty() {
        metadata::copy(object, old, "uid");
    }
    metadata::copy(object, old, "creationTimestamp");
    if metadata::is_deleting(old) {
        metadata::copy(object, old, "deletionTimestamp");
        if !metadata::of(object).contains_key("deletionGracePeriodSeconds") {
            metadata::copy(object, old, "deletionGracePeriodSeconds");
        }
    }
    metadata::remove(object, "selfLink");
    // Who binds a pod decides nothing that its controllers would have to observe, and neither does who writes a status: that
    // of a Deployment may change annotations, which count otherwise (pkg/registry/apps/deployment/strategy.go).
    let is_observed = !matches!(target, Target::Status | Target::Subresource("binding"));
    if resource.has_generation && is_observed && resource.behaviour.generation_changed(object, old) {
        metadata::set(object, "generation", metadata::generation(old) + 1);
    }
}

/// Complaints about a change, and those that are tolerated.
pub(crate) fn validate_update(
    resource: &Resource,
    object: &Value,
    old: &Value,
    target: Target<'_>,
) -> (Vec<FieldError>, Vec<FieldError>) {
    let mut errors = metadata_rules::check(object, resource.is_namespaced(), |_| Vec::new());
    // Upstream asks twice, once for all kinds and once for each, and clients see both answers.
    for _ in 0..2 {
        errors.extend(metadata_rules::check_update(object, old));
    }
    let tolerated = resource
        .behaviour
        .validate_after(&mut errors, object, Some(old), target);
    (errors, tolerated)
}
