//! What has to be looked at, each thing once, and the loop that looks at it. Observers add; what fails is tried again,
//! each time after a longer pause; nothing is looked at twice at the same time.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Debug,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use futures::{StreamExt, stream::FuturesUnordered};
use hyperplane_store::Revision;
use hyperplane_wire::{Failure, Reason};
use tokio::{sync::Notify, time::Instant};

use super::schedule::Schedule;
use crate::core::Core;

/// The longest pause before something is tried again: long enough to cost nothing, short enough that nobody has to
/// restart a server to get over a bad hour.
const LONGEST_PAUSE: Duration = Duration::from_mins(5);

/// Things that have to be looked at.
#[derive(Debug)]
pub(crate) struct Pending<T> {
    state: Mutex<State<T>>,
    wake: Notify,
}

#[derive(Debug)]
struct State<T> {
    schedule: Schedule<T, Instant>,
    /// What is looked at right now. When it is added meanwhile it is looked at again afterwards.
    active: BTreeSet<T>,
    failures: BTreeMap<T, u32>,
    /// The last commit that added something. Observers hear of a commit before readers see it.
    revision: Revision,
}

impl<T> Default for Pending<T> {
    fn default() -> Self {
        Self {
            state: Mutex::new(State {
                schedule: Schedule::default(),
                active: BTreeSet::new(),
                failures: BTreeMap::new(),
                revision: Revision::default(),
            }),
            wake: Notify::new(),
        }
    }
}

impl<T: Ord + Clone + Debug> Pending<T> {
    /// Adds what a commit concerns.
    pub(crate) fn note(&self, revision: Revision, names: impl IntoIterator<Item = T>) {
        self.put(revision, Duration::ZERO, names);
    }

    /// Adds what a commit concerns, to be looked at after a pause, so that many commits are one look.
    pub(crate) fn note_later(&self, revision: Revision, pause: Duration, names: impl IntoIterator<Item = T>) {
        self.put(revision, pause, names);
    }

    /// Adds what is concerned by something that readers see already.
    pub(crate) fn add(&self, names: impl IntoIterator<Item = T>) {
        self.put(Revision::default(), Duration::ZERO, names);
    }

    fn put(&self, revision: Revision, pause: Duration, names: impl IntoIterator<Item = T>) {
        let mut names = names.into_iter().peekable();
        if names.peek().is_none() {
            return;
        }
        let mut state = self.state();
        state.revision = state.revision.max(revision);
        let time = Instant::now() + pause;
        for name in names {
            state.schedule.hasten(name, time);
        }
        drop(state);
        self.wake.notify_one();
    }

    /// Takes what is due first, and what readers have to see before it is looked at; waits for it.
    async fn next(&self) -> (T, Revision) {
        loop {
            let woken = self.wake.notified();
            let taken = self.state().take(Instant::now());
            match taken {
                Taken::Name(name, revision) => return (name, revision),
                Taken::Nothing => woken.await,
                Taken::Later(time) => tokio::select! {
                    biased;
                    () = woken => {}
                    () = tokio::time::sleep_until(time) => {}
                },
            }
        }
    }

    /// Says what became of something that was taken.
    fn finish(&self, name: T, result: Result<(), Failure>, pause: Duration) {
        let mut state = self.state();
        state.active.remove(&name);
        match result {
            Err(failure) if failure.reason == Reason::Conflict => state.schedule.hasten(name, Instant::now()),
            Err(failure) if failure.reason != Reason::NotFound => {
                tracing::warn!(error = %failure, object = ?name, "A controller failed; it tries again.");
                let count = state.failures.entry(name.clone()).or_default();
                let pause = pause.saturating_mul(1 << (*count).min(16)).min(LONGEST_PAUSE);
                *count += 1;
                state.schedule.hasten(name, Instant::now() + pause);
            }
            // What is gone is done.
            _ => {
                state.failures.remove(&name);
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

enum Taken<T> {
    Name(T, Revision),
    Later(Instant),
    Nothing,
}

impl<T: Ord + Clone> State<T> {
    fn take(&mut self, now: Instant) -> Taken<T> {
        match self.first() {
            None => Taken::Nothing,
            Some((time, _)) if time > now => Taken::Later(time),
            Some((_, name)) => {
                self.schedule.remove(&name);
                self.active.insert(name.clone());
                Taken::Name(name, self.revision)
            }
        }
    }

    /// What is due first of that which nobody looks at.
    fn first(&self) -> Option<(Instant, T)> {
        self.schedule
            .iter()
            .find(|(_, name)| !self.active.contains(name))
            .cloned()
    }
}

/// Looks at what is pending for ever, at up to `width` things at once.
pub(crate) async fn drive<T, F>(core: &Core, pending: &Pending<T>, width: usize, look_at: impl Fn(T) -> F)
where
    T: Ord + Clone + Debug,
    F: Future<Output = Result<(), Failure>>,
{
    let mut running = FuturesUnordered::new();
    let look = &look_at;
    loop {
        tokio::select! {
            biased;
            (name, revision) = pending.next(), if running.len() < width => running.push(async move {
                core.store.reached(revision).await;
                (name.clone(), look(name).await)
            }),
            Some((name, result)) = running.next() => pending.finish(name, result, core.limits.retry_pause),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{cell::Cell, pin::pin};

    use hyperplane_seams::Clock;
    use hyperplane_store::Memory;
    use jiff::Timestamp;

    use super::*;
    use crate::{Entropy, Server, Settings, Shared};

    fn overload() -> Failure {
        Failure::too_many_requests("later", 1)
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_looked_at_is_not_taken_twice_but_again() {
        let pending = Pending::default();
        pending.note(Revision(7), ["a"]);
        assert_eq!(pending.next().await, ("a", Revision(7)));
        pending.note(Revision(9), ["a", "b"]);
        assert_eq!(pending.next().await, ("b", Revision(9)));
        assert!(matches!(pending.state().take(Instant::now()), Taken::Nothing));
        pending.finish("a", Ok(()), Duration::from_secs(1));
        assert_eq!(pending.next().await.0, "a");
    }

    /// On other threads an observer's word may arrive long before its commit is published.
    #[tokio::test]
    async fn nothing_is_looked_at_before_readers_see_it() {
        let settings = Settings::new(
            Clock::anchored(Timestamp::UNIX_EPOCH),
            Entropy::new(|bytes| bytes.fill(7)),
        );
        let (server, writer, _) = Server::open(&Shared::new(), settings, Memory).expect("memory holds a store");
        let pending = Pending::default();
        pending.note(Revision(1), ["a"]);
        let looks = Cell::new(0);
        let mut driven = pin!(drive(&server.core, &pending, 1, |_| {
            looks.set(looks.get() + 1);
            async { Ok(()) }
        }));
        assert!(futures::poll!(&mut driven).is_pending());
        assert_eq!(looks.get(), 0);

        tokio::spawn(writer.run());
        server.bootstrap().await.expect("a new server takes its first objects");
        assert!(futures::poll!(&mut driven).is_pending());
        assert_eq!(looks.get(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn pauses_grow_and_end_with_success() {
        let pending = Pending::default();
        let start = Instant::now();
        pending.add(["a"]);
        for seconds in [1, 2, 4, 8] {
            let taken = Instant::now();
            let (name, _) = pending.next().await;
            pending.finish(name, Err(overload()), Duration::from_secs(1));
            let (name, _) = pending.next().await;
            assert_eq!(taken.elapsed(), Duration::from_secs(seconds));
            pending.state().schedule.set(name, Instant::now());
            pending.state().active.clear();
        }
        let (name, _) = pending.next().await;
        pending.finish(name, Ok(()), Duration::from_secs(1));
        assert!(pending.state().failures.is_empty());
        assert_eq!(start.elapsed(), Duration::from_secs(15));
    }

    #[tokio::test(start_paused = true)]
    async fn many_commits_are_one_look() {
        let pending = Pending::default();
        let start = Instant::now();
        for number in 0..100 {
            pending.note_later(Revision(number), Duration::from_millis(50), ["a"]);
            tokio::time::advance(Duration::from_micros(100)).await;
        }
        assert_eq!(pending.next().await, ("a", Revision(99)));
        assert_eq!(start.elapsed(), Duration::from_millis(50));
    }
}
