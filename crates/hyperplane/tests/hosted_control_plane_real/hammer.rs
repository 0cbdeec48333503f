//! Clients that never stop asking, and remember every request that failed.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use anyhow::{Context as _, Result, ensure};
use http::Method;
use kube::Config;
use serde_json::{Value, json};
use tokio::{
    sync::Mutex,
    task::JoinSet,
    time::{Instant, sleep, timeout},
};
use tokio_util::sync::CancellationToken;

use crate::caller::Caller;

/// Between two requests of one client: two processors also run everything that is asked.
const PAUSE: Duration = Duration::from_millis(20);

/// A request that takes longer counts as failed: whoever waits for it has given up.
const LIMIT: Duration = Duration::from_secs(20);

/// Clients of each kind.
const CLIENTS: usize = 2;

/// What has happened so far.
#[derive(Debug, Default)]
pub struct Score {
    pub requests: u64,
    pub failures: Vec<String>,
    /// How often a client was asked to come again, and did.
    pub told_to_wait: u64,
    /// How long the slowest request took.
    pub slowest: Duration,
    /// How often servers of each version have answered.
    pub versions: BTreeMap<String, u64>,
}

/// Clients at work.
pub struct Hammer {
    score: Arc<Mutex<Score>>,
    stop: CancellationToken,
    tasks: JoinSet<()>,
}

impl Hammer {
    /// Half of the clients keep their connection; the others connect for every request.
    pub fn start(config: &Config) -> Result<Self> {
        let (score, stop) = (Arc::new(Mutex::new(Score::default())), CancellationToken::new());
        let mut tasks = JoinSet::new();
        for number in 0..2 * CLIENTS {
            let mut client = Hammering {
                caller: Caller::new(config, number < CLIENTS)?,
                name: format!("hammer-{number}"),
                score: Arc::clone(&score),
                begin: Instant::now(),
            };
            let stop = stop.clone();
            tasks.spawn(async move { client.work(&stop).await });
        }
        Ok(Self { score, stop, tasks })
    }

    /// How many requests there were so far.
    pub async fn requests(&self) -> u64 {
        self.score.lock().await.requests
    }

    /// Ends all clients and says what happened.
    pub async fn stop(self) -> Score {
        self.stop.cancel();
        self.tasks.join_all().await;
        std::mem::take(&mut *self.score.lock().await)
    }
}

struct Hammering {
    caller: Caller,
    name: String,
    score: Arc<Mutex<Score>>,
    begin: Instant,
}

impl Hammering {
    /// Goes on until it is told to stop, or something fails.
    async fn work(&mut self, stop: &CancellationToken) {
        while !stop.is_cancelled() {
            if let Err(error) = self.life().await {
                let seconds = self.begin.elapsed().as_secs_f64();
                let told = format!("{} after {seconds:.1} s: {error:#}", self.name);
                return self.score.lock().await.failures.push(told);
            }
        }
    }

    /// One life of an object.
    async fn life(&mut self) -> Result<()> {
        let all = "/api/v1/namespaces/default/configmaps";
        let own = format!("{all}/{}", self.name);
        let object = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": self.name}});
        let mut object = self.ask(Method::POST, all, &object).await?;
        for turn in 0..3 {
            object["data"] = json!({"turn": turn.to_string()});
            object = self.ask(Method::PUT, &own, &object).await?;
            let found = self.ask(Method::GET, &own, &Value::Null).await?;
            ensure!(found == object, "an old answer");
            self.ask(Method::GET, all, &Value::Null).await?;
            let version = self.ask(Method::GET, "/version", &Value::Null).await?;
            let version = version["gitVersion"].as_str().context("a server has a version")?;
            *self.score.lock().await.versions.entry(version.to_owned()).or_default() += 1;
        }
        self.ask(Method::DELETE, &own, &Value::Null).await?;
        Ok(())
    }

    /// Waits for one answer, and counts it.
    async fn ask(&mut self, method: Method, path: &str, body: &Value) -> Result<Value> {
        let begin = Instant::now();
        let answer = timeout(LIMIT, self.caller.ask(method, path, body)).await??;
        let mut score = self.score.lock().await;
        score.requests += 1;
        score.told_to_wait += std::mem::take(&mut self.caller.told_to_wait);
        score.slowest = score.slowest.max(begin.elapsed());
        drop(score);
        sleep(PAUSE).await;
        Ok(answer)
    }
}
