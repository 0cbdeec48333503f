//! The pods of a StatefulSet and their claims: names, labels and volumes by ordinal. Pure.

use hyperplane_runtime::ObjectKey;
use k8s_openapi::api::{
    apps::v1::StatefulSet,
    core::v1::{PersistentVolumeClaim, PersistentVolumeClaimVolumeSource, Pod, PodTemplateSpec, Volume},
};
use kube::{Resource, ResourceExt};

use crate::{workloads::revisions, write};

/// Labels that name a pod and its ordinal.
const POD_NAME: &str = "statefulset.kubernetes.io/pod-name";
const POD_INDEX: &str = "apps.kubernetes.io/pod-index";

/// The name of the pod of an ordinal.
pub(super) fn name(set: &StatefulSet, ordinal: i32) -> String {
    format!("{}-{ordinal}", set.name_any())
}

/// The ordinal in the name of a pod.
pub(super) fn ordinal(pod: &Pod) -> Option<i32> {
    pod.name_any().rsplit_once('-')?.1.parse().ok()
}

/// The revision that a pod was made of.
pub(super) fn revision(pod: &Pod) -> &str {
    pod.labels()
        .get(revisions::HASH)
        .map(String::as_str)
        .unwrap_or_default()
}

/// The pod of an ordinal, by a template that has a name.
pub(super) fn build(set: &StatefulSet, ordinal: i32, template: &PodTemplateSpec, revision: &str) -> Pod {
    let name = name(set, ordinal);
    let key = ObjectKey::namespaced(set.namespace().unwrap_or_default(), &name);
    let mut pod = write::pod_of(template, key, set.controller_owner_ref(&()));
    let labels = pod.metadata.labels.get_or_insert_default();
    labels.insert(POD_NAME.to_owned(), name.clone());
    labels.insert(POD_INDEX.to_owned(), ordinal.to_string());
    labels.insert(revisions::HASH.to_owned(), revision.to_owned());
    let spec = pod.spec.get_or_insert_default();
    spec.hostname = Some(name);
    spec.subdomain = set.spec.as_ref().and_then(|spec| spec.service_name.clone());
    let volumes = spec.volumes.get_or_insert_default();
    for claim in templates(set) {
        let volume = claim.name_any();
        volumes.retain(|other| other.name != volume);
        volumes.push(Volume {
            persistent_volume_claim: Some(PersistentVolumeClaimVolumeSource {
                claim_name: claim_name(set, claim, ordinal),
                ..PersistentVolumeClaimVolumeSource::default()
            }),
            name: volume,
            ..Volume::default()
        });
    }
    if volumes.is_empty() {
        spec.volumes = None;
    }
    pod
}

fn templates(set: &StatefulSet) -> &[PersistentVolumeClaim] {
    let spec = set.spec.as_ref();
    spec.and_then(|spec| spec.volume_claim_templates.as_deref())
        .unwrap_or_default()
}

fn claim_name(set: &StatefulSet, template: &PersistentVolumeClaim, ordinal: i32) -> String {
    format!("{}-{}-{ordinal}", template.name_any(), set.name_any())
}

/// The claims of an ordinal. They stay when the pod goes, unless the set says that they go with it.
pub(super) fn claims(set: &StatefulSet, ordinal: i32) -> Vec<PersistentVolumeClaim> {
    let spec = set.spec.as_ref();
    let policy = spec.and_then(|spec| spec.persistent_volume_claim_retention_policy.as_ref());
    let goes_along = policy.and_then(|policy| policy.when_deleted.as_deref()) == Some("Delete");
    let selector = spec
        .and_then(|spec| spec.selector.match_labels.clone())
        .unwrap_or_default();
    templates(set)
        .iter()
        .map(|template| {
            let mut claim = template.clone();
            claim.metadata.name = Some(claim_name(set, template, ordinal));
            claim.metadata.namespace = set.namespace();
            claim.metadata.labels.get_or_insert_default().extend(selector.clone());
            claim.metadata.owner_references = goes_along.then(|| set.owner_ref(&()).into_iter().collect());
            claim.status = None;
            claim
        })
        .collect()
}
