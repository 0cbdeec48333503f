//! The kinds of what is installed: from manifests as they are rendered to requests about them.

use hyperplane_components::ServiceMonitor;
use hyperplane_objects::Kind;
use hyperplane_runtime::{Failure, Manifest};
use k8s_openapi::{
    api::{
        apps::v1::Deployment,
        coordination::v1::Lease,
        core::v1::{ConfigMap, Namespace, Service, ServiceAccount},
        policy::v1::PodDisruptionBudget,
        rbac::v1::{ClusterRole, ClusterRoleBinding, Role, RoleBinding},
        scheduling::v1::PriorityClass,
    },
    apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
};
use kube::{Client, api::DynamicObject, core::ApiResource};
use serde_json::Value;
use thiserror::Error;

/// What nobody has taught us to write.
#[derive(Debug, Error)]
#[error("{0:?} is no kind that is installed: add it to the table of kinds")]
struct Unknown(String);

macro_rules! kinds {
    ($($kind:ident),* $(,)?) => {
        /// An object, ready to be applied.
        pub(crate) fn manifest(object: &Value) -> Result<Manifest, Failure> {
            match kind(object) {
                $(stringify!($kind) => typed::<$kind>(object),)*
                other => Err(Failure::fatal(Unknown(other.to_owned()))),
            }
        }

        /// Where an object is found.
        pub(crate) fn api(client: &Client, object: &Value) -> Result<kube::Api<DynamicObject>, Failure> {
            let resource = match kind(object) {
                $(stringify!($kind) => ApiResource::erase::<$kind>(&()),)*
                other => return Err(Failure::fatal(Unknown(other.to_owned()))),
            };
            Ok(match namespace(object) {
                Some(namespace) => kube::Api::namespaced_with(client.clone(), namespace, &resource),
                None => kube::Api::all_with(client.clone(), &resource),
            })
        }
    };
}

kinds! {
    ClusterRole, ClusterRoleBinding, ConfigMap, CustomResourceDefinition, Deployment, Lease, Namespace,
    PodDisruptionBudget, PriorityClass, Role, RoleBinding, Service, ServiceAccount, ServiceMonitor,
}

fn typed<K: Kind>(object: &Value) -> Result<Manifest, Failure> {
    let object = K::from_json(object).map_err(Failure::fatal)?;
    Manifest::of(&object)
}

/// The kind of an object.
pub(crate) fn kind(object: &Value) -> &str {
    object["kind"].as_str().unwrap_or_default()
}

/// The name of an object.
pub(crate) fn name(object: &Value) -> &str {
    object["metadata"]["name"].as_str().unwrap_or_default()
}

/// Its namespace, if it has one.
pub(crate) fn namespace(object: &Value) -> Option<&str> {
    object["metadata"]["namespace"].as_str()
}

/// Kind and name of an object, for people.
pub(crate) fn title(object: &Value) -> String {
    format!("{} {}", kind(object), name(object))
}

#[cfg(test)]
mod tests {
    use hyperplane_install::{MachineManager, Options, manifests};

    use super::*;

    #[test]
    fn everything_that_is_installed_can_be_written_as_it_is() {
        let options = Options {
            machines: MachineManager::Separate,
            monitoring: true,
            ..Options::default()
        };
        for object in manifests(&options) {
            let written = manifest(&object).unwrap();
            if kind(&object) == "CustomResourceDefinition" {
                continue;
            }
            // What a type does not know would be lost on the way.
            assert_eq!(written.body(), &object, "{}", title(&object));
        }
    }
}
