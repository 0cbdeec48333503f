//! The certificate of a path: every state that a sequence of moves can pass through is judged, with k of n instances and
//! j of m nodes of each pool moved. It shares nothing with who made the path but versions and the tables of rules.

#[cfg(test)]
mod tests;

use serde::Serialize;
use thiserror::Error;

use crate::{
    blocker::Report,
    check::{Choice, Margin, check, tightest},
    state::State,
    version::Version,
};

/// The most states of one path. Pools that roll at the same time multiply.
const MOST_STATES: u64 = 1_000_000;

/// A change of versions, one instance or node after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Move {
    /// Every kube-apiserver.
    ApiServers(Version),
    /// Every kube-controller-manager.
    ControllerManager(Version),
    /// Every kube-scheduler.
    Scheduler(Version),
    /// Every cloud-controller-manager.
    CloudControllerManager(Version),
    /// Every member of etcd.
    Etcd(Version),
    /// The distribution's version of the cluster, at once.
    Distribution(Version),
    /// The nodes of a pool.
    Pool {
        /// Its name.
        name: String,
        /// Their kubelets and kube-proxies.
        kubernetes: Version,
        /// Their version of the distribution, where pools have one.
        version: Option<Version>,
    },
}

/// A path: where it begins, and its steps. The moves of one step happen at the same time, in any order.
#[derive(Clone, Debug)]
pub struct Path {
    /// The first state.
    pub start: State,
    /// The steps.
    pub steps: Vec<Vec<Move>>,
}

/// That no state of a path is forbidden.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Certificate {
    /// By which policies.
    pub policies: Vec<&'static str>,
    /// How many states were judged.
    pub states_checked: u64,
    /// The closest that the path comes to a limit.
    pub tightest_margin: Option<Margin>,
}

/// Why there is no certificate.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum Refusal {
    /// A state or a step on the way is forbidden, or cannot be judged.
    #[error("step {step} with {moved:?} instances moved: {}", first_message(.report))]
    BadState {
        /// Which step, counted from 1; 0 is the start.
        step: usize,
        /// How many instances of each move of the step had moved.
        moved: Vec<usize>,
        /// What is wrong with it.
        report: Box<Report>,
    },
    /// The path has more states than are judged.
    #[error("the path has more than {MOST_STATES} states: let fewer pools roll at the same time")]
    TooManyStates,
    /// A pool that moves is not there.
    #[error("step {step} moves pool {name:?}, which is not there")]
    NoSuchPool {
        /// Which step, counted from 1.
        step: usize,
        /// The pool.
        name: String,
    },
    /// A pool that moves is paused.
    #[error("step {step} moves pool {name:?}, which is paused: it stays where it is and counts")]
    PausedPool {
        /// Which step, counted from 1.
        step: usize,
        /// The pool.
        name: String,
    },
}

fn first_message(report: &Report) -> String {
    let findings = report.violations.iter().chain(&report.unknown);
    findings
        .map(|finding| format!("{} {}", finding.rule, finding.message))
        .next()
        .unwrap_or_default()
}

/// Judges every state of a path.
pub fn certify(path: &Path, choice: &Choice) -> Result<Certificate, Refusal> {
    let mut walk = Walk {
        choice,
        states: 0,
        tightest: None,
    };
    let mut state = path.start.clone();
    walk.judge(&state, 0, &[])?;
    for (index, moves) in path.steps.iter().enumerate() {
        let step = index + 1;
        state = walk.step(&state, step, moves)?;
    }
    Ok(Certificate {
        policies: choice.policies().iter().map(|policy| policy.name).collect(),
        states_checked: walk.states,
        tightest_margin: walk.tightest,
    })
}

struct Walk<'a> {
    choice: &'a Choice,
    states: u64,
    tightest: Option<Margin>,
}

impl Walk<'_> {
    /// Judges all states between two and the move as a whole; gives back the last.
    fn step(&mut self, start: &State, step: usize, moves: &[Move]) -> Result<State, Refusal> {
        for movement in moves {
            movement.check(start, step)?;
        }
        let sizes: Vec<usize> = moves.iter().map(|movement| movement.size(start)).collect();
        let states = sizes
            .iter()
            .try_fold(1u64, |states, size| states.checked_mul(*size as u64 + 1));
        let states = states.filter(|states| self.states + states <= MOST_STATES);
        if states.is_none() {
            return Err(Refusal::TooManyStates);
        }
        let end = apply(start, moves, &sizes);
        let report = check(start, Some(&end), self.choice);
        if !report.ok {
            return Err(refusal(step, &sizes, report));
        }
        let mut moved = vec![0; moves.len()];
        while advance(&mut moved, &sizes) {
            self.judge(&apply(start, moves, &moved), step, &moved)?;
        }
        Ok(end)
    }

    fn judge(&mut self, state: &State, step: usize, moved: &[usize]) -> Result<(), Refusal> {
        self.states += 1;
        let report = check(state, None, self.choice);
        if !report.ok {
            return Err(refusal(step, moved, report));
        }
        let margins = self
            .choice
            .policies()
            .iter()
            .filter_map(|policy| tightest(policy.skews, state));
        self.tightest = margins.chain(self.tightest.take()).min();
        Ok(())
    }
}

fn refusal(step: usize, moved: &[usize], report: Report) -> Refusal {
    Refusal::BadState {
        step,
        moved: moved.to_vec(),
        report: Box::new(report),
    }
}

/// The next combination; false when all were there.
fn advance(moved: &mut [usize], sizes: &[usize]) -> bool {
    for (count, size) in moved.iter_mut().zip(sizes) {
        if *count < *size {
            *count += 1;
            return true;
        }
        *count = 0;
    }
    false
}

/// A state after the first so many instances of each move have moved.
fn apply(start: &State, moves: &[Move], moved: &[usize]) -> State {
    let mut state = start.clone();
    for (movement, count) in moves.iter().zip(moved) {
        movement.apply(&mut state, *count);
    }
    state
}

impl Move {
    fn check(&self, state: &State, step: usize) -> Result<(), Refusal> {
        let Self::Pool { name, .. } = self else {
            return Ok(());
        };
        let name = name.clone();
        match state.pool(&name) {
            None => Err(Refusal::NoSuchPool { step, name }),
            Some(pool) if pool.is_paused => Err(Refusal::PausedPool { step, name }),
            Some(_) => Ok(()),
        }
    }

    /// How many instances move, one after the other.
    fn size(&self, state: &State) -> usize {
        let control_plane = &state.control_plane;
        match self {
            Self::ApiServers(_) => control_plane.kube_api_servers.len(),
            Self::ControllerManager(_) => control_plane.kube_controller_manager.len(),
            Self::Scheduler(_) => control_plane.kube_scheduler.len(),
            Self::CloudControllerManager(_) => control_plane.cloud_controller_manager.len(),
            Self::Etcd(_) => control_plane.etcd.len(),
            Self::Distribution(_) => 1,
            Self::Pool { name, .. } => state.pool(name).map_or(0, |pool| {
                pool.kubelets
                    .len()
                    .max(pool.versions.len())
                    .max(pool.kube_proxies.len())
            }),
        }
    }

    fn apply(&self, state: &mut State, count: usize) {
        let control_plane = &mut state.control_plane;
        match self {
            Self::ApiServers(to) => set(&mut control_plane.kube_api_servers, to, count),
            Self::ControllerManager(to) => set(&mut control_plane.kube_controller_manager, to, count),
            Self::Scheduler(to) => set(&mut control_plane.kube_scheduler, to, count),
            Self::CloudControllerManager(to) => set(&mut control_plane.cloud_controller_manager, to, count),
            Self::Etcd(to) => set(&mut control_plane.etcd, to, count),
            Self::Distribution(to) => {
                if count > 0 {
                    state.distribution.version = Some(to.clone());
                }
            }
            Self::Pool {
                name,
                kubernetes,
                version,
            } => {
                let pools = state.pools.iter_mut().filter(|pool| pool.name == *name);
                for pool in pools {
                    set(&mut pool.kubelets, kubernetes, count);
                    set(&mut pool.kube_proxies, kubernetes, count);
                    if let Some(version) = version {
                        set(&mut pool.versions, version, count);
                    }
                }
            }
        }
    }
}

fn set(versions: &mut [Version], to: &Version, count: usize) {
    for version in versions.iter_mut().take(count) {
        *version = to.clone();
    }
}
