//! What came of a story: one value, for programs as JSON and for people as text. Knows nothing of how it was played.

use std::time::Duration;

use serde::Serialize;
use serde_json::Value;

use crate::{
    board::Board,
    claims::ClaimReport,
    json::{self, label, list, text},
    picture::{Picture, pool_of, serves, version_of},
    plan::Plan,
    progress::{Moment, milliseconds},
    story::StepId,
};

/// What came of a story.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Outcome {
    /// What was to be played.
    pub plan: Plan,
    /// How it ended.
    pub ending: Ending,
    /// How long it took, in milliseconds.
    #[serde(rename = "tookMilliseconds", serialize_with = "milliseconds")]
    pub took: Duration,
    /// The steps that were begun.
    pub steps: Vec<StepReport>,
    /// Everything that was told, in order.
    pub timeline: Vec<Moment>,
    /// The claims, each with what speaks for it or against it.
    pub claims: Vec<ClaimReport>,
    /// How everything stands.
    pub tables: Tables,
}

impl Outcome {
    /// Whether the story was played to its end and every claim held.
    pub fn is_success(&self) -> bool {
        self.ending == Ending::Played && !self.claims.is_empty() && self.claims.iter().all(|claim| claim.held)
    }
}

/// How a story ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub enum Ending {
    /// It was played to its end.
    Played,
    /// Somebody stopped it; the cluster is left as it is.
    Stopped,
    /// Something was waited for too long.
    TimedOut {
        /// For how long, in seconds.
        seconds: u64,
        /// What was still missing.
        missing: Vec<String>,
    },
    /// Something is in the way, and nothing was touched.
    Refused {
        /// What, and what to do.
        reason: String,
    },
    /// A request failed.
    Failed {
        /// Why.
        reason: String,
    },
}

/// A step that was begun.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StepReport {
    /// Which.
    pub id: StepId,
    /// What happened.
    pub title: String,
    /// What people would type to do the same, a line each.
    pub commands: Vec<String>,
    /// When it began, in milliseconds since the beginning.
    #[serde(rename = "atMilliseconds", serialize_with = "milliseconds")]
    pub at: Duration,
    /// How long it took, in milliseconds.
    #[serde(rename = "tookMilliseconds", serialize_with = "milliseconds")]
    pub took: Duration,
    /// Whether it came to its end.
    pub is_over: bool,
}

/// How everything stands.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Tables {
    /// The cluster.
    pub cluster: Option<ClusterRow>,
    /// Its pools.
    pub pools: Vec<PoolRow>,
    /// Its nodes.
    pub nodes: Vec<NodeRow>,
    /// Its components.
    pub board: Board,
}

/// A HostedCluster in a table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ClusterRow {
    /// Its name.
    pub name: String,
    /// The version that it last completed.
    pub version: String,
    /// How far its newest version has come.
    pub progress: String,
    /// Whether it serves.
    pub available: String,
    /// Where its API server is reached.
    pub endpoint: String,
}

/// A NodePool in a table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PoolRow {
    /// Its name.
    pub name: String,
    /// How many nodes it is to have.
    pub desired: u64,
    /// How many it has.
    pub current: u64,
    /// The version that all of its nodes have reached.
    pub version: String,
    /// Whether its version may stand beside that of the control plane.
    pub skew: String,
}

/// A Node in a table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NodeRow {
    /// Its name.
    pub name: String,
    /// Its pool.
    pub pool: String,
    /// Whether it is ready and takes pods.
    pub is_ready: bool,
    /// The version of its kubelet.
    pub version: String,
}

impl Tables {
    /// The tables of a picture.
    pub(crate) fn of(now: &Picture, plan: &Plan) -> Self {
        let rows = now.nodes.iter().flatten().map(|(name, node)| {
            let machine = now
                .machines
                .values()
                .find(|machine| crate::picture::node_of(machine) == name);
            let pool = machine.map_or_else(|| label(node, POOL_LABEL), pool_of);
            NodeRow {
                name: name.clone(),
                pool: pool.rsplit('/').next().unwrap_or_default().to_owned(),
                is_ready: serves(node),
                version: version_of(node).to_owned(),
            }
        });
        let mut nodes: Vec<NodeRow> = rows.collect();
        nodes.sort_by(|one, other| (&one.pool, &one.name).cmp(&(&other.pool, &other.name)));
        Self {
            cluster: (!now.cluster.is_null()).then(|| ClusterRow::of(&now.cluster)),
            pools: now.pools.values().map(PoolRow::of).collect(),
            nodes,
            board: Board::of(now, plan),
        }
    }
}

const POOL_LABEL: &str = hyperplane_api::constants::labels::NODE_POOL.as_str();

impl ClusterRow {
    fn of(cluster: &Value) -> Self {
        let history = list(cluster, "/status/version/history");
        let completed = history.iter().find(|entry| entry["state"] == "Completed");
        let endpoint = cluster.pointer("/status/controlPlaneEndpoint");
        let endpoint =
            endpoint.map(|endpoint| format!("{}:{}", text(endpoint, "/host"), json::number(endpoint, "/port")));
        Self {
            name: json::name(cluster).to_owned(),
            version: completed
                .map(|entry| text(entry, "/version"))
                .unwrap_or_default()
                .to_owned(),
            progress: history
                .first()
                .map(|entry| text(entry, "/state"))
                .unwrap_or_default()
                .to_owned(),
            available: status(cluster, "Available"),
            endpoint: endpoint.unwrap_or_default(),
        }
    }
}

impl PoolRow {
    fn of(pool: &Value) -> Self {
        Self {
            name: json::name(pool).to_owned(),
            desired: json::number(pool, "/spec/replicas"),
            current: json::number(pool, "/status/replicas"),
            version: text(pool, "/status/version").to_owned(),
            skew: status(pool, "SupportedVersionSkew"),
        }
    }
}

fn status(object: &Value, type_: &str) -> String {
    json::condition(object, type_)
        .map_or("Unknown", |found| found.status)
        .to_owned()
}
