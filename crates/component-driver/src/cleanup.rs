//! What the two operators of a control plane agree on when it ends: one removes what the hosted cluster made outside of
//! itself and says so, the other lets the control plane go when that is over.

use std::time::Duration;

use hyperplane_api::{
    constants::{annotations, conditions::hosted_control_plane::CLOUD_RESOURCES_DESTROYED, reasons},
    hypershift::hosted_control_plane::HostedControlPlane,
};
use jiff::Timestamp;

/// How long the hosted cluster is given to remove what it made outside of itself.
pub const CLEANUP_PATIENCE: Duration = Duration::from_mins(10);

/// Whether the hosted cluster is to remove what it made outside of itself before it goes.
pub fn wants_cleanup(control_plane: &HostedControlPlane) -> bool {
    annotations::CLEANUP_CLOUD_RESOURCES.is_true(control_plane)
}

/// For how long it has been going; none where it is not.
pub fn deleted_for(control_plane: &HostedControlPlane, now: Timestamp) -> Option<Duration> {
    let since = control_plane.metadata.deletion_timestamp.as_ref()?;
    Some(Duration::try_from(now.duration_since(since.0)).unwrap_or_default())
}

/// Whether nobody removes anything any more: all is gone, nothing can be asked, or it took too long.
pub fn is_cleanup_over(control_plane: &HostedControlPlane) -> bool {
    let ends = [
        reasons::CLOUD_RESOURCES_CLEANUP_SKIPPED.as_str(),
        reasons::CLOUD_RESOURCES_DELETION_TIMED_OUT.as_str(),
    ];
    let conditions = control_plane.status.iter().flat_map(|status| &status.conditions);
    let mut cleanup = conditions.filter(|condition| condition.type_ == CLOUD_RESOURCES_DESTROYED.as_str());
    cleanup.any(|condition| condition.status == "True" || ends.contains(&condition.reason.as_str()))
}
