//! The controller of Machines: from the data for the first boot to the Node, and back. This file is the driver; what is
//! known is gathered in `look`, decided in pure functions below this module, and written here and in `removal`.

mod conditions;
mod decide;
mod deletion;
mod facts;
mod infrastructure;
mod look;
mod removal;
mod status;

use std::{sync::Arc, time::Duration};

use hyperplane_api::{
    cluster_api::{cluster::Cluster, machine::Machine, machine_deployment::MachineDeployment, machine_set::MachineSet},
    constants::finalizers,
    hypershift::hosted_control_plane::HostedControlPlane,
};
use hyperplane_runtime::{
    Api, Context, ControllerBuilder, EventType, Failure, Manager, Next, ObjectKey, Only, Reconciler, Store,
};
use kube::{
    ResourceExt as _,
    api::{Patch, PatchParams},
};
use serde_json::json;

pub use self::infrastructure::{InfrastructureKind, KindRow};
use self::{
    conditions::until_available,
    decide::{LOOK_AT_REST, LOOK_SOON, Step, decide, missing_annotations, next_look},
    facts::{Facts, Infrastructure, NodeFacts},
    infrastructure::{Agent, Instance, Instances, Kubevirt, Provider, index_value},
    status::{paused_status, status},
};
use crate::{
    MachinesSettings,
    counts::is_deleting,
    drain::release,
    nodes::{HostedCluster, HostedClusters, NoAnswer, Nodes},
    owners,
};

/// The name of the controller, and of its field manager for ever.
pub(crate) const NAME: &str = "machine";

/// How many machines are worked on at a time. A visit to a hosted cluster that does not answer holds one of these for
/// its patience, and must not hold up the machines of others.
const CONCURRENCY: usize = 32;

/// The reconciler of machines.
pub(crate) struct Machines {
    clusters: Store<Cluster>,
    control_planes: Store<HostedControlPlane>,
    sets: Store<MachineSet>,
    deployments: Store<MachineDeployment>,
    instances: Instances,
    hosted: HostedClusters,
}

/// Adds the controller to a manager.
pub(crate) fn register(manager: &mut Manager, settings: &MachinesSettings, nodes: &Nodes) {
    let scope = &settings.scope;
    let reconciler = Machines {
        clusters: manager.store(owners::watch(scope)),
        control_planes: manager.store(scope.watch()),
        sets: manager.store(owners::watch(scope)),
        deployments: manager.store(owners::watch(scope)),
        instances: Instances::new(manager, scope, &settings.infrastructure),
        hosted: nodes.for_controller(manager, scope),
    };
    let (sets, deployments) = (reconciler.sets.clone(), reconciler.deployments.clone());
    let (secrets, control_planes) = (reconciler.hosted.secrets().clone(), reconciler.control_planes.clone());
    let mut builder = manager
        .controller(NAME, owners::watch::<Machine>(scope), reconciler)
        .on_status()
        .concurrency(CONCURRENCY)
        // Sets and deployments change with every step of a rollout, and would wake all their machines each time. That a
        // machine is outdated is noticed at its next look.
        .reads(&sets)
        .reads(&deployments)
        .reads(&secrets)
        .reads(&control_planes)
        .watches_referenced(owners::watch::<Cluster>(scope), "cluster", cluster_of, title);
    for kind in &settings.infrastructure {
        builder = match kind {
            InfrastructureKind::Kubevirt => watched::<Kubevirt>(builder, settings),
            InfrastructureKind::Agent => watched::<Agent>(builder, settings),
        };
    }
    builder.register();
}

impl Reconciler for Machines {
    type Object = Machine;

    const FINALIZER: Option<&'static str> = Some(finalizers::MACHINE.as_str());
    const SWEEPS: bool = true;

    fn is_for(&self, only: &Only, object: &Machine) -> bool {
        owners::is_for(only, &self.clusters, object, &object.spec.cluster_name)
    }

    async fn reconcile(&self, context: &Context, machine: Arc<Machine>) -> Result<Next, Failure> {
        let facts = self.look(context, machine).await;
        if facts.is_paused() {
            let status = paused_status(&facts);
            context.apply_status(facts.machine.as_ref(), &status).await?;
            return Ok(Next::OnChange);
        }
        let mut next = next_look(&facts);
        for step in decide(&facts) {
            match &step {
                Step::Adopt | Step::SetProviderId(_) => self.write_here(context, &facts, &step).await?,
                Step::Release(_) | Step::Annotate(_) => {
                    if let Err(no_answer) = self.write_there(&facts, &step).await {
                        tracing::debug!(machine = facts.name(), error = %no_answer, "Will look at the node again.");
                        next = Some(LOOK_SOON);
                    }
                }
            }
        }
        let status = status(&facts, None);
        context.apply_status(facts.machine.as_ref(), &status).await?;
        tell(context, &facts);
        let available = until_available(&facts, &status.conditions);
        Ok(earlier(next, available).map_or(Next::OnChange, Next::After))
    }

    async fn cleanup(&self, context: &Context, machine: Arc<Machine>) -> Result<(), Failure> {
        self.remove(context, machine).await
    }

    /// A Machine that was let go by hand, in the middle of its deletion, leaves a cordon behind on a node that stays.
    async fn sweep(&self, context: &Context, key: &ObjectKey) -> Result<(), Failure> {
        let nodes = match self.hosted.list(&key.namespace, context.now(), LOOK_SOON / 2).await {
            Ok(nodes) => nodes,
            Err(no_answer) if self.has_clusters(&key.namespace) => return Err(wait(&no_answer, LOOK_AT_REST)),
            // With a cluster that goes goes what is left in it.
            Err(_) => return Ok(()),
        };
        let ours = nodes.cordoned_for(&key.name);
        if ours.is_empty() {
            return Ok(());
        }
        let machines: Api<Machine> = Api::namespaced(context.client().clone(), &key.namespace);
        if machines.get_metadata_opt(&key.name).await?.is_some() {
            return Ok(());
        }
        for node in ours {
            let released = async { release(&self.hosted.visit(&key.namespace).await?, node).await };
            let released = released.await.map_err(|no_answer| wait(&no_answer, LOOK_SOON))?;
            tracing::info!(node, machine = %key, released, "Took our cordon off a node whose Machine is gone.");
        }
        Ok(())
    }
}

impl Machines {
    /// Whether there is a Cluster in a namespace that stays.
    fn has_clusters(&self, namespace: &str) -> bool {
        let clusters = self.clusters.namespace(namespace).all();
        clusters.iter().any(|cluster| !is_deleting(&cluster.metadata))
    }

    /// A write to the management cluster.
    async fn write_here(&self, context: &Context, facts: &Facts, step: &Step) -> Result<(), Failure> {
        match (step, &facts.infrastructure) {
            (Step::Adopt, Infrastructure::Present(kind, instance)) => {
                let machine = facts.machine.as_ref();
                self.instances.adopt(context, *kind, instance, machine).await
            }
            (Step::SetProviderId(provider_id), _) => set_provider_id(context, &facts.machine, provider_id).await,
            _ => Ok(()),
        }
    }

    /// A write to the hosted cluster, over the state of this moment.
    async fn write_there(&self, facts: &Facts, step: &Step) -> Result<(), NoAnswer> {
        let NodeFacts::Present(node) = &facts.node else {
            return Ok(());
        };
        let hosted = self
            .hosted
            .visit(&facts.machine.namespace().unwrap_or_default())
            .await?;
        match step {
            Step::Release(name) => release(&hosted, name).await.map(drop),
            Step::Annotate(_) => annotate(&hosted, facts, node.name()).await,
            Step::Adopt | Step::SetProviderId(_) => Ok(()),
        }
    }
}

/// Says on a node to which machine it belongs, if it does not say so already: the list may be older than the last
/// write.
async fn annotate(hosted: &HostedCluster, facts: &Facts, node: &str) -> Result<(), NoAnswer> {
    let Some(fresh) = hosted.node(node).await? else {
        return Ok(());
    };
    let missing = missing_annotations(facts, &fresh);
    if missing.is_empty() {
        return Ok(());
    }
    let patch = json!({"metadata": {"annotations": missing}});
    hosted.patch_node(&fresh, patch).await
}

/// Waiting for a hosted cluster, which announces nothing.
fn wait(no_answer: &NoAnswer, after: Duration) -> Failure {
    Failure::wait_until(format!("the hosted cluster: {no_answer}"), after)
}

/// Writes one field, and only over the object that was read: what is left of the Machine belongs to others.
async fn set_provider_id(context: &Context, machine: &Machine, provider_id: &str) -> Result<(), Failure> {
    let api: Api<Machine> = Api::namespaced(context.client().clone(), &machine.namespace().unwrap_or_default());
    let parameters = PatchParams {
        field_manager: Some(context.field_manager().to_owned()),
        ..PatchParams::default()
    };
    let patch = json!({"metadata": {"uid": machine.metadata.uid}, "spec": {"providerID": provider_id}});
    api.patch(&machine.name_any(), &parameters, &Patch::Merge(patch))
        .await?;
    Ok(())
}

/// That a machine has become a Node is worth a word, once.
fn tell(context: &Context, facts: &Facts) {
    if let NodeFacts::Present(node) = &facts.node
        && facts.known_node().is_none()
    {
        let message = format!("The machine has become Node {}", node.name());
        context.event(EventType::Normal, "SuccessfulSetNodeRef", message);
    }
}

fn earlier(one: Option<Duration>, other: Option<Duration>) -> Option<Duration> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

fn watched<'m, P: Provider>(
    builder: ControllerBuilder<'m, Machines>,
    settings: &MachinesSettings,
) -> ControllerBuilder<'m, Machines> {
    builder.watches_referenced(
        settings.scope.watch::<Instance<P>>(),
        "infrastructure",
        |machine| {
            let reference = &machine.spec.infrastructure_ref;
            let namespace = machine.namespace().unwrap_or_default();
            vec![index_value(
                reference.kind.as_str(),
                &namespace,
                reference.name.as_str(),
            )]
        },
        |instance| {
            let namespace = instance.namespace().unwrap_or_default();
            vec![index_value(P::ROW.kind, &namespace, &instance.name_any())]
        },
    )
}

/// Namespace and name, as indices have them.
fn title<K: kube::Resource>(object: &K) -> Vec<String> {
    vec![ObjectKey::of(object).to_string()]
}

fn cluster_of(machine: &Machine) -> Vec<String> {
    let namespace = machine.namespace().unwrap_or_default();
    vec![ObjectKey::namespaced(namespace, &machine.spec.cluster_name).to_string()]
}
