//! What the operator writes besides components: published Services, and the account that pods without one run as.

use std::collections::BTreeMap;

use hyperplane_api::{
    constants::{annotations, objects::copies, ours},
    hypershift::hosted_control_plane::HostedControlPlane,
};
use hyperplane_components::{Management, published_services};
use hyperplane_runtime::{Context, Failure};
use k8s_openapi::{
    api::core::v1::{LocalObjectReference, ServiceAccount},
    apimachinery::pkg::apis::meta::v1::ObjectMeta,
};
use kube::Resource as _;

/// Publishes the control plane.
pub(crate) async fn services(
    context: &Context,
    control_plane: &HostedControlPlane,
    management: &Management,
) -> Result<(), Failure> {
    for service in published_services(control_plane, management) {
        context.apply(&service).await?;
    }
    Ok(())
}

/// Lets pods that name no account pull images.
pub(crate) async fn default_account(context: &Context, control_plane: &HostedControlPlane) -> Result<(), Failure> {
    context.apply(&account(control_plane)).await.map(drop)
}

fn account(control_plane: &HostedControlPlane) -> ServiceAccount {
    let key = annotations::CLUSTER.as_str();
    let annotations = control_plane.metadata.annotations.as_ref();
    let cluster = annotations.and_then(|annotations| annotations.get(key));
    ServiceAccount {
        metadata: ObjectMeta {
            name: Some("default".to_owned()),
            namespace: control_plane.metadata.namespace.clone(),
            labels: Some(BTreeMap::from([ours::label()])),
            annotations: cluster.map(|cluster| BTreeMap::from([(key.to_owned(), cluster.clone())])),
            owner_references: control_plane.controller_owner_ref(&()).map(|owner| vec![owner]),
            ..ObjectMeta::default()
        },
        image_pull_secrets: Some(vec![LocalObjectReference {
            name: copies::PULL_SECRET.to_owned(),
        }]),
        ..ServiceAccount::default()
    }
}
