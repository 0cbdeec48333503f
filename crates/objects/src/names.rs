//! The names of a kind as a value, for code that serves every kind.

use kube::{Resource, core::ApiResource};

/// Where the API server keeps objects of a kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KindNames {
    /// Group, version, kind and plural.
    pub resource: ApiResource,
    /// Only the metadata of objects are wanted.
    pub is_metadata_only: bool,
}

impl KindNames {
    /// The names of a kind.
    pub fn of<K: Resource<DynamicType = ()>>() -> Self {
        let (group, version) = (K::group(&()).into_owned(), K::version(&()).into_owned());
        let (kind, plural) = (K::kind(&()).into_owned(), K::plural(&()).into_owned());
        Self::new(group, version, kind, plural, K::metadata_api())
    }

    fn new(group: String, version: String, kind: String, plural: String, is_metadata_only: bool) -> Self {
        let api_version = if group.is_empty() {
            version.clone()
        } else {
            format!("{group}/{version}")
        };
        let resource = ApiResource {
            group,
            version,
            api_version,
            kind,
            plural,
        };
        Self {
            resource,
            is_metadata_only,
        }
    }

    /// The path of the collection, in all namespaces or in one.
    pub fn url_path(&self, namespace: Option<&str>) -> String {
        let ApiResource {
            group,
            api_version,
            plural,
            ..
        } = &self.resource;
        let root = if group.is_empty() { "api" } else { "apis" };
        match namespace {
            Some(namespace) => format!("/{root}/{api_version}/namespaces/{namespace}/{plural}"),
            None => format!("/{root}/{api_version}/{plural}"),
        }
    }

    /// Whether an error about such an object may not quote it.
    pub fn is_secret(&self) -> bool {
        self.resource.kind == "Secret" && self.resource.group.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::{apps::v1::Deployment, core::v1::Node};
    use kube::core::PartialObjectMeta;

    use super::*;

    #[test]
    fn paths_are_those_of_kube() {
        for namespace in [None, Some("n")] {
            let names = KindNames::of::<Deployment>();
            assert_eq!(names.url_path(namespace), Deployment::url_path(&(), namespace));
        }
        assert_eq!(KindNames::of::<Node>().url_path(None), Node::url_path(&(), None));
        assert!(KindNames::of::<PartialObjectMeta<Node>>().is_metadata_only);
        assert_eq!(KindNames::of::<Node>().resource, ApiResource::erase::<Node>(&()));
    }
}
