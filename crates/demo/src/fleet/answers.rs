//! How quickly the management cluster answers while a fleet is made: one small question now and then, as somebody with kubectl
//! would ask it.

use std::{convert::Infallible, time::Duration};

use hyperplane_api::hypershift::hosted_cluster::HostedCluster;
use hyperplane_runtime::Api;
use kube::Client;
use serde::Serialize;
use tokio::time::{Instant, sleep};

use super::{ledger::percentile, plan::FleetPlan};
use crate::progress::milliseconds;

/// How often it is asked.
const PAUSE: Duration = Duration::from_secs(1);
/// How many answers are measured at most: those of a day.
const MOST: usize = 86_400;

/// How quickly it answered.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Answers {
    /// How often it was asked.
    pub asked: usize,
    /// How often it answered with an error.
    pub failed: usize,
    /// Half of the answers took at most so long, in milliseconds.
    #[serde(rename = "p50Milliseconds", serialize_with = "milliseconds")]
    pub p50: Duration,
    /// All but one in a hundred took at most so long, in milliseconds.
    #[serde(rename = "p99Milliseconds", serialize_with = "milliseconds")]
    pub p99: Duration,
    /// The one that took longest, in milliseconds.
    #[serde(rename = "slowestMilliseconds", serialize_with = "milliseconds")]
    pub slowest: Duration,
}

/// Answers as they come.
#[derive(Debug, Default)]
pub(super) struct Listener {
    took: Vec<Duration>,
    failed: usize,
}

impl Listener {
    /// Asks for the first cluster of a fleet, again and again.
    pub(super) async fn listen(&mut self, client: &Client, plan: &FleetPlan) -> Infallible {
        let clusters: Api<HostedCluster> = Api::namespaced(client.clone(), &plan.namespace);
        let name = plan.name(0);
        loop {
            sleep(PAUSE).await;
            if self.took.len() >= MOST {
                continue;
            }
            let start = Instant::now();
            let answer = clusters.get_opt(&name).await;
            self.took.push(start.elapsed());
            self.failed += usize::from(answer.is_err());
        }
    }

    /// What they come to.
    pub(super) fn answers(&self) -> Answers {
        let mut took = self.took.clone();
        took.sort_unstable();
        Answers {
            asked: took.len(),
            failed: self.failed,
            p50: percentile(&took, 50),
            p99: percentile(&took, 99),
            slowest: percentile(&took, 100),
        }
    }
}
