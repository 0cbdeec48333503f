//! `hyperplane destroy cluster`.

use std::{io::Write, process::ExitCode};

use clap::Args;
use hyperplane_api::{
    cluster_api::machine::Machine,
    constants::annotations,
    hypershift::{control_plane_component::ControlPlaneComponent, hosted_cluster::HostedCluster, node_pool::NodePool},
};
use hyperplane_objects::Kind;
use hyperplane_recipes::control_plane_namespace;
use hyperplane_runtime::Api;
use k8s_openapi::api::core::v1::Namespace;
use kube::{
    Client, Resource, ResourceExt as _,
    api::{DeleteParams, ListParams, Patch, PatchParams, Preconditions},
};
use serde_json::json;

use super::{Removal, beside, remaining::Remaining, watch};
use crate::{create::note, limit::Limit, system};

/// What to remove, and how.
#[derive(Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    removal: Removal,
    /// How long the cluster stays visible after everything of it is gone, such as 10m
    #[arg(long, value_name = "DURATION")]
    cluster_grace_period: Option<Limit>,
    /// Remove what the cluster has made in its cloud, too
    #[arg(long)]
    destroy_cloud_resources: bool,
}

/// Removes a cluster.
pub(super) fn run(arguments: &Arguments, output: &mut impl Write) -> anyhow::Result<ExitCode> {
    system::log();
    system::small_runtime()?.block_on(async {
        let removal = &arguments.removal;
        let client = removal.connection.client().await?;
        let (namespace, name) = (&*removal.namespace, removal.name());
        let clusters: Api<HostedCluster> = Api::namespaced(client.clone(), namespace);
        let cluster = clusters.get(name).await?;
        prepare(&clusters, name, arguments).await?;
        let staying = beside::adopt(&client, &cluster).await?;
        // The one that was looked at, and no other of the same name.
        let only = Preconditions {
            uid: cluster.uid(),
            resource_version: None,
        };
        clusters
            .delete(name, &DeleteParams::default().preconditions(only))
            .await?;
        for words in &staying {
            note(words);
        }
        let title = format!("hostedcluster.hypershift.openshift.io/{name}");
        if removal.no_wait {
            writeln!(output, "{title} is going")?;
            return Ok(ExitCode::SUCCESS);
        }
        let uid = cluster.uid();
        let look = async || look(&client, namespace, name, uid.as_deref()).await;
        Box::pin(watch(&format!("cluster {name}"), removal.timeout, look)).await?;
        writeln!(output, "{title} is gone")?;
        Ok(ExitCode::SUCCESS)
    })
}

/// Writes down how the cluster is to go.
async fn prepare(clusters: &Api<HostedCluster>, name: &str, arguments: &Arguments) -> anyhow::Result<()> {
    let mut asked = serde_json::Map::new();
    if let Some(Limit(grace)) = arguments.cluster_grace_period {
        let seconds = grace.unwrap_or_default().as_secs();
        asked.insert(
            annotations::DESTROY_GRACE_PERIOD.as_str().to_owned(),
            format!("{seconds}s").into(),
        );
    }
    if arguments.destroy_cloud_resources {
        asked.insert(annotations::CLEANUP_CLOUD_RESOURCES.as_str().to_owned(), "true".into());
    }
    if !asked.is_empty() {
        let patch = json!({"metadata": {"annotations": asked}});
        clusters
            .patch_metadata(name, &PatchParams::default(), &Patch::Merge(&patch))
            .await?;
    }
    Ok(())
}

/// What is left; nothing when the cluster is gone.
async fn look(client: &Client, namespace: &str, name: &str, uid: Option<&str>) -> anyhow::Result<Option<String>> {
    let clusters: Api<HostedCluster> = Api::namespaced(client.clone(), namespace);
    let Some(cluster) = clusters
        .get_opt(name)
        .await?
        .filter(|found| found.uid().as_deref() == uid)
    else {
        return Ok(None);
    };
    let plane = control_plane_namespace(namespace, name);
    let pools: Vec<NodePool> = all(&Api::namespaced(client.clone(), namespace)).await;
    let pools = pools.iter().filter(|pool| pool.spec.cluster_name.as_str() == name);
    let namespaces: Api<Namespace> = Api::all(client.clone());
    let phase = namespaces.get_opt(&plane).await.ok().flatten().map(|found| {
        let phase = found.status.and_then(|status| status.phase);
        (plane.clone(), phase.unwrap_or_default())
    });
    let conditions = cluster
        .status
        .as_ref()
        .map(|status| &*status.conditions)
        .unwrap_or_default();
    let waits = conditions
        .iter()
        .find(|condition| condition.type_ == "Progressing" && condition.reason != "AsExpected");
    let left = Remaining {
        what: format!("cluster {name}"),
        finalizers: cluster.finalizers().to_vec(),
        pools: pools.map(kube::ResourceExt::name_any).collect(),
        machines: names(&all::<Machine>(&Api::namespaced(client.clone(), &plane)).await),
        components: names(&all::<ControlPlaneComponent>(&Api::namespaced(client.clone(), &plane)).await),
        namespace: phase,
        message: waits
            .map(|condition| condition.message.clone())
            .filter(|message| !message.is_empty()),
    };
    Ok(Some(left.text()))
}

/// All objects of a kind; none where nobody may look.
async fn all<K: Kind>(objects: &Api<K>) -> Vec<K> {
    let found = objects.list(&ListParams::default()).await;
    found.map(|list| list.items).unwrap_or_default()
}

fn names<K: Resource>(objects: &[K]) -> Vec<String> {
    objects.iter().map(kube::ResourceExt::name_any).collect()
}
