//! Does what the order of a deletion asks for. Decides nothing.

use hyperplane_api::{
    cluster_api::cluster::Cluster,
    constants::{annotations, finalizers},
    hypershift::hosted_cluster::HostedCluster,
};
use hyperplane_objects::Kind;
use hyperplane_runtime::{Api, Context, Failure};
use k8s_openapi::api::core::v1::Pod;
use kube::{
    ResourceExt as _,
    api::{DeleteParams, ListParams, Patch, PatchParams, Preconditions},
};
use serde_json::json;

use super::{
    look::{Remains, Rights},
    order::{Deed, Step},
};
use crate::{
    build::{cluster_with_pause, with_pause},
    components, metadata, names,
    stores::Stores,
};

/// How long pods of a control plane have to end once nobody is served any more: enough to end in order.
const END_GRACE_SECONDS: u32 = 5;

/// The word for no pause.
const NOT_PAUSED: &str = "false";

/// Does everything that a step asks for.
pub(crate) async fn carry_out(
    context: &Context,
    stores: &Stores,
    cluster: &HostedCluster,
    remains: &Remains,
    step: &Step,
) -> Result<(), Failure> {
    for deed in &step.deeds {
        match deed {
            Deed::Resume => resume(context, cluster, remains).await?,
            Deed::DeleteNodePools => delete_all(context, &remains.node_pools).await?,
            Deed::HoldClusterApi => hold(context, remains).await?,
            Deed::DeleteClusterApi => delete_all(context, remains.cluster_api.as_slice()).await?,
            Deed::DeleteWorkers => {
                delete_all(context, &remains.workers.deployments).await?;
                delete_all(context, &remains.workers.sets).await?;
                delete_all(context, &remains.workers.machines).await?;
            }
            Deed::DeleteInfrastructure => {
                delete_all(context, &remains.kubevirt).await?;
                delete_all(context, &remains.agents).await?;
            }
            Deed::ReleaseProviders => components::hold(context, stores, &names::namespace_of(cluster), &[]).await?,
            Deed::DeleteCredentials => delete_all(context, &remains.credentials).await?,
            Deed::DeleteControlPlane => delete_all(context, remains.control_plane.as_slice()).await?,
            Deed::DeleteTraces => delete_traces(context, &remains.rights, remains).await?,
            Deed::DeleteNamespace => delete_all(context, remains.namespace.as_slice()).await?,
            Deed::EndPods => end_pods(context, &names::namespace_of(cluster)).await?,
        }
    }
    Ok(())
}

async fn delete_all<K: Kind>(context: &Context, objects: &[std::sync::Arc<K>]) -> Result<(), Failure> {
    for object in objects {
        context.delete(object.as_ref()).await?;
    }
    Ok(())
}

/// Shortens the time that pods of a control plane take to end, where they would take longer.
async fn end_pods(context: &Context, namespace: &str) -> Result<(), Failure> {
    let api: Api<Pod> = Api::namespaced(context.client().clone(), namespace);
    let is_slow = |pod: &Pod| {
        let granted = pod.metadata.deletion_grace_period_seconds;
        granted.is_none_or(|seconds| seconds > i64::from(END_GRACE_SECONDS))
    };
    for pod in api
        .list(&ListParams::default())
        .await?
        .items
        .iter()
        .filter(|pod| is_slow(pod))
    {
        let this_one = Preconditions {
            uid: pod.uid(),
            resource_version: None,
        };
        let parameters = DeleteParams::default()
            .grace_period(END_GRACE_SECONDS)
            .preconditions(this_one);
        match api.delete(&pod.name_any(), &parameters).await {
            // It is gone, or another has its name.
            Err(kube::Error::Api(status)) if matches!(status.code, 404 | 409) => {}
            deleted => deleted?,
        }
    }
    Ok(())
}

/// Puts the finalizer of Cluster API on what stands for the cluster there; whoever ends the machines takes it off. It is on
/// for the deletion only, so that a Cluster which somebody else deletes is simply made again. With the version inside, no
/// finalizer of others is lost.
async fn hold(context: &Context, remains: &Remains) -> Result<(), Failure> {
    let Some(known) = &remains.cluster_api else {
        return Ok(());
    };
    let api: Api<Cluster> = Api::namespaced(context.client().clone(), &known.namespace().unwrap_or_default());
    let Some(live) = api.get_metadata_opt(&known.name_any()).await? else {
        return Ok(());
    };
    let mut all = live.finalizers().to_vec();
    let ours = finalizers::CLUSTER.as_str();
    if live.metadata.deletion_timestamp.is_some() || all.iter().any(|finalizer| finalizer == ours) {
        return Ok(());
    }
    all.push(ours.to_owned());
    let patch = json!({"metadata": {
        "uid": live.metadata.uid, "resourceVersion": live.metadata.resource_version, "finalizers": all,
    }});
    let parameters = PatchParams {
        field_manager: Some(context.field_manager().to_owned()),
        ..PatchParams::default()
    };
    api.patch(&live.name_any(), &parameters, &Patch::Merge(patch)).await?;
    Ok(())
}

/// Bindings before what they bind: no right outlives its meaning.
async fn delete_traces(context: &Context, rights: &Rights, remains: &Remains) -> Result<(), Failure> {
    delete_all(context, &rights.cluster_role_bindings).await?;
    delete_all(context, &rights.role_bindings).await?;
    delete_all(context, &rights.cluster_roles).await?;
    delete_all(context, &rights.roles).await?;
    delete_all(context, &remains.kubeconfigs).await
}

/// A deletion is not held up by a pause, and the control plane learns how it is to clean up.
async fn resume(context: &Context, cluster: &HostedCluster, remains: &Remains) -> Result<(), Failure> {
    if let Some(live) = &remains.cluster_api {
        context.apply(&cluster_with_pause(live, false)).await?;
    }
    let Some(live) = &remains.control_plane else {
        return Ok(());
    };
    // A pause that somebody else wrote is overruled, too.
    let mut control_plane = with_pause(live, Some(NOT_PAUSED.to_owned()));
    let key = annotations::CLEANUP_CLOUD_RESOURCES;
    let annotations = control_plane.metadata.annotations.get_or_insert_default();
    match key.of(cluster) {
        Some(value) => annotations.extend([metadata::pair(key, value)]),
        None => {
            annotations.remove(key.as_str());
        }
    }
    context.apply(&control_plane).await.map(drop)
}
