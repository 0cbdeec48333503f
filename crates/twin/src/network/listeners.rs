//! Hosted API servers and programs of ours on sockets: each load balancer listens on its own loopback address, ports of nodes on 127.0.0.1.
//! What the status of a Service shows is where it is reached. Needs real time.

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    net::{IpAddr, Ipv4Addr, SocketAddr},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use hyperplane_runtime::{Context, EventType, Failure, Next, ObjectKey, Reconciler};
use k8s_openapi::api::core::v1::Service;
use tokio::{
    net::{TcpListener, TcpStream},
    task::JoinSet,
};
use tokio_util::sync::CancellationToken;

use super::{HOPS, Network, place::Place};
use crate::services::load_balancers;

/// Connections at a time on one address; further ones wait.
const CONNECTIONS: usize = 4096;
/// When it is tried again to listen where it was not possible.
const RETRY: Duration = Duration::from_secs(30);
/// How often it is looked whether a program listens behind a Service that is shown: its pod may have been ready before.
const LOOK: Duration = Duration::from_secs(2);
/// How long to wait after the system refused to accept.
const PAUSE: Duration = Duration::from_millis(100);

/// Puts Services on sockets.
pub(crate) struct Sockets {
    network: Network,
}

impl Drop for Sockets {
    fn drop(&mut self) {
        // Who listens keeps the network, and the network the sockets.
        self.open().clear();
    }
}

/// The sockets that are listened on.
#[derive(Default)]
pub(super) struct Opened(Mutex<BTreeMap<SocketAddr, Open>>);

impl Opened {
    /// Whether a socket is one of them.
    pub(super) fn has(&self, socket: SocketAddr) -> bool {
        self.all().contains_key(&socket)
    }

    fn all(&self) -> MutexGuard<'_, BTreeMap<SocketAddr, Open>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Open {
    service: ObjectKey,
    stop: CancellationToken,
}

impl Drop for Open {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

impl Reconciler for Sockets {
    type Object = Service;

    const SWEEPS: bool = true;

    async fn reconcile(&self, context: &Context, service: Arc<Service>) -> Result<Next, Failure> {
        let key = ObjectKey::of(service.as_ref());
        let wanted = self.wanted(&service);
        self.open()
            .retain(|address, open| open.service != key || wanted.contains_key(address));
        let mut is_complete = true;
        for (address, place) in wanted {
            if self.open().contains_key(&address) {
                continue;
            }
            match TcpListener::bind(address).await {
                Ok(listener) => self.listen(listener, address, place),
                Err(error) => {
                    is_complete = false;
                    context.event(EventType::Warning, "NotListening", words(address, &error));
                    tracing::warn!(service = %key, %address, %error, "A Service cannot be listened for.");
                }
            }
        }
        Ok(if !is_complete {
            Next::After(RETRY)
        } else if self.is_awaited(&service) {
            Next::After(LOOK)
        } else {
            Next::OnChange
        })
    }

    async fn sweep(&self, _: &Context, key: &ObjectKey) -> Result<(), Failure> {
        if self.network.0.world.services.get(key).is_none() {
            self.open().retain(|_, open| open.service != *key);
        }
        Ok(())
    }
}

impl Sockets {
    pub(crate) const fn new(network: Network) -> Self {
        Self { network }
    }

    fn open(&self) -> MutexGuard<'_, BTreeMap<SocketAddr, Open>> {
        self.network.0.sockets.all()
    }

    /// Where a Service is listened for: only where something is behind it that answers.
    fn wanted(&self, service: &Service) -> BTreeMap<SocketAddr, Place> {
        let mut wanted = BTreeMap::new();
        if service.metadata.deletion_timestamp.is_some() {
            return wanted;
        }
        let balancers: BTreeSet<Ipv4Addr> = if load_balancers::is_load_balancer(service) {
            load_balancers::addresses(service).into_iter().collect()
        } else {
            BTreeSet::new()
        };
        let ports = service
            .spec
            .as_ref()
            .and_then(|spec| spec.ports.as_deref())
            .unwrap_or_default();
        for port in ports {
            let number = |port: i32| u16::try_from(port).ok().filter(|port| *port > 0);
            let Some(shown) = number(port.port).filter(|shown| self.answers(&Place::of(service), *shown)) else {
                continue;
            };
            for address in &balancers {
                wanted.insert(SocketAddr::new(IpAddr::V4(*address), shown), Place::of(service));
            }
            if let Some(on_nodes) = port.node_port.and_then(number) {
                let address = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), on_nodes);
                wanted.insert(address, Place::on_nodes(service));
            }
        }
        wanted
    }

    /// Whether a Service that is shown has pods that are ready, and nobody listens in them.
    fn is_awaited(&self, service: &Service) -> bool {
        let spec = service.spec.as_ref();
        let mut ports = spec.and_then(|spec| spec.ports.as_deref()).unwrap_or_default().iter();
        let is_shown = load_balancers::is_load_balancer(service) || ports.any(|port| port.node_port.is_some());
        let (key, place) = (ObjectKey::of(service), Place::of(service));
        let is_open = self.open().values().any(|open| open.service == key);
        is_shown && !is_open && !self.network.0.world.behind(&place).is_empty()
    }

    fn answers(&self, place: &Place, port: u16) -> bool {
        let is_open = self.open().values().any(|open| open.service == place.service);
        // While replicas are exchanged there may be none for a moment; whoever listens goes on.
        is_open || self.network.behind(place, port).is_some()
    }

    fn listen(&self, listener: TcpListener, address: SocketAddr, place: Place) {
        let stop = CancellationToken::new();
        let open = Open {
            service: place.service.clone(),
            stop: stop.clone(),
        };
        tracing::info!(service = %open.service, %address, "A Service is listened for.");
        self.open().insert(address, open);
        self.network
            .0
            .tasks
            .spawn(accept(self.network.clone(), listener, address, place, stop));
    }
}

async fn accept(network: Network, listener: TcpListener, address: SocketAddr, place: Place, stop: CancellationToken) {
    let mut connections = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            () = stop.cancelled() => return,
            Some(_) = connections.join_next() => continue,
            accepted = listener.accept(), if connections.len() < CONNECTIONS => accepted,
        };
        match accepted {
            Ok((stream, remote)) => {
                connections.spawn(serve(network.clone(), stream, remote, place.clone(), address.port()));
            }
            Err(error) => {
                tracing::warn!(%address, %error, "No connection can be accepted for the moment.");
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
}

/// Serves one connection; it ends at once where nothing is ready.
async fn serve(network: Network, stream: TcpStream, remote: SocketAddr, place: Place, port: u16) {
    let Some(backend) = network.behind(&place, port) else {
        return;
    };
    if stream.set_nodelay(true).is_ok() {
        network.serve(Box::new(stream), remote, backend, HOPS).await;
    }
}

/// Why an address cannot be listened on, and what to do.
fn words(address: SocketAddr, error: &io::Error) -> String {
    let advice = match error.kind() {
        io::ErrorKind::AddrNotAvailable => {
            let ip = address.ip();
            format!(
                "; only Linux has all of 127.0.0.0/8: add the address to the loopback interface (macOS: ifconfig lo0 \
                 alias {ip}), or publish by NodePort with address 127.0.0.1"
            )
        }
        io::ErrorKind::AddrInUse => {
            let port = address.port();
            format!(
                "; another program has the port, of this address or of all: end it (on Linux, ss -ltnp sport = :{port} \
                 shows it); until then the Service is reached from inside of this process only"
            )
        }
        io::ErrorKind::PermissionDenied => "; ports below 1024 need a right of their own".to_owned(),
        _ => String::new(),
    };
    format!("{address} cannot be listened on: {error}{advice}")
}
