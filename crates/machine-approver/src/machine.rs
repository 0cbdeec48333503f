//! What a Machine says of itself that binds a node to it: its names and addresses. They come from the provider of the
//! infrastructure; nothing that a node writes in the hosted cluster is believed.

use std::{collections::BTreeSet, net::IpAddr};

use hyperplane_api::cluster_api::{machine::Machine, machine_status::MachineAddressType};
use kube::ResourceExt as _;

/// The Node that the machine has become.
pub fn node(machine: &Machine) -> Option<&str> {
    let status = machine.status.as_ref()?;
    Some(status.node_ref.as_ref()?.name.as_str())
}

/// Under which names its Node may come: the one that it has, or those that the provider knows the host by. Where the
/// provider has made the host and tells none, it is called as its machine is. Before that there is no host that could ask,
/// and the names may still come.
pub fn node_names(machine: &Machine) -> BTreeSet<String> {
    if let Some(node) = node(machine) {
        return BTreeSet::from([node.to_owned()]);
    }
    let names = names_of(
        machine,
        &[MachineAddressType::Hostname, MachineAddressType::InternalDns],
    );
    if names.is_empty() && is_provisioned(machine) {
        return BTreeSet::from([machine.name_any()]);
    }
    names
}

/// Under which names it may be a node already: also under its own, with which it was let in if its provider told the
/// others late.
pub fn past_names(machine: &Machine) -> BTreeSet<String> {
    let mut names = node_names(machine);
    names.insert(machine.name_any());
    names
}

/// The DNS names that it may serve under.
pub fn serving_names(machine: &Machine) -> BTreeSet<String> {
    let kinds = [
        MachineAddressType::Hostname,
        MachineAddressType::InternalDns,
        MachineAddressType::ExternalDns,
    ];
    let mut names = names_of(machine, &kinds);
    names.extend(node_names(machine));
    names
}

/// The addresses that it may serve under.
pub fn serving_addresses(machine: &Machine) -> BTreeSet<IpAddr> {
    let kinds = [MachineAddressType::InternalIp, MachineAddressType::ExternalIp];
    let addresses = addresses(machine, &kinds);
    addresses.filter_map(|address| address.parse().ok()).collect()
}

fn is_provisioned(machine: &Machine) -> bool {
    let initialization = machine
        .status
        .as_ref()
        .and_then(|status| status.initialization.as_ref());
    initialization.and_then(|found| found.infrastructure_provisioned) == Some(true)
}

fn names_of(machine: &Machine, kinds: &[MachineAddressType]) -> BTreeSet<String> {
    addresses(machine, kinds).map(str::to_ascii_lowercase).collect()
}

fn addresses<'a>(machine: &'a Machine, kinds: &[MachineAddressType]) -> impl Iterator<Item = &'a str> {
    let all = machine.status.iter().flat_map(|status| &status.addresses);
    all.filter(|address| kinds.contains(&address.r#type))
        .map(|address| address.address.as_str())
}
