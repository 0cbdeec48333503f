//! How far each cluster of a fleet is, and the numbers of all of them, kept up with every change. Pure: a change costs the
//! same in a fleet of ten and of ten thousand, but for finding the cluster.

use std::{collections::BTreeMap, time::Duration};

use serde::Serialize;
use serde_json::Value;

use super::plan::FleetPlan;
use crate::{
    json::{self, condition, holds, list, number, text},
    progress::milliseconds,
    scene::Source,
};

/// How far a fleet is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Counts {
    /// How many clusters there are to be.
    pub of: usize,
    /// How many were asked for.
    pub asked: usize,
    /// How many control planes are complete.
    pub control_planes: usize,
    /// How many nodes are ready.
    pub nodes: u64,
    /// How many clusters are complete, nodes included.
    pub done: usize,
    /// How long it has taken so far, in milliseconds.
    #[serde(rename = "tookMilliseconds", serialize_with = "milliseconds")]
    pub took: Duration,
}

/// What was counted and measured of a fleet.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Numbers {
    /// How far it is.
    #[serde(flatten)]
    pub counts: Counts,
    /// Half of the clusters took at most so long from being asked for to being complete, in milliseconds.
    #[serde(rename = "p50Milliseconds", serialize_with = "milliseconds")]
    pub p50: Duration,
    /// All but one in a hundred took at most so long, in milliseconds.
    #[serde(rename = "p99Milliseconds", serialize_with = "milliseconds")]
    pub p99: Duration,
    /// The one that took longest, in milliseconds.
    #[serde(rename = "slowestMilliseconds", serialize_with = "milliseconds")]
    pub slowest: Duration,
    /// How many were complete already when they were asked for: those are not measured.
    pub were_there: usize,
}

/// How far each cluster is.
#[derive(Clone, Debug)]
pub(super) struct Ledger {
    plan: FleetPlan,
    clusters: BTreeMap<String, Entry>,
    counts: Counts,
    were_there: usize,
}

#[derive(Clone, Debug, Default)]
struct Entry {
    asked: Option<Duration>,
    has_control_plane: bool,
    nodes: u64,
    done: Option<Duration>,
    /// What it says of itself, for those who wait in vain.
    message: String,
}

impl Ledger {
    pub(super) fn new(plan: &FleetPlan) -> Self {
        let names = (0..plan.clusters).map(|number| plan.name(number));
        Self {
            plan: plan.clone(),
            clusters: names.map(|name| (name, Entry::default())).collect(),
            counts: Counts {
                of: plan.clusters,
                ..Counts::default()
            },
            were_there: 0,
        }
    }

    /// The next cluster to ask for, if another one may be under way.
    pub(super) fn next(&mut self, now: Duration) -> Option<String> {
        let under_way = self.counts.asked.saturating_sub(self.counts.done);
        if under_way >= self.plan.at_once || self.counts.asked >= self.plan.clusters {
            return None;
        }
        let name = self.plan.name(self.counts.asked);
        self.counts.asked += 1;
        if let Some(entry) = self.clusters.get_mut(&name) {
            entry.asked = Some(now);
        }
        // One that is complete already says so only once, before it is asked for.
        self.settle(&name, now);
        Some(name)
    }

    /// Takes what a watch told.
    pub(super) fn take(&mut self, source: Source, object: &Value, now: Duration) {
        let name = match source {
            Source::Pools => text(object, "/spec/clusterName"),
            _ => json::name(object),
        }
        .to_owned();
        let version = self.plan.version.number.as_str();
        let Some(entry) = self.clusters.get_mut(&name) else {
            return;
        };
        if source == Source::Pools {
            let nodes = ready(object, version);
            self.counts.nodes = self.counts.nodes + nodes - entry.nodes;
            entry.nodes = nodes;
        } else {
            let is_complete = is_complete(object, version);
            self.counts.control_planes += usize::from(is_complete);
            self.counts.control_planes -= usize::from(entry.has_control_plane);
            entry.has_control_plane = is_complete;
            entry.message = told(object);
        }
        self.settle(&name, now);
    }

    /// A cluster that was complete once counts as such.
    fn settle(&mut self, name: &str, now: Duration) {
        let wanted = self.plan.nodes as u64;
        let Some(entry) = self.clusters.get_mut(name) else {
            return;
        };
        let Some(asked) = entry.asked else {
            return;
        };
        if entry.done.is_none() && entry.has_control_plane && entry.nodes >= wanted {
            entry.done = Some(now);
            self.counts.done += 1;
            self.were_there += usize::from(asked == now);
        }
    }

    pub(super) fn is_done(&self) -> bool {
        self.counts.done == self.plan.clusters
    }

    pub(super) fn counts(&self, took: Duration) -> Counts {
        Counts {
            took,
            ..self.counts.clone()
        }
    }

    pub(super) fn numbers(&self, took: Duration) -> Numbers {
        let durations = self
            .clusters
            .values()
            .filter_map(|entry| Some(entry.done?.saturating_sub(entry.asked?)));
        let mut durations: Vec<Duration> = durations.filter(|duration| !duration.is_zero()).collect();
        durations.sort_unstable();
        Numbers {
            counts: self.counts(took),
            p50: percentile(&durations, 50),
            p99: percentile(&durations, 99),
            slowest: percentile(&durations, 100),
            were_there: self.were_there,
        }
    }

    /// Some of the clusters that were asked for and did not come, with what they say.
    pub(super) fn missing(&self, most: usize) -> Vec<String> {
        let late = self
            .clusters
            .iter()
            .filter(|(_, entry)| entry.asked.is_some() && entry.done.is_none());
        let mut lines: Vec<String> = late
            .clone()
            .take(most)
            .map(|(name, entry)| {
                let nodes = format!("{} of {} nodes", entry.nodes, self.plan.nodes);
                let told = if entry.message.is_empty() {
                    "nothing is told of it"
                } else {
                    &entry.message
                };
                format!("cluster {name}: {nodes}; {told}")
            })
            .collect();
        let more = late.count().saturating_sub(most);
        lines.extend((more > 0).then(|| format!("and {more} more")));
        lines
    }
}

/// The smallest of sorted durations that so many of a hundred do not exceed; zero where there are none.
pub(super) fn percentile(sorted: &[Duration], percent: usize) -> Duration {
    let rank = (sorted.len() * percent).div_ceil(100);
    sorted.get(rank.saturating_sub(1)).copied().unwrap_or_default()
}

fn is_complete(cluster: &Value, version: &str) -> bool {
    let newest = list(cluster, "/status/version/history").first();
    let is_reached = newest.is_some_and(|entry| entry["version"] == version && entry["state"] == "Completed");
    is_reached && holds(cluster, "Available")
}

/// How many nodes of a version are ready, as their pool tells.
fn ready(pool: &Value, version: &str) -> u64 {
    let versions = list(pool, "/status/nodesInfo/nodeVersions").iter();
    let wanted = versions.filter(|entry| text(entry, "/kubeletVersion").trim_start_matches('v') == version);
    wanted.map(|entry| number(entry, "/readyNodeCount")).sum()
}

fn told(cluster: &Value) -> String {
    let types = ["ValidConfiguration", "ValidReleaseImage", "Available"];
    let found = types
        .iter()
        .filter_map(|type_| Some((type_, condition(cluster, type_)?)));
    let bad = found.filter(|(_, found)| found.status != "True");
    let texts: Vec<String> = bad
        .map(|(type_, found)| format!("{type_}={} {}", found.status, found.message))
        .collect();
    texts.join(", ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn cluster(name: &str, state: &str) -> Value {
        json!({
            "metadata": {"name": name},
            "status": {
                "version": {"history": [{"version": version(), "state": state}]},
                "conditions": [{"type": "Available", "status": "True"}, {"type": "ValidReleaseImage", "status": "False", "message": "why"}],
            },
        })
    }

    fn version() -> String {
        FleetPlan::new(1, 1, 1).unwrap().version.number
    }

    fn pool(cluster: &str, nodes: u64) -> Value {
        json!({
            "spec": {"clusterName": cluster},
            "status": {"nodesInfo": {"nodeVersions": [
                {"kubeletVersion": format!("v{}", version()), "readyNodeCount": nodes},
                {"kubeletVersion": "v1.0.0", "readyNodeCount": 7},
            ]}},
        })
    }

    #[test]
    fn only_so_many_are_under_way() {
        let mut ledger = Ledger::new(&FleetPlan::new(3, 1, 2).unwrap());
        assert_eq!(ledger.next(SECOND).as_deref(), Some("f000"));
        assert_eq!(ledger.next(SECOND).as_deref(), Some("f001"));
        assert_eq!(ledger.next(SECOND), None);
        ledger.take(Source::Cluster, &cluster("f001", "Completed"), SECOND * 2);
        assert_eq!(ledger.next(SECOND * 2), None, "its node is missing");
        ledger.take(Source::Pools, &pool("f001", 1), SECOND * 3);
        assert_eq!(ledger.next(SECOND * 3).as_deref(), Some("f002"));
        assert_eq!(ledger.next(SECOND * 3), None);
        let counts = ledger.counts(SECOND * 3);
        assert_eq!(
            (counts.asked, counts.control_planes, counts.nodes, counts.done),
            (3, 1, 1, 1)
        );
        assert_eq!(
            ledger.missing(1),
            ["cluster f000: 0 of 1 nodes; nothing is told of it", "and 1 more"]
        );
        ledger.take(Source::Cluster, &cluster("f000", "Partial"), SECOND * 4);
        assert!(ledger.missing(1)[0].contains("ValidReleaseImage=False why"));
    }

    #[test]
    fn what_is_taken_back_counts_no_more() {
        let mut ledger = Ledger::new(&FleetPlan::new(1, 3, 1).unwrap());
        ledger.next(Duration::ZERO);
        ledger.take(Source::Cluster, &cluster("f000", "Completed"), SECOND);
        ledger.take(Source::Pools, &pool("f000", 2), SECOND);
        ledger.take(Source::Pools, &pool("f000", 1), SECOND);
        ledger.take(Source::Cluster, &cluster("f000", "Partial"), SECOND);
        ledger.take(Source::Cluster, &cluster("stranger", "Completed"), SECOND);
        let counts = ledger.counts(SECOND);
        assert_eq!((counts.control_planes, counts.nodes, counts.done), (0, 1, 0));
    }

    #[test]
    fn a_fleet_that_is_there_is_not_measured() {
        let mut ledger = Ledger::new(&FleetPlan::new(2, 1, 1).unwrap());
        for name in ["f000", "f001"] {
            ledger.take(Source::Cluster, &cluster(name, "Completed"), Duration::ZERO);
            ledger.take(Source::Pools, &pool(name, 1), Duration::ZERO);
        }
        assert!(!ledger.is_done());
        while ledger.next(SECOND).is_some() {}
        assert!(ledger.is_done());
        let numbers = ledger.numbers(SECOND);
        assert_eq!((numbers.were_there, numbers.p99), (2, Duration::ZERO));
    }

    #[test]
    fn percentiles_are_those_of_the_nearest_rank() {
        let sorted: Vec<Duration> = (1..=200).map(Duration::from_secs).collect();
        assert_eq!(percentile(&sorted, 50), Duration::from_secs(100));
        assert_eq!(percentile(&sorted, 99), Duration::from_secs(198));
        assert_eq!(percentile(&sorted, 100), Duration::from_secs(200));
        assert_eq!(percentile(&sorted[..1], 50), Duration::from_secs(1));
        assert_eq!(percentile(&[], 50), Duration::ZERO);
    }
}
