//! Writes that are not server-side applies: creations under names that follow from content, small patches, ends. Each
//! can be repeated without harm. Knows no kind in particular.

use hyperplane_objects::Kind;
use hyperplane_runtime::{Api, Context, Failure, ObjectKey};
use k8s_openapi::{
    NamespaceResourceScope,
    api::core::v1::{Pod, PodTemplateSpec},
    apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference},
};
use kube::{
    Resource, ResourceExt,
    api::{DeleteParams, Patch, PatchParams, PostParams, Preconditions},
};
use serde_json::Value;

/// Under which name the twin writes where it does not apply.
const MANAGER: &str = "hyperplane-twin";

/// Creates an object; that it is there already is a success.
pub(crate) async fn create<K>(context: &Context, object: &K) -> Result<(), Failure>
where
    K: Kind + Resource<Scope = NamespaceResourceScope>,
{
    let parameters = PostParams {
        field_manager: Some(MANAGER.to_owned()),
        ..PostParams::default()
    };
    let namespace = object.meta().namespace.clone().unwrap_or_default();
    let api: Api<K> = Api::namespaced(context.client().clone(), &namespace);
    match api.create(&parameters, object).await {
        Err(kube::Error::Api(status)) if status.code == 409 => Ok(()),
        created => created.map(|_| ()).map_err(Into::into),
    }
}

/// Changes some fields of an object by a merge patch; that it is gone is a success.
pub(crate) async fn patch<K>(context: &Context, key: &ObjectKey, change: &Value) -> Result<(), Failure>
where
    K: Kind + Resource<Scope = NamespaceResourceScope>,
{
    let api: Api<K> = Api::namespaced(context.client().clone(), &key.namespace);
    settled(api.patch(&key.name, &parameters(), &Patch::Merge(change)).await)
}

/// The same by the status of the object, which does not count as a change of what is wanted.
pub(crate) async fn patch_status<K>(context: &Context, key: &ObjectKey, change: &Value) -> Result<(), Failure>
where
    K: Kind + Resource<Scope = NamespaceResourceScope>,
{
    let api: Api<K> = Api::namespaced(context.client().clone(), &key.namespace);
    settled(api.patch_status(&key.name, &parameters(), &Patch::Merge(change)).await)
}

fn parameters() -> PatchParams {
    PatchParams {
        field_manager: Some(MANAGER.to_owned()),
        ..PatchParams::default()
    }
}

fn settled<K>(patched: Result<K, kube::Error>) -> Result<(), Failure> {
    match patched {
        Err(kube::Error::Api(status)) if status.code == 404 => Ok(()),
        patched => patched.map(drop).map_err(Into::into),
    }
}

/// Removes a pod whose containers have ended, at once.
pub(crate) async fn remove(context: &Context, pod: &Pod) -> Result<(), Failure> {
    let parameters = DeleteParams::default().grace_period(0).preconditions(Preconditions {
        uid: pod.uid(),
        resource_version: None,
    });
    let api: Api<Pod> = Api::namespaced(context.client().clone(), &pod.namespace().unwrap_or_default());
    match api.delete(&pod.name_any(), &parameters).await {
        // It is gone, or another has its name.
        Err(kube::Error::Api(status)) if matches!(status.code, 404 | 409) => Ok(()),
        deleted => deleted.map_err(Into::into),
    }
}

/// A pod of a template.
pub(crate) fn pod_of(template: &PodTemplateSpec, key: ObjectKey, owner: Option<OwnerReference>) -> Pod {
    let given = template.metadata.clone().unwrap_or_default();
    Pod {
        metadata: ObjectMeta {
            name: Some(key.name),
            namespace: Some(key.namespace),
            labels: given.labels,
            annotations: given.annotations,
            finalizers: given.finalizers,
            owner_references: owner.map(|owner| vec![owner]),
            ..ObjectMeta::default()
        },
        spec: template.spec.clone(),
        status: None,
    }
}
