//! Networks in CIDR notation, as far as their overlap goes.

use std::{fmt, net::IpAddr, str::FromStr};

use thiserror::Error;

/// A network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Network {
    address: IpAddr,
    prefix: u32,
}

/// Why a text is no network.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(crate) enum NetworkError {
    #[error("{0:?} has no prefix")]
    NoPrefix(String),
    #[error("{0:?} does not begin with an address")]
    Address(String),
    #[error("the prefix of {0:?} is longer than its address")]
    Prefix(String),
    #[error("{0:?} has bits behind its prefix")]
    HostBits(String),
}

impl Network {
    /// Whether it is of IPv6.
    pub(crate) const fn is_v6(&self) -> bool {
        self.address.is_ipv6()
    }

    /// Whether an address lies in it.
    pub(crate) fn contains(&self, address: IpAddr) -> bool {
        address.is_ipv6() == self.is_v6() && first(address, self.prefix) == first(self.address, self.prefix)
    }

    /// Whether two networks have an address in common.
    pub(crate) fn overlaps(&self, other: &Self) -> bool {
        self.contains(other.address) || other.contains(self.address)
    }
}

impl FromStr for Network {
    type Err = NetworkError;

    fn from_str(text: &str) -> Result<Self, NetworkError> {
        let (address, prefix) = text
            .split_once('/')
            .ok_or_else(|| NetworkError::NoPrefix(text.to_owned()))?;
        let address: IpAddr = address.parse().map_err(|_| NetworkError::Address(text.to_owned()))?;
        let longest = if address.is_ipv6() { 128 } else { 32 };
        let prefix = prefix.parse().ok().filter(|prefix| *prefix <= longest);
        let prefix: u32 = prefix.ok_or_else(|| NetworkError::Prefix(text.to_owned()))?;
        if first(address, prefix) != bits(address) {
            return Err(NetworkError::HostBits(text.to_owned()));
        }
        Ok(Self { address, prefix })
    }
}

impl fmt::Display for Network {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.address, self.prefix)
    }
}

fn bits(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(address) => u128::from(address.to_bits()) << 96,
        IpAddr::V6(address) => address.to_bits(),
    }
}

/// The first bits of an address, with zeros behind them.
fn first(address: IpAddr, prefix: u32) -> u128 {
    let mask = u128::MAX.checked_shl(128 - prefix).unwrap_or(0);
    bits(address) & mask
}

#[cfg(test)]
mod tests {
    use super::*;

    fn network(text: &str) -> Network {
        text.parse().unwrap()
    }

    #[test]
    fn what_is_no_network_says_why() {
        for (text, expected) in [
            ("10.0.0.0", "has no prefix"),
            ("ten/8", "does not begin with an address"),
            ("10.0.0.0/33", "longer than its address"),
            ("10.0.0.1/8", "bits behind its prefix"),
        ] {
            let error = text.parse::<Network>().unwrap_err().to_string();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }

    #[test]
    fn overlap_is_symmetric_and_keeps_families_apart() {
        for (one, other, expected) in [
            ("10.0.0.0/8", "10.1.0.0/16", true),
            ("10.0.0.0/16", "10.1.0.0/16", false),
            ("0.0.0.0/0", "192.168.0.0/24", true),
            ("::/0", "10.0.0.0/8", false),
            ("fd00::/48", "fd00:0:0:1::/64", true),
            ("fd00::/48", "fd00:0:1::/48", false),
        ] {
            assert_eq!(network(one).overlaps(&network(other)), expected, "{one} {other}");
            assert_eq!(network(other).overlaps(&network(one)), expected, "{other} {one}");
        }
    }
}
