//! The machine template of a pool. One is made for each content and never changed; those that no machine was made from go.

use std::{collections::BTreeSet, sync::Arc};

use hyperplane_api::infrastructure::{agent_machine::AgentMachineTemplate, kubevirt_machine::KubevirtMachineTemplate};
use hyperplane_platforms::MachineTemplate;
use kube::{Resource, ResourceExt as _};

use crate::{
    dereference::{Machines, Seen},
    metadata::Owner,
    target::NamedTemplate,
};

/// A template, by kind.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum TemplateObject {
    /// On KubeVirt.
    KubeVirt(Box<KubevirtMachineTemplate>),
    /// With agents.
    Agent(Box<AgentMachineTemplate>),
}

pub(super) fn build(owner: &Owner<'_>, named: &NamedTemplate) -> Option<TemplateObject> {
    let metadata = owner.metadata(&named.name);
    match &named.template {
        MachineTemplate::None => None,
        MachineTemplate::KubeVirt(spec) => {
            let mut object = KubevirtMachineTemplate::new(&named.name, spec.as_ref().clone());
            object.metadata = metadata;
            Some(TemplateObject::KubeVirt(Box::new(object)))
        }
        MachineTemplate::Agent(spec) => {
            let mut object = AgentMachineTemplate::new(&named.name, spec.as_ref().clone());
            object.metadata = metadata;
            Some(TemplateObject::Agent(Box::new(object)))
        }
    }
}

/// Templates on KubeVirt that nothing refers to.
pub(crate) fn unused_kubevirt(seen: &Seen, wanted: Option<&str>) -> Vec<Arc<KubevirtMachineTemplate>> {
    unused(&seen.machines.kubevirt, &used(&seen.machines, wanted))
}

/// Templates for agents that nothing refers to.
pub(crate) fn unused_agents(seen: &Seen, wanted: Option<&str>) -> Vec<Arc<AgentMachineTemplate>> {
    unused(&seen.machines.agents, &used(&seen.machines, wanted))
}

fn unused<K: Resource>(live: &[Arc<K>], used: &BTreeSet<&str>) -> Vec<Arc<K>> {
    let is_unused = |found: &&Arc<K>| !used.contains(found.name_any().as_str());
    live.iter().filter(is_unused).cloned().collect()
}

/// Names that somebody refers to: the sets of the pool, its deployment as it is, and what it is about to be.
fn used<'a>(machines: &'a Machines, wanted: Option<&'a str>) -> BTreeSet<&'a str> {
    let of_sets = machines.sets.iter().map(|set| &set.spec.template.spec);
    let of_deployment = machines.deployment.iter().map(|live| &live.spec.template.spec);
    of_sets
        .chain(of_deployment)
        .map(|spec| spec.infrastructure_ref.name.as_str())
        .chain(wanted)
        .collect()
}
