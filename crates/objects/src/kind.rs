//! The trait of kinds, and how a type becomes one.

use std::{borrow::Borrow, fmt::Debug, marker::PhantomData};

use kube::{Resource, core::PartialObjectMeta};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Result, Value};

use crate::value::ValueReader;

/// A kind whose group, version and name are known at compile time, with the one function that reads it and the one that
/// writes it. `PartialObjectMeta<K>` is one, too: it stands for the metadata of `K` alone.
pub trait Kind: Resource<DynamicType = ()> + Clone + Debug + Send + Sync + 'static {
    /// Reads an object. The JSON is borrowed, so that who called still has it when it does not fit.
    fn from_json(json: &Value) -> Result<Self>;

    /// Writes an object.
    fn to_json(&self) -> Result<Value>;
}

/// Reads a value of any type by serde; for implementations of [`Kind`] and for small types that are no kinds.
pub fn read<T: DeserializeOwned>(json: impl Borrow<Value>) -> Result<T> {
    T::deserialize(ValueReader(json.borrow()))
}

/// Writes a value of any type by serde; for implementations of [`Kind`].
pub fn write<T: Serialize>(object: &T) -> Result<Value> {
    serde_json::to_value(object)
}

/// Makes types that serde reads and writes kinds. Expand it where the type is defined: the code of both functions is
/// compiled there.
///
/// ```
/// use hyperplane_objects::{Kind as _, kind, view_of_kind};
/// use k8s_openapi::{api::core::v1::Node, apimachinery::pkg::apis::meta::v1::ObjectMeta};
/// use serde::{Deserialize, Serialize};
///
/// /// A Node without what is wanted of it and what it reports.
/// #[derive(Clone, Debug, Deserialize, Serialize)]
/// struct NamedNode {
///     metadata: ObjectMeta,
/// }
///
/// view_of_kind!(NamedNode, Node);
///
/// let node = NamedNode::from_json(&serde_json::json!({"metadata": {"name": "a"}})).unwrap();
/// assert_eq!(node.metadata.name.as_deref(), Some("a"));
/// ```
#[macro_export]
macro_rules! kind {
    ($($type:ty),+ $(,)?) => {
        $(
            impl $crate::Kind for $type {
                #[inline(never)]
                fn from_json(json: &::serde_json::Value) -> ::serde_json::Result<Self> {
                    $crate::read(json)
                }

                #[inline(never)]
                fn to_json(&self) -> ::serde_json::Result<::serde_json::Value> {
                    $crate::write(self)
                }
            }
        )+
    };
}

/// Makes a structure with a field `metadata` a view of a kind: the server knows it by the names of the kind, and it is read
/// and written only as far as it goes. The calling crate depends on `kube`, `k8s_openapi` and `serde_json`.
///
/// ```
/// use hyperplane_objects::view_of_kind;
/// use k8s_openapi::{api::core::v1::Node, apimachinery::pkg::apis::meta::v1::ObjectMeta};
/// use kube::Resource as _;
/// use serde::{Deserialize, Serialize};
///
/// /// A Node without what is wanted of it and what it reports.
/// #[derive(Clone, Debug, Deserialize, Serialize)]
/// struct NamedNode {
///     metadata: ObjectMeta,
/// }
///
/// view_of_kind!(NamedNode, Node);
///
/// assert_eq!(NamedNode::url_path(&(), None), "/api/v1/nodes");
/// ```
#[macro_export]
macro_rules! view_of_kind {
    ($view:ty, $kind:ty) => {
        impl ::kube::Resource for $view {
            type DynamicType = ();
            type Scope = <$kind as ::kube::Resource>::Scope;

            fn kind((): &()) -> ::std::borrow::Cow<'_, str> {
                <$kind as ::kube::Resource>::kind(&())
            }

            fn group((): &()) -> ::std::borrow::Cow<'_, str> {
                <$kind as ::kube::Resource>::group(&())
            }

            fn version((): &()) -> ::std::borrow::Cow<'_, str> {
                <$kind as ::kube::Resource>::version(&())
            }

            fn plural((): &()) -> ::std::borrow::Cow<'_, str> {
                <$kind as ::kube::Resource>::plural(&())
            }

            fn meta(&self) -> &::k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta {
                &self.metadata
            }

            fn meta_mut(&mut self) -> &mut ::k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta {
                &mut self.metadata
            }
        }

        $crate::kind!($view);
    };
}

impl<K: Kind> Kind for PartialObjectMeta<K> {
    fn from_json(json: &Value) -> Result<Self> {
        // Everything but the type is the same for all kinds, so one reader serves them.
        let PartialObjectMeta { types, metadata, .. } = read::<PartialObjectMeta<()>>(json)?;
        Ok(Self {
            types,
            metadata,
            _phantom: PhantomData,
        })
    }

    fn to_json(&self) -> Result<Value> {
        write(&PartialObjectMeta::<()> {
            types: self.types.clone(),
            metadata: self.metadata.clone(),
            _phantom: PhantomData,
        })
    }
}
