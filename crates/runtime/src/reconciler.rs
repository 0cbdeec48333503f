//! The one shape of a reconciler. Knows nothing of queues or watches: it is handed an object and a context.

use std::{sync::Arc, time::Duration};

use hyperplane_objects::Kind;
use kube::Resource as _;

use crate::{context::Context, failure::Failure, manager::Only, object_key::ObjectKey, queue::MINIMUM_GAP};

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

    /// How far apart runs of an object start at least, as long as nobody edits it. For one that sums up many others: each of
    /// their changes causes a run, and each run looks at all of them. See [`gap_of_sum`].
    fn gap(&self, object: &Self::Object) -> Duration {
        let _ = object;
        MINIMUM_GAP
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

/// The time that each part of a sum adds to the gap between runs.
const GAP_OF_PART: Duration = Duration::from_millis(1);
/// Nobody waits for a sum longer than this.
const LONGEST_GAP: Duration = Duration::from_secs(2);

/// How far apart runs start of an object that sums up so many others. What a run costs grows with their number, and so does the
/// number of changes: with a gap that grows alike, all runs together cost in proportion to the number, as long as that stays
/// below the longest gap.
pub fn gap_of_sum(parts: Option<i32>) -> Duration {
    let parts = u32::try_from(parts.unwrap_or_default()).unwrap_or_default();
    (GAP_OF_PART * parts).clamp(MINIMUM_GAP, LONGEST_GAP)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gap_of_a_sum_grows_with_it_within_bounds() {
        for (parts, wanted) in [
            (None, 100),
            (Some(-1), 100),
            (Some(5), 100),
            (Some(1_000), 1_000),
            (Some(i32::MAX), 2_000),
        ] {
            assert_eq!(gap_of_sum(parts), Duration::from_millis(wanted), "{parts:?}");
        }
    }
}
