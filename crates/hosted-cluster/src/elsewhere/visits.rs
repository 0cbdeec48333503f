//! When the other clusters were visited last, and what came of it. A run that comes sooner takes what is known: a cluster
//! that does not answer costs everybody's time, and one that does has better things to do.

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use jiff::Timestamp;
use sha2::{Digest as _, Sha256};

use super::{Outcome, Site};

/// How often another cluster is looked at: what somebody changed there by hand is put back after this time at the latest.
pub(super) const LOOK_AGAIN: Duration = Duration::from_mins(5);
/// The same, while something is wrong.
pub(super) const LOOK_AGAIN_SOON: Duration = Duration::from_mins(1);

/// A place, told from others without keeping what is secret of it.
type Mark = [u8; 32];

/// The last visits, by the title of the cluster.
#[derive(Default)]
pub(super) struct Visits(Mutex<BTreeMap<String, Visit>>);

struct Visit {
    mark: Mark,
    at: Timestamp,
    outcome: Outcome,
}

impl Visits {
    /// What is known of a place, and for how long that is good enough.
    pub(super) fn recall(&self, title: &str, site: &Site, now: Timestamp) -> Option<(Outcome, Duration)> {
        let visits = self.lock();
        let visit = visits.get(title).filter(|visit| visit.mark == mark(site))?;
        let elapsed = Duration::try_from(now.duration_since(visit.at)).ok()?;
        let left = interval(&visit.outcome).saturating_sub(elapsed);
        (!left.is_zero()).then(|| (visit.outcome.clone(), left))
    }

    /// Notes a visit. Gives it back with when to come again.
    pub(super) fn note(&self, title: &str, site: &Site, at: Timestamp, outcome: Outcome) -> (Outcome, Duration) {
        let visit = Visit {
            mark: mark(site),
            at,
            outcome: outcome.clone(),
        };
        self.lock().insert(title.to_owned(), visit);
        let after = interval(&outcome);
        (outcome, after)
    }

    /// Nobody will ask again.
    pub(super) fn forget(&self, title: &str) {
        self.lock().remove(title);
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Visit>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn interval(outcome: &Outcome) -> Duration {
    match outcome {
        Outcome::Isolated => LOOK_AGAIN,
        Outcome::Unread(_) | Outcome::Unwritten(_) => LOOK_AGAIN_SOON,
    }
}

fn mark(site: &Site) -> Mark {
    // No namespace has this byte in its name.
    let digest = Sha256::new().chain_update(&site.namespace).chain_update([0]);
    digest.chain_update(&site.kubeconfig).finalize().into()
}
