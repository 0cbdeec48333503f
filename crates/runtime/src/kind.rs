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
