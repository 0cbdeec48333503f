//! What pods may do: what the level "restricted" of pod security asks for, always, as we run on plain Kubernetes.

use hyperplane_api::constants::objects::{components, copies};
use k8s_openapi::api::core::v1::{Capabilities, LocalObjectReference, SeccompProfile};

use crate::{component::Component, inputs::Inputs, manifest::Workload};

/// Images whose published program has a capability in its file, as the release names them, and that capability. The kernel
/// does not execute such a file where the capability is not in the bounding set, whatever port the program listens on.
/// "restricted" allows this one to be added.
const FILE_CAPABILITIES: [(&str, &str); 1] = [(components::API_SERVER, "NET_BIND_SERVICE")];

pub(super) fn apply(component: &Component, inputs: &Inputs<'_>, workload: &mut Workload) {
    let pod = workload.pod_mut();
    pod.automount_service_account_token = Some(component.traits.needs_management_api);
    // Variables for every Service of the namespace are of no use, and would make pods depend on the order of creation.
    pod.enable_service_links.get_or_insert(false);
    pod.image_pull_secrets = Some(vec![LocalObjectReference {
        name: copies::PULL_SECRET.to_owned(),
    }]);
    let context = pod.security_context.get_or_insert_default();
    context.run_as_non_root = Some(true);
    context.run_as_user = inputs.management.user_id;
    // Files of Secrets are for the group only.
    context.fs_group = inputs.management.user_id;
    context.seccomp_profile = Some(SeccompProfile {
        type_: "RuntimeDefault".to_owned(),
        ..SeccompProfile::default()
    });
    for container in workload.containers_mut() {
        let capability = container.image.as_deref().and_then(file_capability);
        let context = container.security_context.get_or_insert_default();
        context.allow_privilege_escalation = Some(false);
        context.read_only_root_filesystem = Some(true);
        context.run_as_non_root = Some(true);
        context.run_as_user = inputs.management.user_id;
        context.capabilities = Some(Capabilities {
            add: capability.map(|capability| vec![capability.to_owned()]),
            drop: Some(vec!["ALL".to_owned()]),
        });
        context.seccomp_profile = Some(SeccompProfile {
            type_: "RuntimeDefault".to_owned(),
            ..SeccompProfile::default()
        });
    }
}

fn file_capability(image: &str) -> Option<&'static str> {
    let mut known = FILE_CAPABILITIES.into_iter();
    known.find(|(of, _)| *of == image).map(|(_, capability)| capability)
}
