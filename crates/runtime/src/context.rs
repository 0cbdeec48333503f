//! What a reconciler works with: reading is up to it, writing goes through here. Knows which controller and which
//! object it serves.

use std::sync::{Arc, atomic::AtomicBool};

use hyperplane_objects::Kind;
use jiff::Timestamp;
use k8s_openapi::api::core::v1::ObjectReference;
use kube::Client;
use serde::Serialize;

use hyperplane_seams::{Clock, Identity};

use crate::{
    client_service::wrap,
    events::{EventType, Note, Recorder, reference},
    failure::Failure,
    identity::{Carrying, IdentityLayer, IdentityMode},
    object_key::ObjectKey,
    writer::{Applied, Writer},
};

/// The surroundings of one run. Cheap to clone.
#[derive(Clone)]
pub struct Context {
    clock: Clock,
    identity_mode: IdentityMode,
    writer: Writer,
    recorder: Recorder,
    about: Arc<ObjectReference>,
}

impl Context {
    pub(crate) fn new(clock: Clock, identity_mode: IdentityMode, writer: Writer, recorder: Recorder) -> Self {
        Self {
            clock,
            identity_mode,
            writer,
            recorder,
            about: Arc::default(),
        }
    }

    /// The same surroundings for a run of one object.
    pub(crate) fn about<K: Kind>(&self, object: &K) -> Self {
        let mut context = self.clone();
        context.about = reference(object);
        context.writer.is_unconfirmed = Arc::default();
        context
    }

    /// The same surroundings for what is left of an object that is not there.
    pub(crate) fn about_missing<K: Kind>(&self, key: &ObjectKey) -> Self {
        let mut context = self.clone();
        context.about = Arc::new(ObjectReference {
            api_version: Some(K::api_version(&()).into_owned()),
            kind: Some(K::kind(&()).into_owned()),
            name: Some(key.name.clone()),
            namespace: key.scope().map(str::to_owned),
            ..ObjectReference::default()
        });
        context.writer.is_unconfirmed = Arc::default();
        context
    }

    /// The client, for what the methods below do not cover. Its writes pass the fence, too.
    pub const fn client(&self) -> &Client {
        &self.writer.client
    }

    /// The field manager of this controller, for writes that the methods below do not cover.
    pub fn field_manager(&self) -> &str {
        &self.writer.field_manager
    }

    /// The current wall time.
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Makes the object exist with exactly these fields under this controller's field manager, by forced server-side
    /// apply. Fields that were applied before and are missing now are removed. Nothing is sent if the watched object
    /// already carries the intent; kinds that are not watched are always sent.
    pub async fn apply<K: Kind>(&self, intent: &K) -> Result<Applied<K>, Failure> {
        self.writer.apply(intent).await
    }

    /// Makes this the status of the object that was read, under the field manager `<controller>/status`.
    pub async fn apply_status<K: Kind>(&self, object: &K, status: &impl Serialize) -> Result<Applied<K>, Failure> {
        self.writer.apply_status(object, status).await
    }

    /// The same for a status that carries over what was read, such as after a look that failed: it is refused where the
    /// object has changed since. A cache may lag behind our own last write, and what that added would be lost for good.
    pub async fn carry_status<K: Kind>(&self, object: &K, status: &impl Serialize) -> Result<Applied<K>, Failure> {
        self.writer.carry_status(object, status).await
    }

    /// Deletes the object that was read, and no other of the same name; that it is gone already is a success.
    pub async fn delete<K: Kind>(&self, object: &K) -> Result<(), Failure> {
        self.writer.delete(object).await
    }

    /// The same, unless the object has changed since it was read: for one that goes because of what was read in it. Tells
    /// whether it goes; what changed causes a run of its own.
    pub async fn delete_unchanged<K: Kind>(&self, object: &K) -> Result<bool, Failure> {
        self.writer.delete_unchanged(object).await
    }

    /// Tells about the object of this run. Repetitions are counted, not written one by one.
    pub fn event(&self, type_: EventType, reason: &'static str, message: impl Into<String>) {
        self.recorder.record(Note {
            about: (*self.about).clone(),
            type_,
            reason,
            message: message.into(),
        });
    }

    /// The same context, whose requests are made on behalf of a tenant.
    pub fn acting_as(&self, identity: Identity) -> Self {
        let layer = IdentityLayer::new(identity, self.identity_mode);
        let mut context = self.clone();
        context.writer.client = wrap(&self.writer.client, &layer);
        context
    }

    /// The same context, whose requests carry a value among their extensions, for a server in this process that looks for
    /// it there.
    pub fn carrying<T: Clone + Send + Sync + 'static>(&self, value: T) -> Self {
        let mut context = self.clone();
        context.writer.client = wrap(&self.writer.client, &Carrying::new(value));
        context
    }

    /// A flag that is up when something was written that the caches do not show yet.
    pub(crate) fn unconfirmed(&self) -> Arc<AtomicBool> {
        self.writer.is_unconfirmed.clone()
    }

    pub(crate) fn object_reference(&self) -> ObjectReference {
        (*self.about).clone()
    }
}
