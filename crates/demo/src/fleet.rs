//! Many clusters at once: each is asked for, a bounded number at a time, and waited for by two watches for the whole fleet.
//! Nothing here grows with more than the number of clusters. What the process needed meanwhile is for whoever runs it to add.

mod answers;
mod ledger;
mod plan;
mod render;

use std::time::Duration;

use futures::{FutureExt as _, StreamExt as _, stream};
use hyperplane_api::hypershift::{hosted_cluster::HostedCluster, node_pool::NodePool};
use hyperplane_runtime::Api;
use kube::{Client, api::ListParams, runtime::watcher};
use serde::Serialize;
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;

pub use self::{
    answers::Answers,
    ledger::{Counts, Numbers},
    plan::{AT_ONCE, FleetError, FleetPlan, MOST_CLUSTERS, MOST_NODES},
    render::{counts_line, outcome_text},
};
use self::{
    answers::Listener,
    ledger::Ledger,
    plan::{LABEL, MARKED},
};
use crate::{
    act::apply,
    manifests::{namespace, pull_secret},
    observe::{Changes, watch},
    outcome::Ending,
    scene::{Change, Source},
};

/// How often it is told how far a fleet is, at most.
const TELL: Duration = Duration::from_millis(500);
/// How many clusters that did not come are named.
const NAMED: usize = 5;

/// Where a fleet is made, and how.
#[derive(Clone)]
pub struct FleetStage {
    /// The management cluster, with the rights of an administrator.
    pub client: Client,
    /// What is made.
    pub plan: FleetPlan,
    /// How long all of it may take.
    pub patience: Duration,
}

/// What came of a fleet.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FleetOutcome {
    /// What was to be made.
    pub plan: FleetPlan,
    /// How it ended.
    pub ending: Ending,
    /// What was counted and measured.
    pub numbers: Numbers,
    /// How quickly the management cluster answered meanwhile.
    pub answers: Answers,
}

impl FleetOutcome {
    /// Whether every cluster is complete.
    pub fn is_success(&self) -> bool {
        self.ending == Ending::Played && self.numbers.counts.done == self.plan.clusters
    }
}

/// Makes a fleet and waits until it is complete, or until somebody stops it; then it is left as it is.
pub async fn raise(
    stage: &FleetStage,
    stop: &CancellationToken,
    sink: &mut (dyn FnMut(&Counts) + Send + '_),
) -> FleetOutcome {
    let mut raising = Raising {
        stage,
        sink,
        start: Instant::now(),
        told: None,
        ledger: Ledger::new(&stage.plan),
    };
    let mut listener = Listener::default();
    let raised = async {
        tokio::select! {
            biased;
            raised = raising.run() => raised,
            never = listener.listen(&stage.client, &stage.plan) => match never {},
        }
    };
    let ending = match stop.run_until_cancelled(raised).await {
        Some(Ok(())) => Ending::Played,
        Some(Err(ending)) => ending,
        None => Ending::Stopped,
    };
    raising.tell(true);
    FleetOutcome {
        plan: stage.plan.clone(),
        ending,
        numbers: raising.ledger.numbers(raising.start.elapsed()),
        answers: listener.answers(),
    }
}

struct Raising<'a> {
    stage: &'a FleetStage,
    sink: &'a mut (dyn FnMut(&Counts) + Send + 'a),
    start: Instant,
    told: Option<Instant>,
    ledger: Ledger,
}

impl Raising<'_> {
    async fn run(&mut self) -> Result<(), Ending> {
        let (client, plan) = (&self.stage.client, &self.stage.plan);
        if let Some(reason) = objection(client, plan).await.map_err(|error| failed(&error))? {
            return Err(Ending::Refused { reason });
        }
        for object in [namespace(&plan.namespace), pull_secret(&plan.namespace)] {
            apply(client, &object).await.map_err(|error| failed(&error))?;
        }
        let mut changes = observe(client, plan);
        let deadline = self.start + self.stage.patience;
        while !self.ledger.is_done() {
            self.ask().await?;
            match timeout_at(deadline, changes.next()).await {
                Ok(Some((source, change))) => self.take(source, change),
                Ok(None) | Err(_) => return Err(self.timed_out()),
            }
            while let Some(Some((source, change))) = changes.next().now_or_never() {
                self.take(source, change);
            }
            self.tell(false);
        }
        Ok(())
    }

    /// Asks for as many clusters as may be under way.
    async fn ask(&mut self) -> Result<(), Ending> {
        while let Some(name) = self.ledger.next(self.start.elapsed()) {
            let plan = &self.stage.plan;
            for object in plan.objects(&name) {
                apply(&self.stage.client, &object)
                    .await
                    .map_err(|error| failed(&error))?;
            }
        }
        Ok(())
    }

    fn take(&mut self, source: Source, change: Change) {
        // A cluster that somebody deletes meanwhile is missed at the end.
        if let Change::Applied(object) = change {
            self.ledger.take(source, &object, self.start.elapsed());
        }
    }

    fn tell(&mut self, is_last: bool) {
        let now = Instant::now();
        if is_last || self.told.is_none_or(|told| now.duration_since(told) >= TELL) {
            self.told = Some(now);
            (self.sink)(&self.ledger.counts(self.start.elapsed()));
        }
    }

    fn timed_out(&self) -> Ending {
        Ending::TimedOut {
            seconds: self.stage.patience.as_secs(),
            missing: self.ledger.missing(NAMED),
        }
    }
}

/// One watch per kind for the whole fleet.
fn observe(client: &Client, plan: &FleetPlan) -> Changes {
    let config = watcher::Config::default().labels(&format!("{LABEL}={MARKED}"));
    stream::select_all([
        watch::<HostedCluster>(client, Source::Cluster, &plan.namespace, config.clone()),
        watch::<NodePool>(client, Source::Pools, &plan.namespace, config),
    ])
}

/// A cluster or a pool that has a name of the fleet, and is none of it.
async fn objection(client: &Client, plan: &FleetPlan) -> Result<Option<String>, kube::Error> {
    let others = ListParams::default().labels(&format!("{LABEL}!={MARKED}"));
    let clusters: Api<HostedCluster> = Api::namespaced(client.clone(), &plan.namespace);
    let pools: Api<NodePool> = Api::namespaced(client.clone(), &plan.namespace);
    let clusters = clusters.list_metadata(&others).await?;
    let pools = pools.list_metadata(&others).await?;
    let names = clusters.iter().map(kube::ResourceExt::name_any);
    let names = names.chain(pools.iter().map(kube::ResourceExt::name_any));
    let mut names = names.filter(|name| plan.has(name));
    Ok(names.next().map(|name| {
        format!(
            "{}/{name} is there, and no fleet made it (label {LABEL}): remove it",
            plan.namespace
        )
    }))
}

fn failed(error: &kube::Error) -> Ending {
    Ending::Failed {
        reason: format!("the management cluster refused a request: {error}"),
    }
}
