//! The rounds: start, compare, load, kill, check.

use std::{
    collections::BTreeMap,
    io::{self, Write as _},
    path::Path,
};

use kube::Client;
use serde_json::{Value, json};
use tokio::{
    sync::{mpsc, oneshot},
    task::{self, JoinSet},
};
use tokio_util::sync::CancellationToken;

use super::{
    dice::Dice,
    objects::{self, Kind, NAMESPACE, definition, revision},
    server::Data,
    watcher::{Checkpoint, Passed, Seen, Watcher, by_name},
    writer::{Acknowledged, Writer},
};
use crate::apiserver::soon;

/// Writers of one kind.
const WRITERS: u64 = 2;
/// Acknowledged writes after which the server is killed, at most.
const MOST_WRITES: u64 = 100;
/// Turns of the scheduler that it may then still have.
const MOST_TURNS: u64 = 64;
/// Every so many rounds somebody who waits is told.
const TOLD_EVERY: u64 = 10;
/// Every so many rounds the server is also killed while it starts, at most so often.
const KILLED_STARTS_EVERY: u64 = 3;
const MOST_KILLED_STARTS: u64 = 2;

/// All clients, and what they agree on.
struct World {
    dice: Dice,
    writers: Vec<Writer>,
    watchers: Vec<Watcher>,
    /// Writes that were acknowledged since the last checkpoint.
    acknowledged: Vec<Acknowledged>,
    /// The highest revision that anybody was told.
    highest: u64,
    round: u64,
}

/// Runs some rounds on one directory.
pub async fn run(seed: u64, rounds: u64, directory: &Path) {
    let mut data = Data::new(directory);
    let mut world = World::new(seed);
    let (mut sweeps, mut writes, mut oldest) = (0, 0, None);
    for round in 0..rounds {
        world.round = round;
        if round.is_multiple_of(TOLD_EVERY) {
            // Past the harness, which keeps what is printed until the end.
            let mut standard_error = io::stderr();
            writeln!(
                standard_error,
                "round {round} of {rounds}: {writes} acknowledged writes"
            )
            .unwrap();
        }
        let process = data.start();
        let client = process.client().await;
        if round == 0 {
            world.found(&client).await;
        }
        world.compare(&client).await;
        let checkpoints = world.mark(&client).await;
        world.load(&client, checkpoints, move || process.end("-KILL")).await;
        writes += world.acknowledged.len();
        let (first, _) = data.check();
        sweeps += u64::from(oldest.replace(first.clone()).is_some_and(|before| before != first));
        if world.dice.below(KILLED_STARTS_EVERY) == 0 {
            for _ in 0..=world.dice.below(MOST_KILLED_STARTS) {
                data.kill_while_starting(world.dice.below(1001));
                data.check();
            }
        }
    }
    let relists: u64 = world.watchers.iter().map(|watcher| watcher.relists).sum();
    println!("{rounds} rounds, {writes} acknowledged writes, {sweeps} sweeps, {relists} relists");
    assert!(sweeps >= rounds / 50, "the log was hardly ever swept: {sweeps}");
}

impl World {
    fn new(seed: u64) -> Self {
        let kinds = Kind::ALL.into_iter().enumerate();
        let ids = kinds.flat_map(|(place, kind)| (0..WRITERS).map(move |id| (kind, place as u64 * WRITERS + id)));
        Self {
            dice: Dice::new(seed, u64::MAX),
            writers: ids.map(|(kind, id)| Writer::new(seed, kind, id)).collect(),
            watchers: Vec::new(),
            acknowledged: Vec::new(),
            highest: 0,
            round: 0,
        }
    }

    /// Makes the place for everything, before anybody watches.
    async fn found(&mut self, client: &Client) {
        let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}});
        objects::send(client, "POST", "/api/v1/namespaces", &namespace)
            .await
            .unwrap();
        let definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
        objects::send(client, "POST", definitions, &definition()).await.unwrap();
        soon("the definition", established(client, definitions)).await;
        for kind in Kind::ALL {
            let list = list(client, kind).await;
            for is_selecting in [false, false, true] {
                self.watchers.push(Watcher::new(kind, is_selecting, &list));
            }
        }
    }

    /// Compares what writers were told with what is there.
    async fn compare(&mut self, client: &Client) {
        for kind in Kind::ALL {
            let list = list(client, kind).await;
            assert!(revision(&list) >= self.highest, "revisions run backwards");
            let found = by_name(&list);
            for writer in &mut self.writers {
                writer.check(kind, &found);
            }
        }
    }

    /// Writes a marker of each kind, at which all watchers must agree with a list.
    async fn mark(&mut self, client: &Client) -> BTreeMap<String, (u64, BTreeMap<String, Value>)> {
        let mut checkpoints = BTreeMap::new();
        for kind in Kind::ALL {
            let path = format!("{}/marker?fieldManager=marker&force=true", kind.path());
            let marker = kind.object("marker", self.round * 2 + 1);
            let written = objects::send(client, "PATCH", &path, &marker).await.unwrap();
            assert!(revision(&written) > self.highest, "revisions run backwards");
            self.highest = revision(&written);
            let state = by_name(&list(client, kind).await);
            checkpoints.insert(kind.path(), (revision(&written), state));
        }
        checkpoints
    }

    /// Lets watchers catch up and writers write, and kills the server at some point.
    async fn load(
        &mut self,
        client: &Client,
        checkpoints: BTreeMap<String, (u64, BTreeMap<String, Value>)>,
        kill: impl FnOnce() -> (std::process::ExitStatus, String),
    ) {
        let (mut watching, passed) = self.watch(client, &checkpoints);
        self.agree(passed).await;
        let (sender, mut acknowledged) = mpsc::unbounded_channel();
        let dead = CancellationToken::new();
        let mut writing = JoinSet::new();
        for writer in self.writers.drain(..) {
            writing.spawn(writer.run(client.clone(), sender.clone(), dead.clone()));
        }
        drop(sender);
        let mut told = Vec::new();
        for _ in 0..self.dice.below(MOST_WRITES + 1) {
            told.extend(soon("an acknowledged write", acknowledged.recv()).await);
        }
        for _ in 0..self.dice.below(MOST_TURNS) {
            task::yield_now().await;
        }
        assert_eq!(kill().0.code(), None, "it ended by itself");
        dead.cancel();
        while let Some(writer) = soon("the end of the writers", writing.join_next()).await {
            self.writers.push(writer.unwrap());
        }
        while let Some(write) = acknowledged.recv().await {
            told.push(write);
        }
        while let Some(watcher) = soon("the end of the watchers", watching.join_next()).await {
            self.watchers.push(watcher.unwrap());
        }
        let revisions = told.iter().filter_map(|write| write.revision);
        self.highest = revisions.fold(self.highest, u64::max);
        self.acknowledged = told;
    }

    /// Starts all watchers where they were.
    #[allow(
        clippy::type_complexity,
        reason = "the parts have names at the one place where it is used"
    )]
    fn watch(
        &mut self,
        client: &Client,
        checkpoints: &BTreeMap<String, (u64, BTreeMap<String, Value>)>,
    ) -> (JoinSet<Watcher>, Vec<(Kind, bool, oneshot::Receiver<Passed>)>) {
        let (mut watching, mut passed) = (JoinSet::new(), Vec::new());
        for watcher in self.watchers.drain(..) {
            let (revision, state) = &checkpoints[&watcher.kind.path()];
            let acknowledged = self.acknowledged.iter().filter(|write| write.kind == watcher.kind);
            let checkpoint = Checkpoint {
                revision: *revision,
                state: state.clone(),
                acknowledged: acknowledged.filter_map(|write| write.revision).collect(),
            };
            let (sender, receiver) = oneshot::channel();
            passed.push((watcher.kind, watcher.is_selecting, receiver));
            watching.spawn(watcher.run(client.clone(), checkpoint, sender));
        }
        (watching, passed)
    }

    /// Waits until all watchers have passed their checkpoints; those that watch the same must have seen the same.
    async fn agree(&self, passed: Vec<(Kind, bool, oneshot::Receiver<Passed>)>) {
        let mut seen: BTreeMap<(String, bool), Vec<Seen>> = BTreeMap::new();
        for (kind, is_selecting, passed) in passed {
            let what = format!("a watcher of {kind:?} in round {}", self.round);
            let passed = soon(&what, passed).await.expect("a watcher that fails says why");
            let Some(events) = passed.seen else { continue };
            let other = seen
                .entry((kind.path(), is_selecting))
                .or_insert_with(|| events.clone());
            assert_eq!(*other, events, "two watchers of {kind:?} in round {}", self.round);
        }
    }
}

async fn list(client: &Client, kind: Kind) -> Value {
    objects::send(client, "GET", &kind.path(), &Value::Null).await.unwrap()
}

/// Waits until widgets are served.
async fn established(client: &Client, definitions: &str) {
    loop {
        let path = format!("{definitions}/widgets.durability.example");
        let definition = objects::send(client, "GET", &path, &Value::Null).await.unwrap();
        let conditions = definition["status"]["conditions"].as_array();
        let mut conditions = conditions.into_iter().flatten();
        if conditions.any(|it| it["type"] == "Established" && it["status"] == "True") {
            return;
        }
    }
}
