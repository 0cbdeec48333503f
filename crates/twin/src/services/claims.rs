//! Addresses of loopback that this process has to itself: a socket on each keeps other processes from giving out the same
//! one. Knows no Service but by its name.

use std::{
    collections::BTreeMap,
    io,
    net::{Ipv4Addr, TcpListener, UdpSocket},
    sync::{Mutex, MutexGuard, PoisonError},
};

use hyperplane_runtime::ObjectKey;

/// The port whose owner has the address. It takes no connections, so that nobody waits for an answer from it, and no
/// well-known service has it.
const PORT: u16 = 12_764;

/// The addresses of one twin. They are free again when it ends, however it ends.
#[derive(Debug, Default)]
pub(crate) struct Claims(Mutex<BTreeMap<Ipv4Addr, Claim>>);

#[derive(Debug)]
struct Claim {
    service: ObjectKey,
    /// Held, never read.
    _socket: Option<UdpSocket>,
}

impl Claims {
    /// Takes an address for a Service. Fails where another process has it; where it cannot be told, it is taken.
    pub(crate) fn take(&self, address: Ipv4Addr, service: &ObjectKey) -> io::Result<()> {
        let mut claims = self.all();
        if claims.get(&address).is_some_and(|claim| claim.service == *service) {
            return Ok(());
        }
        let socket = known_taken(UdpSocket::bind((address, PORT)))?;
        let claim = Claim {
            service: service.clone(),
            _socket: socket,
        };
        claims.insert(address, claim);
        Ok(())
    }

    /// The same for an address that nobody was told yet: no other program may listen on one of the ports.
    pub(crate) fn take_unused(&self, address: Ipv4Addr, ports: &[u16], service: &ObjectKey) -> io::Result<()> {
        for port in ports {
            known_taken(TcpListener::bind((address, *port)))?;
        }
        self.take(address, service)
    }

    /// Gives back what a Service has, except for one address.
    pub(crate) fn release(&self, service: &ObjectKey, except: Option<Ipv4Addr>) {
        self.all()
            .retain(|address, claim| claim.service != *service || Some(*address) == except);
    }

    fn all(&self) -> MutexGuard<'_, BTreeMap<Ipv4Addr, Claim>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Only a socket of somebody else is a reason not to take an address: what this process may not do, or what the machine
/// does not have, says nothing about others.
fn known_taken<S>(bound: io::Result<S>) -> io::Result<Option<S>> {
    match bound {
        Ok(socket) => Ok(Some(socket)),
        Err(error) if error.kind() == io::ErrorKind::AddrInUse => Err(error),
        Err(_) => Ok(None),
    }
}
