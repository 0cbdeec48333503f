//! Looks at a world again and again, and ends it where a rule is broken.

use std::{collections::BTreeSet, rc::Rc, time::Duration};

use k8s_openapi::api::core::v1::Secret;
use kube::Client;
use tokio::time::{Instant, sleep};

use crate::{
    ground::{Ground, USERS},
    history::History,
    invariants::broken,
    rest::{left_over, under_way},
    snapshot::{Snapshot, revision},
    trace::Line,
};

/// How often is looked: more often than an instance can end, so that nobody goes unseen.
const GLANCE: Duration = Duration::from_millis(500);
/// How often where nothing should happen.
const CALM_GLANCE: Duration = Duration::from_secs(10);
/// How often where only the clock moves.
const SLOW_GLANCE: Duration = Duration::from_mins(1);
/// The longest that anything is waited for once nothing goes wrong any more.
const PATIENCE: Duration = Duration::from_hours(2);
/// How long a world that is done is left alone before it is asked whether it rests: longer than anybody waits who tries again.
const CALM: Duration = Duration::from_mins(12);
/// How often a world may seem to be done before it is.
const ROUNDS: usize = 5;
/// Lines of the log that are told of a world that ended badly.
const TOLD: usize = 60;

/// Somebody who looks.
pub struct Watch<'a> {
    pub ground: &'a Ground,
    pub history: History,
    hosted: Option<Client>,
    /// What both servers had written when they were last looked at.
    seen: Option<Seen>,
    start: Instant,
}

/// Lines of the log of the management cluster, and the revision of the hosted one.
type Seen = (usize, String);

impl<'a> Watch<'a> {
    pub fn new(ground: &'a Ground) -> Self {
        Self {
            ground,
            history: History::default(),
            hosted: None,
            seen: None,
            start: Instant::now(),
        }
    }

    /// Looks once, and gives what there is: what was there before, if nobody has written anything since.
    pub async fn look(&mut self) -> Rc<Snapshot> {
        if self.hosted.is_none() {
            self.hosted = self.reach().await;
        }
        let written = self.ground.written();
        let revision = match &self.hosted {
            Some(hosted) => revision(hosted).await,
            None => None,
        };
        let seen = revision.map(|revision| (written, revision));
        if seen.is_some()
            && seen == self.seen
            && let Some(before) = &self.history.before
        {
            return Rc::clone(before);
        }
        self.seen = seen;
        self.look_at_all().await
    }

    async fn look_at_all(&mut self) -> Rc<Snapshot> {
        let now = self.ground.snapshot(self.start.elapsed(), self.hosted.as_ref()).await;
        if now.hosted.is_none() {
            self.hosted = None;
        }
        let now = Rc::new(now);
        self.history.note(&now);
        let wrong = broken(&self.history, &now);
        self.history.keep(Rc::clone(&now));
        if !wrong.is_empty() {
            self.fail(&wrong).await;
        }
        now
    }

    /// Lets time pass.
    pub async fn pass(&mut self, duration: Duration) {
        let glance = if duration > PATIENCE { SLOW_GLANCE } else { GLANCE };
        self.pass_with(duration, glance).await;
    }

    async fn pass_with(&mut self, duration: Duration, glance: Duration) {
        let end = Instant::now() + duration;
        while Instant::now() < end {
            sleep(glance.min(end - Instant::now())).await;
            self.look().await;
        }
    }

    /// Waits until something holds of what is seen.
    pub async fn until<T>(&mut self, what: &str, mut holds: impl FnMut(&Snapshot) -> Option<T>) -> T {
        let end = Instant::now() + PATIENCE;
        loop {
            let now = self.look().await;
            if let Some(found) = holds(&now) {
                return found;
            }
            if Instant::now() >= end {
                self.fail(&[format!("converges: {what} never happened"), under_way(&now).join("; ")])
                    .await;
            }
            sleep(GLANCE).await;
        }
    }

    /// Waits until all pools are as they are wanted; then nothing is left over, and nothing is written.
    pub async fn settle(&mut self) -> Rc<Snapshot> {
        // What was delayed by trouble may begin only now.
        for _ in 0..ROUNDS {
            self.until("the end of what is under way", |now| {
                under_way(now).is_empty().then_some(())
            })
            .await;
            let mark = self.ground.written();
            self.pass_with(CALM, CALM_GLANCE).await;
            if self.ground.since(mark).iter().all(is_by_the_clock) {
                break;
            }
        }
        let mark = self.ground.written();
        self.pass_with(CALM, CALM_GLANCE).await;
        let now = self.look_at_all().await;
        let mut wrong = under_way(&now);
        wrong.extend(left_over(&self.history.asked, &now));
        let written = self.ground.since(mark);
        let restless = written.iter().filter(|line| !is_by_the_clock(line));
        wrong.extend(restless.map(|line| format!("rest: {line:?}")));
        if !wrong.is_empty() {
            self.fail(&wrong).await;
        }
        now
    }

    /// The nodes of a pool.
    pub fn nodes_of(now: &Snapshot, pool: &str) -> BTreeSet<String> {
        Snapshot::of(&now.machines, pool)
            .into_iter()
            .map(|(name, _)| name.clone())
            .collect()
    }

    async fn reach(&self) -> Option<Client> {
        let name = "one-admin-kubeconfig";
        let secret = self.ground.api::<Secret>(Some(USERS)).get_opt(name).await.unwrap()?;
        let kubeconfig = secret.data?.remove("kubeconfig")?;
        self.ground.network.reach().client(&kubeconfig.0).await.ok()
    }

    /// Ends the world, and tells everything that somebody needs who looks for the reason.
    pub async fn fail(&self, wrong: &[String]) -> ! {
        let lines = self.ground.since(self.ground.written().saturating_sub(TOLD));
        let lines: Vec<String> = lines.iter().map(|line| format!("{line:?}")).collect();
        panic!(
            "seed {} after {:?}:\n{}\n\n{}\n\n{}",
            self.ground.seed,
            self.start.elapsed(),
            wrong.join("\n"),
            lines.join("\n"),
            self.ground.story().await
        );
    }
}

/// Tokens are replaced, in what machines start with as well, and go, when their time has come.
fn is_by_the_clock(line: &Line) -> bool {
    let is_token = ["token-", "user-data-"]
        .iter()
        .any(|begin| line.name.starts_with(begin));
    line.resource == "secrets" && is_token
}
