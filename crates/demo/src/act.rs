//! What a story asks of the API: writes, and nothing that waits.

use hyperplane_api::hypershift::{hosted_cluster::HostedCluster, node_pool::NodePool};
use hyperplane_objects::Kind;
use hyperplane_runtime::Api;
use k8s_openapi::api::core::v1::{Namespace, Secret};
use kube::{
    Client,
    api::{ApiResource, DeleteParams, DynamicObject, Patch, PatchParams},
};
use serde_json::Value;

use crate::{
    json::{name, text},
    plan::Plan,
    story::Act,
};

/// Who wrote what a story asks for.
const FIELD_MANAGER: &str = "hyperplane-demo";

/// Carries out an act.
pub(crate) async fn carry_out(client: &Client, plan: &Plan, act: &Act) -> Result<(), kube::Error> {
    match act {
        Act::Watch => {}
        Act::Apply(objects) => {
            for object in objects {
                apply(client, object).await?;
            }
        }
        Act::ChangeCluster(change) => {
            let clusters: Api<HostedCluster> = Api::namespaced(client.clone(), &plan.namespace);
            clusters
                .patch(&plan.cluster, &parameters(), &Patch::Merge(change))
                .await?;
        }
        Act::ChangePool(name, change) => {
            let pools: Api<NodePool> = Api::namespaced(client.clone(), &plan.namespace);
            pools.patch(name, &parameters(), &Patch::Merge(change)).await?;
        }
    }
    Ok(())
}

/// Makes an object be there as it is given.
pub(crate) async fn apply(client: &Client, object: &Value) -> Result<(), kube::Error> {
    let resource = match text(object, "/kind") {
        "HostedCluster" => ApiResource::erase::<HostedCluster>(&()),
        "NodePool" => ApiResource::erase::<NodePool>(&()),
        "Secret" => ApiResource::erase::<Secret>(&()),
        _ => ApiResource::erase::<Namespace>(&()),
    };
    let api: kube::Api<DynamicObject> = match text(object, "/metadata/namespace") {
        "" => kube::Api::all_with(client.clone(), &resource),
        namespace => kube::Api::namespaced_with(client.clone(), namespace, &resource),
    };
    api.patch(name(object), &parameters().force(), &Patch::Apply(object))
        .await?;
    Ok(())
}

/// Asks that an object goes; it may have gone already.
pub(crate) async fn delete<K: Kind>(api: &Api<K>, name: &str) -> Result<(), kube::Error> {
    match api.delete(name, &DeleteParams::default()).await {
        Err(kube::Error::Api(status)) if status.is_not_found() => Ok(()),
        other => other,
    }
}

fn parameters() -> PatchParams {
    PatchParams::apply(FIELD_MANAGER)
}
