//! What goes wrong while a user changes something: processes that die, requests that fail, machines that do not start or
//! fall silent, programs of a control plane that end, clocks that jump.

use std::time::Duration;

use hyperplane_twin::{Fault, FaultKind, FaultSelector};
use k8s_openapi::api::core::v1::Pod;
use kube::{
    Api,
    api::{DeleteParams, ListParams},
};

use crate::{
    invariants::MOST_UNHEALTHY,
    snapshot::{INSIDE, Snapshot},
    story::Story,
    watch::Watch,
};

/// How long trouble lasts in each act.
const TROUBLE: Duration = Duration::from_mins(3);
/// How long machines are silent: longer than the health check waits.
const LONG: Duration = Duration::from_mins(15);
/// How long machines do not become nodes: longer than the health check gives them to.
const VERY_LONG: Duration = Duration::from_mins(25);
/// Of a hundred requests, how many go wrong.
const PERCENT: u64 = 8;
/// How often a process dies in an act.
const CRASHES: usize = 8;
/// The programs of a control plane that machines need to join.
const PROGRAMS: [&str; 2] = ["ignition-server", "machine-approver"];

/// What goes wrong meanwhile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Disturbance {
    Nothing,
    Crashes,
    Requests,
    Programs,
    NeverBoots,
    SlowBoot,
    BrokenIgnition,
    NeverJoins,
    Silent,
    AllSilent,
    Jump,
}

/// All of them.
pub const DISTURBANCES: [Disturbance; 11] = [
    Disturbance::Nothing,
    Disturbance::Crashes,
    Disturbance::Requests,
    Disturbance::Programs,
    Disturbance::NeverBoots,
    Disturbance::SlowBoot,
    Disturbance::BrokenIgnition,
    Disturbance::NeverJoins,
    Disturbance::Silent,
    Disturbance::AllSilent,
    Disturbance::Jump,
];

impl Disturbance {
    /// Whether it may take long until everybody knows what is wanted now.
    pub const fn delays_news(self) -> bool {
        matches!(self, Self::Crashes | Self::Requests)
    }
}

impl Story<'_> {
    pub async fn disturb(&mut self, disturbance: Disturbance, name: &str, before: &Snapshot) {
        let of_pool = format!("{name}-");
        match disturbance {
            Disturbance::Nothing => self.watch.pass(TROUBLE).await,
            Disturbance::Crashes => self.crash_again_and_again().await,
            Disturbance::Requests => {
                self.ground().trouble.set(PERCENT);
                self.watch.pass(TROUBLE).await;
                self.ground().trouble.set(0);
            }
            Disturbance::Programs => self.end_programs().await,
            Disturbance::NeverBoots => self.fault(FaultKind::NeverBoots, &of_pool, VERY_LONG).await,
            Disturbance::BrokenIgnition => {
                self.fault(FaultKind::BrokenIgnition, &of_pool, TROUBLE).await;
                self.help_out(name).await;
            }
            Disturbance::NeverJoins => self.fault(FaultKind::NeverJoins, &of_pool, VERY_LONG).await,
            Disturbance::SlowBoot => {
                let slow = FaultKind::SlowBoot(Duration::from_mins(4));
                self.fault(slow, &of_pool, TROUBLE).await;
            }
            Disturbance::Silent => {
                // One machine, for long enough that it is replaced.
                let machine = Watch::nodes_of(before, name).into_iter().next_back();
                self.fault(silent(), &machine.unwrap_or(of_pool), LONG).await;
            }
            // So many that none is replaced, unless the pool is small.
            Disturbance::AllSilent => self.fault(silent(), &of_pool, LONG).await,
            Disturbance::Jump => {
                self.watch.pass(TROUBLE / 3).await;
                let seconds = [-90, 240, 3_600][self.index(3)];
                self.ground().jump(seconds);
                self.watch.pass(TROUBLE / 3).await;
            }
        }
    }

    async fn fault(&mut self, kind: FaultKind, machine: &str, duration: Duration) {
        let selector = FaultSelector {
            namespace: INSIDE.to_owned(),
            machine: machine.to_owned(),
            ..FaultSelector::default()
        };
        self.faults.set(vec![Fault { selector, kind }]);
        self.watch.pass(duration).await;
        self.faults.set(Vec::new());
    }

    /// Machines whose first boot failed stay as they are. With so many of them nobody is replaced by itself: users have to.
    async fn help_out(&mut self, name: &str) {
        let now = self.watch.look().await;
        let machines = Snapshot::of(&now.machines, name).into_iter();
        let stuck = machines.filter(|(_, machine)| machine.pointer("/status/nodeRef/name").is_none());
        let stuck: Vec<String> = stuck.map(|(name, _)| name.clone()).collect();
        for machine in stuck.iter().skip(MOST_UNHEALTHY) {
            self.delete_machine(Some(machine.clone())).await;
        }
    }

    /// Processes die at writes, one after the other.
    pub async fn crash_again_and_again(&mut self) {
        let ground = self.watch.ground;
        for _ in 0..CRASHES {
            let pause = self.random.up_to(Duration::from_secs(20));
            if let Some(process) = self.process.take() {
                let meanwhile = self.watch.pass(pause);
                self.process = Some(ground.crash(process, &mut self.random, meanwhile).await);
            }
        }
    }

    /// Pods of programs that machines need go, again and again, and others come.
    async fn end_programs(&mut self) {
        let pods: Api<Pod> = self.ground().api(Some(INSIDE));
        for _ in 0..4 {
            for program in PROGRAMS {
                let selector = ListParams::default().labels(&format!("app={program}"));
                for pod in pods.list(&selector).await.unwrap() {
                    let name = pod.metadata.name.unwrap_or_default();
                    // It may be gone by now.
                    drop(pods.delete(&name, &DeleteParams::default()).await);
                }
            }
            self.watch.pass(TROUBLE / 4).await;
        }
    }
}

/// Nothing is heard of a machine from the moment on at which it joined.
const fn silent() -> FaultKind {
    FaultKind::Silent {
        from: Duration::ZERO,
        until: None,
    }
}
