//! A management cluster on virtual time, with all operators, on which stories are played.

use std::time::Duration;

use hyperplane_apiserver::{Entropy, Server, Settings, Shared};
use hyperplane_demo::{Event, Outcome, Plan, Stage, play, render};
use hyperplane_runtime::Clock;
use hyperplane_store::Memory;
use hyperplane_twin::{HEARTBEAT, Network, Pace};
use hyperplane_world::{Embedded, Roles};
use kube::Client;
use tokio_util::sync::CancellationToken;

/// Where virtual time begins.
const START: &str = "2027-01-15T08:00:00Z";

/// How long one step may take: minutes of virtual time.
pub const PATIENCE: Duration = Duration::from_mins(30);

/// A management cluster.
pub struct Ground {
    pub embedded: Embedded,
    network: Network,
}

impl Ground {
    /// A cluster in which everything takes its time, as on a real one.
    pub async fn usual(seed: u64) -> Self {
        let ground = Self::without_operators(seed, None).await;
        ground.operate().await;
        ground
    }

    /// A cluster in which everything is short enough to be waited for: about what `hyperplane up` has.
    pub async fn brisk(seed: u64) -> Self {
        let pace = Pace {
            start: Duration::from_millis(400),
            init: Duration::from_millis(200),
            ready: Duration::from_millis(700),
            work: Duration::from_secs(2),
            stop: Duration::from_millis(400),
        };
        let ground = Self::without_operators(seed, Some(pace)).await;
        ground.operate().await;
        ground
    }

    /// A cluster in which nothing takes time, but for what operators wait for.
    pub async fn instant(seed: u64) -> Self {
        let ground = Self::without_operators(seed, Some(Pace::instant())).await;
        ground.operate().await;
        ground
    }

    /// A cluster in which nobody does anything.
    pub async fn without_operators(seed: u64, pace: Option<Pace>) -> Self {
        let clock = Clock::anchored(START.parse().unwrap());
        let (shared, entropy) = (Shared::new(), Entropy::seeded(seed));
        let settings = Settings::new(clock.clone(), entropy.clone());
        let (server, writer, controllers) = Server::open(&shared, settings, Memory).unwrap();
        tokio::spawn(writer.run());
        tokio::spawn(controllers.run(CancellationToken::new()));
        server.bootstrap().await.unwrap();
        let embedded = Embedded {
            server,
            shared,
            clock,
            seed,
            entropy,
            image: "hyperplane.dev/hyperplane:v0.1.0".to_owned(),
            ingress_domain: Some("apps.example.com".to_owned()),
        };
        embedded.set_up().await.unwrap();
        let mut settings = embedded.twin_settings();
        // As `hyperplane up` has it: nodes say that they live, and claims must not mistake that for unrest.
        settings.machines.heartbeat = Some(HEARTBEAT);
        if let Some(pace) = pace {
            settings.pace = pace;
            settings.machines = settings.machines.instant();
        }
        let twin = embedded.twin(settings);
        let network = twin.network();
        tokio::spawn(async move { twin.run(CancellationToken::new()).await.unwrap() });
        Self { embedded, network }
    }

    async fn operate(&self) {
        let operators = self
            .embedded
            .operators("test", &self.network, Roles::All)
            .await
            .unwrap();
        tokio::spawn(operators.run(CancellationToken::new()));
    }

    pub fn client(&self) -> Client {
        self.embedded.administrator()
    }

    /// A stage for the usual story.
    pub fn stage(&self) -> Stage {
        Stage {
            client: self.client(),
            reach: self.network.reach(),
            clock: self.embedded.clock.clone(),
            speed: "1".parse().unwrap(),
            plan: Plan::new("demo").unwrap(),
            file: "docs/examples/demo.yaml".to_owned(),
            patience: PATIENCE,
        }
    }
}

/// Plays a story to its end, and gives what was told of it.
pub async fn told(stage: &Stage) -> (Outcome, String) {
    told_with(stage, &CancellationToken::new(), |_| {}).await
}

/// The same, with somebody who may stop it, and somebody who listens.
pub async fn told_with(
    stage: &Stage,
    stop: &CancellationToken,
    mut listen: impl FnMut(&Event) + Send,
) -> (Outcome, String) {
    let mut lines = Vec::new();
    let mut plain = render::Plain::new(&mut lines, render::Style::default());
    let outcome = play(stage, stop, &mut |event| {
        plain.take(event).unwrap();
        listen(event);
    })
    .await;
    let mut text = String::from_utf8(lines).unwrap();
    text.push_str(&render::outcome_text(&outcome, true, render::Style::default()));
    (outcome, text)
}
