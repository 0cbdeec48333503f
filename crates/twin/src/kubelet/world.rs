//! The world as the stores of a running twin show it. Owns the addresses of pods.

use std::{
    collections::BTreeMap,
    net::{IpAddr, Ipv4Addr},
    sync::{Arc, Mutex, PoisonError},
};

use hyperplane_runtime::{Manager, ObjectKey, Store, Watch};
use hyperplane_seams::Random;
use k8s_openapi::api::core::v1::{ConfigMap, Node, PersistentVolumeClaim, Pod, Secret, Service};
use kube::ResourceExt;

use super::{
    facts::{Facts, Progress, Serving},
    incarnation,
    processes::Processes,
};
use crate::{
    faults::{FaultKind, Faults},
    hosted::Hosted,
    network::{Place, Services, addresses, locate},
    nodes, pods,
    programs::{Address, Need},
    services::{endpoints::serves, load_balancers},
    settings::{Programs, Registry, TwinSettings},
    tasks::Tasks,
};

/// The addresses of pods: 10.128.0.0/9.
const POOL: u32 = 0x0a80_0000;
const POOL_SIZE: u64 = 1 << 23;

/// The index of pods and Services by their addresses.
const ADDRESS: &str = "address";
/// The index of Services by their ports on nodes.
const NODE_PORT: &str = "node-port";
/// The index of Services that have load balancers, under one value.
const BALANCED: &str = "balanced";

/// Whether nothing is heard of the machine of a node, by its name.
pub(crate) type IsSilent = Box<dyn Fn(&str) -> bool + Send + Sync>;

/// Everything that a pod may depend on.
pub(crate) struct World {
    /// Every pod.
    pub(crate) pods: Store<Pod>,
    /// Every node.
    pub(crate) nodes: Store<Node>,
    /// Every Service.
    pub(crate) services: Store<Service>,
    /// Every Secret: a kubelet reads what its pods mount, and any pod may be here.
    pub(crate) secrets: Store<Secret>,
    /// Every ConfigMap.
    pub(crate) config_maps: Store<ConfigMap>,
    /// Every claim.
    pub(crate) claims: Store<PersistentVolumeClaim>,
    /// What goes wrong.
    pub(crate) faults: Faults,
    /// Whether nothing is heard of the machine of a node.
    pub(crate) is_silent: IsSilent,
    /// The hosted API servers.
    pub(crate) hosted: Arc<Hosted>,
    /// The programs of our own that run.
    pub(crate) processes: Processes,
    /// The images that exist.
    pub(crate) images: Registry,
    programs: Programs,
    seed: u64,
    /// Addresses that were given and that the cache may not show yet, by pod.
    given: Mutex<BTreeMap<ObjectKey, (String, Ipv4Addr)>>,
}

impl World {
    pub(crate) fn new(
        manager: &Manager,
        settings: &TwinSettings,
        is_silent: IsSilent,
        hosted: Arc<Hosted>,
        tasks: Tasks,
    ) -> Self {
        let (pods, services) = (manager.store(Watch::all()), manager.store(Watch::all()));
        index(&pods, &services);
        Self {
            pods,
            nodes: manager.store(Watch::all()),
            services,
            secrets: manager.store(Watch::all()),
            config_maps: manager.store(Watch::all()),
            claims: manager.store(Watch::all()),
            faults: settings.faults.clone(),
            is_silent,
            hosted,
            processes: Processes::new(tasks),
            images: settings.images.registry(manager),
            programs: settings.programs.clone(),
            seed: settings.seed,
            given: Mutex::default(),
        }
    }

    /// Lets an address be given again.
    pub(crate) fn release(&self, pod: &ObjectKey) {
        self.given.lock().unwrap_or_else(PoisonError::into_inner).remove(pod);
    }

    /// The pods behind a port of a place that get new connections, in order.
    pub(crate) fn behind(&self, place: &Place) -> Vec<Arc<Pod>> {
        let Some(service) = self.services.get(&place.service) else {
            return Vec::new();
        };
        let mut all = self.pods.namespace(&place.service.namespace).all();
        all.retain(|pod| serves(&service, pod) && place.is_meant(pod));
        all
    }

    /// The Services that have load balancers.
    pub(crate) fn load_balancers(&self) -> Vec<Arc<Service>> {
        self.services.by_index(BALANCED, BALANCED)
    }

    /// The Services that are reached by a port of nodes.
    pub(crate) fn on_nodes(&self, port: u16) -> Vec<Arc<Service>> {
        self.services.by_index(NODE_PORT, &port.to_string())
    }

    fn answers(&self, namespace: &str, address: &Address) -> bool {
        match locate(&address.host, namespace, self) {
            // Whatever is not of the cluster is taken to be there.
            None => !is_internal(&address.host),
            Some(place) => {
                let has_port = |service: &Service| place.port(service, address.port).is_some();
                let is_known = self
                    .services
                    .get(&place.service)
                    .is_some_and(|service| has_port(&service));
                is_known && self.behind(&place).iter().any(|pod| pods::is_ready(pod))
            }
        }
    }

    fn resolves(&self, namespace: &str, name: &str) -> bool {
        match locate(name, namespace, self) {
            None => !is_internal(name),
            Some(place) if place.pod.is_some() => !self.behind(&place).is_empty(),
            Some(_) => true,
        }
    }
}

fn index(pods: &Store<Pod>, services: &Store<Service>) {
    pods.add_index(ADDRESS, |pod| {
        let address = pod.status.as_ref().and_then(|status| status.pod_ip.clone());
        address.into_iter().collect()
    });
    services.add_index(ADDRESS, |service| {
        addresses(service).iter().map(ToString::to_string).collect()
    });
    services.add_index(NODE_PORT, |service| {
        let ports = service.spec.iter().flat_map(|spec| spec.ports.iter().flatten());
        ports
            .filter_map(|port| port.node_port)
            .map(|port| port.to_string())
            .collect()
    });
    services.add_index(BALANCED, |service| {
        let is_balanced = load_balancers::is_load_balancer(service).then(|| BALANCED.to_owned());
        is_balanced.into_iter().collect()
    });
}

impl Services for World {
    fn has(&self, key: &ObjectKey) -> bool {
        self.services.get(key).is_some()
    }

    fn at(&self, address: IpAddr) -> Option<Arc<Service>> {
        let mut there = self.services.by_index(ADDRESS, &address.to_string());
        (!there.is_empty()).then(|| there.swap_remove(0))
    }
}

/// Whether a name can only be one of the cluster.
fn is_internal(host: &str) -> bool {
    let host = host.trim_end_matches('.').to_ascii_lowercase();
    let name = host.strip_suffix(".cluster.local").unwrap_or(&host);
    let is_service = name.rsplit('.').next() == Some("svc");
    is_service || (!host.contains(['.', ':']) && host != "localhost")
}

impl Facts for World {
    fn secret(&self, namespace: &str, name: &str) -> Option<Arc<Secret>> {
        self.secrets.namespace(namespace).get(name)
    }

    fn config_map(&self, namespace: &str, name: &str) -> Option<Arc<ConfigMap>> {
        self.config_maps.namespace(namespace).get(name)
    }

    fn claim(&self, namespace: &str, name: &str) -> Option<Arc<PersistentVolumeClaim>> {
        self.claims.namespace(namespace).get(name)
    }

    fn pull(&self, image: &str) -> Result<(), String> {
        self.images.pull(image)
    }

    fn programs(&self) -> &Programs {
        &self.programs
    }

    fn faults(&self, pod: &Pod, container: &str) -> Vec<FaultKind> {
        self.faults.of(pod, container)
    }

    fn is_met(&self, namespace: &str, need: &Need) -> bool {
        match need {
            Need::Reach(address) => self.answers(namespace, address),
            Need::ReachAny(addresses) => addresses.iter().any(|address| self.answers(namespace, address)),
            Need::Resolve(name) => self.resolves(namespace, name),
        }
    }

    fn serving(&self, pod: &Pod) -> Serving {
        self.hosted.serving(&ObjectKey::of(pod), &pod.uid().unwrap_or_default())
    }

    fn progress(&self, pod: &Pod, container: &str, restarts: i32) -> Progress {
        let incarnation = incarnation(pod, restarts);
        self.processes.progress(&ObjectKey::of(pod), container, &incarnation)
    }

    fn host(&self, pod: &Pod) -> String {
        let node = self.nodes.get(&ObjectKey::cluster(pods::node(pod)));
        node.map(|node| nodes::address(&node)).unwrap_or_default()
    }

    fn address(&self, pod: &Pod) -> String {
        if let Some(address) = pod.status.as_ref().and_then(|status| status.pod_ip.clone()) {
            return address;
        }
        let (key, uid) = (ObjectKey::of(pod), pod.uid().unwrap_or_default());
        let mut given = self.given.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, address)) = given.get(&key).filter(|(of, _)| *of == uid) {
            return address.to_string();
        }
        let address = choose((POOL, POOL_SIZE), self.seed, &uid, |address| {
            let is_given = given.values().any(|(_, other)| *other == address);
            is_given || !self.pods.by_index(ADDRESS, &address.to_string()).is_empty()
        });
        given.insert(key, (uid, address));
        address.to_string()
    }
}

/// An address of a pool that follows from a seed and a uid, and that nobody has. The pool must have room.
pub(crate) fn choose((pool, size): (u32, u64), seed: u64, uid: &str, is_taken: impl Fn(Ipv4Addr) -> bool) -> Ipv4Addr {
    let mut random = Random::named(seed, uid);
    loop {
        let offset = u32::try_from(random.below(size)).unwrap_or_default();
        let address = Ipv4Addr::from(pool + offset);
        if !matches!(address.octets()[3], 0 | 255) && !is_taken(address) {
            return address;
        }
    }
}
