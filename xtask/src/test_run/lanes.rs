//! Who runs beside whom: binaries that compute share the cores, those that wait for other programs go on lanes of their own.
//! Knows nothing of tests.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::Mutex,
    thread,
};

/// Runs every job, and hands back what came of each, in the order of their end. Of the jobs without a lane, which compute, as
/// many run at a time as there are cores; of those of one lane, one.
pub(crate) fn run<J, L, T>(
    jobs: impl IntoIterator<Item = J>,
    cores: usize,
    lane: impl Fn(&J) -> Option<L>,
    work: impl Fn(&J) -> T + Sync,
) -> Vec<T>
where
    J: Send,
    L: Ord + Sync,
    T: Send,
{
    let mut queues = BTreeMap::<Option<L>, VecDeque<J>>::new();
    for job in jobs {
        queues.entry(lane(&job)).or_default().push_back(job);
    }
    let queues: Vec<(usize, Mutex<VecDeque<J>>)> = queues
        .into_iter()
        .map(|(lane, queue)| (if lane.is_some() { 1 } else { cores.max(1) }, Mutex::new(queue)))
        .collect();
    let done = Mutex::new(Vec::new());
    let drain = |queue: &Mutex<VecDeque<J>>| {
        while let Some(job) = next(queue) {
            let outcome = work(&job);
            done.lock().expect("no lane panics with the lock").push(outcome);
        }
    };
    thread::scope(|scope| {
        for (at_a_time, queue) in &queues {
            for _ in 0..*at_a_time {
                scope.spawn(|| drain(queue));
            }
        }
    });
    done.into_inner().expect("no lane panics with the lock")
}

fn next<J>(queue: &Mutex<VecDeque<J>>) -> Option<J> {
    queue.lock().expect("no lane panics with the lock").pop_front()
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;

    use super::*;

    #[test]
    fn every_job_runs_once() {
        let mut done = run(0..100, 3, |job| (job % 7 < 2).then_some(job % 7), |job| *job);
        done.sort_unstable();
        assert_eq!(done, (0..100).collect::<Vec<_>>());
        assert!(run(Vec::<u8>::new(), 0, |_| Some(()), |job| *job).is_empty());
        assert_eq!(run([1], 0, |_| None::<()>, |job| *job), [1]);
    }

    #[test]
    fn lanes_run_beside_each_other_and_beside_what_computes() {
        // Each of the four can only end together with the other three.
        let together = Barrier::new(4);
        let lanes = [Some("real"), Some("pods"), None, None];
        let done = run(lanes, 2, |lane| *lane, |_| together.wait().is_leader());
        assert_eq!(done.len(), 4);
    }

    #[test]
    fn a_lane_runs_one_job_at_a_time() {
        let busy = Mutex::new(());
        let is_alone = |_: &i32| {
            let held = busy.try_lock();
            thread::yield_now();
            held.is_ok()
        };
        let done = run(0..20, 2, |_| Some(()), is_alone);
        assert_eq!(done, [true; 20]);
    }
}
