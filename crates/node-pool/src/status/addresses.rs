//! Whether machines have addresses that pods may have as well.

use std::net::IpAddr;

use hyperplane_api::{
    cluster_api::{machine::Machine, machine_status::MachineAddressType},
    hypershift::hosted_cluster::HostedCluster,
};
use kube::ResourceExt as _;

/// How many machines are named; the first ones tell enough.
const MOST_MACHINES: usize = 5;

/// Machines all of whose addresses lie in networks of pods, in words; none where there is none.
pub(super) fn conflict<'a>(cluster: &HostedCluster, machines: impl Iterator<Item = &'a Machine>) -> Option<String> {
    let networks: Vec<&str> = cluster
        .spec
        .networking
        .cluster_network
        .iter()
        .map(|entry| entry.cidr.as_str())
        .collect();
    let told = machines.filter_map(|machine| {
        let addresses = addresses(machine);
        let is_inside = |address: &IpAddr| networks.iter().any(|network| contains(network, *address));
        let is_conflict = !addresses.is_empty() && addresses.iter().all(is_inside);
        is_conflict.then(|| {
            let shown: Vec<String> = addresses.iter().map(ToString::to_string).collect();
            format!("machine {} has {}", machine.name_any(), shown.join(", "))
        })
    });
    let told: Vec<String> = told.take(MOST_MACHINES).collect();
    (!told.is_empty()).then(|| {
        let (networks, told) = (networks.join(", "), told.join("; "));
        format!("Addresses lie in networks of pods ({networks}): {told}")
    })
}

fn addresses(machine: &Machine) -> Vec<IpAddr> {
    let all = machine.status.iter().flat_map(|status| &status.addresses);
    all.filter(|address| {
        matches!(
            address.r#type,
            MachineAddressType::InternalIp | MachineAddressType::ExternalIp
        )
    })
    .filter_map(|address| address.address.parse().ok())
    .collect()
}

/// Whether an address lies in a network in CIDR notation.
fn contains(network: &str, address: IpAddr) -> bool {
    let parts = network.split_once('/');
    let Some((first, prefix)) = parts.and_then(|(first, prefix)| {
        let first: IpAddr = first.parse().ok()?;
        Some((first, prefix.parse::<u32>().ok()?))
    }) else {
        return false;
    };
    match (first, address) {
        (IpAddr::V4(first), IpAddr::V4(address)) if prefix <= 32 => {
            let mask = u32::MAX.checked_shl(32 - prefix).unwrap_or(0);
            u32::from(first) & mask == u32::from(address) & mask
        }
        (IpAddr::V6(first), IpAddr::V6(address)) if prefix <= 128 => {
            let mask = u128::MAX.checked_shl(128 - prefix).unwrap_or(0);
            u128::from(first) & mask == u128::from(address) & mask
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::testing;

    #[test]
    fn only_machines_that_are_wholly_inside_are_told() {
        let cluster = testing::cluster(&json!({}));
        let machine = |name: &str, addresses: &[&str]| {
            let mut machine = testing::machine(name, "1.36.4", "v1.36.4", true);
            let status = machine.status.get_or_insert_default();
            let all = addresses
                .iter()
                .map(|address| json!({"type": "InternalIP", "address": address}));
            status.addresses = hyperplane_objects::read(all.collect::<serde_json::Value>()).unwrap();
            machine
        };
        let machines = [
            machine("inside", &["10.132.0.9"]),
            machine("both", &["10.132.0.10", "192.168.0.4"]),
            machine("outside", &["192.168.0.5"]),
            machine("silent", &[]),
        ];
        let told = conflict(&cluster, machines.iter()).unwrap();
        assert!(
            told.contains("inside has 10.132.0.9") && !told.contains("both"),
            "{told}"
        );
        assert_eq!(conflict(&cluster, machines[1..].iter()), None);
    }

    #[test]
    fn networks_contain_their_addresses() {
        let address = |text: &str| text.parse::<IpAddr>().unwrap();
        assert!(contains("10.132.0.0/14", address("10.135.255.255")));
        assert!(!contains("10.132.0.0/14", address("10.136.0.0")));
        assert!(contains("0.0.0.0/0", address("1.2.3.4")));
        assert!(contains("fd00::/8", address("fd12::1")));
        assert!(!contains("fd00::/8", address("1.2.3.4")));
        assert!(!contains("nonsense", address("1.2.3.4")));
    }
}
