//! Gathers what is known of one machine: from the caches, and of its node from the list that all machines of the
//! cluster share. Reads only.

use std::sync::Arc;

use hyperplane_api::{
    cluster_api::machine::Machine,
    constants::{annotations, conditions::machine as types},
};
use hyperplane_runtime::{Context, Failure, ObjectKey, conditions::holds};
use kube::ResourceExt as _;

use super::{
    Machines,
    decide::oldest_answer,
    facts::{Facts, Infrastructure, NodeFacts},
    infrastructure::InfrastructureKind,
};
use crate::{counts::is_deleting, nodes::Found, owners};

impl Machines {
    /// Everything that is known of a machine.
    pub(super) async fn look(&self, context: &Context, machine: Arc<Machine>) -> Facts {
        let namespace = machine.namespace().unwrap_or_default();
        let cluster = ObjectKey::namespaced(&namespace, &machine.spec.cluster_name);
        let mut facts = Facts {
            cluster: self.clusters.get(&cluster),
            has_control_plane: self.has_control_plane(&namespace),
            infrastructure: self.infrastructure(&machine, &namespace),
            node: NodeFacts::Unidentified,
            is_up_to_date: self.is_up_to_date(&machine, &namespace),
            now: context.now(),
            machine,
        };
        let is_deleted = facts.machine.metadata.deletion_timestamp.is_some();
        // Nobody asks a cluster that is paused, nor one that goes: it may never answer again.
        let is_left_alone = facts.is_paused() || is_deleted && facts.is_cluster_leaving();
        if !is_left_alone {
            facts.node = self.node(&facts, &namespace, is_deleted).await;
        }
        facts
    }

    /// Makes sure that an instance which is not in sight is not there: a cache that lags behind would let the Machine go
    /// without it, and then nobody ends the instance.
    pub(super) async fn confirm(&self, context: &Context, facts: &mut Facts) -> Result<(), Failure> {
        let reference = &facts.machine.spec.infrastructure_ref;
        let kind = InfrastructureKind::of(reference.api_group.as_str(), reference.kind.as_str());
        let Some(kind) = kind.filter(|_| facts.infrastructure == Infrastructure::Missing) else {
            return Ok(());
        };
        let namespace = facts.machine.namespace().unwrap_or_default();
        let key = ObjectKey::namespaced(namespace, reference.name.as_str());
        if let Some(instance) = self.instances.ask(context, kind, &key).await? {
            facts.infrastructure = Infrastructure::Present(kind, Box::new(instance));
        }
        Ok(())
    }

    fn has_control_plane(&self, namespace: &str) -> bool {
        let found = self.control_planes.namespace(namespace).all();
        found.iter().any(|found| !is_deleting(&found.metadata))
    }

    fn infrastructure(&self, machine: &Machine, namespace: &str) -> Infrastructure {
        let reference = &machine.spec.infrastructure_ref;
        let kind = InfrastructureKind::of(reference.api_group.as_str(), reference.kind.as_str());
        let Some(kind) = kind.filter(|kind| self.instances.serves(*kind)) else {
            return Infrastructure::Unserved(format!(
                "{}.{} is of no provider that this manager serves",
                reference.kind, reference.api_group
            ));
        };
        let key = ObjectKey::namespaced(namespace, reference.name.as_str());
        match self.instances.get(kind, &key) {
            Some(instance) => Infrastructure::Present(kind, Box::new(instance)),
            None => Infrastructure::Missing,
        }
    }

    async fn node(&self, facts: &Facts, namespace: &str, is_deleted: bool) -> NodeFacts {
        let Some(provider_id) = facts.provider_id() else {
            return NodeFacts::Unidentified;
        };
        let is_at_rest = !is_deleted && holds(facts.conditions(), types::NODE_READY.as_str());
        let list = self
            .hosted
            .list(namespace, facts.now, oldest_answer(facts, is_at_rest))
            .await;
        match list {
            Err(no_answer) => NodeFacts::Unseen(no_answer),
            Ok(list) => match list.find(provider_id, facts.known_node()) {
                Found::None => NodeFacts::Missing,
                Found::One(node) => NodeFacts::Present(Box::new(node.clone())),
                Found::Several(names) => NodeFacts::Contested(names.into_iter().map(str::to_owned).collect()),
            },
        }
    }

    /// Whether a machine is of the newest revision. A set without a deployment has one only.
    fn is_up_to_date(&self, machine: &Machine, namespace: &str) -> Option<bool> {
        let owner = owners::controller(machine).filter(|owner| owner.kind == "MachineSet")?;
        let set = self.sets.get(&ObjectKey::namespaced(namespace, &owner.name))?;
        let Some(above) = owners::controller(set.as_ref()) else {
            return Some(true);
        };
        let deployment = self.deployments.get(&ObjectKey::namespaced(namespace, &above.name))?;
        let newest = annotations::REVISION.of(deployment.as_ref())?;
        let revision = annotations::REVISION.of(set.as_ref())?;
        Some(revision == newest)
    }
}
