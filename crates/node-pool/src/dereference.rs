//! Everything that a run looks at before it decides. Reads only: from the caches, and of users' ConfigMaps whatever has
//! changed since it was last read.

use std::{collections::BTreeSet, sync::Arc};

use hyperplane_api::{
    cluster_api::{
        machine::Machine, machine_deployment::MachineDeployment, machine_health_check::MachineHealthCheck,
        machine_set::MachineSet,
    },
    constants::{
        annotations,
        objects::{bundles, copies, keys},
    },
    hyperplane::distribution_release::DistributionRelease,
    hypershift::{hosted_cluster::HostedCluster, hosted_control_plane::HostedControlPlane, node_pool::NodePool},
    infrastructure::{agent_machine::AgentMachineTemplate, kubevirt_machine::KubevirtMachineTemplate},
};
use hyperplane_runtime::{Context, Failure, ObjectKey, Store};
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::ResourceExt as _;

use crate::{
    instances::Instance,
    names,
    stores::{Stores, made_for},
    texts::{Content, Source, Texts},
};

/// What a run has seen.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    /// The namespace of the control plane.
    pub(crate) namespace: String,
    /// The cluster of the pool.
    pub(crate) cluster: Option<Arc<HostedCluster>>,
    /// Its control plane, if it was made for this cluster.
    pub(crate) control_plane: Option<Arc<HostedControlPlane>>,
    /// Everything that a release can come from.
    pub(crate) releases: Vec<Arc<DistributionRelease>>,
    /// The ConfigMaps that the pool refers to.
    pub(crate) sources: Vec<Source>,
    /// What every node of the cluster is told: names of ConfigMaps, and what they say.
    pub(crate) core: Vec<(String, String)>,
    /// The copy of the registry credentials.
    pub(crate) pull_secret: Option<Arc<Secret>>,
    /// The copy of the public keys of who may log in.
    pub(crate) ssh_keys: Option<Arc<Secret>>,
    /// The copy of the trust bundle of the user.
    pub(crate) trust_bundle: Option<Arc<ConfigMap>>,
    /// Who signs for the ignition server.
    pub(crate) ignition_authority: Option<Arc<ConfigMap>>,
    /// Tokens of the pool.
    pub(crate) tokens: Vec<Arc<Secret>>,
    /// What machines of the pool read first.
    pub(crate) user_data: Vec<Arc<Secret>>,
    /// Its machines.
    pub(crate) machines: Machines,
}

/// Everything that stands for machines of a pool.
#[derive(Clone, Debug, Default)]
pub(crate) struct Machines {
    pub(crate) deployment: Option<Arc<MachineDeployment>>,
    pub(crate) sets: Vec<Arc<MachineSet>>,
    pub(crate) all: Vec<Arc<Machine>>,
    pub(crate) health_check: Option<Arc<MachineHealthCheck>>,
    /// What the provider of virtual machines says of each.
    pub(crate) instances: Vec<Arc<Instance>>,
    pub(crate) kubevirt: Vec<Arc<KubevirtMachineTemplate>>,
    pub(crate) agents: Vec<Arc<AgentMachineTemplate>>,
}

/// Looks at everything.
pub(crate) async fn dereference(
    context: &Context,
    stores: &Stores,
    texts: &Texts,
    pool: &NodePool,
) -> Result<Seen, Failure> {
    let namespace = names::control_plane_namespace(pool);
    let beside = ObjectKey::namespaced(pool.namespace().unwrap_or_default(), pool.spec.cluster_name.as_str());
    let title = names::cluster_title(pool);
    // What is in a namespace that was made for somebody else is none of this pool's business.
    let control_plane = stores.control_planes.namespace(&namespace).get(&beside.name);
    let control_plane = control_plane.filter(|plane| annotations::CLUSTER.of(plane.as_ref()) == Some(title.as_str()));
    let sources = sources(context, stores, texts, pool).await?;
    let mut seen = Seen {
        cluster: stores.clusters.get(&beside),
        releases: stores.releases.all(),
        sources,
        machines: machines(stores, pool, &namespace),
        ..Seen::default()
    };
    (seen.tokens, seen.user_data) = secrets(stores, pool, &namespace);
    if control_plane.is_some() {
        let config_maps = stores.config_maps.namespace(&namespace);
        let secrets = stores.secrets.namespace(&namespace);
        seen.pull_secret = secrets.get(copies::PULL_SECRET);
        seen.ssh_keys = secrets.get(copies::SSH_KEY);
        seen.trust_bundle = config_maps.get(copies::USER_CA_BUNDLE);
        seen.ignition_authority = config_maps.get(bundles::IGNITION);
        seen.core = stores.core.namespace(&namespace).all().iter().map(core).collect();
    }
    seen.control_plane = control_plane;
    seen.namespace = namespace;
    Ok(seen)
}

/// Everything that stands for machines of a pool.
pub(crate) fn machines(stores: &Stores, pool: &NodePool, namespace: &str) -> Machines {
    let (title, name) = (names::title(pool), names::machines(pool));
    let is_named = |found: &str| found == name;
    let all = made_for(&stores.machines, namespace, &title);
    let instances = stores.instances.as_ref().map(|store| store.namespace(namespace));
    let instance = |machine: &Arc<Machine>| {
        let found = instances.as_ref()?;
        found.get(machine.spec.infrastructure_ref.name.as_str())
    };
    Machines {
        instances: all.iter().filter_map(instance).collect(),
        deployment: made_for(&stores.deployments, namespace, &title)
            .into_iter()
            .find(|deployment| is_named(&deployment.name_any())),
        sets: made_for(&stores.sets, namespace, &title),
        all,
        health_check: made_for(&stores.health_checks, namespace, &title)
            .into_iter()
            .find(|check| is_named(&check.name_any())),
        kubevirt: templates(stores.kubevirt.as_ref(), namespace, &title),
        agents: templates(stores.agents.as_ref(), namespace, &title),
    }
}

/// Tokens and user data of a pool.
pub(crate) fn secrets(stores: &Stores, pool: &NodePool, namespace: &str) -> (Vec<Arc<Secret>>, Vec<Arc<Secret>>) {
    let all = made_for(&stores.secrets, namespace, &names::title(pool));
    let all = all.into_iter().filter(|secret| {
        let name = secret.name_any();
        names::is_token(&name) || names::is_user_data(&name)
    });
    all.partition(|secret| names::is_token(&secret.name_any()))
}

fn templates<K: hyperplane_objects::Kind>(store: Option<&Store<K>>, namespace: &str, title: &str) -> Vec<Arc<K>> {
    store.map(|store| made_for(store, namespace, title)).unwrap_or_default()
}

/// What every node of a cluster is told by a ConfigMap. One that says nothing is a mistake, which is told.
fn core(found: &Arc<ConfigMap>) -> (String, String) {
    let text = found.data.as_ref().and_then(|data| data.get(keys::CONFIG));
    (found.name_any(), text.cloned().unwrap_or_default())
}

/// One after the other: there are at most ten, and mostly none of them has changed.
async fn sources(context: &Context, stores: &Stores, texts: &Texts, pool: &NodePool) -> Result<Vec<Source>, Failure> {
    let beside = stores.user_config_maps.namespace(pool.namespace().unwrap_or_default());
    let names: BTreeSet<&String> = pool.spec.config.iter().map(|reference| &reference.name).collect();
    let mut sources = Vec::new();
    for name in names {
        let content = match beside.get(name) {
            Some(found) => texts.read(context, &found.metadata).await?,
            None => Content::Missing,
        };
        sources.push(Source {
            name: name.clone(),
            content,
        });
    }
    Ok(sources)
}
