//! The one shape of a reconciler. Knows nothing of queues or watches: it is handed an object and a context.

use std::{sync::Arc, time::Duration};

use kube::Resource as _;

use crate::{context::Context, failure::Failure, kind::Kind, manager::Only, object_key::ObjectKey};

/// When to look at an object again after a run that reached its goal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// When something changes.
    OnChange,
    /// When something changes, or after this long: for deadlines that no event announces.
    After(Duration),
}

/// Brings the world in line with one object.
///
/// A reconciler is not told why it runs. It may be dropped at any await, and running again must give the same result.
pub trait Reconciler: Send + Sync + 'static {
    /// The kind that it reconciles.
    type Object: Kind;

    /// The finalizer that guards [`Reconciler::cleanup`], as `domain/name`. With one, it is on the object before
    /// [`Reconciler::reconcile`] first runs, and off when `cleanup` has succeeded.
    const FINALIZER: Option<&'static str> = None;

    /// Whether [`Reconciler::sweep`] does something.
    const SWEEPS: bool = false;

    /// Whether [`Reconciler::reconcile`] is also called for objects that are being deleted: for those who carry out an end
    /// that takes time and is guarded by no finalizer of theirs, as kubelets do with pods.
    const SEES_DELETION: bool = false;

    /// Whether an object is one of those that a manager is for, where several share a cluster. It says so itself, unless it
    /// follows another object: then that one is asked, and whatever is made for it moves along.
    fn is_for(&self, only: &Only, object: &Self::Object) -> bool {
        only.selects(object.meta())
    }

    /// Makes what is described true. Not called for objects that are being deleted, unless
    /// [`Reconciler::SEES_DELETION`] says so and there is no finalizer.
    fn reconcile(
        &self,
        context: &Context,
        object: Arc<Self::Object>,
    ) -> impl Future<Output = Result<Next, Failure>> + Send;

    /// Takes back what `reconcile` did, for an object that is being deleted. It must bear that `reconcile` never ran.
    /// Only a successful end lets the object go; to wait, return [`Failure::Wait`].
    fn cleanup(
        &self,
        context: &Context,
        object: Arc<Self::Object>,
    ) -> impl Future<Output = Result<(), Failure>> + Send {
        let _ = (context, object);
        async { Ok(()) }
    }

    /// Removes what is left of an object that is not there. A write that was under way when its run was cut short can
    /// reach the server after the cleanup, so a finalizer alone does not keep orphans away where Kubernetes does not
    /// collect them: in other namespaces, and outside of the cluster.
    ///
    /// Called, where [`Reconciler::SWEEPS`] says so, when something concerns an object that the cache does not have. The
    /// cache may be behind: look at the server before anything is removed.
    fn sweep(&self, context: &Context, key: &ObjectKey) -> impl Future<Output = Result<(), Failure>> + Send {
        let _ = (context, key);
        async { Ok(()) }
    }
}
