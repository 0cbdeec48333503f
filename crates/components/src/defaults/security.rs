//! What pods may do: what the level "restricted" of pod security asks for, always, as we run on plain Kubernetes.

use hyperplane_api::constants::objects::copies;
use k8s_openapi::api::core::v1::{Capabilities, LocalObjectReference, SeccompProfile};

use crate::{component::Component, inputs::Inputs, manifest::Workload};

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
        let context = container.security_context.get_or_insert_default();
        context.allow_privilege_escalation = Some(false);
        context.read_only_root_filesystem = Some(true);
        context.run_as_non_root = Some(true);
        context.run_as_user = inputs.management.user_id;
        context.capabilities = Some(Capabilities {
            drop: Some(vec!["ALL".to_owned()]),
            ..Capabilities::default()
        });
        context.seccomp_profile = Some(SeccompProfile {
            type_: "RuntimeDefault".to_owned(),
            ..SeccompProfile::default()
        });
    }
}
