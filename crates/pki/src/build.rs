//! From a control plane and where it is published to what its certificates are made of. Pure.
//!
//! A mistake in one field must not let certificates run out: what cannot be understood is left out and told, and the rest
//! goes on.

use std::{collections::BTreeMap, net::IpAddr};

use hyperplane_api::{
    constants::{
        annotations::{CERTIFICATE_RENEWAL, CERTIFICATE_VALIDITY, CLUSTER},
        objects::{keys, kubeconfigs},
        ours::{self, KEY_ALGORITHM},
    },
    hypershift::{
        dns::DomainName, etcd::EtcdManagementType, hosted_control_plane::HostedControlPlane,
        networking::ClusterNetworking, services::PublishedService,
    },
};
use hyperplane_components::{Endpoint, Infrastructure, hosted_service_accounts};
use hyperplane_pki_issue::{
    Etcd, Host, KeyAlgorithm, Lifetime, Published, SecretKey, ServiceAccount, ServiceAccountKey, Wanted, first_address,
};
use kube::{Resource as _, ResourceExt as _};

/// What the certificates of a control plane are made of, and what could not be understood, in sentences.
#[derive(Clone, Debug)]
pub(crate) struct Built {
    pub(crate) wanted: Wanted,
    pub(crate) mistakes: Vec<String>,
}

/// What the certificates of a control plane are made of.
pub(crate) fn build(control_plane: &HostedControlPlane, infrastructure: &Infrastructure) -> Built {
    let mut mistakes = Vec::new();
    let spec = &control_plane.spec;
    let default = ClusterNetworking::default();
    let networking = spec.networking.as_ref().unwrap_or(&default);
    let service_addresses = service_addresses(networking, &mut mistakes);
    let is_pending = !infrastructure.missing.is_empty();
    let mut publish = |endpoint: &Option<Endpoint>| published(endpoint.as_ref(), is_pending, &mut mistakes);
    let api_server = publish(&infrastructure.api_server);
    let konnectivity = publish(&infrastructure.konnectivity);
    let ignition = publish(&infrastructure.ignition);
    let wanted = Wanted {
        namespace: control_plane.namespace().unwrap_or_default(),
        cluster: control_plane.name_any(),
        infra_id: spec.infra_id.clone(),
        service_addresses,
        api_server,
        konnectivity,
        ignition,
        api_server_name: api_server_name(control_plane, &mut mistakes),
        api_server_addresses: addresses(control_plane, networking, &mut mistakes),
        algorithm: algorithm(control_plane, &mut mistakes),
        lifetime: lifetime(control_plane, &mut mistakes),
        service_accounts: service_accounts(),
        admin_kubeconfig: admin_kubeconfig(control_plane),
        service_account_key: match spec.service_account_signing_key {
            Some(_) => ServiceAccountKey::Given,
            None => ServiceAccountKey::Generated,
        },
        etcd: match spec.etcd.management_type {
            EtcdManagementType::Unmanaged => Etcd::Given,
            _ => Etcd::Managed,
        },
        labels: BTreeMap::from([ours::label()]),
        annotations: CLUSTER
            .of(control_plane)
            .map(|cluster| (CLUSTER.to_string(), cluster.to_owned()))
            .into_iter()
            .collect(),
        owner: control_plane.controller_owner_ref(&()),
    };
    Built { wanted, mistakes }
}

fn understood<T>(result: Result<T, impl ToString>, field: &str, mistakes: &mut Vec<String>) -> Option<T> {
    result
        .map_err(|error| mistakes.push(format!("{field}: {}", error.to_string())))
        .ok()
}

fn service_addresses(networking: &ClusterNetworking, mistakes: &mut Vec<String>) -> Vec<IpAddr> {
    let networks = networking.service_network.iter();
    networks
        .map(|network| first_address(network.cidr.as_str()))
        .filter_map(|first| understood(first, "spec.networking.serviceNetwork", mistakes))
        .collect()
}

fn published(endpoint: Option<&Endpoint>, is_pending: bool, mistakes: &mut Vec<String>) -> Published {
    let Some(endpoint) = endpoint else {
        return if is_pending {
            Published::Awaited
        } else {
            Published::Unused
        };
    };
    let host = understood(Host::parse(&endpoint.host), "the address of an endpoint", mistakes);
    host.map_or(Published::Awaited, |host| Published::At {
        host,
        port: endpoint.port,
    })
}

/// The further name of the API server.
fn api_server_name(control_plane: &HostedControlPlane, mistakes: &mut Vec<String>) -> Option<Host> {
    let name = control_plane.spec.kube_api_server_dns_name.as_ref();
    let name = name.map(DomainName::as_str).filter(|name| !name.is_empty())?;
    understood(Host::parse(name), "spec.kubeAPIServerDNSName", mistakes)
}

/// Addresses of the API server beyond the published one: that of the nodes that publish it, and the one that leads to it
/// on every node of the cluster.
fn addresses(
    control_plane: &HostedControlPlane,
    networking: &ClusterNetworking,
    mistakes: &mut Vec<String>,
) -> Vec<Host> {
    let mut services = control_plane.spec.services.iter();
    let service = services.find(|service| service.service == PublishedService::ApiServer);
    let node_port = service.and_then(|service| service.service_publishing_strategy.node_port.as_ref());
    let node = node_port.map(|node_port| ("spec.services.nodePort.address", node_port.address.as_str()));
    let advertised = (
        "spec.networking.apiServer.advertiseAddress",
        networking.advertised_address(),
    );
    let found = node
        .into_iter()
        .filter(|(_, address)| !address.is_empty())
        .chain([advertised]);
    found
        .filter_map(|(field, address)| understood(Host::parse(address), field, mistakes))
        .collect()
}

fn algorithm(control_plane: &HostedControlPlane, mistakes: &mut Vec<String>) -> KeyAlgorithm {
    let text = KEY_ALGORITHM.of(control_plane).map(str::parse);
    text.and_then(|parsed| understood(parsed, KEY_ALGORITHM.as_str(), mistakes))
        .unwrap_or_default()
}

fn lifetime(control_plane: &HostedControlPlane, mistakes: &mut Vec<String>) -> Lifetime {
    let validity = CERTIFICATE_VALIDITY.of(control_plane);
    let renewal = CERTIFICATE_RENEWAL.of(control_plane);
    let lifetime = Lifetime::parse(validity, renewal);
    understood(lifetime, CERTIFICATE_VALIDITY.as_str(), mistakes).unwrap_or_default()
}

/// Whom components act as inside of the hosted cluster.
fn service_accounts() -> Vec<ServiceAccount> {
    let accounts = hosted_service_accounts().map(|(component, account)| ServiceAccount {
        component: component.to_owned(),
        namespace: account.namespace.to_owned(),
        name: account.name.to_owned(),
    });
    accounts.collect()
}

/// Where the administrator's kubeconfig goes.
fn admin_kubeconfig(control_plane: &HostedControlPlane) -> SecretKey {
    let wanted = control_plane.spec.kubeconfig.as_ref();
    let (name, key) = wanted.map_or((kubeconfigs::ADMIN, keys::KUBECONFIG), |place| {
        (&place.name, &place.key)
    });
    SecretKey {
        name: name.to_owned(),
        key: key.to_owned(),
    }
}
