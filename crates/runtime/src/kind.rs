//! What the runner asks of a type before it watches and writes it. Knows kube's traits, no kind in particular.

use std::fmt::Debug;

use kube::Resource;
use serde::{Serialize, de::DeserializeOwned};

/// A kind whose group, version and name are known at compile time. Implemented for all such types, including
/// `PartialObjectMeta<K>`, which watches metadata only.
pub trait Kind:
    Resource<DynamicType = ()> + Clone + Debug + DeserializeOwned + Serialize + Send + Sync + 'static
{
}

impl<K> Kind for K where
    K: Resource<DynamicType = ()> + Clone + Debug + DeserializeOwned + Serialize + Send + Sync + 'static
{
}

/// Makes a structure with a field `metadata` a view of a kind: the server knows it by the names of the kind, and it is read
/// and written only as far as it goes. Whoever uses it knows the crates `kube` and `k8s_openapi`.
///
/// ```
/// use hyperplane_runtime::view_of_kind;
/// use k8s_openapi::{api::core::v1::Node, apimachinery::pkg::apis::meta::v1::ObjectMeta};
/// use kube::Resource as _;
///
/// /// A Node without what is wanted of it and what it reports.
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
    };
}
