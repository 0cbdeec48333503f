//! A cluster that is there, as a state that can be judged: reads its objects and what would move. What they say is decided in
//! `state`. What may not be read is told, and what depends on it is unknown.

mod state;

use hyperplane_api::{
    cluster_api::machine::Machine,
    hyperplane::distribution_release::DistributionRelease,
    hypershift::{hosted_cluster::HostedCluster, node_pool::NodePool},
};
use hyperplane_install::RELEASE_READER;
use hyperplane_planner::{
    catalogue,
    release::Release,
    state::{Pool, State},
};
use hyperplane_recipes::control_plane_namespace;
use hyperplane_runtime::Api;
use kube::{
    Client, ResourceExt as _,
    api::{ListParams, ObjectList},
};

pub(crate) use self::state::plane_releases;
use crate::failing::wrong_use;

/// What a cluster consists of.
pub(super) struct Live {
    /// The cluster itself.
    pub(super) cluster: HostedCluster,
    /// Its pools.
    pub(super) pools: Vec<NodePool>,
    /// None where they may not be read: they are in the namespace of the control plane, which is not that of its users.
    pub(super) machines: Option<Vec<Machine>>,
    /// None where they may not be read.
    pub(super) releases: Option<Vec<DistributionRelease>>,
}

/// What would move, and where to.
#[derive(Clone, Debug, Default)]
pub(super) struct Moves {
    /// The control plane.
    pub(super) to: Option<String>,
    /// Pools by name.
    pub(super) pools: Vec<(String, String)>,
}

/// Reads a cluster.
pub(super) async fn read(client: &Client, namespace: &str, name: &str) -> anyhow::Result<Live> {
    let clusters: Api<HostedCluster> = Api::namespaced(client.clone(), namespace);
    let cluster = clusters.get(name).await?;
    let all = ListParams::default();
    let pools: Api<NodePool> = Api::namespaced(client.clone(), namespace);
    let pools = pools.list(&all).await?.items.into_iter();
    let plane = control_plane_namespace(namespace, name);
    let machines: Api<Machine> = Api::namespaced(client.clone(), &plane);
    let releases: Api<DistributionRelease> = Api::all(client.clone());
    Ok(Live {
        pools: pools.filter(|pool| pool.spec.cluster_name.as_str() == name).collect(),
        machines: permitted(machines.list(&all).await)?,
        releases: permitted(releases.list(&all).await)?,
        cluster,
    })
}

/// A list; none where the right to it is missing.
fn permitted<K: Clone>(listed: kube::Result<ObjectList<K>>) -> kube::Result<Option<Vec<K>>> {
    match listed {
        Ok(list) => Ok(Some(list.items)),
        Err(kube::Error::Api(status)) if status.code == 403 => Ok(None),
        Err(error) => Err(error),
    }
}

impl Live {
    /// What may not be read, what is known instead, and which right would help.
    pub(super) fn notes(&self) -> Vec<String> {
        let namespace = self.cluster.namespace().unwrap_or_default();
        let plane = control_plane_namespace(&namespace, &self.cluster.name_any());
        let machines = self.machines.is_none().then(|| {
            format!(
                "you may not list Machines in namespace {plane}: nodes have the versions that their pools report. The \
                 right to list machines.cluster.x-k8s.io there would show each machine"
            )
        });
        let releases = self.releases.is_none().then(|| {
            format!(
                "you may not list DistributionReleases: only releases that are built in are known, and what depends on \
                 another is unknown. Ask for the role {RELEASE_READER}, bound to all namespaces"
            )
        });
        machines.into_iter().chain(releases).collect()
    }

    /// The releases that may be read.
    fn releases(&self) -> &[DistributionRelease] {
        self.releases.as_deref().unwrap_or_default()
    }

    /// The cluster as it is.
    pub(super) fn state(&self) -> State {
        state::of(self)
    }

    /// The cluster as it would be; nothing where nothing moves.
    pub(super) fn after(&self, before: &State, moves: &Moves) -> anyhow::Result<Option<State>> {
        let mut after = before.clone();
        if let Some(version) = &moves.to {
            let release = self.release("--to", version)?;
            after.control_plane.kube_api_servers = vec![release.kubernetes.clone()];
            after.control_plane.etcd = release.component_version("etcd").cloned().into_iter().collect();
            after.distribution.version = Some(release.version.clone());
            after.distribution.scheme = release.scheme();
        }
        for (name, version) in &moves.pools {
            let release = self.release("--pool", version)?;
            let names: Vec<&str> = before.pools.iter().map(|pool| &*pool.name).collect();
            let pool = after.pools.iter_mut().find(|pool| pool.name == *name).ok_or_else(|| {
                let rule = format!("the cluster has no pool {name}");
                wrong_use("--pool", rule, format!("it has {}", names.join(", ")))
            })?;
            move_pool(pool, &release);
        }
        let moves = moves.to.is_some() || !moves.pools.is_empty();
        Ok(moves.then_some(after))
    }

    /// The release of a version, of which there may be several with different images.
    fn release(&self, flag: &str, version: &str) -> anyhow::Result<Release> {
        let number = version.trim_start_matches('v');
        let objects = self.releases().iter();
        let read = objects.filter_map(|object| Release::from_spec(&object.spec).ok());
        let written = read.into_iter().find(|release| release.version.number() == number);
        let built_in = || catalogue::by_version(version).cloned();
        written.map_or_else(built_in, Ok).map_err(|error| {
            let remedy = if self.releases.is_some() {
                "use one of those, or add a DistributionRelease of that version".to_owned()
            } else {
                format!("use one of those, or ask for the role {RELEASE_READER} to have others looked at")
            };
            wrong_use(flag, error.to_string(), remedy)
        })
    }
}

/// All nodes of a pool at another version.
fn move_pool(pool: &mut Pool, release: &Release) {
    let count = pool.kubelets.len().max(pool.versions.len()).max(1);
    pool.versions = vec![release.version.clone(); count];
    pool.kubelets = vec![release.kubernetes.clone(); count];
}
