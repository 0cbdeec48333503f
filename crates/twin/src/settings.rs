//! Everything that a twin is told from outside. Plain data and a few functions; decides nothing.

use std::{fmt, path::PathBuf, sync::Arc, time::Duration};

use futures::future::BoxFuture;
use hyperplane_apiserver::{Entropy, Shared};
use hyperplane_objects::Kind;
use hyperplane_runtime::{ControllerBuilder, Manager, OutboundLimits, Store, Watch};
use hyperplane_seams::{Clock, Random};

use crate::{faults::Faults, kubelet::Kubelet, machines::MachineSettings};

/// Which part of a cluster the twin is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Everything behind an API server that has no other controllers: workloads, scheduler, kubelets, load balancers,
    /// volumes.
    Whole,
    /// The kubelets of a cluster whose own controllers and scheduler do the rest. Load balancers and volumes are given
    /// to what belongs to Hyperplane, because such a cluster has no cloud.
    Kubelet,
}

/// The parameters of a twin.
#[derive(Clone)]
pub struct TwinSettings {
    /// Tells this twin's nodes from those of others.
    pub name: String,
    /// Where timestamps come from.
    pub clock: Clock,
    /// All chance follows from it.
    pub seed: u64,
    /// Which part of a cluster it is.
    pub mode: Mode,
    /// The machines of the management cluster.
    pub nodes: NodeSettings,
    /// The machines of hosted clusters.
    pub machines: MachineSettings,
    /// Which images exist.
    pub images: Images,
    /// What is known of programs in containers.
    pub programs: Programs,
    /// What goes wrong.
    pub faults: Faults,
    /// How long things take.
    pub pace: Pace,
    /// Where hosted clusters keep their data.
    pub data: Data,
    /// Whether hosted clusters are reached by sockets, too.
    pub listeners: Listeners,
    /// Where names and secrets of hosted clusters come from.
    pub entropy: Entropy,
    /// What all API servers of the process share.
    pub shared: Shared,
    /// What the twin may ask of the API server.
    pub limits: OutboundLimits,
}

impl TwinSettings {
    /// A whole cluster of three small machines in three zones, in memory, in which every image exists. Hosted clusters get
    /// no machines: that takes kinds which a cluster may not have.
    pub fn new(clock: Clock, seed: u64, entropy: Entropy, shared: Shared) -> Self {
        Self {
            name: "twin".to_owned(),
            clock,
            seed,
            mode: Mode::Whole,
            nodes: NodeSettings::default(),
            machines: MachineSettings::default(),
            images: Images::all(),
            programs: Programs::default(),
            faults: Faults::default(),
            pace: Pace::default(),
            data: Data::Memory,
            listeners: Listeners::None,
            entropy,
            shared,
            limits: OutboundLimits {
                rate: 2_000,
                burst: 4_000,
                ..OutboundLimits::default()
            },
        }
    }
}

/// The machines of the management cluster.
#[derive(Clone, Debug)]
pub struct NodeSettings {
    /// How many.
    pub count: usize,
    /// Over how many zones.
    pub zones: usize,
    /// Processors of each, as a quantity.
    pub cpu: String,
    /// Memory of each, as a quantity.
    pub memory: String,
    /// Pods that each takes.
    pub pods: usize,
    /// How often a Lease tells that a node lives. A real node controller asks for it; without one nothing is written.
    pub heartbeat: Option<Duration>,
}

impl Default for NodeSettings {
    fn default() -> Self {
        Self {
            count: 3,
            zones: 3,
            cpu: "64".to_owned(),
            memory: "256Gi".to_owned(),
            pods: 1_000,
            heartbeat: None,
        }
    }
}

/// Which images exist.
#[derive(Clone)]
pub struct Images {
    look: Arc<Look>,
    advice: Option<&'static str>,
}

type IsKnown = dyn Fn(&str) -> bool + Send + Sync;
type Wait = dyn for<'a> Fn(KubeletBuilder<'a>) -> KubeletBuilder<'a> + Send + Sync;
type Look = dyn Fn(&Manager) -> (Arc<IsKnown>, Arc<Wait>) + Send + Sync;
type KubeletBuilder<'a> = ControllerBuilder<'a, Kubelet>;

impl Images {
    /// Those that a function knows.
    pub fn known(is_known: impl Fn(&str) -> bool + Send + Sync + 'static) -> Self {
        let is_known: Arc<IsKnown> = Arc::new(is_known);
        Self {
            look: Arc::new(move |_| (Arc::clone(&is_known), Arc::new(|kubelet| kubelet))),
            advice: None,
        }
    }

    /// Those that a function knows which looks at all objects of a kind.
    pub fn watched<K: Kind>(is_known: impl Fn(&Store<K>, &str) -> bool + Send + Sync + 'static) -> Self {
        let is_known = Arc::new(is_known);
        let look = move |manager: &Manager| -> (Arc<IsKnown>, Arc<Wait>) {
            let (store, is_known) = (manager.store(Watch::<K>::all()), Arc::clone(&is_known));
            let needed = store.clone();
            (
                Arc::new(move |image| is_known(&store, image)),
                Arc::new(move |kubelet| kubelet.reads(&needed)),
            )
        };
        Self {
            look: Arc::new(look),
            advice: None,
        }
    }

    /// The same, with what to do about an image that is not known.
    #[must_use]
    pub fn advising(mut self, advice: &'static str) -> Self {
        self.advice = Some(advice);
        self
    }

    /// Every image.
    pub fn all() -> Self {
        Self::known(|_| true)
    }

    pub(crate) fn registry(&self, manager: &Manager) -> Registry {
        let (is_known, wait) = (self.look)(manager);
        Registry {
            is_known,
            wait,
            advice: self.advice,
        }
    }
}

impl fmt::Debug for Images {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Images")
    }
}

/// The images that exist, for one twin.
pub(crate) struct Registry {
    is_known: Arc<IsKnown>,
    wait: Arc<Wait>,
    advice: Option<&'static str>,
}

impl Registry {
    /// Lets kubelets wait for what the answer depends on: before the first list, a missing object proves nothing.
    pub(crate) fn waited_for_by<'a>(&self, kubelet: KubeletBuilder<'a>) -> KubeletBuilder<'a> {
        (self.wait)(kubelet)
    }

    /// Pulls an image; the error is what a registry would say, and what to do.
    pub(crate) fn pull(&self, image: &str) -> Result<(), String> {
        match self.advice {
            _ if (self.is_known)(image) => Ok(()),
            Some(advice) => Err(format!("not found ({advice})")),
            None => Err("not found".to_owned()),
        }
    }
}

/// What is known of programs of our own: the flags of Kubernetes' and etcd's are in tables here.
#[derive(Clone)]
pub struct Programs {
    check: Arc<Check>,
    run: Arc<Run>,
}

type Check = dyn Fn(&[String]) -> Result<(), String> + Send + Sync;
type Run = dyn Fn(&Program) -> Option<Work> + Send + Sync;

/// What a program does while its container runs. In a pod that is to come to an end, its end is that of the container, and
/// an error is what it says then; in any other, whoever gives it has to see to it that it goes on.
pub type Work = BoxFuture<'static, Result<(), String>>;

/// A program of our own in a container that has started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// The name of the pod.
    pub pod: String,
    /// Its namespace.
    pub namespace: String,
    /// The service account that it runs as.
    pub service_account: String,
    /// The subcommand and its flags, with variables put in.
    pub arguments: Vec<String>,
}

impl Programs {
    /// A function that judges the arguments of `hyperplane`: the subcommand and its flags. The error is what the program
    /// would say.
    pub fn judged_by(check: impl Fn(&[String]) -> Result<(), String> + Send + Sync + 'static) -> Self {
        Self {
            check: Arc::new(check),
            run: Arc::new(|_| None),
        }
    }

    /// The same, and a function that gives what a program does while its container runs; none for those of which nothing
    /// is to be seen.
    pub fn run_by(mut self, run: impl Fn(&Program) -> Option<Work> + Send + Sync + 'static) -> Self {
        self.run = Arc::new(run);
        self
    }

    /// The same, of which nothing is to be seen: for pods of hosted clusters, whose programs are not ours to run.
    pub(crate) fn unseen(mut self) -> Self {
        self.run = Arc::new(|_| None);
        self
    }

    pub(crate) fn check(&self, arguments: &[String]) -> Result<(), String> {
        (self.check)(arguments)
    }

    pub(crate) fn start(&self, program: &Program) -> Option<Work> {
        (self.run)(program)
    }
}

impl Default for Programs {
    /// Takes all arguments.
    fn default() -> Self {
        Self::judged_by(|_| Ok(()))
    }
}

impl fmt::Debug for Programs {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Programs")
    }
}

/// Where hosted clusters keep their data.
#[derive(Clone, Debug)]
pub enum Data {
    /// In memory, for as long as the twin lives.
    Memory,
    /// In a directory, one per cluster. Real time only: the disk has a pace of its own.
    Directory(PathBuf),
}

/// Whether hosted clusters are reached by sockets, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listeners {
    /// Only in memory, as virtual time demands.
    None,
    /// On the loopback addresses of load balancers, and on 127.0.0.1 for the ports of nodes.
    Loopback,
}

/// How long things take at most; each time is drawn from the seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// From a pod's arrival, or the end of the container before, to the start of a container: pulling, mounting.
    pub start: Duration,
    /// An init container's work.
    pub init: Duration,
    /// From the start of a container to its being ready.
    pub ready: Duration,
    /// The work of a container that comes to an end.
    pub work: Duration,
    /// From the wish that a container ends to its end.
    pub stop: Duration,
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            start: Duration::from_secs(3),
            init: Duration::from_secs(2),
            ready: Duration::from_secs(6),
            work: Duration::from_secs(20),
            stop: Duration::from_secs(4),
        }
    }
}

impl Pace {
    /// Everything at once.
    pub const fn instant() -> Self {
        Self {
            start: Duration::ZERO,
            init: Duration::ZERO,
            ready: Duration::ZERO,
            work: Duration::ZERO,
            stop: Duration::ZERO,
        }
    }
}

/// A time that is drawn once and for all for what it is about: asked again, the answer is the same.
pub(crate) fn drawn(seed: u64, about: &str, longest: Duration) -> Duration {
    let mut random = Random::named(seed, about);
    // The first numbers of similar names are similar.
    random.next_u64();
    random.up_to(longest)
}
