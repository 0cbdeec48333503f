//! The work queue of one controller: which object runs next, and when. A pure value: time comes in as the duration
//! since the controller's start, and nothing here waits. It knows keys, never objects.
//!
//! What it promises: a key that was added runs again after the addition, once, however often it was added; two runs
//! of one key never overlap; a key that fails or changes all the time cannot starve another one.
//!
//! Its size is bounded by the number of keys alive in the controller's caches.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use hyperplane_seams::Random;

#[cfg(test)]
mod tests;

/// The first retry comes after this long.
pub const BACKOFF_BASE: Duration = Duration::from_secs(5);
/// Retries are never further apart than this, so that a repaired dependency is noticed within minutes.
pub const BACKOFF_LIMIT: Duration = Duration::from_mins(5);
/// How far a retry moves to either side, in percent, so that objects that failed together do not return together.
pub const BACKOFF_SPREAD_PERCENT: u32 = 20;
/// Two runs of one key start at least this far apart: bursts of events merge, and a reconciler that triggers itself
/// by mistake stays harmless.
pub const MINIMUM_GAP: Duration = Duration::from_millis(100);
/// One change that concerns more keys than this is spread over [`FAN_OUT_WINDOW`].
pub const FAN_OUT_LIMIT: usize = 50;
/// The time over which a wide fan-out is spread.
pub const FAN_OUT_WINDOW: Duration = Duration::from_secs(30);
/// At startup, one key becomes due per interval: 50 a second, so that a restart does not stampede the API server.
pub const RAMP_INTERVAL: Duration = Duration::from_millis(20);

/// How urgent a run is. A later variant goes first, by a head start and not absolutely, so that none starves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Priority {
    /// Nothing is known to have changed: startup, relist, periodic check.
    Resync,
    /// A related object changed, or a failed run is due again.
    Related,
    /// The object itself was edited. This also forgets its earlier failures.
    Edited,
}

impl Priority {
    /// How much later than its due time a key of this priority stands in line.
    const fn handicap(self) -> Duration {
        match self {
            Self::Edited => Duration::ZERO,
            Self::Related => Duration::from_secs(1),
            Self::Resync => Duration::from_secs(30),
        }
    }
}

/// How a run ended, as far as the queue cares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Run again after this long, or on the next change.
    Again(Duration),
    /// Run again after the key's backoff.
    Backoff,
    /// The object is gone: forget the key.
    Gone,
}

/// A key that was handed out to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Popped<K> {
    /// The key to run.
    pub key: K,
    /// How long it stood ready before its turn came.
    pub queued: Duration,
}

/// What is known of one key, for diagnostics.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyState<K> {
    /// The key.
    pub key: K,
    /// Failures in a row.
    pub failures: u32,
    /// When it is due, unless it runs now and nothing asked for another run.
    pub due: Option<Duration>,
    /// When the run that is under way started.
    pub running_since: Option<Duration>,
}

/// The queue. See the module's description for its promises.
#[derive(Clone, Debug)]
pub struct Queue<K> {
    random: Random,
    sequence: u64,
    pending: BTreeMap<K, Pending>,
    waiting: BTreeSet<(Duration, u64, K)>,
    ready: BTreeSet<(Duration, u64, K)>,
    running: BTreeMap<K, Running>,
    history: BTreeMap<K, History>,
}

#[derive(Clone, Copy, Debug)]
struct Pending {
    due: Duration,
    priority: Priority,
    sequence: u64,
    is_ready: bool,
}

#[derive(Clone, Copy, Debug)]
struct Running {
    since: Duration,
    again: Option<(Duration, Priority)>,
}

#[derive(Clone, Copy, Debug, Default)]
struct History {
    failures: u32,
    started: Duration,
    finished: Duration,
    /// How far apart runs start that no edit asks for, if that is more than [`MINIMUM_GAP`].
    gap: Duration,
}

impl<K: Ord + Clone> Queue<K> {
    /// An empty queue with its own jitter.
    pub const fn new(random: Random) -> Self {
        Self {
            random,
            sequence: 0,
            pending: BTreeMap::new(),
            waiting: BTreeSet::new(),
            ready: BTreeSet::new(),
            running: BTreeMap::new(),
            history: BTreeMap::new(),
        }
    }

    /// Asks for a run of `key` as soon as possible.
    pub fn add(&mut self, key: K, priority: Priority, now: Duration) {
        self.add_at(key, priority, now);
    }

    /// Asks for a run of every key, because one change concerns them all. A wide fan-out is spread over a window.
    pub fn add_related(&mut self, keys: BTreeSet<K>, now: Duration) {
        let is_wide = keys.len() > FAN_OUT_LIMIT;
        for key in keys {
            let delay = if is_wide {
                self.random.up_to(FAN_OUT_WINDOW)
            } else {
                Duration::ZERO
            };
            self.add_at(key, Priority::Related, now + delay);
        }
    }

    /// Asks for a first run of every key at a gentle pace.
    pub fn ramp(&mut self, keys: impl IntoIterator<Item = K>, now: Duration) {
        let mut due = now;
        for key in keys {
            self.add_at(key, Priority::Resync, due);
            due += RAMP_INTERVAL;
        }
    }

    /// Takes the key whose turn it is, if one is due.
    pub fn pop(&mut self, now: Duration) -> Option<Popped<K>> {
        self.promote(now);
        let (_, _, key) = self.ready.pop_first()?;
        let due = self.pending.remove(&key).map_or(now, |pending| pending.due);
        self.running.insert(
            key.clone(),
            Running {
                since: now,
                again: None,
            },
        );
        self.history.entry(key.clone()).or_default().started = now;
        Some(Popped {
            key,
            queued: now.saturating_sub(due),
        })
    }

    /// Says how far apart runs of a key start at least, as long as nobody edits it.
    pub fn space(&mut self, key: &K, gap: Duration) {
        if let Some(history) = self.history.get_mut(key) {
            history.gap = gap;
        }
    }

    /// Reports the end of a run that [`Queue::pop`] began.
    pub fn done(&mut self, key: &K, outcome: Outcome, now: Duration) {
        let Some(running) = self.running.remove(key) else {
            return;
        };
        let history = self.history.entry(key.clone()).or_default();
        history.finished = now;
        match outcome {
            Outcome::Again(after) => {
                history.failures = 0;
                self.insert(key.clone(), Priority::Resync, now + after);
            }
            Outcome::Backoff => {
                history.failures = history.failures.saturating_add(1);
                let delay = backoff(history.failures, &mut self.random);
                self.insert(key.clone(), Priority::Related, now + delay);
            }
            Outcome::Gone => {
                self.history.remove(key);
            }
        }
        if let Some((due, priority)) = running.again {
            self.add_at(key.clone(), priority, due.max(now));
        }
    }

    /// Puts a key back whose run was cut short, as if it had not been taken.
    pub fn put_back(&mut self, key: &K, now: Duration) {
        if let Some(running) = self.running.remove(key) {
            let priority = running
                .again
                .map_or(Priority::Related, |(_, priority)| priority.max(Priority::Related));
            self.add_at(key.clone(), priority, now);
        }
    }

    /// When [`Queue::pop`] will next have something, if nothing is added: now or earlier if it has already.
    pub fn next_due(&self) -> Option<Duration> {
        if self.ready.is_empty() {
            self.waiting.first().map(|(due, _, _)| *due)
        } else {
            Some(Duration::ZERO)
        }
    }

    /// How many keys could run now.
    pub fn depth(&mut self, now: Duration) -> usize {
        self.promote(now);
        self.ready.len()
    }

    /// How often a key has failed in a row.
    pub fn failures(&self, key: &K) -> u32 {
        self.history.get(key).map_or(0, |history| history.failures)
    }

    /// When each run under way began.
    pub fn running_since(&self) -> impl Iterator<Item = Duration> {
        self.running.values().map(|running| running.since)
    }

    /// Everything known of every key, in order.
    pub fn states(&self) -> impl Iterator<Item = KeyState<K>> {
        let keys: BTreeSet<&K> = self.pending.keys().chain(self.running.keys()).collect();
        keys.into_iter().map(|key| KeyState {
            key: key.clone(),
            failures: self.failures(key),
            due: self
                .pending
                .get(key)
                .map(|pending| pending.due)
                .or_else(|| self.running.get(key)?.again.map(|(due, _)| due)),
            running_since: self.running.get(key).map(|running| running.since),
        })
    }

    fn add_at(&mut self, key: K, priority: Priority, due: Duration) {
        let mut due = due;
        if let Some(history) = self.history.get_mut(&key) {
            if priority == Priority::Edited {
                history.failures = 0;
            }
            // A failing key is not pulled forward to a hot loop by its own writes, but an edit may have cured it.
            let earliest = if history.failures > 0 {
                history.finished + BACKOFF_BASE
            } else if priority == Priority::Edited {
                history.started + MINIMUM_GAP
            } else {
                history.started + history.gap.max(MINIMUM_GAP)
            };
            due = due.max(earliest);
        }
        match self.running.get_mut(&key) {
            Some(running) => {
                let (earlier, higher) = running.again.unwrap_or((due, priority));
                running.again = Some((earlier.min(due), higher.max(priority)));
            }
            None => self.insert(key, priority, due),
        }
    }

    /// Schedules a key that does not run; of two schedules the earlier time and the higher priority win.
    fn insert(&mut self, key: K, priority: Priority, due: Duration) {
        let sequence = self.sequence;
        self.sequence += 1;
        let mut next = Pending {
            due,
            priority,
            sequence,
            is_ready: false,
        };
        if let Some(old) = self.pending.remove(&key) {
            self.unlink(&key, old);
            next.priority = priority.max(old.priority);
            if old.due <= due {
                // The place in line is kept: asking again never moves a key back.
                next.due = old.due;
                next.sequence = old.sequence;
            }
        }
        self.waiting.insert((next.due, next.sequence, key.clone()));
        self.pending.insert(key, next);
    }

    fn unlink(&mut self, key: &K, pending: Pending) {
        if pending.is_ready {
            self.ready.remove(&(rank(pending), pending.sequence, key.clone()));
        } else {
            self.waiting.remove(&(pending.due, pending.sequence, key.clone()));
        }
    }

    /// Moves every key that is due into the line.
    fn promote(&mut self, now: Duration) {
        while self.waiting.first().is_some_and(|(due, _, _)| *due <= now) {
            let Some((_, sequence, key)) = self.waiting.pop_first() else {
                break;
            };
            if let Some(pending) = self.pending.get_mut(&key) {
                pending.is_ready = true;
                self.ready.insert((rank(*pending), sequence, key));
            }
        }
    }
}

fn rank(pending: Pending) -> Duration {
    pending.due + pending.priority.handicap()
}

/// The delay before the next attempt after this many failures in a row.
fn backoff(failures: u32, random: &mut Random) -> Duration {
    let doublings = failures.saturating_sub(1).min(16);
    let delay = (BACKOFF_BASE * 2_u32.pow(doublings)).min(BACKOFF_LIMIT);
    random.spread(delay, BACKOFF_SPREAD_PERCENT)
}
