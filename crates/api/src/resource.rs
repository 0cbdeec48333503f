//! [`custom_resource!`]: one declaration per kind, from which come its Rust type, its place in the API and
//! its CustomResourceDefinition.
//!
//! kube's own derive cannot say that a spec is optional, that a kind or a field belongs to a feature set, or
//! that a root carries rules, so the kinds of this product are declared here.

use hyperplane_objects::Kind;
use serde_json::{Map, Value};

use crate::schema::{FeatureGate, FeatureSet, Rule, structural};

/// Whether objects of a kind live in a namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// In a namespace.
    Namespaced,
    /// Beside all namespaces.
    Cluster,
}

/// A column of `kubectl get`.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// The heading.
    pub name: &'static str,
    /// The JSON type of the cell.
    pub kind: &'static str,
    /// Where the cell comes from.
    pub path: &'static str,
    /// What the cell says.
    pub description: &'static str,
    /// Above zero it is shown only by `-o wide`.
    pub priority: i32,
}

/// A column that is always shown.
pub const fn column(name: &'static str, kind: &'static str, path: &'static str, description: &'static str) -> Column {
    Column {
        name,
        kind,
        path,
        description,
        priority: 0,
    }
}

/// A column that `-o wide` adds.
pub const fn wide(name: &'static str, kind: &'static str, path: &'static str, description: &'static str) -> Column {
    Column {
        name,
        kind,
        path,
        description,
        priority: 1,
    }
}

impl Column {
    /// The same column with a priority of its own.
    pub const fn with_priority(self, priority: i32) -> Self {
        Self { priority, ..self }
    }
}

/// The paths of the scale subresource.
#[derive(Clone, Copy, Debug)]
pub struct Scale {
    /// Where the wanted number stands.
    pub spec: &'static str,
    /// Where the observed number stands.
    pub status: &'static str,
    /// Where the selector stands, as a string.
    pub selector: Option<&'static str>,
}

/// All that a CustomResourceDefinition says of a kind.
#[derive(Clone, Debug)]
pub struct KindDefinition {
    /// The API group.
    pub group: &'static str,
    /// The only version.
    pub version: &'static str,
    /// The kind.
    pub kind: &'static str,
    /// The plural, as in paths.
    pub plural: &'static str,
    /// Short names for kubectl.
    pub short_names: &'static [&'static str],
    /// Categories for kubectl.
    pub categories: &'static [&'static str],
    /// Whether objects live in a namespace.
    pub scope: Scope,
    /// Columns of `kubectl get`; none means Kubernetes' own (name and age).
    pub columns: &'static [Column],
    /// The scale subresource.
    pub scale: Option<Scale>,
    /// Labels on the definition itself.
    pub labels: &'static [(&'static str, &'static str)],
    /// The gate without which the kind does not exist.
    pub gate: Option<FeatureGate>,
    /// What the kind is for.
    pub description: &'static str,
    /// Whether an object without a spec is refused.
    pub spec_required: bool,
    /// Rules on the object as a whole.
    pub rules: fn() -> Vec<Rule>,
    /// The schemas of spec and status as they are derived, as JSON: the file of the kind in `schemas/`.
    pub schemas: &'static str,
    /// Derives what the file has to say.
    #[cfg(test)]
    pub(crate) derive_schemas: fn() -> Value,
    /// Whether the kind has a status.
    pub has_status: bool,
    /// Whether the status is a subresource.
    pub status_subresource: bool,
    /// Reads a document as this kind and writes it again: what a controller of this release keeps of it.
    pub round_trip: fn(&Value) -> serde_json::Result<Value>,
}

impl KindDefinition {
    /// A definition that says nothing yet; [`custom_resource!`] fills it.
    pub(crate) fn blank() -> Self {
        Self {
            group: "",
            version: "",
            kind: "",
            plural: "",
            short_names: &[],
            categories: &[],
            scope: Scope::Namespaced,
            columns: &[],
            scale: None,
            labels: &[],
            gate: None,
            description: "",
            spec_required: false,
            rules: Vec::new,
            schemas: "{}",
            #[cfg(test)]
            derive_schemas: || Value::Null,
            has_status: false,
            status_subresource: true,
            round_trip: |document| Ok(document.clone()),
        }
    }

    /// The name of the definition: plural and group.
    pub fn name(&self) -> String {
        format!("{}.{}", self.plural, self.group)
    }

    /// The structural schemas of spec and status that a feature set publishes, by these names.
    pub(crate) fn structural_schemas(&self, features: FeatureSet) -> Map<String, Value> {
        let schemas: Map<String, Value> =
            serde_json::from_str(self.schemas).expect("a test compares the file with what is derived");
        let published = schemas.into_iter();
        published
            .map(|(part, derived)| (part, structural(derived, features)))
            .collect()
    }
}

/// A kind that this crate defines.
pub trait Defined {
    /// All that a CustomResourceDefinition says of the kind.
    fn definition() -> KindDefinition;
}

/// Reads a document as `K` and writes it again.
pub(crate) fn round_trip<K>(document: &Value) -> serde_json::Result<Value>
where
    K: Kind,
{
    K::from_json(document)?.to_json()
}

/// Declares a kind. The word before the type of the spec says how the wire treats its absence: `required` is
/// refused, `expected` passes the API server but cannot be read by a controller, `optional` reads as empty.
macro_rules! custom_resource {
    (
        $(#[doc = $doc:literal])+
        pub struct $name:ident {
            group: $group:literal,
            version: $version:literal,
            plural: $plural:literal,
            scope: $scope:ident,
            spec: $presence:ident $spec:ty,
            $(status: $status:ty,)?
            $(@ $option:ident: $value:expr,)*
        }
    ) => {
        $crate::resource::custom_resource! {
            @object $presence { $(#[doc = $doc])+ } $name $spec $(, $status)?
        }

        impl $name {
            /// An object with a name and a spec, and nothing observed yet.
            pub fn new(name: &str, spec: $spec) -> Self {
                Self {
                    metadata: k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta {
                        name: Some(name.to_owned()),
                        ..Default::default()
                    },
                    spec,
                    $(status: None::<$status>,)?
                }
            }
        }

        impl kube::Resource for $name {
            type DynamicType = ();
            type Scope = $crate::resource::custom_resource!(@scope $scope);

            fn kind((): &()) -> std::borrow::Cow<'_, str> {
                stringify!($name).into()
            }

            fn group((): &()) -> std::borrow::Cow<'_, str> {
                $group.into()
            }

            fn version((): &()) -> std::borrow::Cow<'_, str> {
                $version.into()
            }

            fn plural((): &()) -> std::borrow::Cow<'_, str> {
                $plural.into()
            }

            fn meta(&self) -> &k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta {
                &self.metadata
            }

            fn meta_mut(&mut self) -> &mut k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta {
                &mut self.metadata
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                use serde::ser::SerializeStruct as _;
                let mut object = serializer.serialize_struct(stringify!($name), 5)?;
                object.serialize_field("apiVersion", concat!($group, "/", $version))?;
                object.serialize_field("kind", stringify!($name))?;
                object.serialize_field("metadata", &self.metadata)?;
                object.serialize_field("spec", &self.spec)?;
                $(
                    let status: &Option<$status> = &self.status;
                    if let Some(status) = status {
                        object.serialize_field("status", status)?;
                    }
                )?
                object.end()
            }
        }

        impl $crate::resource::Defined for $name {
            fn definition() -> $crate::resource::KindDefinition {
                $crate::resource::KindDefinition {
                    $($option: const { $value },)*
                    ..$crate::resource::KindDefinition {
                        group: $group,
                        version: $version,
                        kind: stringify!($name),
                        plural: $plural,
                        scope: $crate::resource::Scope::$scope,
                        description: concat!($($doc),+),
                        spec_required: $crate::resource::custom_resource!(@required $presence),
                        schemas: include_str!(concat!(
                            env!("CARGO_MANIFEST_DIR"), "/schemas/", $plural, ".", $group, ".json"
                        )),
                        #[cfg(test)]
                        derive_schemas: || serde_json::json!({
                            "spec": $crate::schema::derived::<$spec>(),
                            $("status": $crate::schema::derived::<$status>(),)?
                        }),
                        $(has_status: $crate::resource::custom_resource!(@present $status),)?
                        round_trip: $crate::resource::round_trip::<$name>,
                        ..$crate::resource::KindDefinition::blank()
                    }
                }
            }
        }
    };
    (@object optional { $(#[doc = $doc:literal])+ } $name:ident $spec:ty $(, $status:ty)?) => {
        $(#[doc = $doc])+
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct $name {
            /// Name, namespace, labels and the rest that every object has.
            pub metadata: k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta,
            /// What is wanted.
            pub spec: $spec,
            $(
                /// What has been observed.
                pub status: Option<$status>,
            )?
        }

        $crate::resource::custom_resource!(@reader #[serde(default)] $name $spec $(, $status)?);
    };
    (@object $presence:ident { $(#[doc = $doc:literal])+ } $name:ident $spec:ty $(, $status:ty)?) => {
        $(#[doc = $doc])+
        #[derive(Clone, Debug, PartialEq)]
        pub struct $name {
            /// Name, namespace, labels and the rest that every object has.
            pub metadata: k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta,
            /// What is wanted.
            pub spec: $spec,
            $(
                /// What has been observed.
                pub status: Option<$status>,
            )?
        }

        $crate::resource::custom_resource!(@reader $name $spec $(, $status)?);
    };
    (@reader $(#[$absent:meta])? $name:ident $spec:ty $(, $status:ty)?) => {
        impl hyperplane_objects::Kind for $name {
            #[inline(never)]
            fn from_json(json: &serde_json::Value) -> serde_json::Result<Self> {
                #[derive(serde::Deserialize)]
                struct Document {
                    #[serde(default)]
                    metadata: k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta,
                    $(#[$absent])?
                    spec: $spec,
                    $(
                        #[serde(default)]
                        status: Option<$status>,
                    )?
                }

                let document: Document = hyperplane_objects::read(json)?;
                Ok(Self {
                    metadata: document.metadata,
                    spec: document.spec,
                    $(status: document.status as Option<$status>,)?
                })
            }

            #[inline(never)]
            fn to_json(&self) -> serde_json::Result<serde_json::Value> {
                hyperplane_objects::write(self)
            }
        }

        // Whatever the format, the reader of the whole type is compiled for one of them.
        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let json = serde_json::Value::deserialize(deserializer)?;
                hyperplane_objects::Kind::from_json(&json).map_err(serde::de::Error::custom)
            }
        }
    };
    (@present $status:ty) => { true };
    (@scope Namespaced) => { kube::core::NamespaceResourceScope };
    (@scope Cluster) => { kube::core::ClusterResourceScope };
    (@required required) => { true };
    (@required $presence:ident) => { false };
}

pub(crate) use custom_resource;
