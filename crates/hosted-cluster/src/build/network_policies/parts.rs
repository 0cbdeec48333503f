//! The parts that network policies are put together from.

use std::collections::BTreeMap;

use k8s_openapi::{
    api::networking::v1::{
        IPBlock, NetworkPolicy, NetworkPolicyEgressRule, NetworkPolicyIngressRule, NetworkPolicyPeer,
        NetworkPolicyPort, NetworkPolicySpec,
    },
    apimachinery::pkg::{
        apis::meta::v1::{LabelSelector, LabelSelectorRequirement},
        util::intstr::IntOrString,
    },
};

use super::Blueprint;

/// The label of a pod with the name of its component.
pub(super) const APP: &str = "app";
/// The label of a pod with what KubeVirt runs in it.
pub(super) const KUBEVIRT: &str = "kubevirt.io";
/// A pod in which a virtual machine runs.
pub(super) const VIRTUAL_MACHINE: &str = "virt-launcher";
/// The port of DNS servers, and the one that OpenShift's listen on.
const DNS_PORTS: [i32; 2] = [53, 5353];

/// A policy that says who may reach pods.
pub(super) fn ingress(
    blueprint: &Blueprint<'_>,
    name: &str,
    pods: LabelSelector,
    rules: Vec<NetworkPolicyIngressRule>,
) -> NetworkPolicy {
    NetworkPolicy {
        metadata: blueprint.metadata(name),
        spec: Some(NetworkPolicySpec {
            pod_selector: Some(pods),
            policy_types: Some(vec!["Ingress".to_owned()]),
            // An empty list is left out: it would read back as none, and none opens nothing either.
            ingress: (!rules.is_empty()).then_some(rules),
            egress: None,
        }),
    }
}

/// A policy that says whom pods may reach.
pub(super) fn egress(
    blueprint: &Blueprint<'_>,
    name: &str,
    pods: LabelSelector,
    rules: Vec<NetworkPolicyEgressRule>,
) -> NetworkPolicy {
    NetworkPolicy {
        metadata: blueprint.metadata(name),
        spec: Some(NetworkPolicySpec {
            pod_selector: Some(pods),
            policy_types: Some(vec!["Egress".to_owned()]),
            ingress: None,
            egress: Some(rules),
        }),
    }
}

/// Every pod.
pub(super) fn all() -> LabelSelector {
    LabelSelector::default()
}

/// Pods or namespaces with these labels.
pub(super) fn with(labels: &BTreeMap<String, String>) -> LabelSelector {
    LabelSelector {
        match_labels: Some(labels.clone()),
        ..LabelSelector::default()
    }
}

/// Pods of one component.
pub(super) fn component(name: &str) -> LabelSelector {
    with(&BTreeMap::from([(APP.to_owned(), name.to_owned())]))
}

/// Pods whose labels have none of these values.
pub(super) fn without(labels: &[(&str, &str)]) -> LabelSelector {
    let expression = |(key, value): &(&str, &str)| LabelSelectorRequirement {
        key: (*key).to_owned(),
        operator: "NotIn".to_owned(),
        values: Some(vec![(*value).to_owned()]),
    };
    LabelSelector {
        match_expressions: Some(labels.iter().map(expression).collect()),
        ..LabelSelector::default()
    }
}

/// Pods of the same namespace.
pub(super) fn pods(selector: LabelSelector) -> NetworkPolicyPeer {
    NetworkPolicyPeer {
        pod_selector: Some(selector),
        ..NetworkPolicyPeer::default()
    }
}

/// Every pod of some namespaces.
pub(super) fn namespaces(labels: &BTreeMap<String, String>) -> NetworkPolicyPeer {
    NetworkPolicyPeer {
        namespace_selector: Some(with(labels)),
        ..NetworkPolicyPeer::default()
    }
}

/// Every address outside of some networks.
pub(super) fn addresses_outside(closed: &[String]) -> Vec<NetworkPolicyPeer> {
    let is_v6 = |network: &&String| network.contains(':');
    let block = |everything: &str, except: Vec<String>| NetworkPolicyPeer {
        ip_block: Some(IPBlock {
            cidr: everything.to_owned(),
            except: (!except.is_empty()).then_some(except),
        }),
        ..NetworkPolicyPeer::default()
    };
    let (six, four): (Vec<&String>, Vec<&String>) = closed.iter().partition(is_v6);
    vec![
        block("0.0.0.0/0", four.into_iter().cloned().collect()),
        block("::/0", six.into_iter().cloned().collect()),
    ]
}

/// A port of TCP.
pub(super) fn tcp(port: i32) -> NetworkPolicyPort {
    port_of("TCP", port)
}

fn port_of(protocol: &str, port: i32) -> NetworkPolicyPort {
    NetworkPolicyPort {
        protocol: Some(protocol.to_owned()),
        port: Some(IntOrString::Int(port)),
        end_port: None,
    }
}

/// From anywhere, to some ports.
pub(super) fn from_anywhere(ports: &[i32]) -> NetworkPolicyIngressRule {
    NetworkPolicyIngressRule {
        from: None,
        ports: Some(ports.iter().copied().map(tcp).collect()),
    }
}

/// From some, to every port.
pub(super) fn from(peers: Vec<NetworkPolicyPeer>) -> NetworkPolicyIngressRule {
    NetworkPolicyIngressRule {
        from: Some(peers),
        ports: None,
    }
}

/// To some, at every port.
pub(super) fn to(peers: Vec<NetworkPolicyPeer>) -> NetworkPolicyEgressRule {
    NetworkPolicyEgressRule {
        to: Some(peers),
        ports: None,
    }
}

/// To some, at one port.
pub(super) fn to_port(peers: Vec<NetworkPolicyPeer>, port: i32) -> NetworkPolicyEgressRule {
    NetworkPolicyEgressRule {
        to: Some(peers),
        ports: Some(vec![tcp(port)]),
    }
}

/// To the DNS servers of the management cluster.
pub(super) fn to_dns(blueprint: &Blueprint<'_>) -> Option<NetworkPolicyEgressRule> {
    to_dns_in(&blueprint.settings.networks.dns)
}

/// To the DNS servers of a cluster, by the labels of their namespaces.
pub(super) fn to_dns_in(servers: &[BTreeMap<String, String>]) -> Option<NetworkPolicyEgressRule> {
    let ports = DNS_PORTS.iter().flat_map(|port| [port_of("UDP", *port), tcp(*port)]);
    (!servers.is_empty()).then(|| NetworkPolicyEgressRule {
        to: Some(servers.iter().map(namespaces).collect()),
        ports: Some(ports.collect()),
    })
}
