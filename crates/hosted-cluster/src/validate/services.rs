//! How the endpoints of a control plane are published: which, how, and under which names.

use std::collections::{BTreeMap, BTreeSet};

use hyperplane_api::{
    constants::annotations,
    hypershift::services::{PublishedHostname, PublishedService, PublishingStrategyType, ServicePublishing},
};
use hyperplane_components::{api_server_hostname, observe};
use hyperplane_pki_issue::{Host, first_address, standing_api_server_names};
use hyperplane_platforms::{Problem, Rule};
use kube::ResourceExt as _;

use super::{Case, networks};
use crate::{build, certificates, names};

const COMPLETE: Rule = Rule {
    name: "services-complete",
    asks: "APIServer, Konnectivity and Ignition must be published, and OAuthServer be named",
};
const ONCE: Rule = Rule {
    name: "services-once",
    asks: "a service must not be published twice",
};
const STRATEGY: Rule = Rule {
    name: "services-strategy",
    asks: "services are published by LoadBalancer, NodePort or Route; only those that nodes do not need may be left out",
};
const HOSTNAMES: Rule = Rule {
    name: "services-hostnames",
    asks: "no two services may have the same hostname",
};
const DOMAIN: Rule = Rule {
    name: "services-domain",
    asks: "a Route without a hostname needs a management cluster whose ingress domain is known",
};
const CERTIFICATES: Rule = Rule {
    name: "services-certificates",
    asks: "a certificate of the user must not be for a name whose certificate the manager issues",
};

pub(super) const RULES: &[Rule] = &[COMPLETE, ONCE, STRATEGY, HOSTNAMES, DOMAIN, CERTIFICATES];

const NEEDED: [PublishedService; 4] = [
    PublishedService::ApiServer,
    PublishedService::OAuthServer,
    PublishedService::Konnectivity,
    PublishedService::Ignition,
];

pub(super) fn judge(case: &Case<'_>, problems: &mut Vec<Problem>) {
    let services = &case.cluster.spec.services;
    complete(services, problems);
    for (number, entry) in services.iter().enumerate() {
        problems.extend(strategy(case, number, entry));
        problems.extend(domain(case, number, entry));
    }
    hostnames(services, problems);
    if annotations::SKIP_KAS_CONFLICT_SAN_VALIDATION.of(case.cluster).is_none() {
        certificates_of_others(case, problems);
    }
}

fn complete(services: &[ServicePublishing], problems: &mut Vec<Problem>) {
    for needed in &NEEDED {
        let count = services.iter().filter(|entry| entry.service == *needed).count();
        let name = needed.as_str();
        if count == 0 {
            problems.push(Problem::new(
                &COMPLETE,
                "spec.services",
                format!("{name} is missing"),
                format!("add an entry for {name}"),
            ));
        } else if count > 1 {
            problems.push(Problem::new(
                &ONCE,
                "spec.services",
                format!("{name} is there {count} times"),
                "leave one of the entries",
            ));
        }
    }
}

fn strategy(case: &Case<'_>, number: usize, entry: &ServicePublishing) -> Option<Problem> {
    let strategy = &entry.service_publishing_strategy.strategy_type;
    let is_known = matches!(
        strategy,
        PublishingStrategyType::LoadBalancer | PublishingStrategyType::NodePort | PublishingStrategyType::Route
    );
    let is_dispensable = matches!(
        entry.service,
        PublishedService::OAuthServer | PublishedService::Ignition
    );
    let is_left_out = is_dispensable && *strategy == PublishingStrategyType::None;
    (NEEDED.contains(&entry.service) && !is_known && !is_left_out).then(|| {
        Problem::new(
            &STRATEGY,
            format!("spec.services[{number}].servicePublishingStrategy.type"),
            format!(
                "{} cannot publish {} on platform {}",
                strategy.as_str(),
                entry.service.as_str(),
                case.cluster.spec.platform.type_.as_str()
            ),
            "use LoadBalancer, NodePort or Route",
        )
    })
}

/// The hostname that a user chose.
pub(super) fn hostname(entry: &ServicePublishing) -> Option<&str> {
    let strategy = &entry.service_publishing_strategy;
    let balancer = strategy
        .load_balancer
        .as_ref()
        .and_then(|balancer| balancer.hostname.as_ref());
    let route = strategy.route.as_ref().and_then(|route| route.hostname.as_ref());
    balancer.or(route).map(PublishedHostname::as_str)
}

fn domain(case: &Case<'_>, number: usize, entry: &ServicePublishing) -> Option<Problem> {
    let is_route = entry.service_publishing_strategy.strategy_type == PublishingStrategyType::Route;
    let has_name = hostname(entry).is_some() || case.settings.facts.ingress_domain.is_some();
    (is_route && !has_name && NEEDED.contains(&entry.service)).then(|| {
        Problem::new(
            &DOMAIN,
            format!("spec.services[{number}].servicePublishingStrategy.route.hostname"),
            "it is missing, and the ingress domain of the management cluster is not known",
            "set a hostname, or tell the manager its ingress domain",
        )
    })
}

fn hostnames(services: &[ServicePublishing], problems: &mut Vec<Problem>) {
    let mut seen: BTreeMap<String, &str> = BTreeMap::new();
    for (number, entry) in services.iter().enumerate() {
        let Some(name) = hostname(entry) else { continue };
        if let Some(other) = seen.insert(name.to_lowercase(), entry.service.as_str()) {
            problems.push(Problem::new(
                &HOSTNAMES,
                format!("spec.services[{number}]"),
                format!("{name} is the hostname of {other}, too"),
                "give each service a hostname of its own",
            ));
        }
    }
}

/// Names and addresses of the API server for which the manager issues certificates itself: a certificate of somebody else
/// for one of them would be shown to the control plane and to nodes, which do not trust it. The further name is not among
/// them: it is there for a certificate of the user's.
fn own_names(case: &Case<'_>) -> BTreeSet<Host> {
    let cluster = case.cluster;
    let control_plane = build::preview(case);
    let management = case.settings.facts.management(&control_plane);
    let services: Vec<_> = case.seen.services.iter().map(AsRef::as_ref).collect();
    let observed = observe(&control_plane, &management, &services).api_server;
    let published = api_server_hostname(&control_plane, &management)
        .into_iter()
        .chain(observed.map(|endpoint| endpoint.host))
        .chain(node_address(case));
    let networks = cluster.spec.networking.service_network.iter();
    let of_services = networks.filter_map(|network| first_address(network.cidr.as_str()).ok());
    let mut own = standing_api_server_names(&names::namespace_of(cluster), &cluster.name_any());
    own.extend(published.filter_map(|host| Host::parse(&host).ok()));
    own.extend(of_services.map(Host::Address));
    own.extend(networks::advertised_address(&cluster.spec.networking).map(Host::Address));
    own
}

/// The address of the nodes that the API server is published on.
fn node_address(case: &Case<'_>) -> Option<String> {
    let mut services = case.cluster.spec.services.iter();
    let entry = services.find(|entry| entry.service == PublishedService::ApiServer)?;
    let node_port = entry.service_publishing_strategy.node_port.as_ref()?;
    Some(node_port.address.as_str().to_owned())
}

fn certificates_of_others(case: &Case<'_>, problems: &mut Vec<Problem>) {
    let configuration = case.cluster.spec.configuration.as_deref();
    let serving = configuration.and_then(|found| found.api_server.as_ref()?.serving_certs.as_ref());
    let named = serving.iter().flat_map(|serving| &serving.named_certificates);
    let own = own_names(case);
    for (number, certificate) in named.enumerate() {
        let field = format!("spec.configuration.apiServer.servingCerts.namedCertificates[{number}]");
        let secret = certificate.serving_certificate.as_ref();
        let mut covered = certificate.names.clone();
        covered.extend(secret.into_iter().flat_map(|secret| names_in(case, &secret.name)));
        let is_covered = |own: &&Host| covered.iter().any(|pattern| certificates::covers(pattern, own));
        let conflict = own.iter().find(is_covered);
        problems.extend(conflict.map(|name| {
            Problem::new(
                &CERTIFICATES,
                field,
                format!("it is for {name}, whose certificate the manager issues"),
                "use a certificate for other names",
            )
        }));
    }
}

fn names_in(case: &Case<'_>, secret: &str) -> Vec<String> {
    let mut sources = case.seen.sources.iter();
    let source = sources.find(|source| source.order.source == secret && source.order.target == secret);
    let certificate = source.and_then(|source| source.content()?.data.get("tls.crt"));
    let certificates = certificate
        .and_then(|pem| certificates::read_all(pem))
        .unwrap_or_default();
    // Only the first is shown to clients; the others lead to an authority.
    certificates
        .into_iter()
        .take(1)
        .flat_map(|certificate| certificate.names)
        .collect()
}
