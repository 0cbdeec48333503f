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

/// Ports that this process has looked at so far.
static USED: AtomicU16 = AtomicU16::new(0);

impl Addresses {
    /// Finds free addresses.
    pub(crate) fn find() -> io::Result<Self> {
        let found = find(LISTENERS)?;
        Ok(Self {
            etcd: found[0],
            etcd_peer: found[1],
            api_server: found[2],
            controller_manager: found[3],
            scheduler: found[4],
        })
    }

    #[cfg(test)]
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

/// Finds so many free addresses, all on one host.
///
/// Linux has all of 127.0.0.0/8, so each process takes an address that derives from its id. Outgoing connections start
/// from 127.0.0.1, so none of them ever takes a port there, not even while a server is being restarted. Systems with
/// 127.0.0.1 alone fall back to free ports on it.
pub fn find(count: u16) -> io::Result<Vec<SocketAddrV4>> {
    let host = own_address(process::id());
    if TcpListener::bind((host, 0)).is_err() {
        return find_on_localhost(count);
    }
    let mut found = Vec::new();
    while found.len() < usize::from(count) {
        let address = SocketAddrV4::new(host, next_port()?);
        if TcpListener::bind(address).is_ok() {
            found.push(address);
        }
    }
    Ok(found)
}

/// A port that this process has not looked at before.
fn next_port() -> io::Result<u16> {
    let used = USED.fetch_add(1, Ordering::Relaxed);
    let port = FIRST_PORT.checked_add(used).filter(|port| *port < u16::MAX);
    port.ok_or_else(|| io::Error::other("this process has started too many servers"))
}

fn find_on_localhost(count: u16) -> io::Result<Vec<SocketAddrV4>> {
    // All listeners are held until the last port is known, so that the ports differ.
    let listeners = (0..count)
        .map(|_| TcpListener::bind((Ipv4Addr::LOCALHOST, 0)))
        .collect::<io::Result<Vec<_>>>()?;
    let address = |listener: &TcpListener| Ok(SocketAddrV4::new(Ipv4Addr::LOCALHOST, listener.local_addr()?.port()));
    listeners.iter().map(address).collect()
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
    fn an_occupied_real_port_is_passed_over() {
        let first = Addresses::find().unwrap();
        let second = Addresses::find().unwrap();
        let third = find_on_localhost(LISTENERS).unwrap();
        let all: BTreeSet<_> = [first.all().to_vec(), second.all().to_vec(), third]
            .concat()
            .into_iter()
            .collect();
        assert_eq!(all.len(), 15);
    }
}
