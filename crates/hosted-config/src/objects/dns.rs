//! Names inside of the hosted cluster: CoreDNS, at the tenth address of the service network, where kubelets look for it.

use hyperplane_api::{constants::groups, hypershift::availability::AvailabilityPolicy};
use k8s_openapi::api::{
    apps::v1::Deployment,
    core::v1::{ConfigMap, Service, ServiceAccount},
    rbac::v1::{ClusterRole, ClusterRoleBinding},
};
use serde_json::json;

use super::{
    Incomplete, SYSTEM_NAMESPACE, Set, Wanted,
    access::{binding_of_account, object},
    address_in, asset,
};

/// Where DNS is in a service network, as kubeadm has it.
const POSITION: u8 = 10;

const COREFILE: &str = "\
.:53 {
    errors
    health {
       lameduck 5s
    }
    ready
    kubernetes cluster.local in-addr.arpa ip6.arpa {
       pods insecure
       fallthrough in-addr.arpa ip6.arpa
       ttl 30
    }
    prometheus :9153
    forward . /etc/resolv.conf {
       max_concurrent 1000
    }
    cache 30
    loop
    reload
    loadbalance
}
";

pub(super) fn add(wanted: &Wanted<'_>, set: &mut Set) -> Result<(), Incomplete> {
    let metadata = json!({"name": "coredns", "namespace": SYSTEM_NAMESPACE});
    set.add::<ServiceAccount>(object(&json!({"metadata": metadata})));
    set.add::<ClusterRole>(object(&json!({
        "metadata": {"name": "system:coredns"},
        "rules": [
            {"apiGroups": [""], "resources": ["endpoints", "services", "pods", "namespaces"], "verbs": ["list", "watch"]},
            {"apiGroups": [groups::DISCOVERY], "resources": ["endpointslices"], "verbs": ["list", "watch"]},
        ],
    })));
    set.add::<ClusterRoleBinding>(object(&binding_of_account(
        "system:coredns",
        "system:coredns",
        "coredns",
    )));
    set.add::<ConfigMap>(object(&json!({"metadata": metadata, "data": {"Corefile": COREFILE}})));
    set.add(service(wanted)?);
    set.add(deployment(wanted)?);
    Ok(())
}

fn service(wanted: &Wanted<'_>) -> Result<Service, Incomplete> {
    let networks = wanted.networking().service_network;
    let addresses = networks
        .iter()
        .map(|network| address_in(network.cidr.as_str(), POSITION).map(|address| address.to_string()))
        .collect::<Result<Vec<_>, _>>()?;
    let policy = if addresses.len() > 1 {
        "RequireDualStack"
    } else {
        "SingleStack"
    };
    Ok(object(&json!({
        "metadata": {
            "name": "kube-dns", "namespace": SYSTEM_NAMESPACE,
            "labels": {"k8s-app": "kube-dns", "kubernetes.io/name": "CoreDNS"},
        },
        "spec": {
            "selector": {"k8s-app": "kube-dns"},
            "clusterIP": addresses.first(),
            "clusterIPs": addresses,
            "ipFamilyPolicy": policy,
            "ports": [
                {"name": "dns", "port": 53, "targetPort": 53, "protocol": "UDP"},
                {"name": "dns-tcp", "port": 53, "targetPort": 53, "protocol": "TCP"},
                {"name": "metrics", "port": 9153, "targetPort": 9153, "protocol": "TCP"},
            ],
        },
    })))
}

fn deployment(wanted: &Wanted<'_>) -> Result<Deployment, Incomplete> {
    let mut deployment: Deployment = asset(include_str!("../assets/coredns.yaml"));
    let spec = deployment.spec.get_or_insert_default();
    let policy = &wanted.control_plane.spec.infrastructure_availability_policy;
    spec.replicas = Some(if *policy == AvailabilityPolicy::HighlyAvailable {
        2
    } else {
        1
    });
    wanted.finish("coredns", &[], &mut spec.template)?;
    Ok(deployment)
}
