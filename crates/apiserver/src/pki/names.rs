//! The names by which a server is reached. Owns which ones every API server has, and what a name must look like.

use std::{
    collections::BTreeSet,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
};

use thiserror::Error;

/// The names that clients inside of a cluster use, and this machine's own.
const EVERYWHERE: [&str; 5] = [
    "localhost",
    "kubernetes",
    "kubernetes.default",
    "kubernetes.default.svc",
    "kubernetes.default.svc.cluster.local",
];
/// The longest name of the DNS.
const LONGEST_DOMAIN: usize = 253;
/// The longest part of one.
const LONGEST_LABEL: usize = 63;

/// A name that no certificate can have.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0:?} is no name of a server: use an IP address, or a DNS name such as api.example.com or *.example.com")]
pub struct NameError(String);

/// The names and addresses in a serving certificate.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServingNames {
    /// DNS names.
    pub domains: BTreeSet<String>,
    /// IP addresses.
    pub addresses: BTreeSet<IpAddr>,
}

impl ServingNames {
    /// The names that every API server has. `service` is the address under which pods find it.
    pub fn of_cluster(service: IpAddr) -> Self {
        let own = [Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into(), service];
        Self {
            domains: EVERYWHERE.map(str::to_owned).into(),
            addresses: own.into(),
        }
    }

    /// Adds a DNS name or an address.
    pub fn add(&mut self, name: &str) -> Result<(), NameError> {
        if let Ok(address) = name.parse() {
            self.addresses.insert(address);
            return Ok(());
        }
        let domain = name.to_ascii_lowercase();
        if !is_domain(&domain) {
            return Err(NameError(name.to_owned()));
        }
        self.domains.insert(domain);
        Ok(())
    }
}

fn is_domain(name: &str) -> bool {
    let name = name.strip_prefix("*.").unwrap_or(name);
    // Digits and dots alone would be an address that is not well formed.
    let is_number = name.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    name.len() <= LONGEST_DOMAIN && !is_number && name.split('.').all(is_label)
}

fn is_label(label: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    let is_edge = |byte: Option<u8>| byte.is_some_and(|byte| byte != b'-');
    label.len() <= LONGEST_LABEL
        && label.bytes().all(is_allowed)
        && is_edge(label.bytes().next())
        && is_edge(label.bytes().next_back())
}
