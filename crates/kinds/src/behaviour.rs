//! What kinds do differently, as functions over an object: the seam between the one path of the server and its kinds,
//! with two implementations, the built-in table and custom resources.

use std::fmt;

use hyperplane_merge::Types;
use hyperplane_schema::FieldError;
use jiff::Timestamp;
use serde_json::Value;

/// Which part of an object a write is aimed at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target<'a> {
    /// The object itself.
    Main,
    /// Its status.
    Status,
    /// Another subresource that changes it, such as `approval` or `finalize`.
    Subresource(&'a str),
}

/// A body that cannot be of the kind: a number where a string belongs, say. The text follows upstream's decoder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Malformed(pub String);

/// What one kind does with its objects. Every function is total: what a client sends must never make one panic.
pub trait Behaviour: fmt::Debug + Send + Sync {
    /// Removes what the kind does not know from a body, and gives the paths of it. Fails where upstream's decoder fails.
    fn read(&self, object: &mut Value) -> Result<Vec<String>, Malformed>;

    /// Fills in what the client left open. Runs on every write and on every read, so it must be idempotent.
    fn default(&self, object: &mut Value);

    /// Turns a stored object into the form that this version of the kind shows: converts it and fills in what it lacks.
    fn show(&self, object: &mut Value, api_version: &str) {
        self.from_stored(object);
        object["apiVersion"] = api_version.into();
        self.default(object);
    }

    /// Turns an object of this version into the form in which it is stored.
    fn keep(&self, object: &mut Value, storage_version: &str) {
        self.to_stored(object);
        object["apiVersion"] = storage_version.into();
    }

    /// The types by which fields of a version are owned; none where that version is not served.
    fn field_types(&self, _api_version: &str) -> Option<&Types> {
        None
    }

    /// The schema that clients are shown; none for built-in kinds, whose schemas are definitions.
    fn openapi_schema(&self) -> Option<&Value> {
        None
    }

    /// The fields that a write through this target cannot own, because the kind resets them.
    fn reset_fields(&self, target: Target<'_>) -> &'static [&'static [&'static str]] {
        match target {
            Target::Main => &[&["status"]],
            Target::Status => &[&["spec"]],
            Target::Subresource(_) => &[],
        }
    }

    /// Resets what a client may not decide on create, such as status.
    fn prepare_create(&self, object: &mut Value);

    /// Carries over from `old` what a client may not change through this target.
    fn prepare_update(&self, object: &mut Value, old: &Value, target: Target<'_>);

    /// How many seconds an object may take to go, given what the client asked for; none where objects of the kind go at
    /// once.
    fn grace_period_seconds(&self, _object: &Value, _requested: Option<i64>) -> Option<i64> {
        None
    }

    /// Whether something besides finalizers in the metadata keeps a deleted object, as `spec.finalizers` does with a
    /// Namespace.
    fn is_held(&self, _object: &Value) -> bool {
        false
    }

    /// Shows in the object that its deletion begins, beyond the metadata, and adds the finalizers that it needs for that.
    fn begin_deletion(&self, _object: &mut Value, _now: Timestamp) {}

    /// Complaints about an object; with `old`, about the change too. Metadata that is common to all kinds is not its
    /// business, except the syntax of names ([`Behaviour::validate_name`]).
    fn validate(&self, object: &Value, old: Option<&Value>, target: Target<'_>) -> Vec<FieldError>;

    /// The same after complaints about the metadata, on which it may depend what else is looked at. Gives the complaints
    /// that are tolerated, of which the client is told.
    fn validate_after(
        &self,
        errors: &mut Vec<FieldError>,
        object: &Value,
        old: Option<&Value>,
        target: Target<'_>,
    ) -> Vec<FieldError> {
        errors.extend(self.validate(object, old, target));
        Vec::new()
    }

    /// Why a name is none of this kind, in upstream's words.
    fn validate_name(&self, name: &str) -> Vec<String>;

    /// Whether anything that counts as a new generation differs.
    fn generation_changed(&self, object: &Value, old: &Value) -> bool;

    /// Warnings for the client about an object that is accepted.
    fn warnings(&self, object: &Value, old: Option<&Value>) -> Vec<String>;

    /// Fills in the times that the server decides: of a phase that changed, of a condition that a client added. Runs after
    /// the functions that prepare, before validation.
    fn stamp(&self, _object: &mut Value, _old: Option<&Value>, _target: Target<'_>, _now: Timestamp) {}

    /// Brings a validated object from this version into the form that is stored. Only kinds of which several versions or
    /// groups share one collection do anything.
    fn to_stored(&self, _object: &mut Value) {}

    /// Brings a stored object into this version, `apiVersion` excepted.
    #[expect(
        clippy::wrong_self_convention,
        reason = "the counterpart of to_stored; the kind stays, the object moves"
    )]
    fn from_stored(&self, _object: &mut Value) {}

    /// The cells of its row in a table, in the order of the resource's columns.
    fn cells(&self, object: &Value, now: Timestamp) -> Vec<Value>;
}
