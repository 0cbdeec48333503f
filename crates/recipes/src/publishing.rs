//! How the endpoints of a control plane are published.

use hyperplane_api::hypershift::services::{
    NodePortAddress, NodePortPublishing, PublishedHostname, PublishedService, PublishingStrategyType, RoutePublishing,
    ServicePublishing, ServicePublishingStrategy,
};
use k8s_openapi::api::core::v1::Node;

use crate::judge::Judge;

const EXTERNAL_DNS: &str = "--external-dns-domain";

/// Every endpoint, with what its hostname begins with.
const SERVICES: [(PublishedService, &str); 4] = [
    (PublishedService::ApiServer, "api"),
    (PublishedService::OAuthServer, "oauth"),
    (PublishedService::Konnectivity, "konnectivity"),
    (PublishedService::Ignition, "ignition"),
];

/// Which addresses of a node are tried, best first.
const ADDRESSES: [&str; 3] = ["ExternalDNS", "ExternalIP", "InternalIP"];

/// A way to publish all endpoints.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Publishing {
    /// The API server by a load balancer of its own, the others by host name.
    Ingress,
    /// Everything by ports on nodes of the management cluster.
    NodePort {
        /// Where those nodes are reached.
        address: String,
        /// The flag that says so.
        flag: &'static str,
    },
}

/// An address under which clients reach nodes of the management cluster.
pub fn node_address(nodes: &[Node]) -> Option<String> {
    let of_kind = |kind: &str| {
        let statuses = nodes.iter().filter_map(|node| node.status.as_ref());
        let mut addresses = statuses.flat_map(|status| status.addresses.iter().flatten());
        addresses
            .find(|address| address.type_ == kind)
            .map(|address| address.address.clone())
    };
    ADDRESSES.iter().find_map(|kind| of_kind(kind))
}

/// Services with hostnames of a domain, or by the way that the platform has.
pub(crate) fn services(
    name: &str,
    domain: Option<&str>,
    publishing: &Publishing,
    judge: &mut Judge,
) -> Vec<ServicePublishing> {
    if let (Some(_), Publishing::NodePort { flag, .. }) = (domain, publishing) {
        judge.wrong(
            EXTERNAL_DNS,
            format!("hostnames cannot go with node ports: leave it out, or {flag}"),
        );
    }
    let strategy = |service: &PublishedService, label: &str, judge: &mut Judge| match (domain, publishing) {
        (Some(domain), _) => {
            let hostname = format!("{label}-{name}.{domain}");
            route(Some(judge.text(EXTERNAL_DNS, &hostname, PublishedHostname::stored)))
        }
        (None, Publishing::NodePort { address, flag }) => node_port(judge.text(flag, address, NodePortAddress::stored)),
        (None, Publishing::Ingress) if *service == PublishedService::ApiServer => {
            plain(PublishingStrategyType::LoadBalancer)
        }
        (None, Publishing::Ingress) => route(None),
    };
    let published = SERVICES.into_iter().map(|(service, label)| ServicePublishing {
        service_publishing_strategy: strategy(&service, label, judge),
        service,
    });
    published.collect()
}

fn plain(strategy_type: PublishingStrategyType) -> ServicePublishingStrategy {
    ServicePublishingStrategy {
        strategy_type,
        node_port: None,
        load_balancer: None,
        route: None,
    }
}

fn route(hostname: Option<PublishedHostname>) -> ServicePublishingStrategy {
    ServicePublishingStrategy {
        route: hostname.map(|hostname| RoutePublishing {
            hostname: Some(hostname),
        }),
        ..plain(PublishingStrategyType::Route)
    }
}

fn node_port(address: NodePortAddress) -> ServicePublishingStrategy {
    ServicePublishingStrategy {
        node_port: Some(NodePortPublishing { address, port: None }),
        ..plain(PublishingStrategyType::NodePort)
    }
}
