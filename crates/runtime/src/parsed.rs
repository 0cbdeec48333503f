//! An object as it came from the server: parsed, or at least its metadata. Owns the rule that one malformed object
//! must not stop a whole kind.
//!
//! kube's `DeserializeGuard` does the same, but copies every object and hides the metadata-only flag.

use std::borrow::Cow;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::Resource;
use serde::{Deserialize, Deserializer, de::Error as _};
use serde_json::Value;

use crate::kind::Kind;

/// The result of reading one object.
#[derive(Clone, Debug)]
pub(crate) enum Parsed<K> {
    Good(Box<K>),
    Malformed(Box<Malformed>),
}

/// What is left of an object that does not fit its type.
#[derive(Clone, Debug)]
pub(crate) struct Malformed {
    pub(crate) metadata: ObjectMeta,
    pub(crate) error: String,
}

impl<'de, K: Kind> Deserialize<'de> for Parsed<K> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut value = Value::deserialize(deserializer)?;
        match K::deserialize(&value) {
            Ok(object) => Ok(Self::Good(Box::new(object))),
            Err(error) => {
                let metadata = value.get_mut("metadata").map(Value::take).unwrap_or_default();
                Ok(Self::Malformed(Box::new(Malformed {
                    metadata: ObjectMeta::deserialize(metadata).map_err(D::Error::custom)?,
                    error: explain::<K>(&error),
                })))
            }
        }
    }
}

/// Why an object does not fit its type. The error may quote a value, and those of a Secret are nobody's business.
fn explain<K: Kind>(error: &serde_json::Error) -> String {
    if K::kind(&()) == "Secret" && K::group(&()).is_empty() {
        "it does not fit its type; its content is not shown".to_owned()
    } else {
        error.to_string()
    }
}

impl<K: Kind> Resource for Parsed<K> {
    type DynamicType = ();
    type Scope = K::Scope;

    fn kind(dynamic: &()) -> Cow<'_, str> {
        K::kind(dynamic)
    }

    fn group(dynamic: &()) -> Cow<'_, str> {
        K::group(dynamic)
    }

    fn version(dynamic: &()) -> Cow<'_, str> {
        K::version(dynamic)
    }

    fn plural(dynamic: &()) -> Cow<'_, str> {
        K::plural(dynamic)
    }

    fn metadata_api() -> bool {
        K::metadata_api()
    }

    fn meta(&self) -> &ObjectMeta {
        match self {
            Self::Good(object) => object.meta(),
            Self::Malformed(rest) => &rest.metadata,
        }
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        match self {
            Self::Good(object) => object.meta_mut(),
            Self::Malformed(rest) => &mut rest.metadata,
        }
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::{ConfigMap, Pod, Secret};
    use kube::core::{ObjectList, PartialObjectMeta};
    use serde_json::json;

    use super::*;

    #[test]
    fn one_malformed_object_leaves_the_list_readable() {
        let list: ObjectList<Parsed<ConfigMap>> = serde_json::from_value(json!({
            "apiVersion": "v1", "kind": "ConfigMapList", "metadata": {"resourceVersion": "7"},
            "items": [
                {"metadata": {"name": "good"}, "data": {"a": "b"}},
                {"metadata": {"name": "bad"}, "data": "not a map"},
            ]
        }))
        .unwrap();
        assert!(matches!(&list.items[0], Parsed::Good(object) if object.data.is_some()));
        assert!(matches!(&list.items[1], Parsed::Malformed(rest) if rest.error.contains("invalid type")));
        assert_eq!(list.items[1].meta().name.as_deref(), Some("bad"));
    }

    #[test]
    fn a_malformed_secret_is_not_quoted() {
        let broken = json!({"metadata": {"name": "a"}, "stringData": "hunter2"});
        let Parsed::Malformed(rest) = serde_json::from_value::<Parsed<Secret>>(broken).unwrap() else {
            panic!("it parsed");
        };
        assert!(!rest.error.contains("hunter2"), "{}", rest.error);
    }

    #[test]
    fn metadata_watches_stay_metadata_watches() {
        assert!(<Parsed<PartialObjectMeta<Pod>>>::metadata_api());
        assert!(!<Parsed<Pod>>::metadata_api());
    }
}
