//! The networks of a hosted cluster: flags, whether they are networks at all, and whether they fit together. The operator
//! judges the same again; here users are told before anything is made.

use std::net::IpAddr;

use clap::Args;
use hyperplane_api::hypershift::networking::{
    AllocateNodeCidrs, Cidr, ClusterNetworkEntry, ClusterNetworking, MachineNetworkEntry, ServiceNetworkEntry,
};

use crate::judge::Judge;

const CLUSTER: &str = "--cluster-cidr";
const SERVICE: &str = "--service-cidr";
const MACHINE: &str = "--machine-cidr";
const DUAL: &str = "--default-dual";

/// What pods, Services and, with both address families, the second of each have unless told otherwise.
const PODS: &str = "10.132.0.0/14";
const SERVICES: &str = "172.31.0.0/16";
const PODS_V6: &str = "fd01::/48";
const SERVICES_V6: &str = "fd02::/112";

/// One network for each address family.
const MOST: usize = 2;

/// The networks that are asked for.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Networks")]
pub(crate) struct NetworkFlags {
    /// The network plugin: OVNKubernetes, Calico, or Other for one that you or an extension bring
    #[arg(long, value_name = "TYPE", default_value = "Other")]
    network_type: String,
    /// The network of pods; repeat it for the second address family [default: 10.132.0.0/14]
    #[arg(long, value_name = "CIDR", value_delimiter = ',')]
    cluster_cidr: Vec<String>,
    /// The network of Services; repeat it for the second address family [default: 172.31.0.0/16]
    #[arg(long, value_name = "CIDR", value_delimiter = ',')]
    service_cidr: Vec<String>,
    /// The network of machines; repeat it for the second address family
    #[arg(long, value_name = "CIDR", value_delimiter = ',')]
    machine_cidr: Vec<String>,
    /// Use the default networks of both address families
    #[arg(long)]
    default_dual: bool,
    /// Let the controller manager hand out the networks of nodes; needs network type Other
    #[arg(long)]
    allocate_node_cidrs: bool,
}

/// A network with the flag that names it.
struct Named {
    flag: &'static str,
    text: String,
    address: IpAddr,
    prefix: u32,
}

impl NetworkFlags {
    /// The networks as the API has them.
    pub(crate) fn build(&self, judge: &mut Judge) -> ClusterNetworking {
        if self.default_dual && !(self.cluster_cidr.is_empty() && self.service_cidr.is_empty()) {
            judge.wrong(
                DUAL,
                format!("cannot go with {CLUSTER} or {SERVICE}: leave one of them"),
            );
        }
        let pods = chosen(&self.cluster_cidr, PODS, PODS_V6, self.default_dual);
        let services = chosen(&self.service_cidr, SERVICES, SERVICES_V6, self.default_dual);
        let mut networks = Vec::new();
        for (flag, texts) in [(MACHINE, &self.machine_cidr), (CLUSTER, &pods), (SERVICE, &services)] {
            if texts.len() > MOST {
                judge.wrong(
                    flag,
                    format!("there are {}: give one for each address family", texts.len()),
                );
            }
            networks.extend(texts.iter().filter_map(|text| read(flag, text, judge)));
        }
        let networking = ClusterNetworking {
            machine_network: cidrs(&self.machine_cidr)
                .map(|cidr| MachineNetworkEntry { cidr })
                .collect(),
            cluster_network: cidrs(&pods)
                .map(|cidr| ClusterNetworkEntry {
                    cidr,
                    host_prefix: None,
                })
                .collect(),
            service_network: cidrs(&services).map(|cidr| ServiceNetworkEntry { cidr }).collect(),
            network_type: judge.word("--network-type", &self.network_type),
            api_server: None,
            allocate_node_cidrs: self.allocate_node_cidrs.then_some(AllocateNodeCidrs::Enabled),
        };
        judge_plugin(self, judge);
        judge_families(&networks, judge);
        judge_overlaps(&networks, judge);
        judge_advertised(&networking, &networks, judge);
        networking
    }
}

fn cidrs(texts: &[String]) -> impl Iterator<Item = Cidr> {
    texts.iter().map(Cidr::stored)
}

fn chosen(asked: &[String], first: &str, second: &str, is_dual: bool) -> Vec<String> {
    match (asked, is_dual) {
        ([], true) => vec![first.to_owned(), second.to_owned()],
        ([], false) => vec![first.to_owned()],
        _ => asked.to_vec(),
    }
}

fn read(flag: &'static str, text: &str, judge: &mut Judge) -> Option<Named> {
    let advice = "write one such as 10.0.0.0/16 or fd00::/48";
    let parts = text.split_once('/');
    let parsed = parts.and_then(|(address, prefix)| Some((address.parse().ok()?, prefix.parse().ok()?)));
    let Some((address, prefix)): Option<(IpAddr, u32)> = parsed else {
        judge.wrong(flag, format!("{text:?} is no network: {advice}"));
        return None;
    };
    if prefix > longest(address) {
        judge.wrong(
            flag,
            format!("the prefix of {text:?} is longer than its address: {advice}"),
        );
        return None;
    }
    if bits(address) != first(address, prefix) {
        judge.wrong(flag, format!("{text:?} has bits behind its prefix: {advice}"));
    }
    judge.optional::<Cidr>(flag, Some(text))?;
    Some(Named {
        flag,
        text: text.to_owned(),
        address,
        prefix,
    })
}

fn judge_plugin(flags: &NetworkFlags, judge: &mut Judge) {
    if flags.network_type == "OpenShiftSDN" {
        judge.wrong(
            "--network-type",
            "OpenShiftSDN is not offered for new clusters any more: use OVNKubernetes, Calico or Other",
        );
    }
    if flags.allocate_node_cidrs && flags.network_type != "Other" {
        judge.wrong("--allocate-node-cidrs", "needs --network-type Other");
    }
}

/// A list with both families goes with anything; one without IPv6 does not go with one without IPv4.
fn judge_families(networks: &[Named], judge: &mut Judge) {
    let only = |is_v6: bool| {
        [MACHINE, CLUSTER, SERVICE].into_iter().find(|flag| {
            let mut of_flag = networks.iter().filter(|named| named.flag == *flag).peekable();
            of_flag.peek().is_some() && of_flag.all(|named| named.address.is_ipv6() == is_v6)
        })
    };
    if let (Some(v6), Some(v4)) = (only(true), only(false)) {
        judge.wrong(
            v6,
            format!("it has only IPv6, and {v4} only IPv4: use one family everywhere, or both for each"),
        );
    }
}

fn judge_overlaps(networks: &[Named], judge: &mut Judge) {
    for (number, one) in networks.iter().enumerate() {
        for other in &networks[number + 1..] {
            if contains(one, other.address) || contains(other, one.address) {
                judge.wrong(
                    other.flag,
                    format!(
                        "{} overlaps {} of {}: use networks apart from each other",
                        other.text, one.text, one.flag
                    ),
                );
            }
        }
    }
}

/// Nodes find the API server at an address that belongs to nobody else.
fn judge_advertised(networking: &ClusterNetworking, networks: &[Named], judge: &mut Judge) {
    let text = networking.advertised_address();
    let Ok(address) = text.parse() else {
        return;
    };
    for named in networks.iter().filter(|named| contains(named, address)) {
        judge.wrong(
            named.flag,
            format!(
                "{} holds {text}, at which nodes find the API server: use another network",
                named.text
            ),
        );
    }
}

fn contains(network: &Named, address: IpAddr) -> bool {
    let is_same_family = network.address.is_ipv6() == address.is_ipv6();
    is_same_family && first(network.address, network.prefix) == first(address, network.prefix)
}

const fn longest(address: IpAddr) -> u32 {
    match address {
        IpAddr::V4(_) => 32,
        IpAddr::V6(_) => 128,
    }
}

fn bits(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(address) => address.to_bits().into(),
        IpAddr::V6(address) => address.to_bits(),
    }
}

/// The first address of a network.
fn first(address: IpAddr, prefix: u32) -> u128 {
    let own = longest(address) - prefix;
    let mask = u128::MAX.checked_shl(own).unwrap_or_default();
    bits(address) & mask
}
