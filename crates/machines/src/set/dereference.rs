//! Everything that one run looks at, read before anything is written.

use std::sync::Arc;

use hyperplane_api::cluster_api::{
    cluster::Cluster, machine::Machine, machine_deployment::MachineDeployment, machine_set::MachineSet,
};
use hyperplane_runtime::ObjectKey;
use jiff::Timestamp;
use kube::ResourceExt as _;

use super::Sets;
use crate::{
    adoption::{Claim, belonging},
    metadata::revision,
    owners,
    pause::pause,
};

/// A set and what belongs to it.
pub(super) struct Seen {
    pub(super) set: Arc<MachineSet>,
    /// Its machines, those that it has yet to take over among them, in order of their names.
    pub(super) machines: Vec<Arc<Machine>>,
    pub(super) cluster: Option<Arc<Cluster>>,
    pub(super) deployment: Option<Arc<MachineDeployment>>,
    /// Whether no other set of its deployment is newer.
    pub(super) is_current: bool,
    /// Why it is left alone, where it is.
    pub(super) pause: Option<&'static str>,
}

/// The machines that a set may take over.
pub(super) fn claim(set: &MachineSet) -> Claim<'_> {
    Claim {
        cluster: &set.spec.cluster_name,
        selector: &set.spec.selector,
    }
}

pub(super) fn look(stores: &Sets, set: Arc<MachineSet>, now: Timestamp) -> Seen {
    let namespace = set.namespace().unwrap_or_default();
    let cluster = stores
        .clusters
        .get(&ObjectKey::namespaced(&namespace, &set.spec.cluster_name));
    let owner = owners::controller(set.as_ref());
    let deployment = owner.and_then(|owner| {
        let found = stores
            .deployments
            .get(&ObjectKey::namespaced(&namespace, &owner.name))?;
        (found.metadata.uid.as_deref() == Some(&*owner.uid)).then_some(found)
    });
    let is_current = deployment.as_ref().is_none_or(|deployment| {
        let siblings = owners::controlled(&stores.all, deployment.as_ref());
        let newest = siblings.iter().map(|sibling| revision(sibling)).max();
        newest.is_none_or(|newest| revision(&set) >= newest)
    });
    let mut machines = belonging(&stores.machines, set.as_ref(), claim(&set));
    stores.going.apply(&set, &mut machines, now);
    Seen {
        machines,
        pause: pause(set.as_ref(), cluster.as_deref()),
        cluster,
        deployment,
        is_current,
        set,
    }
}
