//! Machines of a cluster that no pool answers for, and what makes them: somebody made them by hand, or took a pool away by
//! force. Nobody else deletes them, as the manager of Cluster API would.

use std::sync::Arc;

use hyperplane_api::cluster_api::{machine::Machine, machine_deployment::MachineDeployment, machine_set::MachineSet};
use hyperplane_runtime::{Api, Context, Failure};
use kube::{Resource, ResourceExt as _, api::ListParams, core::PartialObjectMeta};

/// Machines that one run looks at: it has to end before its deadline. The end of these brings the next run.
const MOST_MACHINES: usize = 50;

/// What is to be deleted, and what remains.
#[derive(Default)]
pub(crate) struct Workers {
    pub(crate) deployments: Vec<Arc<MachineDeployment>>,
    /// Those without a deployment, which would delete them.
    pub(crate) sets: Vec<Arc<MachineSet>>,
    /// Those without a set, which would delete them.
    pub(crate) machines: Vec<Arc<Machine>>,
    /// All sets and deployments that are still there, by kind and name.
    pub(crate) remaining: Vec<String>,
}

impl Workers {
    /// Whether there is nothing to delete.
    pub(crate) fn is_empty(&self) -> bool {
        self.deployments.is_empty() && self.sets.is_empty() && self.machines.is_empty()
    }
}

/// Looks at what belongs to a cluster in its namespace, once its pools are gone. Little is there then, so that the server is
/// asked and nobody has to keep what it says.
pub(crate) async fn look(
    context: &Context,
    namespace: &str,
    infra_id: &str,
    machines: &[Arc<PartialObjectMeta<Machine>>],
) -> Result<Workers, Failure> {
    let client = context.client();
    let deployments: Api<MachineDeployment> = Api::namespaced(client.clone(), namespace);
    let sets: Api<MachineSet> = Api::namespaced(client.clone(), namespace);
    let mut deployments = deployments.list(&ListParams::default()).await?.items;
    let mut sets = sets.list(&ListParams::default()).await?.items;
    deployments.retain(|deployment| deployment.spec.cluster_name == infra_id);
    sets.retain(|set| set.spec.cluster_name == infra_id);
    let remaining = deployments.iter().map(title).chain(sets.iter().map(title)).collect();
    let deployments = deployments.into_iter().filter(is_kept);
    let sets = sets.into_iter().filter(|set| is_kept(set) && !is_controlled(set));
    Ok(Workers {
        deployments: deployments.map(Arc::new).collect(),
        sets: sets.map(Arc::new).collect(),
        machines: alone(context, namespace, infra_id, machines).await?,
        remaining,
    })
}

/// Machines that no set controls. Only their metadata is kept here, and to whom they belong is in their spec.
async fn alone(
    context: &Context,
    namespace: &str,
    infra_id: &str,
    machines: &[Arc<PartialObjectMeta<Machine>>],
) -> Result<Vec<Arc<Machine>>, Failure> {
    let api: Api<Machine> = Api::namespaced(context.client().clone(), namespace);
    let kept = machines
        .iter()
        .map(AsRef::as_ref)
        .filter(|machine| is_kept(*machine) && !is_controlled(*machine));
    let mut found = Vec::new();
    for machine in kept.take(MOST_MACHINES) {
        let live = api.get_opt(&machine.name_any()).await?;
        let live = live.filter(|live| live.spec.cluster_name == infra_id && is_kept(live) && !is_controlled(live));
        found.extend(live.map(Arc::new));
    }
    Ok(found)
}

fn is_kept<K: Resource>(object: &K) -> bool {
    object.meta().deletion_timestamp.is_none()
}

fn is_controlled<K: Resource>(object: &K) -> bool {
    let mut owners = object.owner_references().iter();
    owners.any(|owner| owner.controller == Some(true))
}

fn title<K: Resource<DynamicType = ()>>(object: &K) -> String {
    format!("{} {}", K::kind(&()), object.name_any())
}
