//! Clients that never stop asking, and remember every request that failed.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use anyhow::Result;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api, Client, Config, ResourceExt as _,
    api::{DeleteParams, ListParams, ObjectMeta, PostParams},
    config::{KubeConfigOptions, Kubeconfig},
};
use tokio::{
    sync::Mutex,
    task::JoinSet,
    time::{Instant, sleep, timeout},
};
use tokio_util::sync::CancellationToken;

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
    /// Half of the clients keep their connection, and try again when they are told to, as clients of Kubernetes do. The
    /// others connect for every request and never try twice.
    pub fn start(kubeconfig: &Kubeconfig) -> Self {
        let (score, stop) = (Arc::new(Mutex::new(Score::default())), CancellationToken::new());
        let mut tasks = JoinSet::new();
        for number in 0..2 * CLIENTS {
            let client = Hammering {
                kubeconfig: kubeconfig.clone(),
                name: format!("hammer-{number}"),
                keeps_connection: number < CLIENTS,
                score: Arc::clone(&score),
                begin: Instant::now(),
            };
            let stop = stop.clone();
            tasks.spawn(async move {
                while !stop.is_cancelled() {
                    client.round(&stop).await;
                }
            });
        }
        Self { score, stop, tasks }
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
    kubeconfig: Kubeconfig,
    name: String,
    keeps_connection: bool,
    score: Arc<Mutex<Score>>,
    begin: Instant,
}

impl Hammering {
    /// One life of an object. A kept connection lasts for all of it and the next ones.
    async fn round(&self, stop: &CancellationToken) {
        let mut client = None;
        loop {
            let outcome = self.life(&mut client).await;
            if let Err(error) = outcome {
                let told = format!(
                    "{} after {:.1} s: {error:#}",
                    self.name,
                    self.begin.elapsed().as_secs_f64()
                );
                self.score.lock().await.failures.push(told);
                return;
            }
            if stop.is_cancelled() {
                return;
            }
        }
    }

    async fn life(&self, kept: &mut Option<Client>) -> Result<()> {
        let object = ConfigMap {
            metadata: ObjectMeta {
                name: Some(self.name.clone()),
                ..ObjectMeta::default()
            },
            ..ConfigMap::default()
        };
        let (options, maps) = (PostParams::default(), self.maps(kept).await?);
        let mut object = self.ask(maps.create(&options, &object)).await?;
        for turn in 0..3 {
            let data = object.data.get_or_insert_default();
            data.insert("turn".to_owned(), turn.to_string());
            let maps = self.maps(kept).await?;
            object = self.ask(maps.replace(&self.name, &options, &object)).await?;
            let maps = self.maps(kept).await?;
            let found = self.ask(maps.get(&self.name)).await?;
            anyhow::ensure!(found.resource_version() == object.resource_version(), "an old answer");
            let maps = self.maps(kept).await?;
            self.ask(maps.list(&ListParams::default())).await?;
            let client = self.client(kept).await?;
            let version = self.ask(client.apiserver_version()).await?;
            let mut score = self.score.lock().await;
            *score.versions.entry(version.git_version).or_default() += 1;
        }
        let (options, maps) = (DeleteParams::default(), self.maps(kept).await?);
        self.ask(maps.delete(&self.name, &options)).await?;
        Ok(())
    }

    /// Waits for one answer, and counts it.
    async fn ask<T>(&self, request: impl Future<Output = kube::Result<T>>) -> Result<T> {
        let begin = Instant::now();
        let answer = timeout(LIMIT, request).await??;
        let mut score = self.score.lock().await;
        score.requests += 1;
        score.slowest = score.slowest.max(begin.elapsed());
        drop(score);
        sleep(PAUSE).await;
        Ok(answer)
    }

    async fn maps(&self, kept: &mut Option<Client>) -> Result<Api<ConfigMap>> {
        Ok(Api::namespaced(self.client(kept).await?, "default"))
    }

    async fn client(&self, kept: &mut Option<Client>) -> Result<Client> {
        match kept {
            Some(client) if self.keeps_connection => Ok(client.clone()),
            _ => {
                let mut config = config(&self.kubeconfig).await?;
                config.default_retry = self.keeps_connection;
                Ok(kept.insert(Client::try_from(config)?).clone())
            }
        }
    }
}

/// A client's settings by a kubeconfig.
pub async fn config(kubeconfig: &Kubeconfig) -> Result<Config> {
    Ok(Config::from_custom_kubeconfig(kubeconfig.clone(), &KubeConfigOptions::default()).await?)
}
