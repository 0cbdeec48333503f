//! Loopback addresses that no other process uses. It owns the choice, not what listens there.

use std::{
    io,
    net::{Ipv4Addr, SocketAddrV4, TcpListener},
    process,
    sync::atomic::{AtomicU16, Ordering},
};

/// Where each server of one control plane listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Addresses {
    pub(crate) etcd: SocketAddrV4,
    pub(crate) etcd_peer: SocketAddrV4,
    pub(crate) api_server: SocketAddrV4,
    pub(crate) controller_manager: SocketAddrV4,
    pub(crate) scheduler: SocketAddrV4,
}

/// How many listeners a control plane has.
const LISTENERS: u16 = 5;

/// The lowest port that is used on an address of our own; below are the ports that need privileges.
const FIRST_PORT: u16 = 20_000;

/// How many control planes one process may start in its life: what fits between the first port and the last.
const INSTANCES: u16 = (u16::MAX - FIRST_PORT) / LISTENERS;

/// Control planes that this process has placed so far.
static INSTANCE: AtomicU16 = AtomicU16::new(0);

impl Addresses {
    /// Finds free addresses.
    ///
    /// Linux has all of 127.0.0.0/8, so each process takes an address that derives from its id. Outgoing connections
    /// start from 127.0.0.1, so none of them ever takes a port there, not even while the API server is being
    /// restarted. Systems with 127.0.0.1 alone fall back to free ports on it.
    pub(crate) fn find() -> io::Result<Self> {
        let host = own_address(process::id());
        if TcpListener::bind((host, 0)).is_err() {
            return Self::find_on_localhost();
        }
        loop {
            let instance = INSTANCE.fetch_add(1, Ordering::Relaxed);
            if instance >= INSTANCES {
                return Err(io::Error::other("this process has started too many control planes"));
            }
            let addresses = Self::nth(host, instance);
            if addresses.all().iter().all(|address| TcpListener::bind(address).is_ok()) {
                return Ok(addresses);
            }
        }
    }

    fn find_on_localhost() -> io::Result<Self> {
        // All listeners are held until the last port is known, so that the five differ.
        let listeners = (0..LISTENERS)
            .map(|_| TcpListener::bind((Ipv4Addr::LOCALHOST, 0)))
            .collect::<io::Result<Vec<_>>>()?;
        let ports = listeners
            .iter()
            .map(|it| Ok(it.local_addr()?.port()))
            .collect::<io::Result<Vec<_>>>()?;
        let at = |index: usize| SocketAddrV4::new(Ipv4Addr::LOCALHOST, ports[index]);
        Ok(Self {
            etcd: at(0),
            etcd_peer: at(1),
            api_server: at(2),
            controller_manager: at(3),
            scheduler: at(4),
        })
    }

    fn nth(host: Ipv4Addr, instance: u16) -> Self {
        let at = |offset| SocketAddrV4::new(host, FIRST_PORT + instance * LISTENERS + offset);
        Self {
            etcd: at(0),
            etcd_peer: at(1),
            api_server: at(2),
            controller_manager: at(3),
            scheduler: at(4),
        }
    }

    fn all(&self) -> [SocketAddrV4; LISTENERS as usize] {
        [
            self.etcd,
            self.etcd_peer,
            self.api_server,
            self.controller_manager,
            self.scheduler,
        ]
    }
}

/// An address in 127.64.0.0/10: process ids have at most 22 bits on Linux, which is what that block leaves free.
fn own_address(process_id: u32) -> Ipv4Addr {
    let block = u32::from(Ipv4Addr::new(127, 64, 0, 0));
    Ipv4Addr::from(block | (process_id & 0x003f_ffff))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn processes_get_addresses_of_their_own() {
        assert_eq!(own_address(1), Ipv4Addr::new(127, 64, 0, 1));
        assert_eq!(own_address(4_194_303), Ipv4Addr::new(127, 127, 255, 255));
        let all: BTreeSet<_> = (0..100_000).map(own_address).collect();
        assert_eq!(all.len(), 100_000);
    }

    #[test]
    fn no_two_control_planes_of_a_process_share_a_port() {
        let all: BTreeSet<_> = (0..INSTANCES)
            .flat_map(|instance| Addresses::nth(Ipv4Addr::LOCALHOST, instance).all())
            .collect();
        assert_eq!(all.len(), usize::from(INSTANCES) * usize::from(LISTENERS));
    }

    #[test]
    fn an_occupied_real_port_is_passed_over() {
        let first = Addresses::find().unwrap();
        let second = Addresses::find().unwrap();
        let third = Addresses::find_on_localhost().unwrap();
        let all: BTreeSet<_> = [first, second, third].iter().flat_map(Addresses::all).collect();
        assert_eq!(all.len(), 15);
    }
}
