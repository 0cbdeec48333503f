//! Everything that one run looks at, read before anything is written.

use std::sync::Arc;

use hyperplane_api::cluster_api::{machine::Machine, machine_deployment::MachineDeployment, machine_set::MachineSet};
use hyperplane_runtime::ObjectKey;
use kube::ResourceExt as _;

use super::Deployments;
use crate::{
    adoption::{Claim, belonging},
    counts::created,
    owners,
    pause::pause,
};

/// A deployment and what belongs to it.
pub(super) struct Seen {
    pub(super) deployment: Arc<MachineDeployment>,
    /// Its sets, the oldest first.
    pub(super) sets: Vec<SeenSet>,
    /// Why it is left alone, where it is.
    pub(super) pause: Option<&'static str>,
}

/// A set and its machines.
pub(super) struct SeenSet {
    pub(super) set: Arc<MachineSet>,
    pub(super) machines: Vec<Arc<Machine>>,
}

/// The sets that a deployment may take over.
pub(super) fn claim(deployment: &MachineDeployment) -> Claim<'_> {
    Claim {
        cluster: &deployment.spec.cluster_name,
        selector: &deployment.spec.selector,
    }
}

pub(super) fn look(stores: &Deployments, deployment: Arc<MachineDeployment>) -> Seen {
    let namespace = deployment.namespace().unwrap_or_default();
    let cluster = ObjectKey::namespaced(namespace, &deployment.spec.cluster_name);
    let cluster = stores.clusters.get(&cluster);
    let mut sets: Vec<SeenSet> = belonging(&stores.sets, deployment.as_ref(), claim(&deployment))
        .into_iter()
        .map(|set| SeenSet {
            machines: owners::controlled(&stores.machines, set.as_ref()),
            set,
        })
        .collect();
    sets.sort_by_cached_key(|seen| (created(&seen.set.metadata), seen.set.name_any()));
    Seen {
        pause: pause(deployment.as_ref(), cluster.as_deref()),
        deployment,
        sets,
    }
}
