//! MachineDeployments: one run of the controller, and whose change causes it. Decisions are made in `plan`.

mod apply;
mod dereference;
mod plan;
mod status;
mod template;
#[cfg(test)]
mod tests;

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use hyperplane_api::{
    cluster_api::{cluster::Cluster, machine::Machine, machine_deployment::MachineDeployment, machine_set::MachineSet},
    constants::finalizers,
};
use hyperplane_runtime::{Context, Failure, Manager, Next, ObjectKey, Only, Reconciler, Scope, Store, gap_of_sum};
use kube::ResourceExt as _;

use crate::{adoption::claimants, owners};

/// The name of the controller, and of its field manager for ever.
const NAME: &str = "machine-deployment";
/// The index of deployments by their cluster.
const CLUSTER_INDEX: &str = "cluster-of-machine-deployment";

/// Adds the controller to a manager.
pub(crate) fn register(manager: &mut Manager, scope: &Scope) {
    let reconciler = Deployments {
        clusters: manager.store(owners::watch(scope)),
        sets: owners::store(manager, scope),
        machines: owners::store(manager, scope),
    };
    let sets = reconciler.sets.clone();
    let deployments: Store<MachineDeployment> = manager.store(owners::watch(scope));
    manager
        .controller(NAME, owners::watch(scope), reconciler)
        .owns(owners::watch::<MachineSet>(scope))
        .watches(owners::watch::<MachineSet>(scope), move |set| {
            claimants(set, &deployments, dereference::claim)
        })
        .watches(owners::watch::<Machine>(scope), move |machine| {
            deployment_of(machine, &sets)
        })
        .watches_referenced(
            owners::watch::<Cluster>(scope),
            CLUSTER_INDEX,
            |deployment: &MachineDeployment| {
                let namespace = deployment.namespace().unwrap_or_default();
                vec![ObjectKey::namespaced(namespace, &deployment.spec.cluster_name).to_string()]
            },
            |cluster| vec![ObjectKey::of(cluster).to_string()],
        )
        .register();
}

/// The reconciler of MachineDeployments.
struct Deployments {
    clusters: Store<Cluster>,
    sets: Store<MachineSet>,
    machines: Store<Machine>,
}

impl Reconciler for Deployments {
    type Object = MachineDeployment;

    const FINALIZER: Option<&'static str> = Some(finalizers::MACHINE_DEPLOYMENT.as_str());

    fn is_for(&self, only: &Only, object: &MachineDeployment) -> bool {
        owners::is_for(only, &self.clusters, object, &object.spec.cluster_name)
    }

    fn gap(&self, deployment: &MachineDeployment) -> Duration {
        let there = deployment.status.as_ref().and_then(|status| status.replicas);
        gap_of_sum(deployment.spec.replicas.max(there))
    }

    async fn reconcile(&self, context: &Context, deployment: Arc<MachineDeployment>) -> Result<Next, Failure> {
        let seen = dereference::look(self, deployment);
        if seen.pause.is_some() {
            report(context, &seen).await?;
            return Ok(Next::OnChange);
        }
        let plan = plan::plan(&seen, context.now());
        if let Ok(plan) = &plan {
            apply::carry_out(context, &seen, plan).await?;
        }
        report(context, &seen).await?;
        Ok(plan?.next.map_or(Next::OnChange, Next::After))
    }

    async fn cleanup(&self, context: &Context, deployment: Arc<MachineDeployment>) -> Result<(), Failure> {
        let seen = dereference::look(self, deployment);
        if let Some(pause) = seen.pause {
            return Err(Failure::wait(format!("the end of the pause: {pause}")));
        }
        for seen in &seen.sets {
            context.delete(seen.set.as_ref()).await?;
        }
        if seen.sets.is_empty() {
            return Ok(());
        }
        report(context, &seen).await?;
        Err(Failure::wait(format!("{} machine sets to go", seen.sets.len())))
    }
}

async fn report(context: &Context, seen: &dereference::Seen) -> Result<(), Failure> {
    let status = status::status(seen, context.now());
    context.apply_status(seen.deployment.as_ref(), &status).await.map(drop)
}

/// The deployment whose set controls a machine.
fn deployment_of(machine: &Machine, sets: &Store<MachineSet>) -> BTreeSet<ObjectKey> {
    let namespace = machine.namespace().unwrap_or_default();
    let set = owners::controller(machine).map(|set| ObjectKey::namespaced(&namespace, &set.name));
    let set = set.and_then(|set| sets.get(&set));
    let deployment = set.as_ref().and_then(|set| owners::controller(set.as_ref()));
    deployment
        .map(|deployment| ObjectKey::namespaced(&namespace, &deployment.name))
        .into_iter()
        .collect()
}
