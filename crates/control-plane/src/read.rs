//! What a run looks at before it decides: the releases, the namespace, the pause. Reads only.

use std::sync::Arc;

use hyperplane_api::{
    hyperplane::distribution_release::DistributionRelease,
    hypershift::{
        hosted_control_plane::HostedControlPlane,
        paused::{Pause, pause},
    },
};
use hyperplane_planner::release::{Release, ResolveError, resolve};
use hyperplane_runtime::Store;
use jiff::Timestamp;

/// The two releases of a control plane.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Releases {
    /// Of what runs on the management cluster.
    pub(crate) control_plane: Arc<Release>,
    /// Of what is seen inside of the hosted cluster.
    pub(crate) cluster: Arc<Release>,
}

/// The images that a control plane asks for.
pub(crate) fn release_images(control_plane: &HostedControlPlane) -> Vec<String> {
    let spec = &control_plane.spec;
    let images = [Some(&spec.release_image), spec.control_plane_release_image.as_ref()];
    images.into_iter().flatten().cloned().collect()
}

/// The image of the release that runs on the management cluster.
pub(crate) fn control_plane_image(control_plane: &HostedControlPlane) -> &str {
    let spec = &control_plane.spec;
    spec.control_plane_release_image.as_ref().unwrap_or(&spec.release_image)
}

/// Finds both releases.
pub(crate) fn releases(
    control_plane: &HostedControlPlane,
    store: &Store<DistributionRelease>,
) -> Result<Releases, ResolveError> {
    let objects = store.all();
    let find = |image: &str| resolve(image, objects.iter().map(AsRef::as_ref)).map(|found| found.release);
    Ok(Releases {
        control_plane: find(control_plane_image(control_plane))?,
        cluster: find(&control_plane.spec.release_image)?,
    })
}

/// Whether the control plane is left alone now, and until when. A text that nobody can read pauses nothing: the manager
/// says so on the HostedCluster.
pub(crate) fn paused(control_plane: &HostedControlPlane, now: Timestamp) -> Option<Pause> {
    let text = control_plane.spec.paused_until.as_deref()?;
    pause(text).ok().filter(|pause| pause.holds_at(now))
}
