//! What remains of a cluster. Nothing in a namespace counts that was not made for this cluster: it is somebody else's.

use std::{sync::Arc, time::Duration};

use hyperplane_api::{
    cluster_api::{cluster::Cluster, machine::Machine},
    constants::{
        annotations,
        conditions::{hosted_cluster, hosted_control_plane},
        finalizers, labels,
        objects::copies,
        ours,
    },
    hypershift::{
        hosted_cluster::{HostedCluster, InfraId},
        hosted_control_plane::HostedControlPlane,
        node_pool::NodePool,
        paused::pause,
    },
    infrastructure::{agent_cluster::AgentCluster, kubevirt_cluster::KubevirtCluster},
};
use hyperplane_objects::Kind;
use hyperplane_runtime::{Api, Context, Failure, ObjectKey, Store};
use jiff::Timestamp;
use k8s_openapi::api::{
    core::v1::{Namespace, Secret},
    rbac::v1::{ClusterRole, ClusterRoleBinding, Role, RoleBinding},
};
use kube::{Resource, ResourceExt as _, api::ListParams, core::PartialObjectMeta};

use super::{
    order::{Facts, Presence, held_by},
    workers::{self, Workers},
};
use crate::{
    components, duration,
    elsewhere::{self, Site},
    metadata, names,
    stores::{Stores, made_for},
};

/// What remains: as the order of things sees it, and the objects themselves.
pub(crate) struct Remains {
    pub(crate) facts: Facts,
    pub(crate) namespace: Option<Arc<Namespace>>,
    pub(crate) control_plane: Option<Arc<HostedControlPlane>>,
    pub(crate) cluster_api: Option<Arc<Cluster>>,
    pub(crate) kubevirt: Vec<Arc<KubevirtCluster>>,
    pub(crate) agents: Vec<Arc<AgentCluster>>,
    pub(crate) node_pools: Vec<Arc<NodePool>>,
    pub(crate) workers: Workers,
    pub(crate) credentials: Vec<Arc<Secret>>,
    pub(crate) kubeconfigs: Vec<Arc<Secret>>,
    pub(crate) rights: Rights,
    /// The cluster with the machines, if that is another one that may have something of ours.
    pub(crate) site: Option<Site>,
}

/// Rights outside of the namespace of the control plane.
#[derive(Default)]
pub(crate) struct Rights {
    pub(crate) cluster_roles: Vec<Arc<ClusterRole>>,
    pub(crate) cluster_role_bindings: Vec<Arc<ClusterRoleBinding>>,
    pub(crate) roles: Vec<Arc<Role>>,
    pub(crate) role_bindings: Vec<Arc<RoleBinding>>,
}

impl Rights {
    fn is_empty(&self) -> bool {
        self.cluster_roles.is_empty()
            && self.cluster_role_bindings.is_empty()
            && self.roles.is_empty()
            && self.role_bindings.is_empty()
    }
}

/// Looks at everything. `runs_machines` says that controllers of ours end machines.
pub(crate) async fn look(
    context: &Context,
    stores: &Stores,
    cluster: &HostedCluster,
    runs_machines: bool,
) -> Result<Remains, Failure> {
    let name = names::namespace_of(cluster);
    let namespace = namespace(context, stores, cluster).await?;
    let inside = namespace.is_some();
    let infra_id = cluster.spec.infra_id.as_ref().map(InfraId::as_str);
    let mut control_plane = stores.control_planes.namespace(&name).get(&cluster.name_any());
    control_plane = control_plane.filter(|_| inside);
    if control_plane.is_none() && inside && keeps_namespace(cluster) {
        // Where the namespace stays nothing else would take along what the cache has not shown yet.
        let api: Api<HostedControlPlane> = Api::namespaced(context.client().clone(), &name);
        control_plane = api.get_opt(&cluster.name_any()).await?.map(Arc::new);
    }
    let mut remains = Remains {
        facts: Facts::default(),
        cluster_api: infra_id
            .and_then(|id| stores.clusters.namespace(&name).get(id))
            .filter(|_| inside),
        kubevirt: infrastructure(stores.kubevirt.as_ref().filter(|_| inside), &name),
        agents: infrastructure(stores.agents.as_ref().filter(|_| inside), &name),
        node_pools: stores.node_pools_of(cluster),
        workers: Workers::default(),
        credentials: if inside {
            credentials(stores, cluster, &name)
        } else {
            Vec::new()
        },
        kubeconfigs: kubeconfigs(stores, cluster),
        rights: rights(context, stores, cluster, control_plane.is_none()).await?,
        site: if inside {
            site(context, stores, cluster, control_plane.as_deref()).await?
        } else {
            None
        },
        namespace,
        control_plane,
    };
    let machines = machines(stores, &name, inside);
    let has_something = remains.cluster_api.is_some() || !machines.is_empty();
    if let Some(infra_id) = infra_id.filter(|_| inside && has_something && remains.node_pools.is_empty()) {
        remains.workers = workers::look(context, &name, infra_id, &machines).await?;
    }
    let known = facts(stores, cluster, &remains, &machines, context.now());
    remains.facts = Facts { runs_machines, ..known };
    Ok(remains)
}

fn machines(stores: &Stores, namespace: &str, inside: bool) -> Vec<Arc<PartialObjectMeta<Machine>>> {
    if inside {
        stores.machines.namespace(namespace).all()
    } else {
        Vec::new()
    }
}

fn facts(
    stores: &Stores,
    cluster: &HostedCluster,
    remains: &Remains,
    machines: &[Arc<PartialObjectMeta<Machine>>],
    now: Timestamp,
) -> Facts {
    let namespace = names::namespace_of(cluster);
    let told = |machine: &Arc<PartialObjectMeta<Machine>>| {
        let holders = other_holders(machine.as_ref(), finalizers::MACHINE.as_str());
        format!("{}{}", machine.name_any(), held_by(&holders))
    };
    let is_kept = |pool: &Arc<NodePool>| pool.metadata.deletion_timestamp.is_none();
    Facts {
        needs_resuming: needs_resuming(cluster, remains, now),
        node_pools: remains.node_pools.iter().map(|pool| pool.name_any()).collect(),
        has_kept_pools: remains.node_pools.iter().any(is_kept),
        cluster_api: presence(remains.cluster_api.as_ref()),
        runs_machines: false,
        cluster_api_holders: remains
            .cluster_api
            .as_deref()
            .map_or_else(Vec::new, |live| other_holders(live, finalizers::CLUSTER.as_str())),
        infrastructure: presence(remains.kubevirt.first()).max(presence(remains.agents.first())),
        machines: machines.iter().map(told).collect(),
        workers: remains.workers.remaining.clone(),
        has_kept_workers: !remains.workers.is_empty(),
        unanswered: None,
        providers: present(remains.namespace.is_some() && has_held_providers(stores, &namespace)),
        credentials: remains.credentials.iter().map(|secret| secret.name_any()).collect(),
        control_plane: presence(remains.control_plane.as_ref()),
        control_plane_says: remains.control_plane.as_deref().and_then(cleanup_of),
        traces: present(!remains.rights.is_empty() || !remains.kubeconfigs.is_empty()),
        namespace: presence(remains.namespace.as_ref()),
        keeps_namespace: keeps_namespace(cluster),
        grace: grace(cluster),
        destroyed_for: destroyed_for(cluster, now),
    }
}

/// The finalizers of others on an object that is being deleted: nobody of us takes them off.
fn other_holders<K: Resource>(object: &K, ours: &str) -> Vec<String> {
    let all = object.finalizers().iter();
    let is_leaving = object.meta().deletion_timestamp.is_some();
    all.filter(|finalizer| is_leaving && finalizer.as_str() != ours)
        .cloned()
        .collect()
}

/// What stands for the infrastructure of whatever is in a namespace.
fn infrastructure<K: Kind>(store: Option<&Store<K>>, namespace: &str) -> Vec<Arc<K>> {
    store.map(|store| store.namespace(namespace).all()).unwrap_or_default()
}

const fn present(is_present: bool) -> Presence {
    if is_present {
        Presence::Present
    } else {
        Presence::Absent
    }
}

fn presence<K: Resource>(object: Option<&Arc<K>>) -> Presence {
    match object.map(|object| object.meta().deletion_timestamp.is_some()) {
        None => Presence::Absent,
        Some(false) => Presence::Present,
        Some(true) => Presence::Leaving,
    }
}

/// The namespace of the control plane, if it is of this cluster. One that the cache has not shown yet must not be
/// forgotten, so the server is asked.
async fn namespace(
    context: &Context,
    stores: &Stores,
    cluster: &HostedCluster,
) -> Result<Option<Arc<Namespace>>, Failure> {
    let name = names::namespace_of(cluster);
    let mut found = stores.namespaces.get(&ObjectKey::cluster(&name));
    if found.is_none() {
        let api: Api<Namespace> = Api::all(context.client().clone());
        found = api.get_opt(&name).await?.map(Arc::new);
    }
    Ok(found.filter(|namespace| metadata::is_claimed(namespace, cluster)))
}

/// Whether the user wants the namespace to stay.
fn keeps_namespace(cluster: &HostedCluster) -> bool {
    annotations::SKIP_CONTROL_PLANE_NAMESPACE_DELETION.is_true(cluster)
}

/// Whoever is paused does not clean up, and whoever was not told to does not either.
fn needs_resuming(cluster: &HostedCluster, remains: &Remains, now: Timestamp) -> bool {
    let is_paused = |cluster: &Arc<Cluster>| cluster.spec.paused == Some(true);
    let is_untold = |live: &Arc<HostedControlPlane>| {
        let key = annotations::CLEANUP_CLOUD_RESOURCES;
        let text = live.spec.paused_until.as_deref();
        let is_paused = text.is_some_and(|text| pause(text).is_ok_and(|pause| pause.holds_at(now)));
        is_paused || key.of(live.as_ref()) != key.of(cluster)
    };
    remains.cluster_api.as_ref().is_some_and(is_paused) || remains.control_plane.as_ref().is_some_and(is_untold)
}

fn credentials(stores: &Stores, cluster: &HostedCluster, namespace: &str) -> Vec<Arc<Secret>> {
    let Ok(platform) = hyperplane_platforms::of(&cluster.spec) else {
        return Vec::new();
    };
    let secrets = stores.secrets.namespace(namespace);
    let names = platform.obsolete_credentials().iter();
    names.filter_map(|name| secrets.get(name)).collect()
}

/// Where its machines were, as long as there is a copy of the kubeconfig. One that the cache has not shown yet must not be
/// forgotten: with it goes what is known of the other cluster.
async fn site(
    context: &Context,
    stores: &Stores,
    cluster: &HostedCluster,
    control_plane: Option<&HostedControlPlane>,
) -> Result<Option<Site>, Failure> {
    // What the control plane was made with counts where the cluster does not say it any more.
    let made = control_plane.map(|control_plane| &control_plane.spec.platform);
    let mut platforms = [Some(&cluster.spec.platform), made].into_iter().flatten();
    let Some(platform) = platforms.find(|platform| elsewhere::namespace(platform).is_some()) else {
        return Ok(None);
    };
    let namespace = names::namespace_of(cluster);
    let mut copy = stores.secrets.namespace(&namespace).get(copies::KUBEVIRT_CREDENTIALS);
    if copy.is_none() {
        let api: Api<Secret> = Api::namespaced(context.client().clone(), &namespace);
        copy = api.get_opt(copies::KUBEVIRT_CREDENTIALS).await?.map(Arc::new);
    }
    Ok(Site::new(platform, copy.as_deref()))
}

/// Secrets beside the cluster that we made and that lead nowhere once it is gone.
fn kubeconfigs(stores: &Stores, cluster: &HostedCluster) -> Vec<Arc<Secret>> {
    let secrets = stores.secrets.namespace(cluster.namespace().unwrap_or_default());
    let found = names::beside(cluster).into_iter().filter_map(|name| secrets.get(&name));
    found.collect()
}

fn has_held_providers(stores: &Stores, namespace: &str) -> bool {
    let deployments = stores.deployments.namespace(namespace);
    let is_held = |name: &str| {
        let deployment = deployments.get(name);
        deployment.is_some_and(|found| {
            found
                .finalizers()
                .iter()
                .any(|one| one == finalizers::COMPONENT.as_str())
        })
    };
    components::KEPT.iter().any(|name| is_held(name))
}

/// Rights are looked for on the server itself when the control plane is gone, so that none is left that a cache has not
/// shown.
async fn rights(
    context: &Context,
    stores: &Stores,
    cluster: &HostedCluster,
    asks_server: bool,
) -> Result<Rights, Failure> {
    let title = names::title(cluster);
    let namespace = names::namespace_of(cluster);
    let is_outside = |found: Option<String>| found.as_deref() != Some(namespace.as_str());
    let mut rights = Rights {
        cluster_roles: made_for(&stores.cluster_roles, &title),
        cluster_role_bindings: made_for(&stores.cluster_role_bindings, &title),
        roles: made_for(&stores.roles, &title),
        role_bindings: made_for(&stores.role_bindings, &title),
    };
    rights.roles.retain(|role| is_outside(role.namespace()));
    rights.role_bindings.retain(|binding| is_outside(binding.namespace()));
    if asks_server && rights.cluster_roles.is_empty() && rights.cluster_role_bindings.is_empty() {
        rights.cluster_role_bindings = labelled(context, cluster).await?;
        rights.cluster_roles = labelled(context, cluster).await?;
    }
    Ok(rights)
}

async fn labelled<K>(context: &Context, cluster: &HostedCluster) -> Result<Vec<Arc<K>>, Failure>
where
    K: Kind + Resource<Scope = k8s_openapi::ClusterResourceScope>,
{
    let selector = format!(
        "{},{}={},{}={}",
        ours::selector(),
        labels::OWNER_NAME.as_str(),
        cluster.name_any(),
        labels::OWNER_NAMESPACE.as_str(),
        cluster.namespace().unwrap_or_default(),
    );
    let api: Api<K> = Api::all(context.client().clone());
    let list = api.list(&ListParams::default().labels(&selector)).await?;
    Ok(list.items.into_iter().map(Arc::new).collect())
}

/// What the hosted cluster has not removed yet.
fn cleanup_of(control_plane: &HostedControlPlane) -> Option<String> {
    let status = control_plane.status.as_ref()?;
    let type_ = hosted_control_plane::CLOUD_RESOURCES_DESTROYED.as_str();
    let mut conditions = status.conditions.iter();
    let condition = conditions.find(|condition| condition.type_ == type_ && condition.status != "True")?;
    Some(format!("{}: {}", condition.reason, condition.message))
}

/// What nobody can read was refused while the cluster lived; it holds nothing up.
fn grace(cluster: &HostedCluster) -> Duration {
    let text = annotations::DESTROY_GRACE_PERIOD.of(cluster);
    text.and_then(|text| duration::parse(text).ok()).unwrap_or_default()
}

fn destroyed_for(cluster: &HostedCluster, now: Timestamp) -> Option<Duration> {
    let type_ = hosted_cluster::HOSTED_CLUSTER_DESTROYED.as_str();
    let mut conditions = cluster.status.as_ref()?.conditions.iter();
    let condition = conditions.find(|condition| condition.type_ == type_ && condition.status == "True")?;
    Duration::try_from(now.duration_since(condition.last_transition_time.0)).ok()
}
