//! Virtual machines of a cluster on KubeVirt run as pods in the namespace of its control plane. They are the tenant's: they
//! reach the world, each other, and of the control plane what nodes need; nothing else of it, and nothing of others.

use std::collections::BTreeMap;

use hyperplane_api::{
    constants::{
        labels,
        objects::{components, ports},
    },
    hypershift::platform_type::PlatformType,
};
use k8s_openapi::api::networking::v1::{NetworkPolicy, NetworkPolicyIngressRule};

use super::{
    Blueprint,
    parts::{
        KUBEVIRT, VIRTUAL_MACHINE, addresses_outside, component, egress, ingress, namespaces, pods, to, to_dns,
        to_port, with,
    },
};

/// What nodes need of a control plane: the component and its port.
const NEEDED: &[(&str, u16)] = &[
    (components::API_SERVER, ports::API_SERVER),
    (components::API_SERVER, ports::KONNECTIVITY),
    (components::KONNECTIVITY_SERVER, ports::KONNECTIVITY),
    (components::OAUTH_SERVER, ports::OAUTH_SERVER),
    (components::IGNITION_SERVER, ports::IGNITION_SERVER),
    (components::IGNITION_PROXY, ports::IGNITION_PROXY),
    (components::ROUTER, ports::ROUTER),
];

pub(super) fn policies(blueprint: &Blueprint<'_>) -> Vec<NetworkPolicy> {
    let spec = &blueprint.cluster.spec;
    let settings = spec.platform.kubevirt.as_ref();
    let is_elsewhere = settings.is_some_and(|settings| settings.credentials.is_some());
    if spec.platform.type_ != PlatformType::KubeVirt || is_elsewhere {
        return Vec::new();
    }
    let machines = BTreeMap::from([
        (KUBEVIRT.to_owned(), VIRTUAL_MACHINE.to_owned()),
        (labels::INFRA_ID.as_str().to_owned(), blueprint.infra_id.to_owned()),
    ]);
    // Load balancers of the management cluster lead users to the machines, from wherever they are.
    let anybody = NetworkPolicyIngressRule::default();
    vec![
        ingress(blueprint, "virt-launcher", with(&machines), vec![anybody]),
        outwards(blueprint, &machines),
    ]
}

fn outwards(blueprint: &Blueprint<'_>, machines: &BTreeMap<String, String>) -> NetworkPolicy {
    let networks = &blueprint.settings.networks;
    let mut rules = vec![
        to(addresses_outside(&blueprint.seen.closed_networks)),
        to(vec![pods(with(machines))]),
    ];
    rules.extend(
        NEEDED
            .iter()
            .map(|(name, port)| to_port(vec![pods(component(name))], (*port).into())),
    );
    rules.extend(to_dns(blueprint));
    rules.extend(networks.ingress.as_ref().map(|labels| to(vec![namespaces(labels)])));
    // Every pod of the kind is held, whatever it says of itself; only those of this cluster are let to each other.
    let held = BTreeMap::from([(KUBEVIRT.to_owned(), VIRTUAL_MACHINE.to_owned())]);
    egress(blueprint, "virt-launcher-egress", with(&held), rules)
}
