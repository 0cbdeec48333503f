//! MachineSets: one run of the controller, and whose change causes it. Decisions are made in `plan`.

mod apply;
mod build;
mod dereference;
mod going;
mod plan;
mod status;
#[cfg(test)]
mod tests;

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex},
    time::Duration,
};

use hyperplane_api::{
    cluster_api::{cluster::Cluster, machine::Machine, machine_deployment::MachineDeployment, machine_set::MachineSet},
    constants::finalizers,
};
use hyperplane_runtime::{Context, Failure, Manager, Next, ObjectKey, Only, Reconciler, Store, gap_of_sum};
use kube::ResourceExt as _;

use crate::{InfrastructureKind, MachinesSettings, adoption::claimants, counts::is_deleting, nodes::bounded, owners};

/// The name of the controller, and of its field manager for ever.
const NAME: &str = "machine-set";
/// The index of sets by their cluster.
const CLUSTER_INDEX: &str = "cluster-of-machine-set";
/// The index of sets by the deployment that controls them.
const DEPLOYMENT_INDEX: &str = "deployment-of-machine-set";
/// How soon a set goes on that has more to do than one run may.
const GO_ON: Duration = Duration::from_secs(1);

/// Adds the controller to a manager.
pub(crate) fn register(manager: &mut Manager, settings: MachinesSettings) {
    let MachinesSettings {
        scope, infrastructure, ..
    } = settings;
    let reconciler = Sets {
        clusters: manager.store(owners::watch(&scope)),
        deployments: manager.store(owners::watch(&scope)),
        all: owners::store(manager, &scope),
        machines: owners::store(manager, &scope),
        infrastructure,
        settled: Mutex::default(),
        going: going::Going::default(),
    };
    let sets = reconciler.all.clone();
    manager
        .controller(NAME, owners::watch(&scope), reconciler)
        .owns(owners::watch::<Machine>(&scope))
        .watches(owners::watch::<Machine>(&scope), move |machine| {
            claimants(machine, &sets, dereference::claim)
        })
        .watches_referenced(
            owners::watch::<Cluster>(&scope),
            CLUSTER_INDEX,
            |set: &MachineSet| vec![key_of(set, &set.spec.cluster_name)],
            |cluster| vec![ObjectKey::of(cluster).to_string()],
        )
        // A newer revision, or another bound on repairs.
        .watches_referenced(
            owners::watch::<MachineDeployment>(&scope),
            DEPLOYMENT_INDEX,
            |set: &MachineSet| {
                let deployment = owners::controller(set);
                deployment
                    .map(|deployment| key_of(set, &deployment.name))
                    .into_iter()
                    .collect()
            },
            |deployment| vec![ObjectKey::of(deployment).to_string()],
        )
        .register();
}

fn key_of(set: &MachineSet, name: &str) -> String {
    ObjectKey::namespaced(set.namespace().unwrap_or_default(), name).to_string()
}

/// The reconciler of MachineSets.
struct Sets {
    clusters: Store<Cluster>,
    deployments: Store<MachineDeployment>,
    all: Store<MachineSet>,
    machines: Store<Machine>,
    infrastructure: Vec<InfrastructureKind>,
    /// The uids of sets for which no instance without a machine can be left: a run that was cut short between the two
    /// may leave one. Empty after a start, so that each set is looked through once.
    settled: Mutex<BTreeSet<String>>,
    /// What was deleted and is not shown to be going yet.
    going: going::Going,
}

impl Reconciler for Sets {
    type Object = MachineSet;

    const FINALIZER: Option<&'static str> = Some(finalizers::MACHINE_SET.as_str());

    fn is_for(&self, only: &Only, object: &MachineSet) -> bool {
        owners::is_for(only, &self.clusters, object, &object.spec.cluster_name)
    }

    fn gap(&self, set: &MachineSet) -> Duration {
        let there = set.status.as_ref().and_then(|status| status.replicas);
        gap_of_sum(set.spec.replicas.max(there))
    }

    async fn reconcile(&self, context: &Context, set: Arc<MachineSet>) -> Result<Next, Failure> {
        let seen = dereference::look(self, set, context.now());
        if seen.pause.is_some() {
            report(context, &seen, None).await?;
            return Ok(Next::OnChange);
        }
        let done = match plan::plan(&seen) {
            Ok(plan) => apply::carry_out(self, context, &seen, &plan).await,
            Err(failure) => Err(failure),
        };
        // After the work, so that what held it up is told.
        report(context, &seen, done.as_ref().err()).await?;
        let is_complete = done?;
        Ok(if is_complete {
            self.going.next(&seen.set).map_or(Next::OnChange, Next::After)
        } else {
            Next::After(GO_ON)
        })
    }

    async fn cleanup(&self, context: &Context, set: Arc<MachineSet>) -> Result<(), Failure> {
        let seen = dereference::look(self, set, context.now());
        if let Some(pause) = seen.pause {
            return Err(Failure::wait(format!("the end of the pause: {pause}")));
        }
        let mut staying = seen.machines.clone();
        staying.retain(|machine| !is_deleting(&machine.metadata));
        for machine in staying.iter().take(apply::BATCH) {
            context.delete(machine.as_ref()).await?;
        }
        if !seen.machines.is_empty() {
            report(context, &seen, None).await?;
            return Err(Failure::wait_until(
                format!("{} machines to go", seen.machines.len()),
                apply::LOOK_AGAIN,
            ));
        }
        // Instances that never got a machine have the set as their owner, and go with it.
        apply::forget(self, &seen.set);
        self.going.forget(&seen.set);
        Ok(())
    }
}

/// Tells how far a set has come, and what held it up.
async fn report(context: &Context, seen: &dereference::Seen, failure: Option<&Failure>) -> Result<(), Failure> {
    let held_up = failure.map(|failure| bounded(&failure.report()));
    let status = status::status(seen, held_up.as_deref(), context.now());
    context.apply_status(seen.set.as_ref(), &status).await.map(drop)
}
