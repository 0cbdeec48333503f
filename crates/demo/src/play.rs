//! Plays a story: carries out its steps, waits by what watches tell, reads what claims are judged by, and judges. Owns the
//! order and the limits of time; what the steps are, and when each is over, is decided elsewhere.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use futures::{FutureExt as _, StreamExt as _, future::BoxFuture};
use hyperplane_runtime::{Clock, Reach};
use kube::Client;
use tokio::time::{Instant, sleep, timeout_at};
use tokio_util::sync::CancellationToken;

use crate::{
    act::carry_out,
    board::{Board, news_of},
    claims::{self, ClaimReport, Evidence, Rest},
    clear::Left,
    observe::{Changes, observe},
    outcome::{Ending, Outcome, StepReport, Tables},
    picture::Picture,
    plan::Plan,
    progress::{Event, Moment, Sink, StepStart},
    read::Reader,
    record::Sighting,
    scene::{Change, Scene, Source},
    speed::Speed,
    story::{Act, Step, StepId, removal, steps},
};

/// How long people are given to read after each step, at usual speed.
const BREATH: Duration = Duration::from_millis(300);
/// How often is asked whether what an earlier run left is gone.
const GLANCE: Duration = Duration::from_millis(500);
/// How long nothing is written before a cluster is said to rest, and how often it is looked at: status that follows others
/// is written within a minute.
const CALM: Duration = Duration::from_millis(1500);
const MOST_PAUSES: usize = 40;

/// How long one step may take unless somebody says otherwise: a real cluster has to pull images first.
pub const PATIENCE: Duration = Duration::from_mins(15);

/// Where a story is played, and how.
#[derive(Clone)]
pub struct Stage {
    /// The management cluster, with the rights of an administrator.
    pub client: Client,
    /// The way to hosted API servers.
    pub reach: Reach,
    /// Wall time.
    pub clock: Clock,
    /// How fast it is told.
    pub speed: Speed,
    /// What it is about.
    pub plan: Plan,
    /// Where people find the manifests that it applies.
    pub file: String,
    /// How long one step may take.
    pub patience: Duration,
}

/// Plays a story to its end, or until somebody stops it; then the cluster is left as it is.
pub fn play<'a>(stage: &'a Stage, stop: &'a CancellationToken, sink: &'a mut Sink<'_>) -> BoxFuture<'a, Outcome> {
    async move {
        let mut director = Director::new(stage, sink);
        let ending = match stop.run_until_cancelled(director.run()).await {
            Some(Ok(())) => Ending::Played,
            Some(Err(ending)) => ending,
            None => Ending::Stopped,
        };
        director.outcome(ending)
    }
    .boxed()
}

struct Director<'a, 'b> {
    stage: &'a Stage,
    sink: &'a mut Sink<'b>,
    reader: Reader,
    start: Instant,
    scene: Scene,
    /// Machines and nodes that were told of.
    known: BTreeSet<String>,
    board: Board,
    /// How many steps there are.
    of: usize,
    steps: Vec<StepReport>,
    timeline: Vec<Moment>,
    pictures: BTreeMap<StepId, Picture>,
    claims: Vec<ClaimReport>,
}

impl<'a, 'b> Director<'a, 'b> {
    fn new(stage: &'a Stage, sink: &'a mut Sink<'b>) -> Self {
        Self {
            stage,
            sink,
            reader: Reader {
                client: stage.client.clone(),
                reach: stage.reach.clone(),
                plan: stage.plan.clone(),
            },
            start: Instant::now(),
            scene: Scene::default(),
            known: BTreeSet::new(),
            board: Board::default(),
            of: 0,
            steps: Vec::new(),
            timeline: Vec::new(),
            pictures: BTreeMap::new(),
            claims: Vec::new(),
        }
    }

    async fn run(&mut self) -> Result<(), Ending> {
        let stage = self.stage;
        let left = Left::find(&stage.client, &stage.plan)
            .await
            .map_err(|error| failed(&error))?;
        if let Some(reason) = left.objection(&stage.plan) {
            return Err(Ending::Refused { reason });
        }
        let steps = steps(&stage.plan, &stage.file);
        self.of = steps.len() + 1 + usize::from(!left.is_nothing());
        if !left.is_nothing() {
            self.clear(left).await?;
        }
        let mut changes = observe(&stage.client, &stage.reach, &stage.plan);
        for step in &steps {
            self.take(step, &mut changes).await?;
        }
        let rest = self.rest(&mut changes).await;
        self.judge(&rest);
        Ok(())
    }

    /// Removes what an earlier run left.
    async fn clear(&mut self, left: Left) -> Result<(), Ending> {
        let stage = self.stage;
        let plan = &stage.plan;
        let title = format!(
            "Cluster {} is there from an earlier run: remove it, and begin again",
            plan.cluster
        );
        self.begin(StepId::Clear, title, removal(plan));
        left.remove(&stage.client, plan).await.map_err(|error| failed(&error))?;
        let deadline = Instant::now() + stage.patience;
        let mut left = left;
        while !left.is_nothing() {
            if Instant::now() >= deadline {
                return Err(self.timed_out(left.remaining(plan)));
            }
            sleep(GLANCE).await;
            left = Left::find(&stage.client, plan).await.map_err(|error| failed(&error))?;
        }
        self.end();
        Ok(())
    }

    async fn take(&mut self, step: &Step, changes: &mut Changes) -> Result<(), Ending> {
        let stage = self.stage;
        self.begin(step.id, step.title.clone(), step.commands.clone());
        if !matches!(step.act, Act::Watch) {
            carry_out(&stage.client, &stage.plan, &step.act)
                .await
                .map_err(|error| failed(&error))?;
        }
        self.wait(step, changes).await?;
        if let Some(text) = (step.tells)(&self.scene.now, &stage.plan) {
            self.note(step.id, text);
        }
        let until = Instant::now() + stage.speed.scale(step.look_on + BREATH);
        while let Ok(Some((source, change))) = timeout_at(until, changes.next()).await {
            self.take_change(step.id, source, change);
            self.catch_up(step.id, changes);
        }
        self.read(step.id, changes).await;
        self.end();
        Ok(())
    }

    /// Waits until a step is over, by what watches tell.
    async fn wait(&mut self, step: &Step, changes: &mut Changes) -> Result<(), Ending> {
        let deadline = Instant::now() + self.stage.patience;
        loop {
            self.catch_up(step.id, changes);
            let missing = (step.until)(&self.scene.now, &self.stage.plan);
            if missing.is_empty() {
                return Ok(());
            }
            match timeout_at(deadline, changes.next()).await {
                Ok(Some((source, change))) => self.take_change(step.id, source, change),
                Ok(None) | Err(_) => return Err(self.timed_out(missing)),
            }
        }
    }

    /// Waits until nothing is written any more, and reads everything for the last time.
    async fn rest(&mut self, changes: &mut Changes) -> Rest {
        let title = "Look whether everything rests, and read it all again".to_owned();
        self.begin(StepId::Rest, title, Vec::new());
        let rest = self.reader.rest(CALM, MOST_PAUSES).await;
        self.read(StepId::Rest, changes).await;
        self.end();
        rest
    }

    fn judge(&mut self, rest: &Rest) {
        let evidence = Evidence {
            plan: &self.stage.plan,
            pictures: &self.pictures,
            record: &self.scene.record,
            rest: Some(rest),
        };
        for claim in claims::all() {
            let report = claims::judge(claim, &evidence);
            (self.sink)(&Event::Judged(report.clone()));
            self.claims.push(report);
        }
    }

    /// Reads what claims about the end of a step are judged by. What watches told meanwhile belongs to the step, too.
    async fn read(&mut self, id: StepId, changes: &mut Changes) {
        let picture = self.reader.picture().await;
        self.pictures.insert(id, picture);
        self.catch_up(id, changes);
    }

    /// Takes everything that was told already, and shows how things stand then.
    fn catch_up(&mut self, id: StepId, changes: &mut Changes) {
        while let Some(Some((source, change))) = changes.next().now_or_never() {
            self.take_change(id, source, change);
        }
        let board = Board::of(&self.scene.now, &self.stage.plan);
        if board == self.board {
            return;
        }
        for text in board.news(&self.board) {
            self.note(id, text);
        }
        (self.sink)(&Event::Stands(Box::new(board.clone())));
        self.board = board;
    }

    fn take_change(&mut self, id: StepId, source: Source, change: Change) {
        let now = self.stage.clock.now();
        let noted = self.scene.take(&self.stage.plan, now, id, source, change);
        let news = noted.iter().filter_map(|sighting| self.news(sighting));
        let news: Vec<String> = news.collect();
        self.known.extend(noted.into_iter().map(|sighting| sighting.seen.uid));
        for text in news {
            self.note(id, text);
        }
    }

    fn news(&self, sighting: &Sighting) -> Option<String> {
        news_of(sighting, self.known.contains(&sighting.seen.uid))
    }

    fn note(&mut self, step: StepId, text: String) {
        let moment = Moment {
            at: self.start.elapsed(),
            step,
            text,
        };
        (self.sink)(&Event::Noted(moment.clone()));
        self.timeline.push(moment);
    }

    fn begin(&mut self, id: StepId, title: String, commands: Vec<String>) {
        let start = StepStart {
            id,
            number: self.steps.len() + 1,
            of: self.of,
            title: title.clone(),
            commands: commands.clone(),
            at: self.start.elapsed(),
        };
        self.steps.push(StepReport {
            id,
            title,
            commands,
            at: start.at,
            took: Duration::ZERO,
            is_over: false,
        });
        (self.sink)(&Event::StepStarted(start));
    }

    fn end(&mut self) {
        let elapsed = self.start.elapsed();
        if let Some(step) = self.steps.last_mut() {
            step.took = elapsed.saturating_sub(step.at);
            step.is_over = true;
            let event = Event::StepEnded {
                id: step.id,
                took: step.took,
            };
            (self.sink)(&event);
        }
    }

    fn timed_out(&self, missing: Vec<String>) -> Ending {
        Ending::TimedOut {
            seconds: self.stage.patience.as_secs(),
            missing,
        }
    }

    fn outcome(mut self, ending: Ending) -> Outcome {
        let took = self.start.elapsed();
        if let Some(step) = self.steps.last_mut().filter(|step| !step.is_over) {
            step.took = took.saturating_sub(step.at);
        }
        let now = self.pictures.get(&StepId::Rest).unwrap_or(&self.scene.now);
        Outcome {
            plan: self.stage.plan.clone(),
            ending,
            took,
            tables: Tables::of(now, &self.stage.plan),
            steps: self.steps,
            timeline: self.timeline,
            claims: self.claims,
        }
    }
}

fn failed(error: &kube::Error) -> Ending {
    Ending::Failed {
        reason: format!("the management cluster refused a request: {error}"),
    }
}
