//! The network of the management cluster: a bridge that all pods are on, and addresses for pods and Services. Owns the
//! addresses; knows nothing of what is there.

use std::{
    net::Ipv4Addr,
    sync::atomic::{AtomicU8, Ordering},
};

use anyhow::{Context as _, Result};

use crate::command::run;

const BRIDGE: &str = "cluster";

/// The bridge's own hardware address. Without one it takes the lowest of its ports, which changes as pods come and go,
/// and everybody who knows the one before speaks to nobody for a while.
const BRIDGE_HARDWARE: &str = "02:00:00:00:00:01";

/// The one node, as clients outside see it.
pub const NODE: Ipv4Addr = Ipv4Addr::new(10, 20, 0, 1);

/// The bridge, and how many addresses of it are given away.
pub struct Network {
    pods: AtomicU8,
    services: AtomicU8,
}

impl Network {
    /// Makes the bridge. Everything goes with the namespace that it is in.
    pub async fn create() -> Result<Self> {
        run("ip link set lo up").await?;
        run(&format!("ip link add {BRIDGE} address {BRIDGE_HARDWARE} type bridge")).await?;
        run(&format!("ip address add {NODE}/16 dev {BRIDGE}")).await?;
        run(&format!("ip link set {BRIDGE} up")).await?;
        Ok(Self {
            pods: AtomicU8::new(0),
            services: AtomicU8::new(0),
        })
    }

    /// An address for a pod.
    pub fn pod_address(&self) -> Result<Ipv4Addr> {
        Ok(Ipv4Addr::new(10, 20, 1, next(&self.pods)?))
    }

    /// An address for a Service, which this machine then has.
    pub async fn service_address(&self) -> Result<Ipv4Addr> {
        let address = Ipv4Addr::new(10, 20, 2, next(&self.services)?);
        run(&format!("ip address add {address}/32 dev {BRIDGE}")).await?;
        Ok(address)
    }

    /// Connects the namespace of a process, which then has this address.
    pub async fn connect(&self, process: u32, address: Ipv4Addr) -> Result<()> {
        let host_end = format!("pod{}", address.octets()[3]);
        run(&format!(
            "ip link add {host_end} type veth peer name eth0 netns {process}"
        ))
        .await?;
        run(&format!("ip link set {host_end} master {BRIDGE} up")).await?;
        for inside in [
            "link set lo up".to_owned(),
            format!("address add {address}/16 dev eth0"),
            "link set eth0 up".to_owned(),
        ] {
            run(&format!("nsenter --target {process} --net -- ip {inside}")).await?;
        }
        Ok(())
    }
}

fn next(counter: &AtomicU8) -> Result<u8> {
    let last = counter.fetch_add(1, Ordering::Relaxed);
    last.checked_add(1).context("the network has no address left")
}
