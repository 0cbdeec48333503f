//! Addresses and ports of Services: which are taken, by every commit, and which are about to be. What is free is
//! derived from the stored Services, so a restart knows it.

use std::{
    collections::BTreeMap,
    net::Ipv4Addr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use hyperplane_store::{Event, EventKind, Observer, Snapshot};
use serde_json::Value;
use thiserror::Error;

use hyperplane_seams::Entropy;

use crate::object::Object;

/// The collection of Services.
const SERVICES: &str = "services";
/// The ports of nodes that Services may have (upstream's default).
pub(crate) const NODE_PORTS: std::ops::RangeInclusive<u16> = 30_000..=32_767;

/// A range of addresses, such as `10.96.0.0/16`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServiceRange {
    network: u32,
    prefix: u8,
}

/// Why a text is no range of addresses for Services.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0:?} is no range of IPv4 addresses for Services; write one such as 10.96.0.0/16, of 8 to 30 bits")]
pub struct RangeError(String);

impl std::str::FromStr for ServiceRange {
    type Err = RangeError;

    fn from_str(text: &str) -> Result<Self, RangeError> {
        let error = || RangeError(text.to_owned());
        let (address, prefix) = text.split_once('/').ok_or_else(error)?;
        let address: Ipv4Addr = address.parse().map_err(|_| error())?;
        let prefix: u8 = prefix
            .parse()
            .ok()
            .filter(|prefix| (8..=30).contains(prefix))
            .ok_or_else(error)?;
        let network = u32::from(address) & (u32::MAX << (32 - prefix));
        Ok(Self { network, prefix })
    }
}

impl std::fmt::Display for ServiceRange {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}/{}", Ipv4Addr::from(self.network), self.prefix)
    }
}

impl Default for ServiceRange {
    /// The range that kubeadm has by default.
    fn default() -> Self {
        Self {
            network: u32::from(Ipv4Addr::new(10, 96, 0, 0)),
            prefix: 12,
        }
    }
}

impl ServiceRange {
    /// The first address, which is that of the server itself.
    pub fn first(self) -> Ipv4Addr {
        Ipv4Addr::from(self.network + 1)
    }

    /// How many addresses there are, without that of the network and that of everybody.
    const fn size(self) -> u32 {
        (1 << (32 - self.prefix)) - 2
    }

    fn contains(self, address: Ipv4Addr) -> bool {
        let offset = u32::from(address).wrapping_sub(self.network);
        (1..=self.size()).contains(&offset)
    }
}

/// What is taken and what is about to be.
#[derive(Debug)]
pub(crate) struct Allocations {
    range: ServiceRange,
    held: Mutex<Held>,
}

/// How many hold each address and port: a Service that is stored, a request that is about to store one, or both.
#[derive(Debug, Default)]
struct Held {
    addresses: BTreeMap<Ipv4Addr, u32>,
    ports: BTreeMap<u16, u32>,
}

/// Something that a request holds until its Service is stored, or is not.
#[derive(Debug)]
pub(crate) struct Reservation {
    allocations: Arc<Allocations>,
    taken: Taken,
}

#[derive(Clone, Copy, Debug)]
enum Taken {
    Address(Ipv4Addr),
    Port(u16),
}

/// Why something cannot be had.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(crate) enum AllocationError {
    /// Somebody has it.
    #[error("provided {0} is already allocated")]
    Taken(&'static str),
    /// It is not ours to give.
    #[error("the provided {0} is not in the valid range. The range of valid {1} is {2}")]
    OutOfRange(String, &'static str, String),
    /// Nothing is left.
    #[error("range is full")]
    Full,
}

impl Allocations {
    pub(crate) fn new(range: ServiceRange) -> Self {
        Self {
            range,
            held: Mutex::default(),
        }
    }

    /// The addresses of Services.
    pub(crate) fn range(&self) -> ServiceRange {
        self.range
    }

    /// A free address, from a random place on.
    pub(crate) fn any_address(self: &Arc<Self>, entropy: &Entropy) -> Result<(Ipv4Addr, Reservation), AllocationError> {
        let size = self.range.size();
        let start = u32::from_le_bytes(entropy.bytes()) % size;
        let mut held = self.held();
        let free = (0..size)
            .map(|step| Ipv4Addr::from(self.range.network + 1 + (start + step) % size))
            .find(|address| !held.addresses.contains_key(address))
            .ok_or(AllocationError::Full)?;
        *held.addresses.entry(free).or_default() += 1;
        Ok((free, self.reservation(Taken::Address(free))))
    }

    /// This address, if it is free.
    pub(crate) fn address(self: &Arc<Self>, address: Ipv4Addr) -> Result<Reservation, AllocationError> {
        if !self.range.contains(address) {
            return Err(AllocationError::OutOfRange(
                format!("IP ({address})"),
                "IPs",
                self.range.to_string(),
            ));
        }
        let mut held = self.held();
        if held.addresses.contains_key(&address) {
            return Err(AllocationError::Taken("IP"));
        }
        held.addresses.insert(address, 1);
        Ok(self.reservation(Taken::Address(address)))
    }

    /// A free port, from a random place on.
    pub(crate) fn any_port(self: &Arc<Self>, entropy: &Entropy) -> Result<(u16, Reservation), AllocationError> {
        let size = NODE_PORTS.end() - NODE_PORTS.start() + 1;
        let start = u16::from_le_bytes(entropy.bytes()) % size;
        let mut held = self.held();
        let free = (0..size)
            .map(|step| NODE_PORTS.start() + (start + step) % size)
            .find(|port| !held.ports.contains_key(port))
            .ok_or(AllocationError::Full)?;
        *held.ports.entry(free).or_default() += 1;
        Ok((free, self.reservation(Taken::Port(free))))
    }

    /// This port, if it is free.
    pub(crate) fn port(self: &Arc<Self>, port: u16) -> Result<Reservation, AllocationError> {
        if !NODE_PORTS.contains(&port) {
            let range = format!("{}-{}", NODE_PORTS.start(), NODE_PORTS.end());
            return Err(AllocationError::OutOfRange("port".to_owned(), "ports", range));
        }
        let mut held = self.held();
        if held.ports.contains_key(&port) {
            return Err(AllocationError::Taken("port"));
        }
        held.ports.insert(port, 1);
        Ok(self.reservation(Taken::Port(port)))
    }

    fn reservation(self: &Arc<Self>, taken: Taken) -> Reservation {
        Reservation {
            allocations: Arc::clone(self),
            taken,
        }
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.allocations.held().release(self.taken);
    }
}

impl Held {
    fn release(&mut self, taken: Taken) {
        match taken {
            Taken::Address(address) => release(&mut self.addresses, &address),
            Taken::Port(port) => release(&mut self.ports, &port),
        }
    }

    fn put(&mut self, service: &Value) {
        for taken in taken_by(service) {
            match taken {
                Taken::Address(address) => *self.addresses.entry(address).or_default() += 1,
                Taken::Port(port) => *self.ports.entry(port).or_default() += 1,
            }
        }
    }

    fn remove(&mut self, service: &Value) {
        for taken in taken_by(service) {
            self.release(taken);
        }
    }
}

fn release<K: Ord>(held: &mut BTreeMap<K, u32>, key: &K) {
    if let Some(count) = held.get_mut(key) {
        *count -= 1;
        if *count == 0 {
            held.remove(key);
        }
    }
}

fn taken_by(service: &Value) -> Vec<Taken> {
    let specification = &service["spec"];
    let address = specification["clusterIP"]
        .as_str()
        .and_then(|text| text.parse().ok())
        .map(Taken::Address);
    let ports = specification["ports"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|port| &port["nodePort"]);
    let ports = ports.chain([&specification["healthCheckNodePort"]]);
    let ports = ports
        .filter_map(|port| u16::try_from(port.as_u64()?).ok())
        .filter(|port| *port > 0)
        .map(Taken::Port);
    address.into_iter().chain(ports).collect()
}

impl Observer<Object> for Allocations {
    fn reset(&self, snapshot: &Snapshot<Object>) {
        let mut held = Held::default();
        for entry in snapshot.range(SERVICES, None, None) {
            held.put(&entry.payload.value(entry.revision));
        }
        *self.held() = held;
    }

    fn committed(&self, events: &[Arc<Event<Object>>]) {
        for event in events.iter().filter(|event| &*event.entry.key.collection == SERVICES) {
            let mut held = self.held();
            if let Some(previous) = &event.previous {
                held.remove(&previous.payload.value(previous.revision));
            }
            if event.kind != EventKind::Deleted {
                held.put(&event.entry.payload.value(event.revision));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entropy() -> Entropy {
        Entropy::new(|bytes| bytes.fill(0))
    }

    #[test]
    fn ranges_are_read_and_checked() {
        let range: ServiceRange = "10.0.0.7/29".parse().unwrap();
        assert_eq!(range.to_string(), "10.0.0.0/29");
        assert_eq!(range.first(), Ipv4Addr::new(10, 0, 0, 1));
        for bad in [
            "",
            "10.0.0.0",
            "10.0.0.0/",
            "10.0.0.0/33",
            "10.0.0.0/31",
            "x/16",
            "10.0.0.0/4",
            "10.0.0.0/-1",
        ] {
            let error = bad.parse::<ServiceRange>().unwrap_err().to_string();
            assert!(error.contains("write one such as 10.96.0.0/16"), "{error}");
        }
    }

    #[test]
    fn what_is_reserved_is_taken_until_it_is_dropped() {
        let allocations = Arc::new(Allocations::new("10.0.0.0/30".parse().unwrap()));
        let (first, one) = allocations.any_address(&entropy()).unwrap();
        let (_, two) = allocations.any_address(&entropy()).unwrap();
        assert_eq!(allocations.any_address(&entropy()).unwrap_err(), AllocationError::Full);
        assert_eq!(allocations.address(first).unwrap_err(), AllocationError::Taken("IP"));
        drop(one);
        assert!(allocations.address(first).is_ok());
        drop(two);
        assert!(matches!(
            allocations.address(Ipv4Addr::new(10, 1, 0, 1)),
            Err(AllocationError::OutOfRange(..))
        ));
        assert!(matches!(allocations.port(80), Err(AllocationError::OutOfRange(..))));
    }
}
