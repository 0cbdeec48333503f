//! Who runs beside whom: binaries that compute share the cores, those that wait for other programs go on a lane of their
//! own. Knows nothing of tests.

use std::{collections::VecDeque, sync::Mutex, thread};

/// Runs every job, and hands back what came of each, in the order of their end. Of the jobs that compute, as many run at
/// a time as there are cores; of those that wait, one.
pub(crate) fn run<J, T>(
    jobs: impl IntoIterator<Item = J>,
    cores: usize,
    waits: impl Fn(&J) -> bool,
    work: impl Fn(&J) -> T + Sync,
) -> Vec<T>
where
    J: Send,
    T: Send,
{
    let (waiting, computing): (VecDeque<J>, VecDeque<J>) = jobs.into_iter().partition(|job| waits(job));
    let (waiting, computing) = (Mutex::new(waiting), Mutex::new(computing));
    let done = Mutex::new(Vec::new());
    let lane = |queue: &Mutex<VecDeque<J>>| {
        while let Some(job) = next(queue) {
            let outcome = work(&job);
            done.lock().expect("no lane panics with the lock").push(outcome);
        }
    };
    thread::scope(|scope| {
        scope.spawn(|| lane(&waiting));
        for _ in 0..cores.max(1) {
            scope.spawn(|| lane(&computing));
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
        let mut done = run(0..100, 3, |job| job % 7 == 0, |job| *job);
        done.sort_unstable();
        assert_eq!(done, (0..100).collect::<Vec<_>>());
        assert!(run(Vec::<u8>::new(), 0, |_| true, |job| *job).is_empty());
    }

    #[test]
    fn what_waits_runs_beside_what_computes() {
        // Each of the three can only end together with the other two.
        let together = Barrier::new(3);
        let done = run([true, false, false], 2, |waits| *waits, |_| together.wait().is_leader());
        assert_eq!(done.len(), 3);
    }
}
