//! The end of a namespace: pods go first, then everything else, then the namespace itself; its status says what is left
//! in upstream's words (kubernetes, pkg/controller/namespace/deletion).

use std::{collections::BTreeMap, sync::Arc};

use hyperplane_store::Key;
use hyperplane_wire::{Failure, delete_options::DeletionPropagation};
use serde_json::Value;

use super::{
    change,
    conditions::{self, Condition},
    delete, each,
    namespaces::NAMESPACES,
};
use crate::{call::Call, core::Core, metadata, registry::Served};

/// The finalizer of a namespace, in its specification.
const FINALIZER: &str = "kubernetes";
/// What goes before everything else, so that nothing runs without what it needs.
const PODS: &str = "pods";

/// What is left in a namespace.
#[derive(Debug, Default)]
struct Remains {
    /// How many objects, by resource.
    objects: BTreeMap<String, usize>,
    /// How many objects, by the finalizer that holds them.
    finalizers: BTreeMap<String, usize>,
    /// What could not be deleted, and why.
    failures: Vec<Failure>,
}

/// Ends a namespace: everything in it goes, then it goes itself.
pub(super) async fn terminate(core: &Core, namespace: &str) -> Result<(), Failure> {
    let remains = Remains::after_deletion(core, namespace).await;
    let Some(served) = core.registry.get().find("", "v1", NAMESPACES).cloned() else {
        return Ok(());
    };
    let now = metadata::time(core.clock.now());
    change(
        core,
        &Call::internal(&served, "", namespace, "status"),
        None,
        &|object| {
            conditions::set(object, &remains.conditions(), &now);
        },
    )
    .await?;
    if let Some(failure) = remains.failures.into_iter().next() {
        return Err(failure);
    }
    if !remains.objects.is_empty() {
        return Ok(());
    }
    change(
        core,
        &Call::internal(&served, "", namespace, "finalize"),
        None,
        &|object| {
            let finalizers = object["spec"]["finalizers"].as_array().into_iter().flatten();
            let kept: Vec<Value> = finalizers.filter(|name| *name != FINALIZER).cloned().collect();
            match object["spec"].as_object_mut() {
                Some(specification) if kept.is_empty() => drop(specification.remove("finalizers")),
                Some(specification) => drop(specification.insert("finalizers".to_owned(), kept.into())),
                None => {}
            }
        },
    )
    .await
}

/// Removes what was written to a namespace that is gone.
pub(super) async fn empty(core: &Core, namespace: &str) -> Result<(), Failure> {
    let remains = Remains::after_deletion(core, namespace).await;
    remains.failures.into_iter().next().map_or(Ok(()), Err)
}

impl Remains {
    /// Deletes everything in a namespace, and says what is left.
    async fn after_deletion(core: &Core, namespace: &str) -> Self {
        let registry = core.registry.get();
        let (pods, others): (Vec<&Arc<Served>>, Vec<&Arc<Served>>) = registry
            .stored()
            .into_iter()
            .filter(|served| served.resource.is_namespaced())
            .partition(|served| &*served.resource.collection == PODS);
        let mut remains = Self::default();
        for resources in [pods, others] {
            for served in resources {
                remains.delete(core, served, namespace).await;
            }
            if !remains.objects.is_empty() {
                break;
            }
        }
        remains
    }

    async fn delete(&mut self, core: &Core, served: &Arc<Served>, namespace: &str) {
        let collection = &*served.resource.collection;
        let snapshot = core.store.snapshot();
        let living = snapshot
            .range(collection, Some(namespace), None)
            .filter(|entry| !entry.payload.facts().is_deleting);
        let keys: Vec<Key> = living.map(|entry| entry.key.clone()).collect();
        let deleted = each(keys, |key| async move {
            delete(core, served, &key, DeletionPropagation::Background).await
        });
        self.failures.extend(deleted.await.err());
        for entry in core.store.snapshot().range(collection, Some(namespace), None) {
            *self
                .objects
                .entry(format!("{}.{}", served.resource.plural, served.resource.group))
                .or_default() += 1;
            for finalizer in &entry.payload.facts().finalizers {
                *self.finalizers.entry(finalizer.to_string()).or_default() += 1;
            }
        }
    }

    /// What the status says about it.
    fn conditions(&self) -> [Condition; 5] {
        let discovered = "All resources successfully discovered";
        let parsed = "All legacy kube types successfully parsed";
        [
            Condition::new(
                "NamespaceDeletionDiscoveryFailure",
                false,
                "ResourcesDiscovered",
                discovered,
            ),
            Condition::new(
                "NamespaceDeletionGroupVersionParsingFailure",
                false,
                "ParsedGroupVersions",
                parsed,
            ),
            self.deletion(),
            self.content(),
            self.held(),
        ]
    }

    fn deletion(&self) -> Condition {
        const KIND: &str = "NamespaceDeletionContentFailure";
        if self.failures.is_empty() {
            let message = "All content successfully deleted, may be waiting on finalization";
            return Condition::new(KIND, false, "ContentDeleted", message);
        }
        let mut messages: Vec<String> = self.failures.iter().map(ToString::to_string).collect();
        messages.sort();
        let count = messages.len();
        let message = format!(
            "Failed to delete all resource types, {count} remaining: {}",
            messages.join(", ")
        );
        Condition::new(KIND, true, "ContentDeletionFailed", &message)
    }

    fn content(&self) -> Condition {
        const KIND: &str = "NamespaceContentRemaining";
        if self.objects.is_empty() {
            return Condition::new(KIND, false, "ContentRemoved", "All content successfully removed");
        }
        let message = format!("Some resources are remaining: {}", listed(&self.objects, "has"));
        Condition::new(KIND, true, "SomeResourcesRemain", &message)
    }

    fn held(&self) -> Condition {
        const KIND: &str = "NamespaceFinalizersRemaining";
        if self.finalizers.is_empty() {
            return Condition::new(
                KIND,
                false,
                "ContentHasNoFinalizers",
                "All content-preserving finalizers finished",
            );
        }
        let listed = listed(&self.finalizers, "in");
        let message = format!("Some content in the namespace has finalizers remaining: {listed}");
        Condition::new(KIND, true, "SomeFinalizersRemain", &message)
    }
}

fn listed(counts: &BTreeMap<String, usize>, verb: &str) -> String {
    let mut parts: Vec<String> = counts
        .iter()
        .map(|(name, count)| format!("{name} {verb} {count} resource instances"))
        .collect();
    parts.sort();
    parts.join(", ")
}
