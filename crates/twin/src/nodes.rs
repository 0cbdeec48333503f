//! Nodes: those of the management cluster are made at the start; what is told of them, and of those that joined hosted
//! clusters, is kept as it is; pods leave them when they are gone. Owns Nodes that carry the twin's label, and no others.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use hyperplane_runtime::{Api, Applied, Context, Failure, Next, ObjectKey, Reconciler, Store};
use jiff::Timestamp;
use k8s_openapi::{
    api::{
        coordination::v1::{Lease, LeaseSpec},
        core::v1::{Node, NodeCondition, Pod, Taint},
    },
    apimachinery::pkg::apis::meta::v1::{MicroTime, ObjectMeta, OwnerReference},
};
use kube::{
    Client, ResourceExt,
    api::{ListParams, Patch, PatchParams, PostParams},
};
use serde_json::{Value, json};
use thiserror::Error;

use crate::{
    faults::Faults,
    moment, pods,
    scheduler::toleration,
    settings::{NodeSettings, TwinSettings},
};

/// The label of every node that a twin has made; its value is the twin's name.
pub const LABEL: &str = "hyperplane.dev/twin";
/// The labels of nodes with their names and their zones.
pub(crate) const HOSTNAME: &str = "kubernetes.io/hostname";
pub(crate) const ZONE: &str = "topology.kubernetes.io/zone";
const LEASES: &str = "kube-node-lease";
const UNREACHABLE: &str = "node.kubernetes.io/unreachable";
/// What the API server puts on a new node.
const NOT_READY: &str = "node.kubernetes.io/not-ready";
/// How often it is looked whether a node went or came back: faults change without an event.
pub(crate) const LOOK: Duration = Duration::from_secs(10);
/// How often kubelets tell that they live, where somebody looks at it; the kubelet's.
pub const HEARTBEAT: Duration = Duration::from_secs(10);
/// How long a heartbeat counts; the kubelet's.
pub(crate) const LEASE_SECONDS: i32 = 40;
/// The kubelet of machines of which nobody says which they have.
pub(crate) const KUBELET_VERSION: &str = "v1.36.4";

/// Why the machines cannot be made.
#[derive(Debug, Error)]
pub enum NodeError {
    /// The cluster has machines of its own.
    #[error(
        "node {0:?} was not made by this twin: a twin is the only machine of its cluster; use another cluster, or remove the node"
    )]
    Foreign(String),
    /// The API server did not answer as it should.
    #[error("the nodes cannot be made")]
    Api(#[from] kube::Error),
}

/// Makes the machines that are missing. Refuses to stand beside machines that are real, or of another twin.
pub(crate) async fn ensure(client: &Client, settings: &TwinSettings) -> Result<(), NodeError> {
    let api: Api<Node> = Api::all(client.clone());
    let found = api.list(&ListParams::default()).await?.items;
    if let Some(foreign) = found.iter().find(|node| !is_ours(node, &settings.name)) {
        return Err(NodeError::Foreign(foreign.name_any()));
    }
    for number in 0..settings.nodes.count {
        let node = build(&settings.name, &settings.nodes, number);
        if found.iter().any(|known| known.name_any() == node.name_any()) {
            continue;
        }
        match api.create(&PostParams::default(), &node).await {
            Err(kube::Error::Api(status)) if status.code == 409 => {}
            created => created.map(|_| ())?,
        }
    }
    Ok(())
}

/// Whether a node is one of this twin's.
pub(crate) fn is_ours(node: &Node, twin: &str) -> bool {
    node.labels().get(LABEL).map(String::as_str) == Some(twin)
}

/// The address of a node, which follows from its name.
pub(crate) fn address(node: &Node) -> String {
    let addresses = node.status.as_ref().and_then(|status| status.addresses.as_ref());
    let internal = addresses
        .into_iter()
        .flatten()
        .find(|address| address.type_ == "InternalIP");
    internal.map(|address| address.address.clone()).unwrap_or_default()
}

fn build(twin: &str, settings: &NodeSettings, number: usize) -> Node {
    let zone = format!("zone-{}", zone_letter(number % settings.zones.max(1)));
    let name = format!("{twin}-{number}");
    let labels = [
        (LABEL, twin),
        (HOSTNAME, &name),
        ("kubernetes.io/os", "linux"),
        ("kubernetes.io/arch", "amd64"),
        (ZONE, &zone),
        ("topology.kubernetes.io/region", twin),
    ];
    Node {
        metadata: ObjectMeta {
            labels: Some(labels.map(|(key, value)| (key.to_owned(), value.to_owned())).into()),
            name: Some(name),
            ..ObjectMeta::default()
        },
        ..Node::default()
    }
}

fn zone_letter(zone: usize) -> String {
    let letter = u8::try_from(zone)
        .ok()
        .filter(|zone| *zone < 26)
        .map(|zone| char::from(b'a' + zone));
    letter.map_or_else(|| zone.to_string(), |letter| letter.to_string())
}

/// Speaks for the machines.
pub(crate) struct Nodes {
    /// The name of the twin.
    pub(crate) twin: String,
    /// How often a Lease tells that a node lives, if it does.
    pub(crate) heartbeat: Option<Duration>,
    /// The machine behind a node at a moment.
    pub(crate) machine: Tell,
    /// Whether nobody else says that a node is gone.
    pub(crate) is_whole: bool,
    /// As whom kubelets write.
    pub(crate) voice: Voice,
    /// When each node last told that it lives, by its name and uid.
    pub(crate) renewals: Renewals,
}

/// When Leases were renewed. In memory only: a twin that starts anew renews all of them, as kubelets do that start.
#[derive(Default)]
pub(crate) struct Renewals(Mutex<BTreeMap<String, (String, Timestamp)>>);

impl Renewals {
    fn all(&self) -> MutexGuard<'_, BTreeMap<String, (String, Timestamp)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// For how long the Lease of a node need not be renewed. A clock that was set back is no reason to wait.
    fn rest(&self, node: &Node, interval: Duration, now: Timestamp) -> Duration {
        let uid = node.uid().unwrap_or_default();
        let last = self
            .all()
            .get(&node.name_any())
            .filter(|last| last.0 == uid)
            .map(|last| last.1);
        let last = last.filter(|last| *last <= now);
        last.map_or(Duration::ZERO, |last| moment::until(moment::after(last, interval), now))
    }

    fn note(&self, node: &Node, now: Timestamp) {
        self.all()
            .insert(node.name_any(), (node.uid().unwrap_or_default(), now));
    }
}

/// The surroundings in which the kubelet of a node writes.
pub(crate) type Voice = fn(&Context, &str) -> Context;

/// Kubelets without an identity of their own: those of the management cluster, which are the twin itself.
pub(crate) fn common(context: &Context, _: &str) -> Context {
    context.clone()
}

/// Tells what a node runs on at a moment.
pub(crate) type Tell = Box<dyn Fn(&Node, Timestamp) -> Machine + Send + Sync>;

/// What a kubelet tells of its machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Machine {
    /// Processors, as a quantity.
    pub(crate) cpu: String,
    /// Memory, as a quantity.
    pub(crate) memory: String,
    /// Pods that it takes.
    pub(crate) pods: usize,
    /// Its address.
    pub(crate) address: String,
    /// The version of its kubelet.
    pub(crate) kubelet_version: String,
    /// Whether nothing is heard of it: it tells nothing.
    pub(crate) is_silent: bool,
    /// Whether that has lasted for so long that the node counts as gone.
    pub(crate) is_gone: bool,
}

impl Machine {
    /// One of the management cluster, whose address follows from its name.
    pub(crate) fn of_management(node: &Node, settings: &NodeSettings, faults: &Faults) -> Self {
        let name = node.name_any();
        let number: u32 = name
            .rsplit('-')
            .next()
            .and_then(|number| number.parse().ok())
            .unwrap_or_default();
        let is_gone = faults.is_gone(&name);
        Self {
            cpu: settings.cpu.clone(),
            memory: settings.memory.clone(),
            pods: settings.pods,
            address: std::net::Ipv4Addr::from(0xc0a8_0000 + 1 + number).to_string(),
            kubelet_version: KUBELET_VERSION.to_owned(),
            is_silent: is_gone,
            is_gone,
        }
    }
}

impl Reconciler for Nodes {
    type Object = Node;

    const SWEEPS: bool = true;

    async fn reconcile(&self, context: &Context, node: Arc<Node>) -> Result<Next, Failure> {
        if !is_ours(&node, &self.twin) {
            return Ok(Next::OnChange);
        }
        let now = context.now();
        let machine = (self.machine)(&node, now);
        let is_gone = machine.is_gone;
        if machine.is_silent && !(is_gone && self.is_whole) {
            // A real node controller notices by itself that nothing is heard; the twin plays its part only later.
            return Ok(Next::After(LOOK));
        }
        let status = status(&node, &machine, now);
        // That a node is gone is said by whoever notices, and not by its kubelet.
        let own = if is_gone {
            context.clone()
        } else {
            (self.voice)(context, &node.name_any())
        };
        let applied = own.apply_status(node.as_ref(), &status).await?;
        if self.is_whole {
            // The write above has made the node that was read an old one.
            let node = match &applied {
                Applied::Written(written) => written.as_ref(),
                Applied::Unchanged => node.as_ref(),
            };
            self.taint(context, node, is_gone, now).await?;
        }
        match self.heartbeat {
            Some(interval) if !is_gone => Ok(Next::After(self.renew(&own, &node, interval, now).await?.min(LOOK))),
            _ => Ok(Next::After(LOOK)),
        }
    }

    async fn sweep(&self, _: &Context, key: &ObjectKey) -> Result<(), Failure> {
        self.renewals.all().remove(&key.name);
        Ok(())
    }
}

impl Nodes {
    /// Renews the Lease of a node when that is due, and says when it is again.
    async fn renew(&self, own: &Context, node: &Node, interval: Duration, now: Timestamp) -> Result<Duration, Failure> {
        let rest = self.renewals.rest(node, interval, now);
        if !rest.is_zero() {
            return Ok(rest);
        }
        own.apply(&lease(node, now)).await?;
        self.renewals.note(node, now);
        Ok(interval)
    }

    /// Puts the taints on that keep pods away from a node that is gone or new, and takes them off.
    async fn taint(&self, context: &Context, node: &Node, is_gone: bool, now: Timestamp) -> Result<(), Failure> {
        let known = node
            .spec
            .as_ref()
            .and_then(|spec| spec.taints.clone())
            .unwrap_or_default();
        let mut taints = known.clone();
        // A node that is there takes pods, from the moment on at which it says so.
        taints.retain(|taint| taint.key != NOT_READY && (is_gone || taint.key != UNREACHABLE));
        if is_gone && !taints.iter().any(|taint| taint.key == UNREACHABLE) {
            taints.extend(["NoSchedule", "NoExecute"].map(|effect| Taint {
                key: UNREACHABLE.to_owned(),
                effect: effect.to_owned(),
                time_added: Some(moment::written(now)),
                ..Taint::default()
            }));
        }
        if taints == known {
            return Ok(());
        }
        let change = json!({"metadata": {"resourceVersion": node.resource_version()}, "spec": {"taints": taints}});
        let api: Api<Node> = Api::all(context.client().clone());
        api.patch(&node.name_any(), &PatchParams::default(), &Patch::Merge(change))
            .await?;
        Ok(())
    }
}

fn status(node: &Node, machine: &Machine, now: Timestamp) -> Value {
    let resources = json!({"cpu": machine.cpu, "memory": machine.memory, "pods": machine.pods.to_string()});
    let name = node.name_any();
    let known = node
        .status
        .as_ref()
        .and_then(|status| status.conditions.clone())
        .unwrap_or_default();
    let make = |type_: &str, status: &str, reason: &str, message: &str| {
        let before = known
            .iter()
            .find(|condition| condition.type_ == type_ && condition.status == status);
        let since = before.and_then(|before| before.last_transition_time.clone());
        let since = since.unwrap_or_else(|| moment::written(now));
        NodeCondition {
            type_: type_.to_owned(),
            status: status.to_owned(),
            reason: Some(reason.to_owned()),
            message: Some(message.to_owned()),
            // A status is posted when it changes. That a node lives is told by its Lease, which is small.
            last_heartbeat_time: Some(since.clone()),
            last_transition_time: Some(since),
        }
    };
    let unknown = "Kubelet stopped posting node status.";
    let ready = if machine.is_gone {
        make("Ready", "Unknown", "NodeStatusUnknown", unknown)
    } else {
        make("Ready", "True", "KubeletReady", "kubelet is posting ready status")
    };
    json!({
        "capacity": resources, "allocatable": resources,
        "addresses": [{"type": "InternalIP", "address": machine.address}, {"type": "Hostname", "address": name}],
        "conditions": [
            make("MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
            make("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
            make("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
            ready,
        ],
        "nodeInfo": {
            "architecture": "amd64", "operatingSystem": "linux", "kubeletVersion": machine.kubelet_version,
            "kubeProxyVersion": "",
            "kernelVersion": "6.12", "osImage": "Twin", "containerRuntimeVersion": "twin://1", "machineID": "",
            "systemUUID": "", "bootID": "",
        },
    })
}

fn lease(node: &Node, now: Timestamp) -> Lease {
    Lease {
        metadata: ObjectMeta {
            name: Some(node.name_any()),
            namespace: Some(LEASES.to_owned()),
            // As the kubelet has it (pkg/kubelet/util/nodelease.go), so that a Lease goes with its node.
            owner_references: Some(vec![OwnerReference {
                api_version: "v1".to_owned(),
                kind: "Node".to_owned(),
                name: node.name_any(),
                uid: node.uid().unwrap_or_default(),
                ..OwnerReference::default()
            }]),
            ..ObjectMeta::default()
        },
        spec: Some(LeaseSpec {
            holder_identity: Some(node.name_any()),
            lease_duration_seconds: Some(LEASE_SECONDS),
            renew_time: Some(MicroTime(now)),
            ..LeaseSpec::default()
        }),
    }
}

/// Takes pods away from nodes that do not bear them any more.
pub(crate) struct Evictions {
    /// Every pod.
    pub(crate) pods: Store<Pod>,
}

impl Reconciler for Evictions {
    type Object = Node;

    async fn reconcile(&self, context: &Context, node: Arc<Node>) -> Result<Next, Failure> {
        let (name, now) = (node.name_any(), context.now());
        let taints = node
            .spec
            .as_ref()
            .and_then(|spec| spec.taints.clone())
            .unwrap_or_default();
        let taints: Vec<Taint> = taints.into_iter().filter(|taint| taint.effect == "NoExecute").collect();
        if taints.is_empty() {
            return Ok(Next::OnChange);
        }
        let mut next: Option<Timestamp> = None;
        for pod in self
            .pods
            .all()
            .iter()
            .filter(|pod| pods::node(pod) == name && pods::is_active(pod))
        {
            match leaves_at(pod, &taints, now) {
                Some(at) if at <= now => context.delete(pod.as_ref()).await?,
                at => next = moment::sooner(next, at),
            }
        }
        Ok(next.map_or(Next::OnChange, |at| Next::After(moment::until(at, now))))
    }
}

/// When a pod has to leave a node with these taints; never, if it bears them.
fn leaves_at(pod: &Pod, taints: &[Taint], now: Timestamp) -> Option<Timestamp> {
    let moments = taints.iter().filter_map(|taint| {
        let since = taint.time_added.as_ref().map_or(now, |time| time.0);
        match toleration(
            pod,
            &taint.key,
            taint.value.as_deref().unwrap_or_default(),
            &taint.effect,
        ) {
            None => Some(since),
            Some(toleration) => Some(moment::after_seconds(since, toleration.toleration_seconds?)),
        }
    });
    moments.min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_are_spread_over_zones() {
        let settings = NodeSettings {
            count: 5,
            zones: 3,
            ..NodeSettings::default()
        };
        let zones: Vec<String> = (0..5)
            .map(|number| build("t", &settings, number).labels()[ZONE].clone())
            .collect();
        assert_eq!(zones, ["zone-a", "zone-b", "zone-c", "zone-a", "zone-b"]);
    }

    #[test]
    fn a_lease_is_renewed_once_per_interval() {
        let now: Timestamp = "2026-01-02T03:04:05Z".parse().unwrap();
        let node =
            |uid: &str| -> Node { hyperplane_objects::read(json!({"metadata": {"name": "a", "uid": uid}})).unwrap() };
        let (renewals, interval) = (Renewals::default(), Duration::from_mins(1));
        assert_eq!(renewals.rest(&node("1"), interval, now), Duration::ZERO);
        renewals.note(&node("1"), now);
        for (uid, seconds, rest) in [("1", 0, 60), ("1", 20, 40), ("1", 60, 0), ("1", -5, 0), ("2", 20, 0)] {
            let now = moment::after_seconds(now, seconds);
            assert_eq!(renewals.rest(&node(uid), interval, now), Duration::from_secs(rest));
        }
        let lease = lease(&node("1"), now);
        assert_eq!(lease.metadata.owner_references.unwrap()[0].uid, "1");
    }

    #[test]
    fn pods_leave_when_their_patience_ends() {
        let now: Timestamp = "2026-01-02T03:04:05Z".parse().unwrap();
        let taint = Taint {
            key: UNREACHABLE.to_owned(),
            effect: "NoExecute".to_owned(),
            time_added: Some(moment::written(now)),
            ..Taint::default()
        };
        let pod = |tolerations: Value| -> Pod {
            hyperplane_objects::read(json!({"spec": {"containers": [], "tolerations": tolerations}})).unwrap()
        };
        let exists = json!({"key": UNREACHABLE, "operator": "Exists", "effect": "NoExecute"});
        let mut patient = exists.clone();
        patient["tolerationSeconds"] = json!(300);
        let taints = [taint];
        assert_eq!(leaves_at(&pod(json!([])), &taints, now), Some(now));
        assert_eq!(
            leaves_at(&pod(json!([patient])), &taints, now),
            Some(moment::after_seconds(now, 300))
        );
        assert_eq!(leaves_at(&pod(json!([exists])), &taints, now), None);
    }
}
