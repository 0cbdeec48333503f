//! The network of the simulated cluster: from a host and a port to what answers there, a hosted API server or a program of
//! this process, in memory or from a socket. Owns the way; who serves is decided by Services and by the kubelet.

mod client;
mod doors;
mod hello;
mod link;
mod listeners;
mod place;

use std::{
    collections::BTreeMap,
    io,
    net::{IpAddr, Ipv4Addr, SocketAddr},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use futures::{FutureExt as _, future::BoxFuture};
use hyperplane_runtime::{ObjectKey, Reach};
use hyperplane_seams::Clock;
use k8s_openapi::api::core::v1::{Container, Pod};
use kube::ResourceExt;
use serde::Deserialize;
use tokio::{
    io::{AsyncRead, AsyncWrite, DuplexStream},
    net::TcpStream,
    sync::mpsc,
};

pub(crate) use self::{
    client::Time,
    listeners::Sockets,
    place::{Place, Services, addresses, locate},
};
pub use self::{
    doors::{Connection, Listener},
    hello::Stream,
};
use crate::{
    hosted::Front,
    kubelet::{World, content, invocation},
    pods,
    programs::{Address, Content, Flags},
    services::{endpoints::target, load_balancers},
    tasks::Tasks,
};

/// Bytes that one end of a connection in memory may be ahead of the other.
const PIPE: usize = 64 << 10;
/// From where connections in memory seem to come.
const INSIDE: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 1);
/// Routers behind routers that are followed at most.
const HOPS: u8 = 4;

/// The way to hosted clusters. Cheap to clone.
#[derive(Clone)]
pub struct Network(Arc<Inner>);

struct Inner {
    world: Arc<World>,
    tasks: Tasks,
    clock: Clock,
    /// The sockets on which Services are, too.
    sockets: listeners::Opened,
    /// Where programs of this process listen.
    doors: doors::Doors,
    /// Counts connections, so that replicas take turns.
    turn: AtomicUsize,
}

/// A connection, from wherever.
pub(crate) type Io = Box<dyn hello::Stream>;

/// What answers behind a port of a pod.
enum Backend {
    /// A hosted API server.
    Server(Arc<Front>),
    /// A program of this process, which takes connections.
    Program(mpsc::Sender<Connection>),
    /// A router: whom it leads to, by host name, as seen from its namespace.
    Router(BTreeMap<String, Address>, String),
}

/// The configuration of a router.
#[derive(Deserialize)]
struct Routes {
    routes: Vec<Route>,
}

#[derive(Deserialize)]
struct Route {
    hostname: String,
    backend: String,
}

impl Network {
    pub(crate) fn new(world: Arc<World>, tasks: Tasks, clock: Clock) -> Self {
        Self(Arc::new(Inner {
            world,
            tasks,
            clock,
            sockets: listeners::Opened::default(),
            doors: doors::Doors::default(),
            turn: AtomicUsize::new(0),
        }))
    }

    /// How operators in this process reach hosted API servers: by the kubeconfig that they would use anywhere, with its
    /// certificates, over connections in memory. Both ends take the clock of the twin.
    pub fn reach(&self) -> Reach {
        let network = self.clone();
        Reach::by(move |config| client::client(&network, &config))
    }

    /// Serves a connection from another process as the hosted API server whose name is in its TLS greeting, until it ends.
    /// This is how operators in a process of their own reach hosted clusters.
    pub async fn relay<I>(&self, io: I, remote: SocketAddr, port: u16)
    where
        I: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let Some((host, io)) = hello::read(io).await else {
            return;
        };
        let address = Address { host, port };
        if let Some(backend) = self.find("", &address).or_else(|| self.routed(&address)) {
            self.clone().serve(Box::new(io), remote, backend, HOPS).await;
        }
    }

    /// Lets a program of this process be reached on a port of the pod that it runs in: whoever is led there by a Service
    /// is handed out by the listener, from the first byte of the connection on. It ends with the listener.
    pub fn listen(&self, namespace: &str, pod: &str, port: u16) -> Listener {
        self.0.doors.open(ObjectKey::namespaced(namespace, pod), port)
    }

    /// A connection from a machine to a host and port: by a socket where the Service is on one of ours, else in memory.
    pub(crate) async fn dial(&self, address: &Address) -> io::Result<Io> {
        // Where we could not listen somebody else may: another cluster on the same machine.
        if let Some(socket) = self.socket(address).filter(|socket| self.0.sockets.has(*socket)) {
            let stream = TcpStream::connect(socket).await?;
            stream.set_nodelay(true)?;
            return Ok(Box::new(stream));
        }
        let refused = || io::Error::new(io::ErrorKind::ConnectionRefused, "nothing ready is behind it");
        let pipe = self.connect(address).ok_or_else(refused)?;
        Ok(Box::new(pipe))
    }

    /// The clock by which certificates are judged.
    pub(crate) fn clock(&self) -> Clock {
        self.0.clock.clone()
    }

    /// Where a host and port would be listened for; none where they are reached in memory only. Nobody's DNS knows the names
    /// that a router leads by, so the address of its load balancer is taken.
    fn socket(&self, address: &Address) -> Option<SocketAddr> {
        if let Ok(ip) = address.host.parse::<IpAddr>() {
            return ip.is_loopback().then(|| SocketAddr::new(ip, address.port));
        }
        let balanced = self.0.world.load_balancers();
        let router = balanced.iter().find(|service| {
            let backend = self.behind(&Place::of(service), address.port);
            matches!(backend, Some(Backend::Router(routes, _)) if routes.contains_key(&address.host))
        })?;
        let ip = load_balancers::addresses(router).into_iter().next()?;
        Some(SocketAddr::new(IpAddr::V4(ip), address.port))
    }

    /// A connection in memory to a host and port, as seen from outside of every namespace.
    fn connect(&self, address: &Address) -> Option<DuplexStream> {
        let backend = self
            .find("", address)
            .or_else(|| self.routed(address))
            .or_else(|| self.on_nodes(address))?;
        let (near, far) = tokio::io::duplex(PIPE);
        let network = self.clone();
        self.0
            .tasks
            .spawn(async move { network.serve(Box::new(far), INSIDE, backend, HOPS).await });
        Some(near)
    }

    /// What answers at a host and port, as seen from a namespace.
    fn find(&self, namespace: &str, address: &Address) -> Option<Backend> {
        let place = locate(&address.host, namespace, self.0.world.as_ref())?;
        self.behind(&place, address.port)
    }

    /// A router that knows a host name: outside of the cluster, names lead to its load balancer.
    fn routed(&self, address: &Address) -> Option<Backend> {
        let balanced = self.0.world.load_balancers();
        let mut backends = balanced
            .iter()
            .filter_map(|service| self.behind(&Place::of(service), address.port));
        backends.find(|backend| matches!(backend, Backend::Router(routes, _) if routes.contains_key(&address.host)))
    }

    /// A Service by its port on nodes: every address that is no Service's is taken to be one of a node.
    fn on_nodes(&self, address: &Address) -> Option<Backend> {
        address.host.parse::<IpAddr>().ok()?;
        let services = self.0.world.on_nodes(address.port);
        services
            .iter()
            .find_map(|service| self.behind(&Place::on_nodes(service), address.port))
    }

    /// What answers behind a port of a Service; of several pods another one each time.
    fn behind(&self, place: &Place, port: u16) -> Option<Backend> {
        let service = self.0.world.services.get(&place.service)?;
        let port = place.port(&service, port)?;
        let all = self.0.world.behind(place);
        let backends = all.iter().filter_map(|pod| self.listening(pod, target(port, pod)?));
        let mut backends: Vec<Backend> = backends.collect();
        let turn = self.0.turn.fetch_add(1, Ordering::Relaxed);
        (!backends.is_empty()).then(|| backends.swap_remove(turn % backends.len()))
    }

    /// What a pod answers with on a port.
    fn listening(&self, pod: &Pod, port: i32) -> Option<Backend> {
        let port = u16::try_from(port).ok()?;
        if let Some(front) = self.0.world.hosted.front(&ObjectKey::of(pod)) {
            return (front.port() == port).then_some(Backend::Server(front));
        }
        if let Some(program) = self.0.doors.find(&ObjectKey::of(pod), port) {
            return Some(Backend::Program(program));
        }
        pods::containers(pod)
            .iter()
            .find_map(|container| self.router(pod, container, port))
    }

    fn router(&self, pod: &Pod, container: &Container, port: u16) -> Option<Backend> {
        let invocation = invocation(pod, container, self.0.world.as_ref()).ok()?;
        if invocation.subcommand() != Some("router") {
            return None;
        }
        let flags = Flags::loose(&invocation.arguments[1..]);
        let listens = Address::parse(flags.last("listen")?, 0)?;
        let Content::Bytes(bytes) = content(pod, container, flags.last("config")?, &self.0.world) else {
            return None;
        };
        let config: Routes = hyperplane_objects::read_yaml(std::str::from_utf8(&bytes).ok()?).ok()?;
        let routes = config.routes.into_iter();
        let routes = routes.filter_map(|route| Some((route.hostname, Address::parse(&route.backend, 0)?)));
        let namespace = pod.namespace().unwrap_or_default();
        (listens.port == port).then(|| Backend::Router(routes.collect(), namespace))
    }

    /// Serves one connection until it ends.
    fn serve(self, io: Io, remote: SocketAddr, backend: Backend, hops: u8) -> BoxFuture<'static, ()> {
        let serve = async move {
            match backend {
                Backend::Server(front) => front.serve(io, remote).await,
                // From here on it is the program's; if that has just ended, the connection has, too.
                Backend::Program(program) => drop(program.send(Connection { io, remote }).await),
                Backend::Router(routes, namespace) => {
                    let Some((name, io)) = hello::read(io).await else {
                        return;
                    };
                    let next = routes.get(&name).and_then(|address| self.find(&namespace, address));
                    if let (Some(next), Some(hops)) = (next, hops.checked_sub(1)) {
                        self.serve(Box::new(io), remote, next, hops).await;
                    }
                }
            }
        };
        serve.boxed()
    }
}
