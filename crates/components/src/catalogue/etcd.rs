//! etcd: one member, or three that survive the loss of one.
//!
//! Images have no shell, so what a member starts with is written by our own init container: it takes the ConfigMap
//! `etcd-template`, which holds all that members share, and adds the facts of the member. From the ConfigMap `etcd-state` it
//! learns whether there has been a cluster: a member whose data is gone must not begin another one beside it.

use std::sync::Arc;

use hyperplane_api::{
    constants::{conditions, objects},
    hypershift::etcd::{EtcdManagementType, managed::EtcdManaged, unmanaged::EtcdUnmanaged},
};
use k8s_openapi::{
    api::core::v1::{Container, EnvVar, EnvVarSource, ObjectFieldSelector, ResourceRequirements},
    apimachinery::pkg::api::resource::Quantity,
};

use crate::{
    component::{Asset, Component, Traits, WorkloadKind, asset},
    flags,
    inputs::Inputs,
    manifest::{Manifest, Workload},
    quantity::canonical,
    replicas,
    volumes::mount,
};

const ASSETS: &[Asset] = &[
    asset!("etcd/template.yaml"),
    asset!("etcd/state.yaml").adapted(adapt_state),
    asset!("etcd/discovery-service.yaml"),
    asset!("etcd/client-service.yaml"),
    asset!("etcd/pod-disruption-budget.yaml"),
    asset!("etcd/service-monitor.yaml"),
    asset!("etcd/stateful-set.yaml"),
];

/// The ConfigMap that says whether there has been a cluster, and how.
const STATE: &str = "etcd-state";
const STATE_KEY: &str = "initial-cluster-state";
const STATE_EXISTING: &str = "existing";

pub(crate) const COMPONENT: Component = Component {
    traits: Traits {
        is_spread: true,
        precedes_api_server: true,
        has_three_replicas: true,
        ..Traits::ORDINARY
    },
    predicate: is_managed,
    waits,
    adapt,
    ..Component::new(objects::components::ETCD, WorkloadKind::StatefulSet, ASSETS)
};

/// Whether the control plane has an etcd of its own.
pub(crate) fn is_managed(inputs: &Inputs<'_>) -> bool {
    inputs.control_plane.spec.etcd.management_type != EtcdManagementType::Unmanaged
}

/// The etcd of the user's own, if that is what the control plane has.
pub(super) fn unmanaged<'a>(inputs: &Inputs<'a>) -> Option<&'a EtcdUnmanaged> {
    let unmanaged = inputs.control_plane.spec.etcd.unmanaged.as_ref();
    unmanaged.filter(|_| !is_managed(inputs))
}

fn managed<'a>(inputs: &Inputs<'a>) -> Option<&'a EtcdManaged> {
    inputs.control_plane.spec.etcd.managed.as_ref()
}

/// What would lose data if it were passed over.
fn waits(inputs: &Inputs<'_>) -> Vec<String> {
    let Some(managed) = managed(inputs) else {
        return Vec::new();
    };
    let mut waits = Vec::new();
    let volume = managed.storage.persistent_volume.as_ref();
    if let Some(volume) = volume.filter(|volume| canonical(&volume.size.to_string()).is_none()) {
        let size = &volume.size;
        waits.push(format!(
            "spec.etcd.managed.storage.persistentVolume.size {size} is not an amount: give one such as 8Gi"
        ));
    }
    if !managed.shards.is_empty() {
        waits.push(
            "spec.etcd.managed.shards cannot be carried out: remove it, all data then lies in one etcd".to_owned(),
        );
    }
    if managed
        .storage
        .restore_snapshot_url
        .as_ref()
        .is_some_and(|urls| !urls.is_empty())
    {
        waits.push("spec.etcd.managed.storage.restoreSnapshotURL cannot be carried out: an empty etcd is not started in its place".to_owned());
    }
    waits
}

/// Once there has been a cluster, no member begins one.
fn adapt_state(inputs: &Inputs<'_>, manifest: &mut Manifest) {
    if let (true, Manifest::ConfigMap(map)) = (was_there(inputs), manifest) {
        let data = map.data.get_or_insert_default();
        data.insert(STATE_KEY.to_owned(), STATE_EXISTING.to_owned());
    }
}

/// Whether a quorum has ever been observed. Said once it is not taken back: the condition comes and goes.
///
/// `status.initialized` says nothing about it: by the contract of HyperShift and Cluster API it is true from the first
/// report on, when etcd has no member yet.
fn was_there(inputs: &Inputs<'_>) -> bool {
    if inputs.objects.config_map_value(STATE, STATE_KEY) == Some(STATE_EXISTING) {
        return true;
    }
    let Some(status) = &inputs.control_plane.status else {
        return false;
    };
    // No control plane has been available without a quorum, so its first time outlives the loss of the ConfigMap.
    let has_served = status
        .initialization
        .as_ref()
        .is_some_and(|state| state.control_plane_initialized == Some(true));
    let available = conditions::hosted_control_plane::ETCD_AVAILABLE.as_str();
    let mut conditions = status.conditions.iter();
    has_served || conditions.any(|one| one.type_ == available && one.status == "True")
}

fn adapt(inputs: &Inputs<'_>, workload: &mut Workload) {
    let replicas = replicas::of(&COMPONENT, inputs);
    if let Some(container) = workload.container_mut("reset-member") {
        flags::set(container, "replicas", replicas.to_string());
    }
    if replicas > 1 {
        let defragmenter = defragmenter(inputs, replicas);
        workload.pod_mut().containers.push(defragmenter);
    }
    if let Some(scheduling) = managed(inputs).and_then(|managed| managed.scheduling.as_ref()) {
        let pod = workload.pod_mut();
        pod.node_selector
            .get_or_insert_default()
            .extend(scheduling.node_selector.clone());
        pod.tolerations
            .get_or_insert_default()
            .extend(scheduling.tolerations.iter().cloned());
    }
    store(inputs, workload);
}

/// Size and class of the volumes.
fn store(inputs: &Inputs<'_>, workload: &mut Workload) {
    let Workload::StatefulSet(set) = workload else { return };
    let volume = managed(inputs).and_then(|managed| managed.storage.persistent_volume.as_ref());
    let claims = Arc::make_mut(set)
        .spec
        .iter_mut()
        .flat_map(|spec| spec.volume_claim_templates.iter_mut().flatten());
    for (claim, volume) in claims.filter_map(|claim| Some((claim, volume?))) {
        let spec = claim.spec.get_or_insert_default();
        let requests = spec.resources.get_or_insert_default().requests.get_or_insert_default();
        if let Some(size) = canonical(&volume.size.to_string()) {
            requests.insert("storage".to_owned(), Quantity(size));
        }
        spec.storage_class_name.clone_from(&volume.storage_class_name);
    }
}

/// Gives back what deleted data leaves in the files of members, one member after the other.
fn defragmenter(inputs: &Inputs<'_>, replicas: i32) -> Container {
    let namespace = inputs.namespace();
    let discovery = objects::services::ETCD_DISCOVERY;
    let member = |number| {
        format!(
            "https://etcd-{number}.{discovery}.{namespace}.svc:{}",
            objects::ports::ETCD_CLIENT
        )
    };
    let endpoints: Vec<String> = (0..replicas).map(member).collect();
    let arguments = [
        "etcd-defrag".to_owned(),
        format!("--endpoints={}", endpoints.join(",")),
        "--ca-file=/etc/etcd/tls/etcd-ca/ca.crt".to_owned(),
        "--cert-file=/etc/etcd/tls/client/etcd-client.crt".to_owned(),
        "--key-file=/etc/etcd/tls/client/etcd-client.key".to_owned(),
        "--interval=10m".to_owned(),
        "--name=$(POD_NAME)".to_owned(),
    ];
    let amount = |text: &str| Quantity(text.to_owned());
    let requests = [("cpu".to_owned(), amount("10m")), ("memory".to_owned(), amount("50Mi"))];
    Container {
        name: "etcd-defrag".to_owned(),
        image: Some("hyperplane".to_owned()),
        command: Some(vec!["hyperplane".to_owned()]),
        args: Some(arguments.into()),
        // Members take turns by their names.
        env: Some(vec![pod_name()]),
        resources: Some(ResourceRequirements {
            requests: Some(requests.into()),
            ..ResourceRequirements::default()
        }),
        volume_mounts: Some(vec![
            mount("client-tls", "/etc/etcd/tls/client"),
            mount("etcd-ca", "/etc/etcd/tls/etcd-ca"),
        ]),
        ..Container::default()
    }
}

fn pod_name() -> EnvVar {
    EnvVar {
        name: "POD_NAME".to_owned(),
        value_from: Some(EnvVarSource {
            field_ref: Some(ObjectFieldSelector {
                // The reference is one value to the server: what it would complete must be here, or it differs for ever.
                api_version: Some("v1".to_owned()),
                field_path: "metadata.name".to_owned(),
            }),
            ..EnvVarSource::default()
        }),
        ..EnvVar::default()
    }
}
