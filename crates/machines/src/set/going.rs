//! What a set has deleted and its cache has not shown yet. Such machines count as going, or a run on a cache that lags behind
//! would take another machine instead of one that goes already. Losing this costs what it prevents, never more.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use hyperplane_api::cluster_api::{machine::Machine, machine_set::MachineSet};
use hyperplane_runtime::conditions::written;
use jiff::Timestamp;
use kube::ResourceExt as _;
use tokio::time::Instant;

use crate::counts::is_deleting;

/// How long a deletion is trusted over a cache that does not show it: it may never have reached the server.
const TRUSTED: Duration = Duration::from_secs(30);

/// When machines were deleted by their sets.
#[derive(Debug, Default)]
pub(super) struct Going(Mutex<BTreeMap<String, BTreeMap<String, Instant>>>);

impl Going {
    /// Notes that a machine is about to be deleted. That comes first: a run may be cut short while it waits for the answer.
    pub(super) fn note(&self, set: &MachineSet, machine: &Machine) {
        let (set, machine) = (set.uid().unwrap_or_default(), machine.uid().unwrap_or_default());
        self.lock().entry(set).or_default().insert(machine, Instant::now());
    }

    /// Takes back that a machine is about to be deleted: the server refused.
    pub(super) fn take_back(&self, set: &MachineSet, machine: &Machine) {
        if let Some(noted) = self.lock().get_mut(&set.uid().unwrap_or_default()) {
            noted.remove(&machine.uid().unwrap_or_default());
        }
    }

    /// How long to wait until the cache has to be believed again, where something was deleted that it does not show. No
    /// event comes if the deletion never reached the server.
    pub(super) fn next(&self, set: &MachineSet) -> Option<Duration> {
        let all = self.lock();
        let noted = all.get(&set.uid().unwrap_or_default())?.values();
        noted.map(|at| TRUSTED.saturating_sub(at.elapsed())).max()
    }

    /// Lets machines count as going that were deleted a moment ago, and forgets those of which the cache knows.
    pub(super) fn apply(&self, set: &MachineSet, machines: &mut [Arc<Machine>], now: Timestamp) {
        let mut all = self.lock();
        let uid = set.uid().unwrap_or_default();
        let Some(noted) = all.get_mut(&uid) else {
            return;
        };
        noted.retain(|uid, at| {
            let known = machines
                .iter()
                .find(|machine| machine.metadata.uid.as_ref() == Some(uid));
            let is_shown = known.is_none_or(|known| is_deleting(&known.metadata));
            !is_shown && at.elapsed() < TRUSTED
        });
        let is_noted = |machine: &Arc<Machine>| machine.uid().is_some_and(|uid| noted.contains_key(&uid));
        for machine in machines.iter_mut().filter(|machine| is_noted(machine)) {
            Arc::make_mut(machine).metadata.deletion_timestamp = Some(written(now));
        }
        if noted.is_empty() {
            all.remove(&uid);
        }
    }

    /// Drops what is remembered of a set that goes.
    pub(super) fn forget(&self, set: &MachineSet) {
        self.lock().remove(&set.uid().unwrap_or_default());
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, BTreeMap<String, Instant>>> {
        // What it guards is valid after every statement.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
