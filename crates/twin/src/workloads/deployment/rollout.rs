//! How many pods each set of a Deployment has next: upstream's arithmetic
//! (pkg/controller/deployment/rolling.go, recreate.go, sync.go). Pure.

use std::{collections::BTreeMap, sync::Arc};

use k8s_openapi::api::apps::v1::{Deployment, ReplicaSet};
use kube::ResourceExt;

use super::{
    DESIRED, MOST, REVISION,
    sets::{self, Sets, available, replicas},
};
use crate::number::scaled;

/// How many old sets are kept where nobody says.
const HISTORY: i32 = 10;

/// One write.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Change {
    /// A set for a new template.
    Create(Box<ReplicaSet>),
    /// Another number of pods of a set, with notes on it.
    Scale {
        name: String,
        replicas: i32,
        notes: BTreeMap<String, String>,
    },
    /// A set that nobody will go back to.
    Delete(Arc<ReplicaSet>),
}

/// What a Deployment allows while it rolls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bounds {
    /// Pods that are wanted.
    pub(super) replicas: i32,
    /// Pods above that.
    pub(super) surge: i32,
    /// Pods that may be missing.
    pub(super) unavailable: i32,
}

impl Bounds {
    pub(super) fn of(deployment: &Deployment) -> Self {
        let spec = deployment.spec.as_ref();
        let replicas = spec.and_then(|spec| spec.replicas).unwrap_or(1);
        let rolling = spec
            .and_then(|spec| spec.strategy.as_ref())
            .filter(|strategy| strategy.type_.as_deref() != Some("Recreate"))
            .and_then(|strategy| strategy.rolling_update.as_ref());
        let surge = rolling.and_then(|rolling| rolling.max_surge.as_ref());
        let unavailable = rolling.and_then(|rolling| rolling.max_unavailable.as_ref());
        let surge = surge.map_or(0, |surge| scaled(surge, replicas, true));
        let unavailable = unavailable.map_or(0, |unavailable| scaled(unavailable, replicas, false));
        Self {
            replicas,
            surge,
            // Both may be nothing after rounding; then one pod may be missing, or nothing would ever move.
            unavailable: if surge == 0 && unavailable == 0 {
                1
            } else {
                unavailable.min(replicas)
            },
        }
    }

    /// Pods that there may be at most; none where none are wanted.
    pub(super) const fn most(self) -> i32 {
        self.replicas + self.surge
    }
}

/// The next writes. None means that there is nothing to do until something changes.
pub(super) fn decide(deployment: &Deployment, sets: &Sets, has_old_pods: bool) -> Vec<Change> {
    let bounds = Bounds::of(deployment);
    let spec = deployment.spec.as_ref();
    let is_paused = spec.and_then(|spec| spec.paused) == Some(true);
    if is_paused || is_scaled(sets, bounds) {
        return scale(sets, bounds);
    }
    let strategy = spec.and_then(|spec| spec.strategy.as_ref());
    let is_recreated = strategy.and_then(|strategy| strategy.type_.as_deref()) == Some("Recreate");
    let changes = if is_recreated {
        recreate(deployment, sets, bounds, has_old_pods)
    } else {
        roll(deployment, sets, bounds)
    };
    if !changes.is_empty() {
        return changes;
    }
    let mut changes = renumber(sets);
    if is_complete(sets, bounds) {
        changes.extend(forget(deployment, sets));
    }
    changes
}

/// Whether the Deployment was scaled since its sets were.
fn is_scaled(sets: &Sets, bounds: Bounds) -> bool {
    let noted = |set: &ReplicaSet| set.annotations().get(DESIRED).and_then(|text| text.parse::<i32>().ok());
    let mut active = sets.all().filter(|set| replicas(set) > 0);
    active.any(|set| noted(set).is_some_and(|noted| noted != bounds.replicas))
}

fn to(set: &ReplicaSet, replicas: i32, bounds: Bounds) -> Change {
    Change::Scale {
        name: set.name_any(),
        replicas,
        notes: sets::notes(bounds.replicas, bounds.most()),
    }
}

/// Gives the only set that has pods all of them; in the middle of a rollout every set gets its share.
fn scale(sets: &Sets, bounds: Bounds) -> Vec<Change> {
    let active: Vec<_> = sets.all().filter(|set| replicas(set) > 0).collect();
    let latest = match active.as_slice() {
        [] => sets.new.as_ref(),
        [one] => Some(*one),
        _ => None,
    };
    if let Some(latest) = latest {
        let is_done = replicas(latest) == bounds.replicas
            && latest.annotations().get(DESIRED) == Some(&bounds.replicas.to_string());
        return if is_done {
            Vec::new()
        } else {
            vec![to(latest, bounds.replicas, bounds)]
        };
    }
    if let Some(new) = sets.new.as_ref().filter(|set| is_saturated(set, bounds)) {
        let _ = new;
        return sets
            .old
            .iter()
            .filter(|set| replicas(set) > 0)
            .map(|set| to(set, 0, bounds))
            .collect();
    }
    share(&active, bounds)
}

fn is_saturated(set: &ReplicaSet, bounds: Bounds) -> bool {
    let noted = set.annotations().get(DESIRED).and_then(|text| text.parse::<i32>().ok());
    replicas(set) == bounds.replicas && noted == Some(bounds.replicas) && available(set) == bounds.replicas
}

/// Shares what was added or taken away among the sets, in proportion; the largest gets what rounding leaves.
fn share(active: &[&Arc<ReplicaSet>], bounds: Bounds) -> Vec<Change> {
    let sum: i32 = active.iter().map(|set| replicas(set)).sum();
    let allowed = if bounds.replicas > 0 { bounds.most() } else { 0 };
    let mut left = allowed - sum;
    let mut order: Vec<&Arc<ReplicaSet>> = active.to_vec();
    order.sort_by_key(|set| (std::cmp::Reverse(replicas(set)), set.name_any()));
    let mut sizes: Vec<(&Arc<ReplicaSet>, i32)> = Vec::new();
    let whole = left;
    for set in order {
        let most = set.annotations().get(MOST).and_then(|text| text.parse::<i32>().ok());
        let most = most.filter(|most| *most > 0).unwrap_or(sum.max(1));
        let wanted = (f64::from(replicas(set)) * f64::from(allowed) / f64::from(most)).round();
        #[expect(clippy::cast_possible_truncation, reason = "both factors are small counts of pods")]
        let part = wanted as i32 - replicas(set);
        let part = if whole > 0 {
            part.clamp(0, left)
        } else {
            part.clamp(left, 0)
        };
        left -= part;
        sizes.push((set, replicas(set) + part));
    }
    if let Some((_, size)) = sizes.first_mut() {
        *size = (*size + left).max(0);
    }
    sizes.into_iter().map(|(set, size)| to(set, size, bounds)).collect()
}

/// One step of a rolling update: up first, then down.
fn roll(deployment: &Deployment, sets: &Sets, bounds: Bounds) -> Vec<Change> {
    let old: i32 = sets.old.iter().map(|set| replicas(set)).sum();
    let current = sets.new.as_ref().map_or(0, |set| replicas(set));
    let wanted = new_size(bounds, old, current);
    match &sets.new {
        None => {
            return vec![Change::Create(Box::new(sets::build(
                deployment,
                sets,
                wanted,
                bounds.most(),
            )))];
        }
        Some(set) if wanted != current => return vec![to(set, wanted, bounds)],
        Some(_) => {}
    }
    let state: Vec<(i32, i32)> = sets.old.iter().map(|set| (replicas(set), available(set))).collect();
    let new = (current, sets.new.as_ref().map_or(0, |set| available(set)));
    let sizes = old_sizes(bounds, new, &state);
    let changed = sets.old.iter().zip(sizes).filter(|(set, size)| replicas(set) != *size);
    changed.map(|(set, size)| to(set, size, bounds)).collect()
}

/// How many pods the new set wants next (upstream's NewRSNewReplicas).
pub(super) fn new_size(bounds: Bounds, old: i32, current: i32) -> i32 {
    if current > bounds.replicas {
        return bounds.replicas;
    }
    let room = bounds.most() - old - current;
    current + room.min(bounds.replicas - current).max(0)
}

/// How many pods each old set wants next, given how many it and the new one want and have (upstream's
/// reconcileOldReplicaSets): first those that do not serve go, then as many as those that serve allow.
pub(super) fn old_sizes(bounds: Bounds, new: (i32, i32), old: &[(i32, i32)]) -> Vec<i32> {
    let mut sizes: Vec<i32> = old.iter().map(|(replicas, _)| *replicas).collect();
    let least = bounds.replicas - bounds.unavailable;
    let all: i32 = sizes.iter().sum::<i32>() + new.0;
    let mut spare = all - least - (new.0 - new.1);
    if spare <= 0 {
        return sizes;
    }
    for (size, (_, available)) in sizes.iter_mut().zip(old) {
        let unhealthy = (*size - available).clamp(0, spare);
        *size -= unhealthy;
        spare -= unhealthy;
    }
    let serving: i32 = new.1 + old.iter().map(|(_, available)| available).sum::<i32>();
    let mut surplus = (serving - least).min(spare);
    for size in &mut sizes {
        let fewer = (*size).min(surplus).max(0);
        *size -= fewer;
        surplus -= fewer;
    }
    sizes
}

/// All old pods go before the first new one comes.
fn recreate(deployment: &Deployment, sets: &Sets, bounds: Bounds, has_old_pods: bool) -> Vec<Change> {
    let old: Vec<Change> = sets
        .old
        .iter()
        .filter(|set| replicas(set) > 0)
        .map(|set| to(set, 0, bounds))
        .collect();
    if !old.is_empty() || has_old_pods {
        return old;
    }
    match &sets.new {
        None => vec![Change::Create(Box::new(sets::build(
            deployment,
            sets,
            bounds.replicas,
            bounds.most(),
        )))],
        Some(set) if replicas(set) != bounds.replicas => vec![to(set, bounds.replicas, bounds)],
        Some(_) => Vec::new(),
    }
}

/// A template that was used before and is used again gets a new number.
fn renumber(sets: &Sets) -> Vec<Change> {
    let Some(new) = sets.new.as_ref().filter(|new| sets::number(new) != sets.number()) else {
        return Vec::new();
    };
    vec![Change::Scale {
        name: new.name_any(),
        replicas: replicas(new),
        notes: BTreeMap::from([(REVISION.to_owned(), sets.number().to_string())]),
    }]
}

fn is_complete(sets: &Sets, bounds: Bounds) -> bool {
    let is_done = |set: &Arc<ReplicaSet>| replicas(set) == bounds.replicas && available(set) == bounds.replicas;
    sets.new.as_ref().is_some_and(is_done) && sets.old.iter().all(|set| replicas(set) == 0)
}

/// The sets beyond the history that is asked for.
fn forget(deployment: &Deployment, sets: &Sets) -> Vec<Change> {
    let kept = deployment
        .spec
        .as_ref()
        .and_then(|spec| spec.revision_history_limit)
        .unwrap_or(HISTORY);
    let mut empty: Vec<&Arc<ReplicaSet>> = sets
        .old
        .iter()
        .filter(|set| replicas(set) == 0 && set.status.as_ref().is_none_or(|status| status.replicas == 0))
        .collect();
    empty.sort_by_key(|set| sets::number(set));
    let many = empty.len().saturating_sub(usize::try_from(kept).unwrap_or_default());
    empty
        .into_iter()
        .take(many)
        .map(|set| Change::Delete(Arc::clone(set)))
        .collect()
}
