//! The ReplicaSets of one Deployment: the one of its template, and those before it. Pure.

use std::{collections::BTreeMap, sync::Arc};

use k8s_openapi::{
    api::apps::v1::{Deployment, ReplicaSet, ReplicaSetSpec},
    apimachinery::pkg::apis::meta::v1::ObjectMeta,
};
use kube::{Resource, ResourceExt};

use super::{DESIRED, HASH, MOST, REVISION};
use crate::{names, pods};

/// The sets of a Deployment.
pub(super) struct Sets {
    /// The hash of the template.
    pub(super) hash: String,
    /// The set of the template, if it is there.
    pub(super) new: Option<Arc<ReplicaSet>>,
    /// All others, the oldest first.
    pub(super) old: Vec<Arc<ReplicaSet>>,
}

impl Sets {
    pub(super) fn new(deployment: &Deployment, owned: Vec<Arc<ReplicaSet>>) -> Self {
        let collisions = deployment.status.as_ref().and_then(|status| status.collision_count);
        let template = deployment.spec.as_ref().map(|spec| &spec.template);
        let hash = names::template_hash(&template, collisions.unwrap_or_default());
        let (mut new, mut old): (Vec<_>, Vec<_>) = owned
            .into_iter()
            .filter(|set| set.metadata.deletion_timestamp.is_none())
            .partition(|set| set.labels().get(HASH) == Some(&hash));
        old.sort_by_key(|set| (pods::created(set.as_ref()), set.name_any()));
        Self {
            hash,
            new: new.pop(),
            old,
        }
    }

    /// All sets, the new one last.
    pub(super) fn all(&self) -> impl Iterator<Item = &Arc<ReplicaSet>> {
        self.old.iter().chain(&self.new)
    }

    /// The number of the template: one more than those before it.
    pub(super) fn number(&self) -> i64 {
        let before = self.old.iter().map(|set| number(set)).max().unwrap_or_default();
        self.new.as_ref().map_or(0, |set| number(set)).max(before + 1)
    }

    /// The number of the template as the annotation has it, once its set is there.
    pub(super) fn revision(&self) -> Option<String> {
        self.new.as_ref().map(|_| self.number().to_string())
    }

    /// The name of the new set.
    pub(super) fn name(&self, deployment: &Deployment) -> String {
        match &self.new {
            Some(set) => set.name_any(),
            None => format!("{}-{}", deployment.name_any(), self.hash),
        }
    }
}

/// The number of a set's template.
pub(super) fn number(set: &ReplicaSet) -> i64 {
    let text = set.annotations().get(REVISION);
    text.and_then(|text| text.parse().ok()).unwrap_or_default()
}

/// How many pods a set wants.
pub(super) fn replicas(set: &ReplicaSet) -> i32 {
    set.spec.as_ref().and_then(|spec| spec.replicas).unwrap_or(1)
}

/// How many pods of a set serve.
pub(super) fn available(set: &ReplicaSet) -> i32 {
    let status = set.status.as_ref();
    status.and_then(|status| status.available_replicas).unwrap_or_default()
}

/// What a set notes of its Deployment.
pub(super) fn notes(wanted: i32, most: i32) -> BTreeMap<String, String> {
    BTreeMap::from([
        (DESIRED.to_owned(), wanted.to_string()),
        (MOST.to_owned(), most.to_string()),
    ])
}

/// The set of a Deployment's template.
pub(super) fn build(deployment: &Deployment, sets: &Sets, replicas: i32, most: i32) -> ReplicaSet {
    let spec = deployment.spec.clone().unwrap_or_default();
    let mut template = spec.template;
    let labels = template.metadata.get_or_insert_default().labels.get_or_insert_default();
    labels.insert(HASH.to_owned(), sets.hash.clone());
    let labels = labels.clone();
    let mut selector = spec.selector;
    let equal = selector.match_labels.get_or_insert_default();
    equal.insert(HASH.to_owned(), sets.hash.clone());
    let mut annotations = deployment.annotations().clone();
    annotations.remove("kubectl.kubernetes.io/last-applied-configuration");
    annotations.extend(notes(spec.replicas.unwrap_or(1), most));
    annotations.insert(REVISION.to_owned(), sets.number().to_string());
    ReplicaSet {
        metadata: ObjectMeta {
            name: Some(sets.name(deployment)),
            namespace: deployment.namespace(),
            labels: Some(labels),
            annotations: Some(annotations),
            owner_references: deployment.controller_owner_ref(&()).map(|owner| vec![owner]),
            ..ObjectMeta::default()
        },
        spec: Some(ReplicaSetSpec {
            replicas: Some(replicas),
            min_ready_seconds: spec.min_ready_seconds,
            selector,
            template: Some(template),
        }),
        status: None,
    }
}
