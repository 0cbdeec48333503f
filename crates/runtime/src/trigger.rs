//! Which changes cause which runs. Pure functions over metadata and stores; the queue decides when.

use std::{collections::BTreeSet, sync::Arc};

use hyperplane_objects::{Kind, KindNames};

use crate::{
    cache::Change,
    erased::{ErasedObject, typed_ref},
    object_key::ObjectKey,
    store::SharedStore,
};

/// Names the objects of the controller that a related object concerns.
pub(crate) type Mapper = Arc<dyn Fn(&dyn ErasedObject) -> BTreeSet<ObjectKey> + Send + Sync>;

/// Whether a change of the controller's own object is more than its status. Deletions always count. Kinds without a
/// generation (Secrets, ConfigMaps) count with every change.
pub(crate) fn is_edit(change: &Change) -> bool {
    let (Some(old), Some(new)) = (&change.old, &change.new) else {
        return true;
    };
    let (old, new) = (old.meta(), new.meta());
    old.generation.is_none()
        || old.generation != new.generation
        || old.uid != new.uid
        || old.labels != new.labels
        || old.annotations != new.annotations
        || old.finalizers != new.finalizers
        || old.deletion_timestamp != new.deletion_timestamp
        || old.owner_references != new.owner_references
}

/// The keys that a related object concerned before the change or concerns after it: the owner that it left must run
/// as well as the one that it came to.
pub(crate) fn concerned(changes: &[Change], map: &Mapper, sweeps: bool) -> BTreeSet<ObjectKey> {
    changes
        .iter()
        // While everything is new, every object of the controller is about to run anyway; one that is not there is not.
        .filter(|change| sweeps || !change.is_first_list)
        .flat_map(|change| [&change.old, &change.new])
        .flatten()
        .flat_map(|object| map(object.as_ref()))
        .collect()
}

/// Maps an object to the one that its controller reference names, if `owners` has it: in the same namespace, or
/// cluster-scoped, as Kubernetes allows.
pub(crate) fn by_owner_reference(owners: SharedStore, names: &KindNames) -> Mapper {
    let (kind, group) = (names.resource.kind.clone(), names.resource.group.clone());
    Arc::new(move |object| {
        let meta = object.meta();
        let reference = meta.owner_references.iter().flatten().find(|reference| {
            reference.controller == Some(true) && reference.kind == kind && group_of(&reference.api_version) == group
        });
        let Some(reference) = reference else {
            return BTreeSet::new();
        };
        let namespace = meta.namespace.clone().unwrap_or_default();
        [
            ObjectKey::namespaced(namespace, &reference.name),
            ObjectKey::cluster(&reference.name),
        ]
        .into_iter()
        .filter(|key| owners.get(key).is_some())
        .collect()
    })
}

/// Maps an object to the one that an annotation names as `namespace/name`, for owners in other namespaces, where
/// owner references must not be used.
pub(crate) fn by_annotation(annotation: &'static str) -> Mapper {
    Arc::new(move |object| {
        let value = object.meta().annotations.as_ref().and_then(|all| all.get(annotation));
        let key = value.and_then(|value| value.split_once('/'));
        key.map(|(namespace, name)| ObjectKey::namespaced(namespace, name))
            .into_iter()
            .collect()
    })
}

/// Maps an object by a function of its own type.
pub(crate) fn by_function<S: Kind>(map: impl Fn(&S) -> BTreeSet<ObjectKey> + Send + Sync + 'static) -> Mapper {
    Arc::new(move |object| map(typed_ref(object)))
}

/// Maps an object through values that an index of the controller's own store is asked for.
pub(crate) fn by_index<S: Kind>(
    owners: SharedStore,
    index: &'static str,
    values: impl Fn(&S) -> Vec<String> + Send + Sync + 'static,
) -> Mapper {
    Arc::new(move |object| keys_of(&owners, index, &values(typed_ref(object))))
}

fn keys_of(owners: &SharedStore, index: &str, values: &[String]) -> BTreeSet<ObjectKey> {
    values
        .iter()
        .flat_map(|value| owners.keys_by_index(index, value))
        .collect()
}

fn group_of(api_version: &str) -> &str {
    api_version.split_once('/').map_or("", |(group, _)| group)
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::{apps::v1::Deployment, core::v1::ConfigMap};
    use kube::runtime::watcher::Event;
    use serde_json::{Value, json};

    use super::*;
    use crate::{
        erased::{RawObject, read_object},
        intake::Peers,
        store::Store,
    };

    fn change(old: Value, new: Value) -> Change {
        let parse = |metadata: Value| Some(read_object::<Deployment>(&json!({"metadata": metadata})).unwrap());
        Change {
            key: ObjectKey::cluster("x"),
            old: parse(old),
            new: parse(new),
            is_first_list: false,
        }
    }

    #[test]
    fn what_counts_as_an_edit() {
        let base = json!({"generation": 1, "resourceVersion": "1"});
        let status_only = json!({"generation": 1, "resourceVersion": "2"});
        assert!(!is_edit(&change(base.clone(), status_only)));
        for edit in [
            json!({"generation": 2}),
            json!({"generation": 1, "labels": {"a": "b"}}),
            json!({"generation": 1, "annotations": {"a": "b"}}),
            json!({"generation": 1, "finalizers": ["a"]}),
            json!({"generation": 1, "deletionTimestamp": "2026-01-01T00:00:00Z"}),
            json!({"generation": 1, "uid": "another"}),
        ] {
            assert!(is_edit(&change(base.clone(), edit.clone())), "{edit}");
        }
        assert!(
            is_edit(&change(json!({}), json!({}))),
            "no generation, so every change counts"
        );
    }

    fn owners() -> Store<Deployment> {
        let store = Store::<Deployment>::new("owners".to_owned(), "ours", Peers::default());
        let owner = json!({"metadata": {"namespace": "n", "name": "owner"}, "spec": {"selector": {},
            "template": {"metadata": {"annotations": {"secret": "s"}}}}});
        store.add_index("secret", |owner| {
            let template = owner.spec.as_ref().and_then(|spec| spec.template.metadata.as_ref());
            let annotations = template.and_then(|meta| meta.annotations.as_ref());
            annotations
                .and_then(|all| all.get("secret"))
                .cloned()
                .into_iter()
                .collect()
        });
        store.shared().take(Event::Apply(RawObject::new(owner)));
        store
    }

    fn owned(reference: &Value) -> ConfigMap {
        hyperplane_objects::read(
            json!({"metadata": {"namespace": "n", "name": "owned", "ownerReferences": [reference],
            "annotations": {"owner": "other/name"}}}),
        )
        .unwrap()
    }

    #[test]
    fn owners_are_found_by_reference_annotation_and_index() {
        let map = by_owner_reference(owners().shared().clone(), &KindNames::of::<Deployment>());
        let reference = |kind: &str, name: &str, controller: bool| json!({"apiVersion": "apps/v1beta9", "kind": kind, "name": name, "uid": "u", "controller": controller});
        let owner = BTreeSet::from([ObjectKey::namespaced("n", "owner")]);
        assert_eq!(map(&owned(&reference("Deployment", "owner", true))), owner);
        assert!(map(&owned(&reference("Deployment", "owner", false))).is_empty());
        assert!(map(&owned(&reference("StatefulSet", "owner", true))).is_empty());
        assert!(map(&owned(&reference("Deployment", "stranger", true))).is_empty());
        let object = owned(&reference("Deployment", "owner", true));
        let by_name = BTreeSet::from([ObjectKey::namespaced("other", "name")]);
        assert_eq!(by_annotation("owner")(&object), by_name);
        let indexed = by_index::<ConfigMap>(owners().shared().clone(), "secret", |_| vec!["s".to_owned()]);
        assert_eq!(indexed(&object), owner);
    }

    #[test]
    fn a_move_concerns_both_owners() {
        let map = by_annotation("owner");
        let with = |value: &str| {
            let object = json!({"metadata": {"annotations": {"owner": value}}});
            Some(read_object::<ConfigMap>(&object).unwrap())
        };
        let mut moved = [Change {
            key: ObjectKey::cluster("x"),
            old: with("a/1"),
            new: with("b/2"),
            is_first_list: false,
        }];
        assert_eq!(concerned(&moved, &map, false).len(), 2);
        moved[0].is_first_list = true;
        assert!(concerned(&moved, &map, false).is_empty());
    }
}
