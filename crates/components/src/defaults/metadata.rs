//! Labels, annotations and owners: how objects are found again, and by whom.

use std::{collections::BTreeMap, sync::Arc};

use hyperplane_api::constants::{annotations, labels, ours};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{LabelSelector, ObjectMeta};
use kube::Resource as _;

use crate::{
    component::Component,
    inputs::Inputs,
    label::{is_key, is_value},
    manifest::Workload,
};

/// The label by which Services and policies find the pods of a component.
pub(crate) const APP: &str = "app";

/// Who writes the objects of a control plane, as HyperShift's readers expect it.
pub(crate) const POD_OWNER: &str = "control-plane-operator";

/// Domains, with everything below them, in which a tenant sets no labels: they steer programs on the management side.
const RESERVED_DOMAINS: &[&str] = &["kubernetes.io", "k8s.io", "openshift.io", "hyperplane.dev"];

/// What an object of a component other than its workload carries.
pub(crate) fn manifest(component: &str, inputs: &Inputs<'_>, meta: &mut ObjectMeta) {
    let owner = inputs.control_plane.controller_owner_ref(&());
    meta.namespace = Some(inputs.namespace().to_owned());
    meta.owner_references = owner.map(|owner| vec![owner]);
    let of_object = meta.labels.get_or_insert_default();
    set(of_object, ours::MANAGED_BY.as_str(), ours::MANAGED_BY_US);
    set(of_object, labels::MANAGED_BY.as_str(), POD_OWNER);
    set(of_object, labels::CONTROL_PLANE_COMPONENT.as_str(), component);
    if let Some(cluster) = inputs.annotation(annotations::CLUSTER) {
        set(
            meta.annotations.get_or_insert_default(),
            annotations::CLUSTER.as_str(),
            cluster,
        );
    }
}

/// What a workload and its pods carry.
pub(super) fn workload(component: &Component, inputs: &Inputs<'_>, workload: &mut Workload) {
    manifest(component.name, inputs, workload.meta_mut());
    set(workload.meta_mut().labels.get_or_insert_default(), APP, component.name);
    // Not on the pods: a release in which nothing of them changes would restart them.
    let of_workload = workload.meta_mut().annotations.get_or_insert_default();
    set(of_workload, annotations::RELEASE_IMAGE.as_str(), inputs.release_image());
    let selector = || LabelSelector {
        match_labels: Some(selector(component.name)),
        ..LabelSelector::default()
    };
    match workload {
        Workload::Deployment(object) => Arc::make_mut(object).spec.get_or_insert_default().selector = selector(),
        Workload::StatefulSet(object) => {
            let spec = Arc::make_mut(object).spec.get_or_insert_default();
            spec.selector = selector();
            // The claims that are made from them are objects of ours like any other.
            for claim in spec.volume_claim_templates.iter_mut().flatten() {
                let of_claim = claim.metadata.labels.get_or_insert_default();
                set(of_claim, ours::MANAGED_BY.as_str(), ours::MANAGED_BY_US);
            }
        }
        Workload::Job(_) | Workload::CronJob(_) => {}
    }
    let meta = workload.template_mut().metadata.get_or_insert_default();
    meta.labels = Some(pod_labels(component, inputs, meta.labels.take().unwrap_or_default()));
    if let Some(date) = inputs.annotation(annotations::RESTART_DATE) {
        let of_pod = meta.annotations.get_or_insert_default();
        set(of_pod, annotations::RESTART_DATE.as_str(), date);
    }
}

/// The labels by which the pods of a component are told from all others in the namespace; they never change.
pub(super) fn selector(component: &str) -> BTreeMap<String, String> {
    BTreeMap::from([
        (APP.to_owned(), component.to_owned()),
        (
            labels::CONTROL_PLANE_COMPONENT.as_str().to_owned(),
            component.to_owned(),
        ),
    ])
}

fn pod_labels(component: &Component, inputs: &Inputs<'_>, own: BTreeMap<String, String>) -> BTreeMap<String, String> {
    let tenant = inputs
        .control_plane
        .spec
        .labels
        .iter()
        .filter(|(key, value)| is_permitted(key, value));
    let mut all: BTreeMap<String, String> = tenant.map(|(key, value)| (key.clone(), value.clone())).collect();
    all.extend(own);
    all.extend(selector(component.name));
    set(&mut all, ours::MANAGED_BY.as_str(), ours::MANAGED_BY_US);
    set(&mut all, labels::HOSTED_CONTROL_PLANE.as_str(), inputs.namespace());
    if component.traits.is_request_serving {
        set(&mut all, labels::REQUEST_SERVING_COMPONENT.as_str(), "true");
    }
    if component.traits.needs_management_api {
        set(&mut all, labels::NEED_MANAGEMENT_KAS_ACCESS.as_str(), "true");
    }
    all
}

/// Whether a label that a tenant asks for may stand on a pod of the management side.
fn is_permitted(key: &str, value: &str) -> bool {
    let is_reserved = |domain: &str| {
        let domain = domain.to_ascii_lowercase();
        RESERVED_DOMAINS.iter().any(|reserved| {
            domain == *reserved
                || domain
                    .strip_suffix(reserved)
                    .is_some_and(|rest| rest.ends_with('.') || rest.ends_with("x-"))
        })
    };
    let is_ours = match key.split_once('/') {
        Some((domain, _)) => is_reserved(domain),
        None => key == APP,
    };
    !is_ours && is_key(key) && is_value(value)
}

fn set(map: &mut BTreeMap<String, String>, key: &str, value: &str) {
    map.insert(key.to_owned(), value.to_owned());
}
