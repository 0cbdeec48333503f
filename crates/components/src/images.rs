//! Which image a container gets: the names in assets are those of the release, and annotations win over it.

use std::collections::BTreeSet;

use hyperplane_api::{
    constants::{
        Annotation, annotations,
        objects::{components, roles},
    },
    hypershift::{etcd::EtcdManagementType, hosted_control_plane::HostedControlPlane, platform_type::PlatformType},
};
use hyperplane_planner::release::Release;
use kube::Resource;

use crate::{
    assets,
    catalogue::{catalogue, manager_catalogue},
    component::Component,
    inputs::Inputs,
};

/// What assets call the image of this program.
const OURS: &str = "hyperplane";

/// The images without which a release of Kubernetes cannot be hosted, and on whose side each runs.
const REQUIRED: &[(&str, Side)] = &[
    (components::ETCD, Side::Management),
    (components::API_SERVER, Side::Management),
    (components::CONTROLLER_MANAGER, Side::Management),
    (components::SCHEDULER, Side::Management),
    (components::KONNECTIVITY_SERVER, Side::Management),
    (components::KONNECTIVITY_AGENT, Side::Hosted),
    ("coredns", Side::Hosted),
    ("kube-proxy", Side::Hosted),
];

/// Annotations that replace one image of the release.
const OVERRIDES: &[(&str, Annotation)] = &[
    (components::CLUSTER_API, annotations::CAPI_MANAGER_IMAGE),
    (components::CLUSTER_AUTOSCALER, annotations::CLUSTER_AUTOSCALER_IMAGE),
    (components::KONNECTIVITY_AGENT, annotations::KONNECTIVITY_AGENT_IMAGE),
    (components::KONNECTIVITY_SERVER, annotations::KONNECTIVITY_SERVER_IMAGE),
];

/// Annotations that replace our own image in one component.
const OWN_OVERRIDES: &[(&str, Annotation)] = &[
    (roles::CONTROL_PLANE_OPERATOR, annotations::CONTROL_PLANE_OPERATOR_IMAGE),
    (roles::PKI_OPERATOR, annotations::CONTROL_PLANE_OPERATOR_IMAGE),
    (roles::CONFIG_OPERATOR, annotations::CONTROL_PLANE_OPERATOR_IMAGE),
    (components::MACHINE_APPROVER, annotations::MACHINE_APPROVER_IMAGE),
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Management,
    Hosted,
}

/// The images that a release needs to be hosted and does not carry, by the name of the component; empty means that it
/// can be hosted.
pub fn missing_images(inputs: &Inputs<'_>) -> Vec<String> {
    let has_own_etcd = inputs.control_plane.spec.etcd.management_type != EtcdManagementType::Unmanaged;
    let is_missing = |(name, side): &&(&str, Side)| {
        let release = match side {
            Side::Management => inputs.release,
            Side::Hosted => inputs.cluster_release,
        };
        (*name != components::ETCD || has_own_etcd) && hosted_image(name, release, inputs.control_plane).is_none()
    };
    let missing = REQUIRED.iter().filter(is_missing);
    missing.map(|(name, _)| (*name).to_owned()).collect()
}

/// Whether a control plane has a component: it is meant to, and there is an image for every container, or should be. What
/// no control plane can do without is never taken away because a release lacks its image.
pub(crate) fn exists(component: &Component, inputs: &Inputs<'_>) -> bool {
    (component.predicate)(inputs) && lacking(component, inputs).iter().all(|name| is_required(name))
}

fn is_required(name: &str) -> bool {
    REQUIRED
        .iter()
        .any(|(required, side)| *required == name && *side == Side::Management)
}

/// Whether a control plane has a component of that name; one that nobody knows does not exist.
pub(crate) fn exists_by_name(name: &str, inputs: &Inputs<'_>) -> bool {
    let mut all = catalogue().iter().chain(manager_catalogue());
    all.find(|component| component.name == name)
        .is_some_and(|component| exists(component, inputs))
}

/// The images of a component that neither the release nor an annotation gives.
pub(crate) fn lacking(component: &Component, inputs: &Inputs<'_>) -> Vec<String> {
    let workload = assets::workload(component);
    let names: BTreeSet<&str> = workload
        .containers()
        .filter_map(|container| container.image.as_deref())
        .collect();
    let lacking = names
        .into_iter()
        .filter(|name| resolve(name, component.name, inputs).is_none());
    lacking.map(str::to_owned).collect()
}

/// The image behind a name, in the pods of one component.
pub(crate) fn resolve(name: &str, component: &str, inputs: &Inputs<'_>) -> Option<String> {
    if name == OURS {
        let replaced = OWN_OVERRIDES.iter().find(|(of, _)| *of == component);
        let replaced = replaced.and_then(|(_, key)| inputs.annotation(*key));
        return Some(replaced.unwrap_or(&inputs.management.image).to_owned());
    }
    hosted_image(name, inputs.release, inputs.control_plane)
}

/// The image of a component of a release; annotations of its control plane win over it.
pub fn hosted_image(name: &str, release: &Release, control_plane: &HostedControlPlane) -> Option<String> {
    release_image(name, release, control_plane, &control_plane.spec.platform.type_)
}

/// The same for whatever carries the annotations: the cluster, before it has a control plane. Everybody who asks whether
/// there is an image asks here.
pub fn release_image<K: Resource>(
    name: &str,
    release: &Release,
    annotated: &K,
    platform: &PlatformType,
) -> Option<String> {
    // What assets call the provider of whichever platform a control plane has.
    let (names, annotation) = if name == components::CLUSTER_API_PROVIDER {
        let (platform, annotation) = provider(platform)?;
        // A release of OpenShift has the longer name.
        let names = [
            format!("capi-provider-{platform}"),
            format!("cluster-api-provider-{platform}"),
        ];
        (names.to_vec(), Some(annotation))
    } else {
        let replaced = OVERRIDES.iter().find(|(of, _)| *of == name);
        (vec![name.to_owned()], replaced.map(|(_, annotation)| *annotation))
    };
    let replaced = annotation.and_then(|key| key.of(annotated));
    let replaced = replaced.or_else(|| names.iter().find_map(|name| overridden(name, annotated)));
    let own = || {
        names
            .iter()
            .find_map(|name| release.components.get(name)?.image.as_deref())
    };
    replaced.or_else(own).map(str::to_owned)
}

/// The image that the annotation for any image of the release gives.
fn overridden<'a, K: Resource>(name: &str, annotated: &'a K) -> Option<&'a str> {
    let pairs = annotations::IMAGE_OVERRIDES.of(annotated)?.split(',');
    let mut pairs = pairs.filter_map(|pair| pair.split_once('='));
    let (_, image) = pairs.find(|(of, _)| of.trim() == name)?;
    Some(image.trim()).filter(|image| !image.is_empty())
}

/// The Cluster API provider of a platform: what its name in a release ends with, and the annotation that replaces it.
fn provider(platform: &PlatformType) -> Option<(&'static str, Annotation)> {
    Some(match platform {
        PlatformType::Aws => ("aws", annotations::CAPI_PROVIDER_AWS_IMAGE),
        PlatformType::Azure => ("azure", annotations::CAPI_PROVIDER_AZURE_IMAGE),
        PlatformType::Gcp => ("gcp", annotations::CAPI_PROVIDER_GCP_IMAGE),
        PlatformType::KubeVirt => ("kubevirt", annotations::CAPI_PROVIDER_KUBEVIRT_IMAGE),
        PlatformType::Agent => ("agent", annotations::CAPI_PROVIDER_AGENT_IMAGE),
        PlatformType::PowerVs => ("powervs", annotations::CAPI_PROVIDER_POWERVS_IMAGE),
        PlatformType::OpenStack => ("openstack", annotations::CAPI_PROVIDER_OPENSTACK_IMAGE),
        _ => return None,
    })
}
