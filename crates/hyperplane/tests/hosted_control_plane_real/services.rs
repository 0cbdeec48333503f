//! Services: an address each, behind which are the pods that are ready now; and the names of all of them. This is what
//! a cluster's DNS and kube-proxy do: a new connection goes to a pod that is ready, an old one stays where it is.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    net::{Ipv4Addr, SocketAddrV4},
    sync::{
        Arc, PoisonError, RwLock,
        atomic::{AtomicUsize, Ordering},
    },
};

use anyhow::{Context as _, Result};
use k8s_openapi::{
    api::core::v1::{Service, ServicePort},
    apimachinery::pkg::util::intstr::IntOrString,
};
use tokio::{
    io::copy_bidirectional,
    net::{TcpListener, TcpStream},
};

use crate::pod::Pod;

/// All pods.
#[derive(Default)]
pub struct Pods(RwLock<Vec<Arc<Pod>>>);

impl Pods {
    pub fn add(&self, pod: Arc<Pod>) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).push(pod);
    }

    /// Those whose labels say so and that are not on their way out.
    pub fn of(&self, selector: &BTreeMap<String, String>) -> Vec<Arc<Pod>> {
        let pods = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let is_selected = |pod: &&Arc<Pod>| selector.iter().all(|(key, value)| pod.labels.get(key) == Some(value));
        let selected = pods.iter().filter(is_selected);
        selected.filter(|pod| !pod.is_ending()).cloned().collect()
    }

    /// All of them.
    pub fn all(&self) -> Vec<Arc<Pod>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Serves every port of a Service at an address.
pub async fn serve(service: &Service, address: Ipv4Addr, pods: &Arc<Pods>) -> Result<()> {
    let spec = service.spec.as_ref().context("a Service has a spec")?;
    let selector = spec.selector.clone().unwrap_or_default();
    for port in spec.ports.iter().flatten() {
        let at = SocketAddrV4::new(address, u16::try_from(port.port)?);
        listen(at, target(port)?, selector.clone(), Arc::clone(pods)).await?;
    }
    Ok(())
}

/// Serves what a Service has at a port of the node.
pub async fn serve_node_port(service: &Service, node: SocketAddrV4, pods: &Arc<Pods>) -> Result<()> {
    let spec = service.spec.as_ref().context("a Service has a spec")?;
    let port = spec
        .ports
        .iter()
        .flatten()
        .next()
        .context("a published Service has a port")?;
    listen(
        node,
        target(port)?,
        spec.selector.clone().unwrap_or_default(),
        Arc::clone(pods),
    )
    .await
}

fn target(port: &ServicePort) -> Result<u16> {
    match port.target_port {
        Some(IntOrString::Int(number)) => Ok(u16::try_from(number)?),
        _ => anyhow::bail!("the target of port {} is no number", port.port),
    }
}

async fn listen(at: SocketAddrV4, target: u16, selector: BTreeMap<String, String>, pods: Arc<Pods>) -> Result<()> {
    let listener = TcpListener::bind(at).await.with_context(|| at.to_string())?;
    let turn = AtomicUsize::new(0);
    tokio::spawn(async move {
        while let Ok((mut client, _)) = listener.accept().await {
            let ready: Vec<_> = pods.of(&selector).into_iter().filter(|pod| pod.is_ready()).collect();
            let turn = turn.fetch_add(1, Ordering::Relaxed);
            // Without anybody behind it, a connection is refused.
            let Some(pod) = ready.get(turn % ready.len().max(1)) else {
                continue;
            };
            let to = SocketAddrV4::new(pod.address, target);
            tokio::spawn(async move {
                if let Ok(mut server) = TcpStream::connect(to).await {
                    // Small messages must not wait for each other; how a connection ends is for its two ends.
                    client.set_nodelay(true).ok();
                    server.set_nodelay(true).ok();
                    copy_bidirectional(&mut client, &mut server).await.ok();
                }
            });
        }
    });
    Ok(())
}

/// Lines of a hosts file for a Service, by the names that pods of all namespaces use.
pub fn hosts_of_service(name: &str, namespace: &str, address: Ipv4Addr) -> String {
    format!("{address} {name}.{namespace}.svc.cluster.local {name}.{namespace}.svc {name}.{namespace} {name}\n")
}

/// Lines of a hosts file for the pods behind a Service without an address of its own.
pub fn hosts_of_pods<'a>(
    pods: impl Iterator<Item = (&'a String, &'a Ipv4Addr)>,
    service: &str,
    namespace: &str,
) -> String {
    let mut text = String::new();
    for (pod, address) in pods {
        let name = format!("{pod}.{service}.{namespace}.svc");
        writeln!(text, "{address} {name}.cluster.local {name}").expect("memory can be written to");
    }
    text
}
