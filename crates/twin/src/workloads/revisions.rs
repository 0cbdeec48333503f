//! Templates under a name, so that pods can be made of an older one: ControllerRevisions of StatefulSets and
//! DaemonSets. Pure.

use std::sync::Arc;

use k8s_openapi::{
    api::{apps::v1::ControllerRevision, core::v1::PodTemplateSpec},
    apimachinery::pkg::{
        apis::meta::v1::{ObjectMeta, OwnerReference},
        runtime::RawExtension,
    },
};
use kube::ResourceExt;
use serde_json::json;

use crate::names;

/// The label that tells pods of different templates apart.
pub(crate) const HASH: &str = "controller-revision-hash";

/// The name of the revision of a template.
pub(crate) fn name(owner: &str, template: &PodTemplateSpec, collisions: i32) -> String {
    format!("{owner}-{}", names::template_hash(template, collisions))
}

/// The revision of a template, numbered after those that are there.
pub(crate) fn build(
    (namespace, name): (&str, &str),
    template: &PodTemplateSpec,
    owner: Option<OwnerReference>,
    known: &[Arc<ControllerRevision>],
) -> ControllerRevision {
    let mut labels = template
        .metadata
        .as_ref()
        .and_then(|meta| meta.labels.clone())
        .unwrap_or_default();
    labels.insert(HASH.to_owned(), name.to_owned());
    ControllerRevision {
        metadata: ObjectMeta {
            name: Some(name.to_owned()),
            namespace: Some(namespace.to_owned()),
            labels: Some(labels),
            owner_references: owner.map(|owner| vec![owner]),
            ..ObjectMeta::default()
        },
        revision: known.iter().map(|revision| revision.revision).max().unwrap_or_default() + 1,
        data: Some(RawExtension(json!({"spec": {"template": template}}))),
    }
}

/// The template that a revision keeps.
pub(crate) fn template(known: &[Arc<ControllerRevision>], name: &str) -> Option<PodTemplateSpec> {
    let revision = known.iter().find(|revision| revision.name_any() == name)?;
    let data = revision.data.as_ref()?.0.clone();
    hyperplane_objects::read(&data["spec"]["template"]).ok()
}

/// Revisions that nobody uses beyond the history that is asked for, the oldest first.
pub(crate) fn superfluous(
    known: &[Arc<ControllerRevision>],
    used: &[String],
    kept: i32,
) -> Vec<Arc<ControllerRevision>> {
    let mut idle: Vec<_> = known
        .iter()
        .filter(|revision| !used.contains(&revision.name_any()))
        .cloned()
        .collect();
    idle.sort_by_key(|revision| revision.revision);
    let many = idle.len().saturating_sub(usize::try_from(kept).unwrap_or_default());
    idle.truncate(many);
    idle
}
