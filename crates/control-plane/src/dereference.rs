//! What a run looks at before it decides: the releases, and events. Reads only.

use std::sync::Arc;

use hyperplane_api::{
    hyperplane::distribution_release::DistributionRelease, hypershift::hosted_control_plane::HostedControlPlane,
};
use hyperplane_planner::release::{Release, ResolveError, Shelf};
use hyperplane_runtime::{Api, Context, Failure, Store};
use k8s_openapi::api::core::v1::Event;
use kube::api::ListParams;

/// How many events of one object are looked at.
const MOST_EVENTS: u32 = 50;

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
    shelf: &Shelf,
) -> Result<Releases, ResolveError> {
    let objects = store.all();
    let find = |image: &str| {
        shelf
            .resolve(image, objects.iter().map(AsRef::as_ref))
            .map(|found| found.release)
    };
    Ok(Releases {
        control_plane: find(control_plane_image(control_plane))?,
        cluster: find(&control_plane.spec.release_image)?,
    })
}

/// What was said about a Service.
pub(crate) async fn events_of_service(context: &Context, namespace: &str, name: &str) -> Result<Vec<Event>, Failure> {
    let fields = format!("involvedObject.kind=Service,involvedObject.name={name}");
    let query = ListParams::default().fields(&fields).limit(MOST_EVENTS);
    let api = Api::<Event>::namespaced(context.client().clone(), namespace);
    Ok(api.list(&query).await?.items)
}
