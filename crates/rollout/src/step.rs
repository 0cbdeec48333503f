//! The next step of a rollout: how many machines each set is to have, given how many there are. Knows counts only;
//! which machines go is decided by `victims`, whose order this arithmetic relies on.
//!
//! A step never takes away machines that work while fewer would be left than may be missing, and never adds any while
//! there are as many as may be, those that are going included. It is computed from what is there alone, so that it does
//! not matter whether the step before it was carried out, in part or not at all.

use crate::pace::Pace;

#[cfg(test)]
mod tests;

/// A rollout as it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rollout<'a> {
    /// How many machines are wanted.
    pub desired: u32,
    /// How many were wanted when the sets were last scaled, where that is known.
    pub previous_desired: Option<u32>,
    /// Who decides when a machine is replaced.
    pub strategy: Strategy,
    /// The set of the current template; empty if there is none yet.
    pub new: SetState,
    /// All other sets, the oldest first.
    pub old: &'a [SetState],
}

/// Who decides when a machine is replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy {
    /// We do, within bounds.
    RollingUpdate(Pace),
    /// Whoever deletes a machine does.
    OnDelete,
    /// Nobody does: the rollout is paused, and only the number of machines follows what is wanted.
    Held,
}

/// The machines of one set, counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SetState {
    /// How many it is told to have.
    pub replicas: u32,
    /// How many it has that are not being deleted.
    pub live: u32,
    /// How many it has that are being deleted.
    pub deleting: u32,
    /// How many of the live ones are available.
    pub available: u32,
    /// How many of the available ones somebody has marked to go first.
    pub marked: u32,
}

/// How many machines each set is to have next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The set of the current template.
    pub new: u32,
    /// The others, in the order in which they were given.
    pub old: Vec<u32>,
}

/// The next step of a rollout. One that is complete steps to where it is.
pub fn step(rollout: &Rollout<'_>) -> Step {
    if rollout.desired == 0 {
        return Step {
            new: 0,
            old: vec![0; rollout.old.len()],
        };
    }
    match rollout.strategy {
        Strategy::RollingUpdate(pace) => roll(rollout, pace),
        Strategy::OnDelete => replace_deleted(rollout),
        Strategy::Held => hold(rollout),
    }
}

impl SetState {
    /// How many machines there are or are about to be. Those that are going count until they are gone.
    pub const fn footprint(&self) -> u32 {
        let machines = self.live.saturating_add(self.deleting);
        if machines > self.replicas {
            machines
        } else {
            self.replicas
        }
    }

    /// How many machines are available once the set has as many as it is told to.
    pub fn effective_available(&self) -> u32 {
        self.available_at(self.replicas)
    }

    /// How many machines are available once the set has this many: marked ones go first, then those that are not
    /// available.
    fn available_at(&self, replicas: u32) -> u32 {
        let (available, marked, idle) = self.sorted();
        let excess = self.live.saturating_sub(replicas);
        let first = excess.min(marked);
        let lost = first + (excess - first).saturating_sub(idle);
        available.saturating_sub(lost)
    }

    /// The smallest number of machines, at most `replicas`, that costs at most `budget` available ones.
    fn least(&self, replicas: u32, budget: u32) -> u32 {
        let (available, marked, idle) = self.sorted();
        let floor = self.available_at(replicas).saturating_sub(budget);
        let allowance = available - floor.min(available);
        let excess = if floor == 0 {
            self.live
        } else if allowance < marked {
            allowance
        } else {
            allowance.saturating_add(idle)
        };
        self.live.saturating_sub(excess).min(replicas)
    }

    /// Available, marked among them, and not available, however the counts were taken.
    fn sorted(&self) -> (u32, u32, u32) {
        let available = self.available.min(self.live);
        (available, self.marked.min(available), self.live - available)
    }
}

/// The sets, the new one last, with what each is to have.
struct Targets(Vec<(SetState, u32)>);

impl Targets {
    fn of(rollout: &Rollout<'_>, new: u32) -> Self {
        let old = rollout.old.iter().map(|set| (*set, set.replicas));
        Self(old.chain([(rollout.new, new)]).collect())
    }

    fn total(&self) -> u32 {
        self.0
            .iter()
            .fold(0_u32, |total, (_, target)| total.saturating_add(*target))
    }

    fn available(&self) -> u32 {
        let available = self.0.iter().map(|(set, target)| set.available_at(*target));
        available.fold(0, u32::saturating_add)
    }

    /// Takes machines away from the first `sets`: at most `limit`, of which at most `budget` available ones. Both are
    /// left with what was not used.
    fn take(&mut self, sets: usize, limit: &mut u32, budget: &mut u32) {
        for (set, target) in self.0.iter_mut().take(sets) {
            let next = set.least(*target, *budget).max(target.saturating_sub(*limit));
            *limit -= *target - next;
            *budget -= set.available_at(*target) - set.available_at(next);
            *target = next;
        }
    }

    fn into_step(self) -> Step {
        let mut old: Vec<u32> = self.0.into_iter().map(|(_, target)| target).collect();
        let new = old.pop().unwrap_or_default();
        Step { new, old }
    }
}

fn roll(rollout: &Rollout<'_>, pace: Pace) -> Step {
    let roof = rollout.desired.saturating_add(pace.surge);
    if let Some(step) = grow_in_proportion(rollout, roof) {
        return step;
    }
    let least = rollout.desired.saturating_sub(pace.unavailable);
    let old = rollout.old.len();
    let mut targets = Targets::of(rollout, next_of_new(rollout, roof));
    let (new, target) = targets.0[old];
    // Machines that are not available may come back or still be starting: only as many go as others can stand in for.
    let awaited = target - new.available_at(target).min(target);
    let mut removable = targets.total().saturating_sub(least.saturating_add(awaited));
    let mut budget = targets.available().saturating_sub(least);
    targets.take(old, &mut removable, &mut 0);
    targets.take(old, &mut removable, &mut budget);
    // Fewer are wanted than before: what is beyond the bound goes wherever it hurts least.
    let mut beyond = targets.total().saturating_sub(roof);
    targets.take(old + 1, &mut beyond, &mut 0);
    targets.take(old + 1, &mut beyond, &mut budget);
    targets.into_step()
}

/// How many machines the new set is to have: the wanted number where there are no others, else as many as there is room
/// for.
fn next_of_new(rollout: &Rollout<'_>, roof: u32) -> u32 {
    let (new, desired) = (rollout.new.replicas, rollout.desired);
    let others = footprint(rollout.old);
    if others == 0 || new > desired {
        return desired;
    }
    let room = roof.saturating_sub(others.saturating_add(rollout.new.footprint()));
    new + room.min(desired - new)
}

/// More are wanted in the middle of a rollout: every set grows by its share. Where all new machines came from the new
/// template, one that turns out to be bad would be most of the pool before anybody knew. In the other direction there
/// is no such share: old machines and those that are not available go first.
fn grow_in_proportion(rollout: &Rollout<'_>, roof: u32) -> Option<Step> {
    let (new, desired) = (rollout.new, rollout.desired);
    let is_growth = rollout.previous_desired.is_some_and(|previous| previous < desired);
    let of_old = rollout
        .old
        .iter()
        .fold(0_u32, |total, set| total.saturating_add(set.replicas));
    if !is_growth || new.replicas == 0 || new.replicas >= desired || of_old == 0 {
        return None;
    }
    let room = roof.saturating_sub(footprint(rollout.old).saturating_add(new.footprint()));
    if room == 0 {
        return None;
    }
    let total = u64::from(of_old.saturating_add(new.replicas));
    let mut left = room;
    let old = rollout
        .old
        .iter()
        .map(|set| {
            let share = u64::from(room) * u64::from(set.replicas) / total;
            let share = u32::try_from(share).unwrap_or(u32::MAX).min(left);
            left -= share;
            set.replicas + share
        })
        .collect();
    Some(Step {
        new: new.replicas.saturating_add(left).min(desired),
        old,
    })
}

/// Machines that somebody deleted come back in the new set, once they are gone; nothing else is replaced.
fn replace_deleted(rollout: &Rollout<'_>) -> Step {
    let (old, desired) = (rollout.old.len(), rollout.desired);
    let mut targets = Targets::of(rollout, rollout.new.replicas.min(desired));
    for (set, target) in targets.0.iter_mut().take(old) {
        *target = (*target).min(set.live);
    }
    let mut beyond = targets.total().saturating_sub(desired);
    let mut everything = u32::MAX;
    targets.take(old + 1, &mut beyond, &mut 0);
    targets.take(old + 1, &mut beyond, &mut everything);
    let used = targets.0.iter().fold(0_u32, |used, (set, target)| {
        used.saturating_add(
            SetState {
                replicas: *target,
                ..*set
            }
            .footprint(),
        )
    });
    let (_, new) = &mut targets.0[old];
    *new += desired.saturating_sub(used);
    targets.into_step()
}

/// As many as are wanted, without any exchange: what is beyond goes wherever it hurts least, and what is missing comes
/// where the rollout was going.
fn hold(rollout: &Rollout<'_>) -> Step {
    let (old, desired) = (rollout.old.len(), rollout.desired);
    let mut targets = Targets::of(rollout, rollout.new.replicas);
    let missing = desired.saturating_sub(targets.total());
    let mut beyond = targets.total().saturating_sub(desired);
    let mut everything = u32::MAX;
    targets.take(old + 1, &mut beyond, &mut 0);
    targets.take(old + 1, &mut beyond, &mut everything);
    let (_, new) = &mut targets.0[old];
    *new += missing;
    targets.into_step()
}

fn footprint(sets: &[SetState]) -> u32 {
    sets.iter()
        .fold(0_u32, |total, set| total.saturating_add(set.footprint()))
}
