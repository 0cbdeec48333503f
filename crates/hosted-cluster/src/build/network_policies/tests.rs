//! Who reaches whom, by all policies together: an evaluator of network policies as Kubernetes defines them, and pods of two
//! tenants beside those of the management cluster.

use std::{collections::BTreeMap, net::IpAddr};

use hyperplane_api::constants::labels;
use k8s_openapi::{
    api::networking::v1::{NetworkPolicy, NetworkPolicyPeer, NetworkPolicyPort},
    apimachinery::pkg::{apis::meta::v1::LabelSelector, util::intstr::IntOrString},
};
use serde_json::{Value, json};

use crate::{
    build::{MachinesElsewhere, elsewhere},
    network::Network,
    testing::{cluster, desired, seen, services, settings},
};

/// Something that opens or takes connections.
#[derive(Clone, Debug)]
struct Place {
    namespace: &'static str,
    namespace_labels: BTreeMap<String, String>,
    labels: BTreeMap<String, String>,
    address: IpAddr,
}

fn map(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    let owned = pairs
        .iter()
        .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
    owned.collect()
}

/// A pod of a control plane.
fn pod(namespace: &'static str, labels: &[(&str, &str)]) -> Place {
    Place {
        namespace,
        namespace_labels: map(&[
            ("kubernetes.io/metadata.name", namespace),
            ("hypershift.openshift.io/hosted-control-plane", "true"),
        ]),
        labels: map(labels),
        address: "10.128.4.4".parse().unwrap(),
    }
}

fn component(name: &'static str) -> Place {
    pod("clusters-blue", &[("app", name)])
}

fn machine(namespace: &'static str, infra_id: &str) -> Place {
    pod(
        namespace,
        &[("kubevirt.io", "virt-launcher"), (labels::INFRA_ID.as_str(), infra_id)],
    )
}

/// A pod of the management cluster itself.
fn other(namespace: &'static str, namespace_labels: &[(&str, &str)]) -> Place {
    let mut place = pod(namespace, &[]);
    place.namespace_labels = map(namespace_labels);
    place
        .namespace_labels
        .insert("kubernetes.io/metadata.name".to_owned(), namespace.to_owned());
    place
}

/// An address that is no pod.
fn outside(address: &str) -> Place {
    Place {
        namespace: "",
        namespace_labels: BTreeMap::new(),
        labels: BTreeMap::new(),
        address: address.parse().unwrap(),
    }
}

fn selects(selector: &LabelSelector, found: &BTreeMap<String, String>) -> bool {
    let equal = selector.match_labels.iter().flatten();
    let mut expressions = selector.match_expressions.iter().flatten();
    equal.into_iter().all(|(key, value)| found.get(key) == Some(value))
        && expressions.all(|expression| {
            let value = found.get(&expression.key);
            let is_listed = value.is_some_and(|value| expression.values.iter().flatten().any(|one| one == value));
            match expression.operator.as_str() {
                "In" => is_listed,
                "NotIn" => !is_listed,
                "Exists" => value.is_some(),
                "DoesNotExist" => value.is_none(),
                operator => panic!("{operator} is no operator"),
            }
        })
}

fn matches(peer: &NetworkPolicyPeer, home: &str, place: &Place) -> bool {
    if let Some(block) = &peer.ip_block {
        let within = |text: &String| text.parse::<Network>().unwrap().contains(place.address);
        return within(&block.cidr) && !block.except.iter().flatten().any(within);
    }
    let is_pod = !place.namespace.is_empty();
    let is_near = match &peer.namespace_selector {
        Some(selector) => selects(selector, &place.namespace_labels),
        None => place.namespace == home,
    };
    let is_selected = peer
        .pod_selector
        .as_ref()
        .is_none_or(|selector| selects(selector, &place.labels));
    is_pod && is_near && is_selected
}

fn has_port(ports: Option<&Vec<NetworkPolicyPort>>, protocol: &str, port: i32) -> bool {
    ports.is_none_or(|ports| {
        ports.iter().any(|found| {
            let is_protocol = found.protocol.as_deref().unwrap_or("TCP") == protocol;
            is_protocol && found.port.as_ref().is_none_or(|found| *found == IntOrString::Int(port))
        })
    })
}

/// All policies of all namespaces.
struct Net(Vec<NetworkPolicy>);

impl Net {
    /// Two tenants.
    fn new(change: &Value) -> Self {
        let mut all = Vec::new();
        for (name, infra_id) in [("blue", "blue-abcde"), ("red", "red-fghij")] {
            let mut cluster = cluster(change);
            cluster.metadata.name = Some(name.to_owned());
            cluster.spec.infra_id = Some(infra_id.parse().unwrap());
            all.extend(desired(&cluster, &seen(&cluster), &settings()).network_policies);
        }
        Self(all)
    }

    fn policies(&self, type_: &str, place: &Place) -> Vec<&NetworkPolicy> {
        let concerns = |policy: &&NetworkPolicy| {
            let spec = policy.spec.as_ref().unwrap();
            policy.metadata.namespace.as_deref() == Some(place.namespace)
                && spec.policy_types.iter().flatten().any(|found| found == type_)
                && spec
                    .pod_selector
                    .as_ref()
                    .is_none_or(|selector| selects(selector, &place.labels))
        };
        self.0.iter().filter(concerns).collect()
    }

    fn may_take(&self, from: &Place, to: &Place, protocol: &str, port: i32) -> bool {
        let policies = self.policies("Ingress", to);
        let rules = policies
            .iter()
            .flat_map(|policy| policy.spec.iter().flat_map(|spec| spec.ingress.iter().flatten()));
        let mut open = rules.filter(|rule| {
            let is_from = rule
                .from
                .as_ref()
                .is_none_or(|peers| peers.is_empty() || peers.iter().any(|peer| matches(peer, to.namespace, from)));
            is_from && has_port(rule.ports.as_ref(), protocol, port)
        });
        policies.is_empty() || open.next().is_some()
    }

    fn may_open(&self, from: &Place, to: &Place, protocol: &str, port: i32) -> bool {
        let policies = self.policies("Egress", from);
        let rules = policies
            .iter()
            .flat_map(|policy| policy.spec.iter().flat_map(|spec| spec.egress.iter().flatten()));
        let mut open = rules.filter(|rule| {
            let is_to = rule
                .to
                .as_ref()
                .is_none_or(|peers| peers.is_empty() || peers.iter().any(|peer| matches(peer, from.namespace, to)));
            is_to && has_port(rule.ports.as_ref(), protocol, port)
        });
        policies.is_empty() || open.next().is_some()
    }

    fn reaches(&self, from: &Place, to: &Place, port: i32) -> bool {
        self.may_open(from, to, "TCP", port) && self.may_take(from, to, "TCP", port)
    }
}

fn check(change: &Value, table: &[(&Place, &Place, i32, bool)]) {
    let net = Net::new(change);
    for (from, to, port, expected) in table {
        assert_eq!(net.reaches(from, to, *port), *expected, "{from:?} -> {to:?}:{port}");
    }
}

#[test]
fn tenants_do_not_reach_each_other_except_as_clients() {
    let (blue, red) = (
        component("kube-controller-manager"),
        pod("clusters-red", &[("app", "etcd")]),
    );
    let red_api = pod("clusters-red", &[("app", "kube-apiserver")]);
    let needy = pod(
        "clusters-blue",
        &[
            ("app", "cluster-api"),
            (labels::NEED_MANAGEMENT_KAS_ACCESS.as_str(), "true"),
        ],
    );
    let etcd = component("etcd");
    check(
        &json!({}),
        &[
            (&blue, &red, 2379, false),
            (&needy, &red, 2379, false),
            (&blue, &red_api, 6443, false),
            (&red, &blue, 10_257, false),
            (&red, &etcd, 2379, false),
        ],
    );
}

#[test]
fn the_control_plane_reaches_itself_and_its_clients_reach_it() {
    let (api, etcd, scheduler) = (
        component("kube-apiserver"),
        component("etcd"),
        component("kube-scheduler"),
    );
    let client = outside("203.0.113.5");
    check(
        &json!({}),
        &[
            (&api, &etcd, 2379, true),
            (&scheduler, &api, 6443, true),
            (&client, &api, 6443, true),
            (&client, &etcd, 2379, false),
            (&client, &scheduler, 10_259, false),
            (&client, &component("router"), 8443, true),
            (&client, &component("router"), 9999, false),
        ],
    );
}

#[test]
fn another_port_of_the_api_server_is_open_too() {
    let client = outside("203.0.113.5");
    let api = component("kube-apiserver");
    check(
        &json!({"spec": {"networking": {"apiServer": {"port": 7443}}}}),
        &[
            (&client, &api, 6443, true),
            (&client, &api, 7443, true),
            (&client, &api, 7444, false),
        ],
    );
}

#[test]
fn whoever_measures_reaches_everything_and_others_nothing() {
    let monitoring = other("monitoring", &[("network.openshift.io/policy-group", "monitoring")]);
    let stranger = other("somewhere", &[]);
    let etcd = component("etcd");
    check(
        &json!({}),
        &[
            (&monitoring, &etcd, 2381, true),
            (&stranger, &etcd, 2381, false),
            (&stranger, &component("kube-apiserver"), 6443, true),
        ],
    );
}

#[test]
fn only_those_who_need_it_reach_the_management_cluster() {
    let (kubernetes, world) = (outside("192.0.2.10"), outside("203.0.113.5"));
    let dns = other("kube-system", &[]);
    let plain = component("kube-controller-manager");
    let needy = pod(
        "clusters-blue",
        &[
            ("app", "control-plane-operator"),
            (labels::NEED_MANAGEMENT_KAS_ACCESS.as_str(), "true"),
        ],
    );
    let router = component("router");
    check(
        &json!({}),
        &[
            (&plain, &kubernetes, 6443, false),
            (&needy, &kubernetes, 6443, true),
            (&router, &kubernetes, 6443, false),
            (&router, &world, 443, false),
            (&router, &component("kube-apiserver"), 6443, true),
            (&plain, &world, 443, true),
            (&plain, &outside("172.30.0.1"), 443, false),
            (&plain, &dns, 53, true),
            (&plain, &other("other-team", &[]), 8080, false),
        ],
    );
    assert!(Net::new(&json!({})).may_open(&plain, &dns, "UDP", 53));
}

#[test]
fn what_is_published_on_nodes_or_load_balancers_is_open_and_nothing_else() {
    let client = outside("203.0.113.5");
    let openings = [
        ("oauth-openshift", 6443),
        ("ignition-server", 9090),
        ("ignition-server-proxy", 8443),
        ("konnectivity-server", 8091),
        ("kube-apiserver", 8091),
    ];
    for (strategy, is_open) in [("LoadBalancer", true), ("NodePort", true), ("Route", false)] {
        let change = json!({"spec": {"services": services(strategy)}});
        for (name, port) in openings {
            let place = component(name);
            check(
                &change,
                &[(&client, &place, port, is_open), (&client, &place, 10_000, false)],
            );
        }
    }
}

#[test]
fn virtual_machines_reach_the_world_their_own_and_what_nodes_need() {
    let kubevirt = json!({"spec": {"platform": {"type": "KubeVirt", "kubevirt": {}}}});
    let mine = machine("clusters-blue", "blue-abcde");
    let theirs = machine("clusters-red", "red-fghij");
    let client = outside("203.0.113.5");
    check(
        &kubevirt,
        &[
            (&mine, &client, 443, true),
            (&client, &mine, 443, true),
            (&mine, &machine("clusters-blue", "blue-abcde"), 10_250, true),
            (&mine, &theirs, 10_250, false),
            (&theirs, &mine, 10_250, false),
            (&mine, &component("kube-apiserver"), 6443, true),
            (&mine, &component("konnectivity-server"), 8091, true),
            (&mine, &component("ignition-server-proxy"), 8443, true),
            (&mine, &component("etcd"), 2379, false),
            (&mine, &component("kube-controller-manager"), 10_257, false),
            (&mine, &pod("clusters-red", &[("app", "etcd")]), 2379, false),
            (&mine, &outside("192.0.2.10"), 6443, false),
            (&mine, &outside("10.128.9.9"), 80, false),
            (&component("kube-apiserver"), &mine, 10_250, true),
        ],
    );
    assert!(Net::new(&kubevirt).may_open(&mine, &other("kube-system", &[]), "UDP", 53));
}

#[test]
fn virtual_machines_on_another_cluster_reach_the_world_and_their_own() {
    let router = map(&[("network.openshift.io/policy-group", "ingress")]);
    let closed = ["10.128.0.0/14", "172.30.0.0/16"].map(str::to_owned);
    let mut all = Vec::new();
    for (name, infra_id) in [("blue", "blue-abcde"), ("red", "red-fghij")] {
        let mut cluster = cluster(&json!({}));
        cluster.metadata.name = Some(name.to_owned());
        all.push(elsewhere(&MachinesElsewhere {
            cluster: &cluster,
            infra_id,
            namespace: "machines",
            closed: &closed,
            dns: &settings().networks.dns,
            router: Some(&router),
        }));
    }
    assert_ne!(all[0].metadata.name, all[1].metadata.name, "they share the namespace");
    let net = Net(all);
    let mine = machine("machines", "blue-abcde");
    let client = outside("203.0.113.5");
    for (from, to, port, expected) in [
        (&mine, &client, 443, true),
        (&client, &mine, 443, true),
        (&mine, &machine("machines", "blue-abcde"), 10_250, true),
        (&mine, &machine("machines", "red-fghij"), 10_250, false),
        (&mine, &outside("10.128.9.9"), 80, false),
        (&mine, &outside("172.30.0.1"), 443, false),
        (&mine, &other("somewhere", &[]), 8080, false),
        (
            &mine,
            &other("router", &[("network.openshift.io/policy-group", "ingress")]),
            443,
            true,
        ),
        (
            &pod("machines", &[("app", "other")]),
            &other("somewhere", &[]),
            80,
            true,
        ),
    ] {
        assert_eq!(net.reaches(from, to, port), expected, "{from:?} -> {to:?}:{port}");
    }
    assert!(net.may_open(&mine, &other("kube-system", &[]), "UDP", 53));
}

#[test]
fn every_policy_has_a_name_of_its_own_and_none_is_made_for_machines_elsewhere() {
    let elsewhere = json!({"spec": {"platform": {"type": "KubeVirt", "kubevirt": {"credentials": {
        "infraKubeConfigSecret": {"name": "other", "key": "kubeconfig"}, "infraNamespace": "machines"}}}}});
    let names = |change: &Value| {
        let names = Net::new(change)
            .0
            .into_iter()
            .filter(|policy| policy.metadata.namespace.as_deref() == Some("clusters-blue"));
        let names: Vec<String> = names.filter_map(|policy| policy.metadata.name).collect();
        let distinct: std::collections::BTreeSet<String> = names.iter().cloned().collect();
        assert_eq!(names.len(), distinct.len());
        distinct
    };
    let kubevirt = json!({"spec": {"platform": {"type": "KubeVirt", "kubevirt": {}}}});
    assert!(names(&kubevirt).contains("virt-launcher"));
    assert!(!names(&elsewhere).contains("virt-launcher"));
    for name in [
        "default-deny",
        "same-namespace",
        "kas",
        "openshift-monitoring",
        "private-router",
        "management-kas",
    ] {
        assert!(names(&json!({})).contains(name), "{name}");
    }
}
