//! The life of two pools by seed: every kind of change once, in an order that the seed decides, each in the midst of
//! something that goes wrong. After each act the trouble ends, and the world has to come to rest.

use std::time::Duration;

use hyperplane_runtime::Random;
use hyperplane_twin::{Faults, TwinSettings};
use serde_json::{Value, json};

use crate::{
    disturbances::{DISTURBANCES, Disturbance},
    ground::{Ground, Process},
    history::{Identity, identity},
    manifests::{pace, pool, release, to_release},
    snapshot::Snapshot,
    trace::Line,
    watch::Watch,
};

/// The version of the control plane and of pools in the beginning.
const OLD: &str = "1.35.8";
/// The version that they come to.
const NEW: &str = "1.36.4";
/// The pools.
const POOLS: [&str; 2] = ["alpha", "beta"];
/// Longer than any token lives whose configuration was replaced.
const AFTER_TOKENS: Duration = Duration::from_mins(125);
/// Longer than the token of a configuration lives.
const AFTER_ROTATION: Duration = Duration::from_mins(340);

/// What users do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    Grow,
    Shrink,
    Release,
    Config,
    Template,
    Marks,
    Timeouts,
    Proxy,
    Plane,
    DeleteMachine,
    Cordon,
    Blocked,
    BackAndForth,
    Replace,
    Pause,
    ByHand,
    Hook,
    TooOld,
}

const ACTS: [Act; 18] = [
    Act::Grow,
    Act::Shrink,
    Act::Release,
    Act::Config,
    Act::Template,
    Act::Marks,
    Act::Timeouts,
    Act::Proxy,
    Act::Plane,
    Act::DeleteMachine,
    Act::Cordon,
    Act::Blocked,
    Act::BackAndForth,
    Act::Replace,
    Act::Pause,
    Act::ByHand,
    Act::Hook,
    Act::TooOld,
];

/// Everything of one world.
pub struct Story<'a> {
    pub watch: Watch<'a>,
    pub random: Random,
    pub faults: Faults,
    pub process: Option<Process>,
    /// Counts changes, so that each is new.
    number: u64,
    /// Whether the control plane has come to the new version.
    is_plane_new: bool,
    /// The act that is played, for whoever reads of its failure.
    title: String,
}

/// What is played in a life.
#[derive(Clone, Copy)]
pub enum Script<'a> {
    /// At most so many acts, in an order and with trouble that the seed decides.
    Drawn(usize),
    /// These.
    Given(&'a [(Act, Disturbance)]),
}

/// Lives one life in a world whose twin is as the function makes it, and gives every request that wrote something.
pub async fn live(seed: u64, script: Script<'_>, change: impl FnOnce(&mut TwinSettings)) -> Vec<Line> {
    let faults = Faults::default();
    let of_twin = faults.clone();
    let ground = Ground::with(seed, |twin| {
        twin.faults = of_twin;
        change(twin);
    })
    .await;
    let process = ground.start().await;
    ground.cluster_for_pools(OLD).await;
    let mut story = Story {
        watch: Watch::new(&ground),
        random: Random::named(seed, "story"),
        faults,
        process: Some(process),
        number: 0,
        is_plane_new: false,
        title: String::new(),
    };
    story.begin().await;
    for (act, disturbance) in story.script(script) {
        story.act(act, disturbance).await;
    }
    if let Script::Drawn(_) = script {
        story.age().await;
    }
    story.end().await;
    if let Some(process) = story.process.take() {
        process.stop().await;
    }
    ground.since(0)
}

impl Story<'_> {
    async fn begin(&mut self) {
        for name in POOLS {
            let (surge, unavailable) = self.pace();
            let replicas = 2 + self.random.below(2);
            let manifest = pool(name, OLD, replicas, &pace(&surge, &unavailable));
            self.ground().pool(manifest).await;
        }
        self.watch.settle().await;
        self.ground().workload().await;
        self.watch.settle().await;
    }

    /// What is played, with what goes wrong meanwhile.
    fn script(&mut self, script: Script<'_>) -> Vec<(Act, Disturbance)> {
        let most = match script {
            Script::Given(acts) => return acts.to_vec(),
            Script::Drawn(most) => most,
        };
        let mut acts = ACTS.to_vec();
        for last in (1..acts.len()).rev() {
            let other = self.random.below(last as u64 + 1);
            acts.swap(last, usize::try_from(other).unwrap());
        }
        acts.truncate(most);
        acts.into_iter()
            .map(|act| (act, DISTURBANCES[self.index(DISTURBANCES.len())]))
            .collect()
    }

    async fn act(&mut self, act: Act, disturbance: Disturbance) {
        let name = POOLS[self.index(POOLS.len())];
        self.title = format!("{act:?} of {name} with {disturbance:?}");
        println!("seed {}: {}", self.ground().seed, self.title);
        let before = self.watch.look().await;
        let identities = POOLS.map(|pool| before.deployments.get(pool).map(identity));
        self.watch.history.delays_news = disturbance.delays_news();
        let must_roll = self.play(act, name, &before).await;
        self.disturb(disturbance, name, &before).await;
        if act == Act::Plane {
            let arrived = |now: &Snapshot| (now.plane() == [(1, 36)]).then_some(());
            self.watch.until("the new version of the control plane", arrived).await;
        }
        self.watch.settle().await;
        if act == Act::Blocked {
            self.ground().hold_workload(false).await;
        }
        let after = self.watch.look().await;
        for (pool, identity) in POOLS.into_iter().zip(&identities) {
            self.judge_roll(pool, identity.as_ref(), &after, must_roll.contains(&pool))
                .await;
        }
        if keeps_nodes(act) {
            self.judge_kept(&before, &after).await;
        }
        if !self.is_held(&after) {
            self.watch.history.asked.may_roll.clear();
        }
        self.watch.history.delays_news = false;
    }

    /// Does it, and gives the pools whose nodes have to be others afterwards.
    async fn play(&mut self, act: Act, name: &'static str, before: &Snapshot) -> Vec<&'static str> {
        self.number += 1;
        let number = self.number;
        let replicas = before.pools[name]["spec"]["replicas"].as_u64().unwrap_or_default();
        let machine = Watch::nodes_of(before, name).into_iter().next();
        match act {
            Act::Grow => {
                self.change(name, &json!({"spec": {"replicas": replicas + 1 + number % 3}}))
                    .await;
            }
            Act::Shrink => {
                self.change(name, &json!({"spec": {"replicas": replicas.saturating_sub(2).max(1)}}))
                    .await;
            }
            Act::Timeouts => {
                self.change(
                    name,
                    &json!({"spec": {"nodeDrainTimeout": format!("{}s", 300 + number)}}),
                )
                .await;
            }
            Act::Marks => self.change_marks(name, number).await,
            Act::DeleteMachine => self.delete_machine(machine).await,
            Act::Cordon => self.cordon(machine).await,
            Act::Blocked => self.block_drain(number, before).await,
            Act::TooOld => self.ask_for_too_old(name, before).await,
            Act::Replace => self.replace(name, replicas).await,
            Act::Pause => self.pause(name, replicas).await,
            Act::ByHand => self.roll_by_hand(name, number).await,
            Act::Hook => self.hold_machine(machine).await,
            Act::Plane => {
                self.watch.history.asked.may_roll.extend(POOLS.map(str::to_owned));
                self.ground().change("one", to_release(NEW)).await;
                self.is_plane_new = true;
            }
            Act::Proxy => {
                self.watch.history.asked.may_roll.extend(POOLS.map(str::to_owned));
                let proxy = json!({"httpProxy": format!("http://proxy-{number}.example.com:3128")});
                self.ground()
                    .change("one", json!({"spec": {"configuration": {"proxy": proxy}}}))
                    .await;
                return self.unheld(before, &POOLS);
            }
            Act::Release | Act::Config | Act::Template | Act::BackAndForth => {
                self.watch.history.asked.may_roll.insert(name.to_owned());
                self.roll(act, name, number).await;
                let is_sure = matches!(act, Act::Config | Act::Template);
                return if is_sure {
                    self.unheld(before, &[name])
                } else {
                    Vec::new()
                };
            }
        }
        Vec::new()
    }

    async fn roll(&mut self, act: Act, name: &str, number: u64) {
        match act {
            Act::Config => {
                let config = format!("config-{number}");
                self.ground().machine_config(&config, &config).await;
                self.change(name, &json!({"spec": {"config": [{"name": config}]}}))
                    .await;
            }
            Act::Template => {
                let compute = json!({"memory": "8Gi", "cores": 2 + number});
                let change = json!({"spec": {"platform": {"kubevirt": {"compute": compute}}}});
                self.change(name, &change).await;
            }
            Act::BackAndForth => {
                let before = self.watch.look().await;
                let image = before.pools[name]["spec"]["release"].clone();
                self.change(name, &to_release("1.34.11")).await;
                let while_rolling = self.random.up_to(Duration::from_mins(3));
                self.watch.pass(while_rolling).await;
                self.change(name, &json!({"spec": {"release": image}})).await;
            }
            // Before the control plane is there, it has to wait.
            _ => self.change(name, &to_release(NEW)).await,
        }
    }

    async fn change_marks(&mut self, name: &str, number: u64) {
        let taint = json!({"key": "example.com/color", "value": format!("blue-{number}"), "effect": "NoSchedule"});
        let labels = json!({"example.com/tier": format!("tier-{number}")});
        self.change(name, &json!({"spec": {"nodeLabels": labels, "taints": [taint]}}))
            .await;
        // New nodes get them, those that are there do not.
        let replicas = self.watch.look().await.pools[name]["spec"]["replicas"]
            .as_u64()
            .unwrap_or_default();
        self.change(name, &json!({"spec": {"replicas": replicas + 1}})).await;
    }

    pub async fn delete_machine(&mut self, machine: Option<String>) {
        let Some(machine) = machine else {
            return;
        };
        self.watch.history.asked.deleted.insert(machine.clone());
        self.ground().delete_machine(&machine).await;
    }

    async fn cordon(&mut self, machine: Option<String>) {
        let Some(machine) = machine else {
            return;
        };
        self.ground().cordon(&machine, true).await;
        self.watch.history.asked.cordoned.insert(machine);
    }

    /// A pool goes, and another one of its name comes.
    async fn replace(&mut self, name: &str, replicas: u64) {
        self.ground().delete_pool(name).await;
        self.watch
            .until("the end of a pool", |now| (!now.pools.contains_key(name)).then_some(()))
            .await;
        self.watch.history.asked.may_roll.insert(name.to_owned());
        let (surge, unavailable) = self.pace();
        let manifest = pool(name, OLD, replicas, &pace(&surge, &unavailable));
        self.ground().pool(manifest).await;
    }

    /// Hours pass: tokens that are not used any more have gone, those that are have been replaced.
    async fn age(&mut self) {
        self.watch.pass(AFTER_TOKENS).await;
        let now = self.watch.settle().await;
        let tokens = now.secrets.keys().filter(|name| name.starts_with("token-"));
        let tokens: Vec<&String> = tokens.collect();
        if tokens.len() != POOLS.len() {
            self.watch
                .fail(&[format!("tokens: after their time there are {tokens:?}")])
                .await;
        }
        self.watch.pass(AFTER_ROTATION).await;
        self.watch.settle().await;
    }

    /// Everything goes: the pools, or the cluster with them.
    async fn end(&mut self) {
        "the end".clone_into(&mut self.title);
        if self.random.below(2) == 0 {
            return self.end_with_cluster().await;
        }
        for name in POOLS {
            self.ground().delete_pool(name).await;
        }
        self.crash_again_and_again().await;
        self.watch
            .until("the end of all pools", |now| now.pools.is_empty().then_some(()))
            .await;
        self.watch.settle().await;
    }

    /// The whole cluster goes, with its pools and whatever holds their pods, and nothing is left of them.
    async fn end_with_cluster(&mut self) {
        self.ground().hold_workload(true).await;
        self.ground().delete("one").await;
        self.crash_again_and_again().await;
        let is_gone = |now: &Snapshot| (now.cluster.is_null() && now.is_empty()).then_some(());
        self.watch.until("the end of the cluster", is_gone).await;
    }

    /// Says whether nodes were replaced where they had to be.
    async fn judge_roll(&self, pool: &str, before: Option<&Identity>, after: &Snapshot, must_roll: bool) {
        let now = after.deployments.get(pool).map(identity);
        if must_roll && now.as_ref() == before {
            self.watch
                .fail(&[format!("rolls: {} left nodes of {pool} as they were", self.title)])
                .await;
        }
    }

    /// Says whether nodes were replaced that nobody wanted to be others.
    async fn judge_kept(&self, before: &Snapshot, after: &Snapshot) {
        let history = &self.watch.history;
        let lost = before.machines.keys().filter(|name| {
            let is_excused = history.asked.deleted.contains(*name) || history.remediated.contains(*name);
            !is_excused && !after.machines.contains_key(*name)
        });
        let lost: Vec<String> = lost
            .map(|name| format!("unasked: {} replaced machine {name}", self.title))
            .collect();
        if !lost.is_empty() {
            self.watch.fail(&lost).await;
        }
    }

    /// Of these pools, those that nothing holds.
    fn unheld(&self, before: &Snapshot, pools: &[&'static str]) -> Vec<&'static str> {
        let is_free = |pool: &&&'static str| self.is_plane_new || !is_ahead(before, pool);
        pools.iter().filter(is_free).copied().collect()
    }

    /// Whether a pool waits for its control plane.
    fn is_held(&self, now: &Snapshot) -> bool {
        !self.is_plane_new && POOLS.iter().any(|pool| is_ahead(now, pool))
    }

    fn pace(&mut self) -> (Value, Value) {
        let paces = [
            (json!(1), json!(0)),
            (json!(0), json!(1)),
            (json!(2), json!(1)),
            (json!("50%"), json!("25%")),
        ];
        let index = self.index(paces.len());
        paces[index].clone()
    }

    pub fn index(&mut self, length: usize) -> usize {
        usize::try_from(self.random.below(length as u64)).unwrap()
    }

    pub async fn change(&self, name: &str, change: &Value) {
        self.ground().change_pool(name, change).await;
    }

    pub const fn ground(&self) -> &Ground {
        self.watch.ground
    }
}

/// Whether a change leaves every node of a pool where it is.
const fn keeps_nodes(act: Act) -> bool {
    matches!(
        act,
        Act::Grow
            | Act::Marks
            | Act::Timeouts
            | Act::Cordon
            | Act::DeleteMachine
            | Act::Pause
            | Act::Hook
            | Act::TooOld
    )
}

/// Whether a pool is to have a version that its control plane has not.
fn is_ahead(now: &Snapshot, pool: &str) -> bool {
    now.pools
        .get(pool)
        .is_some_and(|pool| pool["spec"]["release"]["image"] == release(NEW).as_str())
}
