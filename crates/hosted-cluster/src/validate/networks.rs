//! The networks of a cluster: that they are ones, that they fit together, and that nothing lies in two of them.

use std::net::IpAddr;

use hyperplane_api::hypershift::networking::{ClusterNetworking, NetworkType};
use hyperplane_platforms::{Problem, Rule};

use super::Case;
use crate::network::Network;

const FORM: Rule = Rule {
    name: "network-form",
    asks: "every network must be an address with a prefix, without bits behind the prefix",
};
const FAMILIES: Rule = Rule {
    name: "network-families",
    asks: "pods, Services and machines must have networks of the same address families",
};
const OVERLAP: Rule = Rule {
    name: "network-overlap",
    asks: "the networks of pods, Services and machines must not overlap",
};
const ADVERTISED: Rule = Rule {
    name: "network-advertise-address",
    asks: "advertiseAddress must be an address that lies in no network of the cluster",
};
const NODE_PORT: Rule = Rule {
    name: "network-node-port",
    asks: "the address of a NodePort must not lie in the network of Services, and its port be one of node ports",
};
const PLUGIN: Rule = Rule {
    name: "network-plugin",
    asks: "OpenShiftSDN is not offered for new clusters any more",
};

pub(super) const RULES: &[Rule] = &[FORM, FAMILIES, OVERLAP, ADVERTISED, NODE_PORT, PLUGIN];

/// The ports that Kubernetes takes for Services of type NodePort unless told otherwise.
const NODE_PORTS: std::ops::RangeInclusive<i32> = 30_000..=32_767;

/// A network with the field that names it.
struct Named {
    field: String,
    group: &'static str,
    network: Network,
}

pub(super) fn judge(case: &Case<'_>, problems: &mut Vec<Problem>) {
    let networking = &case.cluster.spec.networking;
    let networks = read(networking, problems);
    problems.extend(families(&networks));
    overlaps(&networks, problems);
    problems.extend(advertised(networking, &networks));
    node_ports(case, &networks, problems);
    problems.extend(plugin(case));
}

fn read(networking: &ClusterNetworking, problems: &mut Vec<Problem>) -> Vec<Named> {
    let groups: [(&'static str, Vec<&str>); 3] = [
        (
            "machineNetwork",
            networking
                .machine_network
                .iter()
                .map(|entry| entry.cidr.as_str())
                .collect(),
        ),
        (
            "clusterNetwork",
            networking
                .cluster_network
                .iter()
                .map(|entry| entry.cidr.as_str())
                .collect(),
        ),
        (
            "serviceNetwork",
            networking
                .service_network
                .iter()
                .map(|entry| entry.cidr.as_str())
                .collect(),
        ),
    ];
    let mut found = Vec::new();
    for (group, texts) in groups {
        for (number, text) in texts.into_iter().enumerate() {
            let field = format!("spec.networking.{group}[{number}].cidr");
            match text.parse::<Network>() {
                Ok(network) => found.push(Named { field, group, network }),
                Err(error) => problems.push(form(field, &error.to_string())),
            }
        }
    }
    let allowed = networking
        .api_server
        .iter()
        .flat_map(|server| &server.allowed_cidr_blocks);
    for (number, block) in allowed.enumerate() {
        let field = format!("spec.networking.apiServer.allowedCIDRBlocks[{number}]");
        if let Err(error) = block.as_str().parse::<Network>() {
            problems.push(form(field, &error.to_string()));
        }
    }
    found
}

fn form(field: String, error: &str) -> Problem {
    Problem::new(&FORM, field, error, "write a network such as 10.0.0.0/16 or fd00::/48")
}

/// A list with both families goes with anything; one without IPv6 does not go with one without IPv4.
fn families(networks: &[Named]) -> Option<Problem> {
    let only = |wanted: bool| {
        let groups = ["machineNetwork", "clusterNetwork", "serviceNetwork"].into_iter();
        groups.into_iter().find(|group| {
            let mut of_group = networks.iter().filter(|named| named.group == *group).peekable();
            of_group.peek().is_some() && of_group.all(|named| named.network.is_v6() == wanted)
        })
    };
    let (v6, v4) = (only(true)?, only(false)?);
    Some(Problem::new(
        &FAMILIES,
        format!("spec.networking.{v6}"),
        format!("it has only IPv6, and {v4} only IPv4"),
        "use one address family everywhere, or both in each list",
    ))
}

fn overlaps(networks: &[Named], problems: &mut Vec<Problem>) {
    for (number, one) in networks.iter().enumerate() {
        for other in &networks[number + 1..] {
            if one.network.overlaps(&other.network) {
                problems.push(Problem::new(
                    &OVERLAP,
                    other.field.clone(),
                    format!("{} overlaps {} of {}", other.network, one.network, one.field),
                    "use networks that have no address in common",
                ));
            }
        }
    }
}

/// The address at which nodes find the API server, if it is one.
pub(super) fn advertised_address(networking: &ClusterNetworking) -> Option<IpAddr> {
    networking.advertised_address().parse().ok()
}

fn advertised(networking: &ClusterNetworking, networks: &[Named]) -> Option<Problem> {
    let field = "spec.networking.apiServer.advertiseAddress";
    let text = networking.advertised_address();
    let Ok(address) = text.parse::<IpAddr>() else {
        return Some(Problem::new(
            &ADVERTISED,
            field,
            format!("{text:?} is no address"),
            "write an address such as 172.20.0.1",
        ));
    };
    let inside = networks.iter().find(|named| named.network.contains(address))?;
    Some(Problem::new(
        &ADVERTISED,
        field,
        format!("{address} lies in {} of {}", inside.network, inside.field),
        "use an address outside of all networks of the cluster",
    ))
}

fn node_ports(case: &Case<'_>, networks: &[Named], problems: &mut Vec<Problem>) {
    for (number, entry) in case.cluster.spec.services.iter().enumerate() {
        let Some(node_port) = &entry.service_publishing_strategy.node_port else {
            continue;
        };
        let field = format!("spec.services[{number}].servicePublishingStrategy.nodePort");
        let address = node_port.address.as_str().parse::<IpAddr>();
        let inside = address.ok().and_then(|address| {
            let mut of_services = networks.iter().filter(|named| named.group == "serviceNetwork");
            of_services.find(|named| named.network.contains(address))
        });
        problems.extend(inside.map(|named| {
            Problem::new(
                &NODE_PORT,
                format!("{field}.address"),
                format!("{} lies in {} of {}", node_port.address, named.network, named.field),
                "use an address under which the nodes of the management cluster are reached",
            )
        }));
        let port = node_port.port.filter(|port| *port > 0 && !NODE_PORTS.contains(port));
        problems.extend(port.map(|port| {
            Problem::new(
                &NODE_PORT,
                format!("{field}.port"),
                format!("{port} is no node port"),
                "use a port from 30000 to 32767, or leave it out",
            )
        }));
    }
}

fn plugin(case: &Case<'_>) -> Option<Problem> {
    let is_old = case.cluster.spec.networking.network_type == NetworkType::OpenShiftSDN;
    (is_old && case.seen.control_plane.is_none()).then(|| {
        Problem::new(
            &PLUGIN,
            "spec.networking.networkType",
            "OpenShiftSDN cannot be chosen for a new cluster",
            "use OVNKubernetes, Calico or Other",
        )
    })
}
