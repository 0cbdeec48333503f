//! One request to a resource, after it was routed, authenticated and authorized. What verbs are given.

use std::sync::{Arc, Mutex, PoisonError};

use hyperplane_access::User;
use hyperplane_kinds::Target;
use hyperplane_store::Entry;
use hyperplane_wire::{Failure, GroupResource, options::FieldValidation};
use serde_json::Value;

use crate::{allocation::Reservation, object::Object, registry::Served};

/// Under which name the server makes requests of itself.
const SELF: &str = "system:apiserver";
/// Under which name it owns fields then.
const SELF_MANAGER: &str = "kube-apiserver";

/// A request to a resource.
#[derive(Debug)]
pub(crate) struct Call {
    /// Who asks.
    pub user: User,
    /// What is asked for.
    pub served: Arc<Served>,
    /// The namespace; empty where there is none, or where all are meant.
    pub namespace: String,
    /// The name; empty for collections.
    pub name: String,
    /// The path below the object; empty for the object itself.
    pub subresource: String,
    /// Whether nothing may be stored.
    pub is_dry_run: bool,
    /// Under which name fields are owned.
    pub manager: String,
    /// What becomes of fields that the kind does not know.
    pub field_validation: FieldValidation,
    /// What the client is told besides the answer.
    pub warnings: Arc<Warnings>,
    /// What the request holds until it is done.
    pub reservations: Mutex<Vec<Reservation>>,
}

/// What the client is told besides the answer.
#[derive(Debug, Default)]
pub(crate) struct Warnings(Mutex<Vec<String>>);

impl Warnings {
    /// Adds a warning, once.
    pub(crate) fn add(&self, text: impl Into<String>) {
        let text = text.into();
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !all.contains(&text) {
            all.push(text);
        }
    }

    /// Every warning so far.
    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Call {
    /// A request that the server makes of itself.
    pub(crate) fn internal(served: &Arc<Served>, namespace: &str, name: &str, subresource: &str) -> Self {
        Self {
            user: User::with_groups(SELF, vec!["system:masters".to_owned()]),
            served: Arc::clone(served),
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            subresource: subresource.to_owned(),
            is_dry_run: false,
            manager: SELF_MANAGER.to_owned(),
            field_validation: FieldValidation::Ignore,
            warnings: Arc::default(),
            reservations: Mutex::default(),
        }
    }

    /// The same request about one object.
    pub(crate) fn of(&self, namespace: &str, name: &str) -> Self {
        Self {
            user: self.user.clone(),
            served: Arc::clone(&self.served),
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            subresource: String::new(),
            is_dry_run: self.is_dry_run,
            manager: self.manager.clone(),
            field_validation: self.field_validation,
            warnings: Arc::default(),
            reservations: Mutex::default(),
        }
    }

    /// The part of the object that is meant.
    pub(crate) fn target(&self) -> Target<'_> {
        match self.subresource.as_str() {
            "" => Target::Main,
            "status" => Target::Status,
            other => Target::Subresource(other),
        }
    }

    /// The resource, as errors name it.
    pub(crate) fn group_resource(&self) -> GroupResource {
        GroupResource::of(&self.served.resource)
    }

    /// Holds something until the request is done.
    pub(crate) fn reserve(&self, reservation: Reservation) {
        self.reservations
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(reservation);
    }

    /// The error that says that the object is not there.
    pub(crate) fn not_found(&self) -> Failure {
        Failure::not_found(&self.group_resource(), &self.name)
    }
}

/// An object as a verb answers with it.
#[derive(Debug)]
pub(crate) enum Answer {
    /// As it is stored.
    Stored(Arc<Entry<Object>>),
    /// As it would be stored, or as it was.
    Value(Value),
    /// A Status in place of an object.
    Status(Value),
}
