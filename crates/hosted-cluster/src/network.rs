//! Networks in CIDR notation: whether they overlap, and how many are written as few.

use std::{
    fmt,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
    str::FromStr,
};

use thiserror::Error;

/// A network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
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

    /// The network that consists of one address.
    pub(crate) const fn one(address: IpAddr) -> Self {
        Self {
            prefix: longest(address),
            address,
        }
    }

    /// How many bits its addresses have of their own.
    fn size_bits(&self) -> u32 {
        longest(self.address) - self.prefix
    }

    /// The network of twice the size around it; itself where there is none.
    fn parent(&self) -> Self {
        let prefix = self.prefix.saturating_sub(1);
        Self {
            address: address(first(self.address, prefix), self.is_v6()),
            prefix,
        }
    }
}

/// The same addresses in as few networks as there can be, in order.
pub(crate) fn merged(mut networks: Vec<Network>) -> Vec<Network> {
    // What contains another comes before it, and siblings are neighbours.
    networks.sort_unstable();
    let mut found: Vec<Network> = Vec::new();
    for network in networks {
        if found
            .last()
            .is_some_and(|last| last.contains(network.address) && last.prefix <= network.prefix)
        {
            continue;
        }
        let mut network = network;
        while let Some(last) = found.last()
            && last.prefix == network.prefix
            && last.prefix > 0
            && last.parent() == network.parent()
        {
            network = network.parent();
            found.pop();
        }
        found.push(network);
    }
    found
}

/// At most so many networks that hold all addresses of others, and as few besides as the smallest ones bring along.
pub(crate) fn covered(networks: Vec<Network>, most: usize) -> Vec<Network> {
    let mut found = merged(networks);
    while found.len() > most.max(2) {
        let smallest = found.iter().map(Network::size_bits).min().unwrap_or_default();
        let wider = found.iter().map(|network| {
            if network.size_bits() == smallest {
                network.parent()
            } else {
                *network
            }
        });
        found = merged(wider.collect());
    }
    found
}

impl FromStr for Network {
    type Err = NetworkError;

    fn from_str(text: &str) -> Result<Self, NetworkError> {
        let (address, prefix) = text
            .split_once('/')
            .ok_or_else(|| NetworkError::NoPrefix(text.to_owned()))?;
        let address: IpAddr = address.parse().map_err(|_| NetworkError::Address(text.to_owned()))?;
        let prefix = prefix.parse().ok().filter(|prefix| *prefix <= longest(address));
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

const fn longest(address: IpAddr) -> u32 {
    if address.is_ipv6() { 128 } else { 32 }
}

/// The address of which these are the bits.
fn address(bits: u128, is_v6: bool) -> IpAddr {
    let [a, b, c, d, ..] = bits.to_be_bytes();
    if is_v6 {
        Ipv6Addr::from_bits(bits).into()
    } else {
        Ipv4Addr::new(a, b, c, d).into()
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

    fn texts(networks: &[Network]) -> Vec<String> {
        networks.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn neighbours_become_one_and_nothing_else_does() {
        let merged = |all: &[&str]| texts(&merged(all.iter().copied().map(network).collect()));
        assert_eq!(merged(&["10.0.1.0/24", "10.0.0.0/24"]), ["10.0.0.0/23"]);
        assert_eq!(merged(&["10.0.1.0/24", "10.0.2.0/24"]), ["10.0.1.0/24", "10.0.2.0/24"]);
        assert_eq!(merged(&["10.0.0.0/8", "10.3.0.0/16", "10.0.0.0/8"]), ["10.0.0.0/8"]);
        assert_eq!(merged(&["0.0.0.0/1", "128.0.0.0/1", "::/0"]), ["0.0.0.0/0", "::/0"]);
        let four = ["10.0.3.0/24", "10.0.0.0/24", "10.0.2.0/24", "10.0.1.0/24"];
        assert_eq!(merged(&four), ["10.0.0.0/22"]);
        assert_eq!(merged(&["fd00::1/128", "fd00::/128"]), ["fd00::/127"]);
    }

    proptest::proptest! {
        /// The model is a look at single addresses.
        #[test]
        fn what_is_merged_holds_the_same_and_what_is_covered_holds_all(
            all in proptest::collection::vec((0..=255_u8, 24..=32_u32), 0..40), most in 0..6_usize,
        ) {
            let network = |(last, prefix): (u8, u32)| {
                let address = IpAddr::from(Ipv4Addr::new(10, 0, 0, last));
                Network { address: super::address(first(address, prefix), false), prefix }
            };
            let all: Vec<Network> = all.into_iter().map(network).collect();
            let (merged, covered) = (merged(all.clone()), covered(all.clone(), most));
            let holds = |networks: &[Network], address| networks.iter().any(|network| network.contains(address));
            for last in 0..=255 {
                let address = IpAddr::from(Ipv4Addr::new(10, 0, 0, last));
                assert_eq!(holds(&merged, address), holds(&all, address));
                assert!(!holds(&all, address) || holds(&covered, address));
            }
            assert!(covered.len() <= most.max(2));
            let apart = |pair: &[Network]| !pair[0].overlaps(&pair[1]);
            assert!(merged.windows(2).all(apart) && covered.windows(2).all(apart));
        }
    }
}
