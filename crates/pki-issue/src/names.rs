//! The names and addresses by which servers are reached. Owns what a name must look like; knows no certificate.

use std::{
    fmt,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
};

use thiserror::Error;

/// The longest name of the DNS.
const LONGEST_NAME: usize = 253;
/// The longest part of one.
const LONGEST_LABEL: usize = 63;

/// A DNS name, in small letters, or an address.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Host {
    /// A DNS name; the first label may be a star.
    Name(String),
    /// An address.
    Address(IpAddr),
}

/// What no certificate can be issued for.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0:?} is no name of a server; use an IP address, or a DNS name such as api.example.com")]
pub struct InvalidHost(pub String);

/// What is no network.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0:?} is no network; use an address and the length of its prefix, such as 172.31.0.0/16 or fd00::/112")]
pub struct InvalidNetwork(pub String);

impl Host {
    /// Reads a name or an address.
    pub fn parse(text: &str) -> Result<Self, InvalidHost> {
        if let Ok(address) = text.parse() {
            return Ok(Self::Address(address));
        }
        let name = text.to_ascii_lowercase();
        if is_name(&name) {
            Ok(Self::Name(name))
        } else {
            Err(InvalidHost(text.to_owned()))
        }
    }

    /// A URL of this host. Addresses of version 6 stand in brackets there.
    pub(crate) fn url(&self, port: u16) -> String {
        match self {
            Self::Address(IpAddr::V6(address)) => format!("https://[{address}]:{port}"),
            host => format!("https://{host}:{port}"),
        }
    }
}

impl fmt::Display for Host {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => formatter.write_str(name),
            Self::Address(address) => address.fmt(formatter),
        }
    }
}

/// The first address of a network after the network's own: the Service `kubernetes` has it.
pub fn first_address(network: &str) -> Result<IpAddr, InvalidNetwork> {
    let invalid = || InvalidNetwork(network.to_owned());
    let (address, length) = network.split_once('/').ok_or_else(invalid)?;
    let length: u32 = length.parse().map_err(|_| invalid())?;
    let first = match address.parse().map_err(|_| invalid())? {
        IpAddr::V4(address) if length <= u32::BITS => {
            let mask = u32::MAX.checked_shl(u32::BITS - length).unwrap_or(0);
            let first = (address.to_bits() & mask).checked_add(1);
            Ipv4Addr::from_bits(first.ok_or_else(invalid)?).into()
        }
        IpAddr::V6(address) if length <= u128::BITS => {
            let mask = u128::MAX.checked_shl(u128::BITS - length).unwrap_or(0);
            let first = (address.to_bits() & mask).checked_add(1);
            Ipv6Addr::from_bits(first.ok_or_else(invalid)?).into()
        }
        _ => return Err(invalid()),
    };
    Ok(first)
}

/// The names of a Service, from within its namespace and from others.
pub(crate) fn of_service(service: &str, namespace: &str) -> [Host; 4] {
    [
        Host::Name(service.to_owned()),
        Host::Name(format!("{service}.{namespace}")),
        Host::Name(format!("{service}.{namespace}.svc")),
        Host::Name(format!("{service}.{namespace}.svc.cluster.local")),
    ]
}

/// The names of a pod towards itself.
pub(crate) fn of_this_pod() -> [Host; 3] {
    [
        Host::Name("localhost".to_owned()),
        Host::Address(Ipv4Addr::LOCALHOST.into()),
        Host::Address(Ipv6Addr::LOCALHOST.into()),
    ]
}

fn is_name(name: &str) -> bool {
    let name = name.strip_prefix("*.").unwrap_or(name);
    // Digits and dots alone would be an address that is not well formed.
    let is_number = name.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    name.len() <= LONGEST_NAME && !is_number && name.split('.').all(is_label)
}

fn is_label(label: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    let is_edge = |byte: Option<u8>| byte.is_some_and(|byte| byte != b'-');
    label.len() <= LONGEST_LABEL
        && label.bytes().all(is_allowed)
        && is_edge(label.bytes().next())
        && is_edge(label.bytes().next_back())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_addresses_are_told_apart() {
        for (text, expected) in [
            ("API.Example.com", Some("https://api.example.com:6443")),
            ("*.example.com", Some("https://*.example.com:6443")),
            ("192.0.2.7", Some("https://192.0.2.7:6443")),
            ("fd00::1", Some("https://[fd00::1]:6443")),
            ("192.0.2.700", None),
            ("", None),
            ("a_b.example.com", None),
            ("-a.example.com", None),
            ("a..b", None),
            ("example.com:443", None),
        ] {
            let url = Host::parse(text).ok().map(|host| host.url(6443));
            assert_eq!(url.as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn the_first_address_follows_the_network() {
        for (network, expected) in [
            ("172.31.0.0/16", Some("172.31.0.1")),
            ("172.31.9.9/16", Some("172.31.0.1")),
            ("10.0.0.0/8", Some("10.0.0.1")),
            ("0.0.0.0/0", Some("0.0.0.1")),
            ("fd00:1::/112", Some("fd00:1::1")),
            ("255.255.255.255/32", None),
            ("10.0.0.0/33", None),
            ("10.0.0.0", None),
            ("fd00::/129", None),
            ("x/8", None),
        ] {
            let first = first_address(network).ok().map(|address| address.to_string());
            assert_eq!(first.as_deref(), expected, "{network}");
        }
    }
}
