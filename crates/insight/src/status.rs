//! The picture of one cluster, and one row for each of many. As data: what changes with time alone is not in it, only the
//! moments since which things are so.

mod components;
mod conditions;
mod pools;
mod state;
mod versions;

use jiff::Timestamp;
use serde::Serialize;

pub use self::{
    components::ComponentRow,
    conditions::ConditionRow,
    pools::{PoolRow, VersionCount},
    state::State,
    versions::{Progress, Versions},
};
use crate::{
    cause::Cause,
    explain::{explain_cluster, pools_of},
    kind::Kind,
    object::Object,
    scene::{Place, Scene, Unread, control_plane_namespace},
};

/// The picture of one cluster.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ClusterStatus {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// When it was asked for.
    pub created: Option<Timestamp>,
    /// On which platform its nodes are.
    pub platform: Option<String>,
    /// Where its control plane runs.
    pub control_plane_namespace: String,
    /// How it is, in one word.
    pub state: State,
    /// How it is, in a sentence.
    pub message: String,
    /// Since when.
    pub since: Option<Timestamp>,
    /// Its versions.
    pub versions: Versions,
    /// Where clients reach its API server.
    pub endpoint: Option<String>,
    /// Where machines fetch their configuration.
    pub ignition_endpoint: Option<String>,
    /// Conditions that are not as they should be.
    pub conditions: Vec<ConditionRow>,
    /// Its components, those that others rest on first; none where they are not known.
    pub components: Option<Vec<ComponentRow>>,
    /// Its pools; none where they are not known.
    pub pools: Option<Vec<PoolRow>>,
    /// Everything that it waits for, the most decisive first.
    pub blockers: Vec<Cause>,
    /// What could not be read.
    pub unread: Vec<Unread>,
}

/// One cluster among many.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ClusterRow {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// When it was asked for.
    pub created: Option<Timestamp>,
    /// On which platform its nodes are.
    pub platform: Option<String>,
    /// How it is, in one word.
    pub state: State,
    /// How it is, in a sentence.
    pub message: String,
    /// Its versions.
    pub versions: Versions,
    /// How many pools it has; none where they are not known.
    pub pools: Option<usize>,
    /// How many nodes are wanted and can be used; none where they are not known.
    pub nodes: Option<Nodes>,
}

/// Nodes of a cluster, counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Nodes {
    /// How many are wanted.
    pub desired: i64,
    /// How many there are that can be used.
    pub available: i64,
}

/// The picture of a cluster; none where there is no such cluster.
pub fn cluster_status(scene: &Scene, namespace: &str, name: &str) -> Option<ClusterStatus> {
    let cluster = scene.find(Kind::HostedCluster, namespace, name)?;
    let explanation = explain_cluster(scene, namespace, name)?;
    let place = control_plane_namespace(namespace, name);
    let told = state::of(cluster, scene.now);
    Some(ClusterStatus {
        namespace: namespace.to_owned(),
        name: name.to_owned(),
        created: cluster.created(),
        platform: platform(cluster),
        state: told.state,
        message: told.message,
        since: told.since,
        versions: versions::of(cluster),
        endpoint: endpoint(cluster),
        ignition_endpoint: cluster.text("/status/ignitionEndpoint").map(str::to_owned),
        conditions: conditions::of(cluster),
        components: components::of(scene, &place),
        pools: pools::of(scene, cluster, &place),
        blockers: explanation.causes,
        unread: scene
            .unread()
            .filter(|unread| concerns(unread, namespace, &place))
            .collect(),
        control_plane_namespace: place,
    })
}

/// A row for every cluster that was read, by namespace and name.
pub fn cluster_rows(scene: &Scene) -> Vec<ClusterRow> {
    let mut rows: Vec<ClusterRow> = scene
        .everywhere(Kind::HostedCluster)
        .map(|found| row(scene, found))
        .collect();
    rows.sort_by(|one, other| (&one.namespace, &one.name).cmp(&(&other.namespace, &other.name)));
    rows
}

fn row(scene: &Scene, cluster: &Object) -> ClusterRow {
    let told = state::of(cluster, scene.now);
    let is_known = scene
        .list(Kind::NodePool, &Place::namespace(cluster.namespace()))
        .is_ok();
    let pools = pools_of(scene, cluster.namespace(), cluster.name());
    let counted = pools.iter().fold(Nodes::default(), |sum, pool| Nodes {
        desired: sum.desired.saturating_add(pools::desired(pool, None).unwrap_or(0)),
        available: sum
            .available
            .saturating_add(pool.number("/status/replicas").unwrap_or(0)),
    });
    ClusterRow {
        namespace: cluster.namespace().to_owned(),
        name: cluster.name().to_owned(),
        created: cluster.created(),
        platform: platform(cluster),
        state: told.state,
        message: told.message,
        versions: versions::of(cluster),
        pools: is_known.then_some(pools.len()),
        nodes: is_known.then_some(counted),
    }
}

fn platform(cluster: &Object) -> Option<String> {
    cluster.text("/spec/platform/type").map(str::to_owned)
}

fn endpoint(cluster: &Object) -> Option<String> {
    let host = cluster.text("/status/controlPlaneEndpoint/host")?;
    let host = if host.contains(':') {
        format!("[{host}]")
    } else {
        host.to_owned()
    };
    Some(match cluster.number("/status/controlPlaneEndpoint/port") {
        Some(port) => format!("https://{host}:{port}"),
        None => format!("https://{host}"),
    })
}

/// Whether a list that could not be read is about this cluster.
fn concerns(unread: &Unread, namespace: &str, control_plane: &str) -> bool {
    match &unread.place {
        Place::Namespace(name) => name == namespace || name == control_plane,
        Place::Inside(name) => name == control_plane,
    }
}
