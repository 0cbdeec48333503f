//! Objects of any kind behind one type: as the server sent them, and as they are cached. What is generic over kinds turns
//! them into their types at its edge, so that watches and caches are compiled once.

use std::{any::Any, borrow::Cow, sync::Arc};

use hyperplane_objects::Kind;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::{
    Resource,
    core::{ApiResource, DynamicResourceScope},
    runtime::watcher::Event,
};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::object_key::ObjectKey;

/// A typed object whose type is not told. Cheap to clone.
pub(crate) type AnyObject = Arc<dyn ErasedObject>;

/// How an object of one kind is read.
pub(crate) type ReadObject = fn(&Value) -> serde_json::Result<AnyObject>;

/// What is asked of objects whatever their kind.
pub(crate) trait ErasedObject: Any + Send + Sync {
    fn meta(&self) -> &ObjectMeta;
    fn to_json(&self) -> serde_json::Result<Value>;
}

impl<K: Kind> ErasedObject for K {
    fn meta(&self) -> &ObjectMeta {
        Resource::meta(self)
    }

    fn to_json(&self) -> serde_json::Result<Value> {
        Kind::to_json(self)
    }
}

/// Reads an object of a kind and forgets the kind.
pub(crate) fn read_object<K: Kind>(json: &Value) -> serde_json::Result<AnyObject> {
    Ok(Arc::new(K::from_json(json)?))
}

/// The object by its type again.
pub(crate) fn typed<K: Kind>(object: AnyObject) -> Arc<K> {
    let object: Arc<dyn Any + Send + Sync> = object;
    object.downcast().expect("a store holds objects of its own kind")
}

/// The same for a borrowed object.
pub(crate) fn typed_ref<K: Kind>(object: &dyn ErasedObject) -> &K {
    let object: &dyn Any = object;
    object.downcast_ref().expect("a store holds objects of its own kind")
}

/// An object as the server sent it.
#[derive(Clone, Debug)]
pub(crate) struct RawObject {
    /// Who it is: name, namespace, uid and version. The rest is in the JSON.
    pub(crate) identity: ObjectMeta,
    pub(crate) json: Value,
}

impl RawObject {
    pub(crate) fn new(json: Value) -> Self {
        let text = |field: &str| json["metadata"][field].as_str().map(str::to_owned);
        let identity = ObjectMeta {
            name: text("name"),
            namespace: text("namespace"),
            uid: text("uid"),
            resource_version: text("resourceVersion"),
            ..ObjectMeta::default()
        };
        Self { identity, json }
    }

    pub(crate) fn key(&self) -> ObjectKey {
        let (namespace, name) = (self.identity.namespace.clone(), self.identity.name.clone());
        ObjectKey::namespaced(namespace.unwrap_or_default(), name.unwrap_or_default())
    }

    /// Whether this is the very version of an object that was read before.
    pub(crate) fn is_version_of(&self, known: &ObjectMeta) -> bool {
        is_same_version(&self.identity, known)
    }
}

/// Whether two metadata are of the same version of the same object. An object without a version proves nothing.
pub(crate) fn is_same_version(one: &ObjectMeta, other: &ObjectMeta) -> bool {
    one.uid == other.uid && one.resource_version == other.resource_version && one.resource_version.is_some()
}

/// What kube's watcher carries. Whether only metadata are asked for is a part of a type there.
#[derive(Clone, Debug)]
pub(crate) struct Watched<const METADATA_ONLY: bool>(RawObject);

impl<const METADATA_ONLY: bool> Watched<METADATA_ONLY> {
    /// The event without the type.
    pub(crate) fn erase(event: Event<Self>) -> Event<RawObject> {
        match event {
            Event::Init => Event::Init,
            Event::InitDone => Event::InitDone,
            Event::InitApply(Self(object)) => Event::InitApply(object),
            Event::Apply(Self(object)) => Event::Apply(object),
            Event::Delete(Self(object)) => Event::Delete(object),
        }
    }
}

impl<'de, const METADATA_ONLY: bool> Deserialize<'de> for Watched<METADATA_ONLY> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Value::deserialize(deserializer).map(|json| Self(RawObject::new(json)))
    }
}

impl<const METADATA_ONLY: bool> Resource for Watched<METADATA_ONLY> {
    type DynamicType = ApiResource;
    type Scope = DynamicResourceScope;

    fn kind(resource: &ApiResource) -> Cow<'_, str> {
        resource.kind.as_str().into()
    }

    fn group(resource: &ApiResource) -> Cow<'_, str> {
        resource.group.as_str().into()
    }

    fn version(resource: &ApiResource) -> Cow<'_, str> {
        resource.version.as_str().into()
    }

    fn plural(resource: &ApiResource) -> Cow<'_, str> {
        resource.plural.as_str().into()
    }

    fn api_version(resource: &ApiResource) -> Cow<'_, str> {
        resource.api_version.as_str().into()
    }

    fn metadata_api() -> bool {
        METADATA_ONLY
    }

    fn meta(&self) -> &ObjectMeta {
        &self.0.identity
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.0.identity
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::{ConfigMap, Pod};
    use kube::core::ObjectList;
    use serde_json::json;

    use super::*;

    #[test]
    fn objects_come_back_as_what_they_were() {
        let object = read_object::<ConfigMap>(&json!({"metadata": {"name": "a"}, "data": {"b": "c"}})).unwrap();
        assert_eq!(object.meta().name.as_deref(), Some("a"));
        assert!(typed_ref::<ConfigMap>(object.as_ref()).data.is_some());
        assert_eq!(typed::<ConfigMap>(object).metadata.name.as_deref(), Some("a"));
    }

    #[test]
    fn any_list_is_readable_and_says_who_is_in_it() {
        let list: ObjectList<Watched<false>> = hyperplane_objects::read(json!({
            "apiVersion": "v1", "kind": "ConfigMapList", "metadata": {"resourceVersion": "7"},
            "items": [{"metadata": {"name": "odd", "uid": 7}, "data": "not a map"}],
        }))
        .unwrap();
        let [Watched(object)] = list.items.as_slice() else {
            panic!("{list:?}");
        };
        assert_eq!(object.key(), ObjectKey::cluster("odd"));
        assert_eq!(object.identity.uid, None);
        assert!(read_object::<ConfigMap>(&object.json).is_err());
    }

    #[test]
    fn a_version_is_told_from_another() {
        let of = |uid: &str, version: Option<&str>| {
            RawObject::new(json!({"metadata": {"uid": uid, "resourceVersion": version}}))
        };
        let known = of("a", Some("1")).identity;
        assert!(of("a", Some("1")).is_version_of(&known));
        for other in [of("a", Some("2")), of("b", Some("1")), of("a", None)] {
            assert!(!other.is_version_of(&known));
        }
        assert!(!of("a", None).is_version_of(&of("a", None).identity));
    }

    #[test]
    fn names_are_those_of_the_resource() {
        let resource = ApiResource::erase::<Pod>(&());
        let path = Watched::<true>::url_path(&resource, Some("n"));
        assert_eq!(path, Pod::url_path(&(), Some("n")));
        assert!(Watched::<true>::metadata_api() && !Watched::<false>::metadata_api());
    }
}
