//! Clusters: what infrastructure and control plane have come to, told in one place, because providers make no machine
//! before it says that both are there. What is said is decided in `status`.
//!
//! No finalizer is put on them here. Who deletes a hosted cluster puts one on and deletes the Cluster together with its
//! pools, so that machines know that nobody needs their nodes; it is taken off here after the last of them, as one is that
//! a manager of Cluster API has left. A Cluster that somebody else deletes has none: it is made again, and no machine goes
//! with it.
//!
//! Nothing is said of workers: all machines look at their Cluster, and would be woken by each step of every rollout.

mod dereference;
mod status;
#[cfg(test)]
mod tests;

use std::{sync::Arc, time::Duration};

use hyperplane_api::{
    cluster_api::{
        cluster::{ApiEndpoint, Cluster},
        common::ContractVersionedObjectReference,
        machine::Machine,
        machine_deployment::MachineDeployment,
        machine_set::MachineSet,
    },
    constants::finalizers,
    hypershift::hosted_control_plane::HostedControlPlane,
    infrastructure::{agent_cluster::AgentCluster, kubevirt_cluster::KubevirtCluster},
};
use hyperplane_objects::Kind;
use hyperplane_runtime::{Api, Context, ControllerBuilder, Failure, Manager, Next, Reconciler, Scope, Store};
use k8s_openapi::NamespaceResourceScope;
use kube::{
    Resource, ResourceExt as _,
    api::{Patch, PatchParams},
};
use serde_json::{Value, json};

use self::dereference::{Seen, look};
use crate::{InfrastructureKind, MachinesSettings, owners};

/// The name of the controller, and of its field manager for ever.
const NAME: &str = "cluster";
/// The index of clusters by their control plane.
const CONTROL_PLANE_INDEX: &str = "control-plane-of-cluster";
/// The index of clusters by their infrastructure.
const INFRASTRUCTURE_INDEX: &str = "infrastructure-of-cluster";
/// How soon a cluster that goes counts its machines again. If each of them told, counting would take the square of them.
const COUNT_AGAIN: Duration = Duration::from_secs(10);

/// The reconciler of clusters.
struct Clusters {
    control_planes: Store<HostedControlPlane>,
    kubevirt: Option<Store<KubevirtCluster>>,
    agents: Option<Store<AgentCluster>>,
    deployments: Store<MachineDeployment>,
    sets: Store<MachineSet>,
    machines: Store<Machine>,
}

/// Adds the controller to a manager.
pub(crate) fn register(manager: &mut Manager, settings: &MachinesSettings) {
    let scope = &settings.scope;
    let serves = |kind| settings.infrastructure.contains(&kind);
    let reconciler = Clusters {
        control_planes: manager.store(scope.watch()),
        kubevirt: serves(InfrastructureKind::Kubevirt).then(|| manager.store(owners::watch(scope))),
        agents: serves(InfrastructureKind::Agent).then(|| manager.store(owners::watch(scope))),
        deployments: manager.store(owners::watch(scope)),
        sets: manager.store(owners::watch(scope)),
        machines: manager.store(owners::watch(scope)),
    };
    let (deployments, sets) = (reconciler.deployments.clone(), reconciler.sets.clone());
    let machines = reconciler.machines.clone();
    let mut builder = manager
        .controller(NAME, owners::watch::<Cluster>(scope), reconciler)
        // What others have to say before a cluster is available, they say in its status.
        .on_status()
        .reads(&deployments)
        .reads(&sets)
        .reads(&machines)
        .watches_referenced(
            scope.watch::<HostedControlPlane>(),
            CONTROL_PLANE_INDEX,
            |cluster| referred(cluster, cluster.spec.control_plane_ref.as_ref()),
            itself,
        );
    for kind in &settings.infrastructure {
        builder = match kind {
            InfrastructureKind::Kubevirt => watched::<KubevirtCluster>(builder, scope),
            InfrastructureKind::Agent => watched::<AgentCluster>(builder, scope),
        };
    }
    builder.register();
}

impl Reconciler for Clusters {
    type Object = Cluster;

    const SEES_DELETION: bool = true;

    async fn reconcile(&self, context: &Context, cluster: Arc<Cluster>) -> Result<Next, Failure> {
        let seen = look(self, cluster);
        if let Some(endpoint) = status::missing_endpoint(&seen) {
            // The change comes back, and with it the next run.
            return set_endpoint(context, &seen.cluster, &endpoint).await;
        }
        let is_held = seen.is_leaving() && seen.pause.is_none() && has_finalizer(&seen);
        if is_held && seen.remaining.is_empty() {
            return release(context, &seen.cluster).await;
        }
        let status = status::status(&seen, context.now());
        context.apply_status(seen.cluster.as_ref(), &status).await?;
        Ok(if is_held {
            Next::After(COUNT_AGAIN)
        } else {
            Next::OnChange
        })
    }
}

fn has_finalizer(seen: &Seen) -> bool {
    let mut found = seen.cluster.finalizers().iter();
    found.any(|finalizer| finalizer == finalizers::CLUSTER.as_str())
}

/// Takes off the finalizer that somebody else put on. With the version inside, no finalizer of others is lost.
async fn release(context: &Context, cluster: &Cluster) -> Result<Next, Failure> {
    let others = cluster.finalizers().iter();
    let others: Vec<&String> = others
        .filter(|finalizer| *finalizer != finalizers::CLUSTER.as_str())
        .collect();
    let metadata = json!({"resourceVersion": cluster.metadata.resource_version, "finalizers": others});
    patch(context, cluster, json!({"metadata": metadata})).await
}

/// Writes one field, and only over the object that was read: who makes the cluster says what is left of it.
async fn set_endpoint(context: &Context, cluster: &Cluster, endpoint: &ApiEndpoint) -> Result<Next, Failure> {
    let change = json!({"metadata": {"uid": cluster.metadata.uid}, "spec": {"controlPlaneEndpoint": endpoint}});
    patch(context, cluster, change).await
}

async fn patch(context: &Context, cluster: &Cluster, change: Value) -> Result<Next, Failure> {
    let api: Api<Cluster> = Api::namespaced(context.client().clone(), &cluster.namespace().unwrap_or_default());
    let parameters = PatchParams {
        field_manager: Some(context.field_manager().to_owned()),
        ..PatchParams::default()
    };
    api.patch(&cluster.name_any(), &parameters, &Patch::Merge(change))
        .await?;
    Ok(Next::OnChange)
}

fn watched<'m, K>(builder: ControllerBuilder<'m, Clusters>, scope: &Scope) -> ControllerBuilder<'m, Clusters>
where
    K: Kind + Resource<Scope = NamespaceResourceScope>,
{
    builder.watches_referenced(
        owners::watch::<K>(scope),
        INFRASTRUCTURE_INDEX,
        |cluster| referred(cluster, cluster.spec.infrastructure_ref.as_ref()),
        itself,
    )
}

/// What a reference of a cluster means, in the words of an index.
fn referred(cluster: &Cluster, reference: Option<&ContractVersionedObjectReference>) -> Vec<String> {
    let namespace = cluster.namespace().unwrap_or_default();
    let word = |reference: &ContractVersionedObjectReference| {
        index_value(
            reference.api_group.as_str(),
            reference.kind.as_str(),
            &namespace,
            reference.name.as_str(),
        )
    };
    reference.map(word).into_iter().collect()
}

/// An object in the same words.
fn itself<K: Kind>(object: &K) -> Vec<String> {
    let namespace = object.meta().namespace.clone().unwrap_or_default();
    vec![index_value(
        &K::group(&()),
        &K::kind(&()),
        &namespace,
        &object.name_any(),
    )]
}

fn index_value(group: &str, kind: &str, namespace: &str, name: &str) -> String {
    format!("{group}/{kind}/{namespace}/{name}")
}
