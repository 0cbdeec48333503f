//! The status of a set, as a function of what was seen.

use hyperplane_api::cluster_api::machine_set::MachineSetStatus;
use hyperplane_runtime::conditions::merge;
use jiff::Timestamp;
use kube::core::Selector;

use super::dereference::Seen;
use crate::{
    conditions::{self, observe},
    counts::{Counts, is_deleting, versions, wanted, written},
};

/// The status of a set, with what held its last step up.
pub(super) fn status(seen: &Seen, held_up: Option<&str>, now: Timestamp) -> MachineSetStatus {
    let set = seen.set.as_ref();
    let counts = Counts::of(&seen.machines);
    let outdated = if seen.is_current { 0 } else { counts.replicas };
    let observed = observe(&conditions::Seen {
        desired: wanted(set.spec.replicas),
        machines: &seen.machines,
        outdated,
        is_deleting: is_deleting(&set.metadata),
        pause: seen.pause,
        held_up,
    });
    let before = set.status.as_ref();
    let before = before.map(|status| &*status.conditions).unwrap_or_default();
    let generation = set.metadata.generation;
    MachineSetStatus {
        conditions: merge(before, observed, generation, now),
        selector: Selector::try_from(set.spec.selector.clone())
            .ok()
            .map(|selector| selector.to_string())
            .filter(|selector| !selector.is_empty()),
        replicas: Some(written(counts.replicas)),
        ready_replicas: Some(written(counts.ready)),
        available_replicas: Some(written(counts.available)),
        up_to_date_replicas: Some(written(counts.replicas - outdated)),
        versions: versions(&seen.machines),
        observed_generation: generation,
        deprecated: None,
    }
}
