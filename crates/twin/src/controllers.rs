//! Which controller looks at what. Owns the wiring only: each reads its stores, and is asked again when something
//! changes that it depends on.

use std::{collections::BTreeSet, sync::Arc};

use hyperplane_objects::Kind;
use hyperplane_runtime::{Manager, ObjectKey, Store, Watch};
use k8s_openapi::api::{
    apps::v1::{ControllerRevision, DaemonSet, Deployment, ReplicaSet, StatefulSet},
    batch::v1::{CronJob, Job},
    core::v1::{ConfigMap, Namespace, Node, PersistentVolume, PersistentVolumeClaim, Pod, Secret, Service},
    discovery::v1::EndpointSlice,
    policy::v1::PodDisruptionBudget,
};
use kube::ResourceExt;

use crate::{
    budgets::Budgets,
    kubelet::{Kubelet, References, World},
    network::{Network, Sockets},
    nodes::{Evictions, Machine, Nodes, Renewals, Voice, common},
    pods,
    scheduler::{self, Scheduler, waiting},
    selector,
    services::{
        claims::Claims as AddressClaims,
        endpoints::{self, Endpoints},
        load_balancers::LoadBalancers,
    },
    settings::{Listeners, Mode, TwinSettings},
    volumes::{self, Claims, Volumes},
    workloads::{
        cron_job::CronJobs, daemon_set::DaemonSets, deployment::Deployments, job::Jobs, replica_set::ReplicaSets,
        stateful_set::StatefulSets,
    },
};

/// The label of what belongs to Hyperplane, on a cluster that others use, too.
const MANAGED_BY: (&str, &str) = ("app.kubernetes.io/managed-by", "hyperplane");

/// Everything that a twin does.
pub(crate) fn register(manager: &mut Manager, settings: &TwinSettings, world: &Arc<World>, network: &Network) {
    let is_whole = settings.mode == Mode::Whole;
    nodes(manager, of_management(settings));
    kubelets(manager, settings, world, common);
    cloud(manager, settings, world);
    if settings.listeners == Listeners::Loopback {
        let services = world.services.clone();
        manager
            .controller("sockets", Watch::<Service>::all(), Sockets::new(network.clone()))
            .on_status()
            .watches(Watch::<Pod>::all(), move |pod| services_of(&services, pod))
            .reads(&world.config_maps)
            .register();
    }
    if is_whole {
        workloads(manager, world);
    }
}

/// What a hosted cluster has behind its API server: the kubelets of machines that joined, and what nobody else does for
/// workloads. Addresses and volumes are not given there.
pub(crate) fn register_hosted(manager: &mut Manager, settings: &TwinSettings, world: &Arc<World>, machines: Nodes) {
    let voice = machines.voice;
    nodes(manager, machines);
    kubelets(manager, settings, world, voice);
    workloads(manager, world);
}

/// The machines of the management cluster.
fn of_management(settings: &TwinSettings) -> Nodes {
    let (of_nodes, faults) = (settings.nodes.clone(), settings.faults.clone());
    Nodes {
        twin: settings.name.clone(),
        heartbeat: settings.nodes.heartbeat,
        machine: Box::new(move |node, _| Machine::of_management(node, &of_nodes, &faults)),
        is_whole: settings.mode == Mode::Whole,
        voice: common,
        renewals: Renewals::default(),
    }
}

fn nodes(manager: &mut Manager, nodes: Nodes) {
    manager
        .controller("nodes", Watch::<Node>::all(), nodes)
        .on_status()
        .register();
}

fn workloads(manager: &mut Manager, world: &World) {
    replicas(manager, world);
    sets(manager, world);
    jobs(manager, world);
    placement(manager, world);
    protection(manager, world);
}

/// What runs on nodes.
fn kubelets(manager: &mut Manager, settings: &TwinSettings, world: &Arc<World>, voice: Voice) {
    let kubelet = Kubelet {
        world: Arc::clone(world),
        twin: settings.name.clone(),
        pace: settings.pace,
        seed: settings.seed,
        is_whole: settings.mode == Mode::Whole,
        voice,
    };
    let kubelets = manager.controller("kubelet", Watch::<Pod>::all(), kubelet);
    world
        .images
        .waited_for_by(kubelets)
        .on_status()
        .watches_referenced(
            Watch::<Node>::all(),
            "node",
            |pod| vec![pods::node(pod).to_owned()],
            name,
        )
        .watches_referenced(
            Watch::<Secret>::all(),
            "secrets",
            |pod| References::of(pod).secrets,
            key,
        )
        .watches_referenced(
            Watch::<ConfigMap>::all(),
            "config-maps",
            |pod| References::of(pod).config_maps,
            key,
        )
        .watches_referenced(
            Watch::<PersistentVolumeClaim>::all(),
            "claims",
            |pod| References::of(pod).claims,
            key,
        )
        .reads(&world.services)
        .register();
}

fn name<K: ResourceExt>(object: &K) -> Vec<String> {
    vec![object.name_any()]
}

fn key<K: ResourceExt>(object: &K) -> Vec<String> {
    vec![format!(
        "{}/{}",
        object.namespace().unwrap_or_default(),
        object.name_any()
    )]
}

/// What a cloud gives: addresses and volumes. On a cluster that others use, only to Hyperplane.
fn cloud(manager: &mut Manager, settings: &TwinSettings, world: &Arc<World>) {
    let is_whole = settings.mode == Mode::Whole;
    let balancers = LoadBalancers {
        services: world.services.clone(),
        selects: if is_whole { |_| true } else { is_ours },
        claims: (settings.listeners == Listeners::Loopback).then(AddressClaims::default),
    };
    manager
        .controller("load-balancers", Watch::<Service>::all(), balancers)
        .on_status()
        .concurrency(1)
        .register();
    let claims = Claims {
        binds: is_whole,
        selects: if is_whole { |_| true } else { is_ours },
        hosted: Arc::clone(&world.hosted),
    };
    manager
        .controller("claims", Watch::<PersistentVolumeClaim>::all(), claims)
        .on_status()
        .owns(Watch::<PersistentVolume>::all())
        .register();
    let volumes = Volumes {
        claims: world.claims.clone(),
        binds: is_whole,
    };
    let claim_of = |volume: &PersistentVolume| -> Vec<String> {
        volumes::claim_of(volume)
            .map(|(key, _)| key.to_string())
            .into_iter()
            .collect()
    };
    manager
        .controller("volumes", Watch::<PersistentVolume>::all(), volumes)
        .watches_referenced(Watch::<PersistentVolumeClaim>::all(), "claim", claim_of, key)
        .register();
}

fn is_ours<K: ResourceExt>(object: &K) -> bool {
    object.labels().get(MANAGED_BY.0).map(String::as_str) == Some(MANAGED_BY.1)
}

/// Deployments and ReplicaSets.
fn replicas(manager: &mut Manager, world: &World) {
    let sets = manager.store(Watch::<ReplicaSet>::all());
    let deployments = Deployments {
        sets: sets.clone(),
        pods: world.pods.clone(),
    };
    manager
        .controller("deployments", Watch::<Deployment>::all(), deployments)
        .owns(Watch::<ReplicaSet>::all())
        .watches(Watch::<Pod>::all(), move |pod| deployment_of(&sets, pod))
        .register();
    let replica_sets = ReplicaSets {
        pods: world.pods.clone(),
    };
    manager
        .controller("replica-sets", Watch::<ReplicaSet>::all(), replica_sets)
        .owns(Watch::<Pod>::all())
        .register();
}

/// The Deployment that a pod belongs to, by its ReplicaSet.
fn deployment_of(sets: &Store<ReplicaSet>, pod: &Pod) -> BTreeSet<ObjectKey> {
    let namespace = pod.namespace().unwrap_or_default();
    let set = pods::controller(pod).filter(|owner| owner.kind == "ReplicaSet");
    let set = set.and_then(|owner| sets.namespace(&namespace).get(&owner.name));
    let deployment = set
        .as_deref()
        .and_then(pods::controller)
        .filter(|owner| owner.kind == "Deployment");
    deployment
        .map(|owner| ObjectKey::namespaced(namespace, &owner.name))
        .into_iter()
        .collect()
}

/// StatefulSets and DaemonSets.
fn sets(manager: &mut Manager, world: &World) {
    let revisions = manager.store(Watch::<ControllerRevision>::all());
    let stateful_sets = StatefulSets {
        pods: world.pods.clone(),
        revisions: revisions.clone(),
        claims: world.claims.clone(),
    };
    manager
        .controller("stateful-sets", Watch::<StatefulSet>::all(), stateful_sets)
        .owns(Watch::<Pod>::all())
        .owns(Watch::<ControllerRevision>::all())
        .reads(&world.claims)
        .register();
    let all = manager.store(Watch::<DaemonSet>::all());
    let daemon_sets = DaemonSets {
        pods: world.pods.clone(),
        nodes: world.nodes.clone(),
        revisions,
    };
    manager
        .controller("daemon-sets", Watch::<DaemonSet>::all(), daemon_sets)
        .owns(Watch::<Pod>::all())
        .owns(Watch::<ControllerRevision>::all())
        .watches(Watch::<Node>::all(), move |_| keys(&all.all()))
        .register();
}

fn keys<K: Kind>(objects: &[Arc<K>]) -> BTreeSet<ObjectKey> {
    objects.iter().map(|object| ObjectKey::of(object.as_ref())).collect()
}

/// Jobs and CronJobs.
fn jobs(manager: &mut Manager, world: &World) {
    let of_pods = Jobs {
        pods: world.pods.clone(),
    };
    manager
        .controller("jobs", Watch::<Job>::all(), of_pods)
        .owns(Watch::<Pod>::all())
        .register();
    let jobs = manager.store(Watch::<Job>::all());
    manager
        .controller("cron-jobs", Watch::<CronJob>::all(), CronJobs { jobs })
        .owns(Watch::<Job>::all())
        .register();
}

/// Where pods go and when they have to leave, and who is behind which Service.
fn placement(manager: &mut Manager, world: &World) {
    let namespaces = manager.store(Watch::<Namespace>::all());
    let scheduler = Scheduler {
        pods: world.pods.clone(),
        nodes: world.nodes.clone(),
        namespaces: namespaces.clone(),
        assumed: std::sync::Mutex::default(),
    };
    scheduler::index(&world.pods);
    let (by_node, by_pod) = (world.pods.clone(), world.pods.clone());
    manager
        .controller("scheduler", Watch::<Pod>::all(), scheduler)
        .watches(Watch::<Node>::all(), move |_| keys(&waiting(&by_node)))
        // A pod that ends makes room.
        .watches(Watch::<Pod>::all(), move |pod| {
            if pods::is_active(pod) {
                BTreeSet::new()
            } else {
                keys(&waiting(&by_pod))
            }
        })
        .reads(&namespaces)
        .concurrency(1)
        .register();
    let evictions = Evictions {
        pods: world.pods.clone(),
    };
    manager
        .controller("evictions", Watch::<Node>::all(), evictions)
        .watches(Watch::<Pod>::all(), |pod| {
            let node = Some(pods::node(pod)).filter(|node| !node.is_empty());
            node.map(ObjectKey::cluster).into_iter().collect()
        })
        .register();
    let slices = Endpoints {
        pods: world.pods.clone(),
        nodes: world.nodes.clone(),
    };
    let services = world.services.clone();
    manager
        .controller("endpoints", Watch::<Service>::all(), slices)
        .owns(Watch::<EndpointSlice>::all())
        .watches(Watch::<Pod>::all(), move |pod| services_of(&services, pod))
        .reads(&world.nodes)
        .register();
}

/// The Services that a pod takes part in.
fn services_of(services: &Store<Service>, pod: &Pod) -> BTreeSet<ObjectKey> {
    let all = services.namespace(pod.namespace().unwrap_or_default()).all();
    let behind = all.iter().filter(|service| endpoints::is_behind(service, pod));
    behind.map(|service| ObjectKey::of(service.as_ref())).collect()
}

/// How many pods may be missing.
fn protection(manager: &mut Manager, world: &World) {
    let budgets = Budgets {
        pods: world.pods.clone(),
        replica_sets: manager.store(Watch::all()),
        stateful_sets: manager.store(Watch::all()),
        daemon_sets: manager.store(Watch::all()),
    };
    let all = manager.store(Watch::<PodDisruptionBudget>::all());
    let [of_pods, of_replicas, of_members, of_daemons] = std::array::from_fn(|_| all.clone());
    manager
        .controller("budgets", Watch::<PodDisruptionBudget>::all(), budgets)
        .on_status()
        .watches(Watch::<Pod>::all(), move |pod| {
            let mut all = of_pods.namespace(pod.namespace().unwrap_or_default()).all();
            all.retain(|budget| {
                let selected = budget.spec.as_ref().and_then(|spec| spec.selector.as_ref());
                selector::matches_some(selected, pod.labels())
            });
            keys(&all)
        })
        .watches(Watch::<ReplicaSet>::all(), move |set| beside(&of_replicas, set))
        .watches(Watch::<StatefulSet>::all(), move |set| beside(&of_members, set))
        .watches(Watch::<DaemonSet>::all(), move |set| beside(&of_daemons, set))
        .register();
}

/// The budgets of the namespace of an object.
fn beside(budgets: &Store<PodDisruptionBudget>, object: &impl ResourceExt) -> BTreeSet<ObjectKey> {
    keys(&budgets.namespace(object.namespace().unwrap_or_default()).all())
}
