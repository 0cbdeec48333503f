//! The status of a control plane: a function of what was seen and of the status before.

use hyperplane_api::{
    common::SecretKeyReference,
    constants::{
        conditions::hosted_control_plane as types,
        objects::{keys, kubeconfigs},
    },
    hypershift::{
        endpoint::ApiEndpoint,
        hosted_control_plane::HostedControlPlaneStatus,
        ours::ControlPlaneInitialization,
        version_status::{ControlPlaneVersionStatus, UpdateState},
    },
};
use hyperplane_components::Objects;
use hyperplane_runtime::conditions::{holds, merge, written};
use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;

use crate::conditions::{Seen, conditions, was_available};

/// The status after a run.
pub(crate) fn status(
    seen: &Seen<'_>,
    objects: &Objects,
    version: Option<ControlPlaneVersionStatus>,
    now: Timestamp,
) -> HostedControlPlaneStatus {
    let control_plane = seen.control_plane;
    let before = control_plane.status.as_ref();
    let known = before.map_or(&[][..], |before| &before.conditions);
    let conditions = merge(known, conditions(seen), control_plane.metadata.generation, now);
    let is_available = holds(&conditions, types::AVAILABLE.as_str());
    let has_served = is_available || was_available(control_plane);
    let completed = version.as_ref().and_then(completed_image);
    let release_image = completed.or_else(|| before.and_then(|before| before.release_image.clone()));
    HostedControlPlaneStatus {
        ready: is_available,
        // HyperShift's meaning: the object is looked after. Whether anything has served is told by `initialization`.
        initialized: true,
        initialization: has_served.then_some(ControlPlaneInitialization {
            control_plane_initialized: Some(true),
        }),
        control_plane_endpoint: seen.infrastructure.api_server.as_ref().map(|endpoint| ApiEndpoint {
            host: endpoint.host.clone(),
            port: endpoint.port.into(),
        }),
        kube_config: reference(objects, kubeconfigs::ADMIN),
        custom_kubeconfig: reference(objects, kubeconfigs::CUSTOM_ADMIN),
        last_release_image_transition_time: transition(before, release_image.as_deref(), now),
        release_image,
        control_plane_version: version,
        conditions,
        ..HostedControlPlaneStatus::default()
    }
}

/// When the image was reached that is there now.
fn transition(before: Option<&HostedControlPlaneStatus>, image: Option<&str>, now: Timestamp) -> Option<Time> {
    let image = image?;
    let known = before.filter(|before| before.release_image.as_deref() == Some(image));
    let known = known.and_then(|before| before.last_release_image_transition_time.clone());
    known.or_else(|| Some(written(now)))
}

/// The image that every component reached last.
fn completed_image(version: &ControlPlaneVersionStatus) -> Option<String> {
    let mut history = version.history.iter();
    let last = history.find(|update| update.state == UpdateState::Completed)?;
    Some(last.image.clone())
}

fn reference(objects: &Objects, name: &str) -> Option<SecretKeyReference> {
    objects.secrets.contains_key(name).then(|| SecretKeyReference {
        name: name.to_owned(),
        key: keys::KUBECONFIG.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_a_release_moves_with_the_release_only() {
        let at = |second| Timestamp::constant(second, 999);
        let first = transition(None, Some("a"), at(10));
        assert_eq!(first, Some(Time(Timestamp::constant(10, 0))));
        let status = HostedControlPlaneStatus {
            release_image: Some("a".to_owned()),
            last_release_image_transition_time: first.clone(),
            ..HostedControlPlaneStatus::default()
        };
        assert_eq!(transition(Some(&status), Some("a"), at(20)), first);
        assert_eq!(
            transition(Some(&status), Some("b"), at(20)),
            Some(Time(Timestamp::constant(20, 0)))
        );
        assert_eq!(transition(Some(&status), None, at(20)), None);
    }
}
