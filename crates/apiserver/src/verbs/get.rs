//! GET of one object.

use hyperplane_store::Revision;
use hyperplane_wire::Failure;

use crate::{
    call::{Answer, Call},
    core::Core,
};

impl Core {
    /// Reads an object. Every read is of the latest state, which satisfies every wish for an age but one for the future.
    pub(crate) async fn get(&self, call: &Call, not_older_than: Revision) -> Result<Answer, Failure> {
        self.reach(not_older_than).await?;
        Self::find(&self.store.snapshot(), &call.served, &call.namespace, &call.name)
            .map(Answer::Stored)
            .ok_or_else(|| call.not_found())
    }

    /// Waits a while for a revision that is not there yet.
    pub(crate) async fn reach(&self, revision: Revision) -> Result<(), Failure> {
        let current = self.store.snapshot().revision();
        if revision <= current {
            return Ok(());
        }
        let patience = self.limits.future_revision_patience;
        match tokio::time::timeout(patience, self.store.reached(revision)).await {
            Ok(()) => Ok(()),
            Err(_) => Err(Failure::resource_version_too_large(
                revision.0,
                self.store.snapshot().revision().0,
                1,
            )),
        }
    }
}
