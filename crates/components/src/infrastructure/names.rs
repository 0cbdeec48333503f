//! Host names of endpoints behind the router.

use hyperplane_api::hypershift::{
    hosted_control_plane::HostedControlPlane,
    services::{PublishedService, PublishingStrategyType, ServicePublishingStrategy},
};

use super::{PUBLISHABLE, Publishable};
use crate::{hash, inputs::Management};

/// The longest part of a host name between two dots.
const LABEL_LIMIT: usize = 63;

/// How many digits of a hash keep two shortened names apart.
const HASH_DIGITS: usize = 8;

/// The name under which clients ask the router for an endpoint: the one that the user gave, else one in the ingress
/// domain of the management cluster, if it has one.
pub(crate) fn route_hostname(
    control_plane: &HostedControlPlane,
    management: &Management,
    publishable: &Publishable,
) -> Option<String> {
    let strategy = super::strategy(control_plane, &publishable.service);
    if let Some(hostname) = strategy.and_then(given) {
        return Some(hostname.to_owned());
    }
    let domain = management.ingress_domain.as_deref()?;
    let namespace = control_plane.metadata.namespace.as_deref().unwrap_or_default();
    Some(format!("{}.{domain}", label(publishable.name, namespace)))
}

/// The name under which the API server will be found, where it follows from what is asked for and not from what a load
/// balancer gets.
pub fn api_server_hostname(control_plane: &HostedControlPlane, management: &Management) -> Option<String> {
    let publishable = PUBLISHABLE
        .iter()
        .find(|one| one.service == PublishedService::ApiServer)?;
    let strategy = super::strategy(control_plane, &publishable.service)?;
    match strategy.strategy_type {
        PublishingStrategyType::Route => route_hostname(control_plane, management, publishable),
        _ => given(strategy).map(str::to_owned),
    }
}

/// The host name that the user gave, for whichever strategy takes one.
pub(super) fn given(strategy: &ServicePublishingStrategy) -> Option<&str> {
    let of_route = strategy.route.as_ref().and_then(|route| route.hostname.as_ref());
    let of_balancer = strategy
        .load_balancer
        .as_ref()
        .and_then(|balancer| balancer.hostname.as_ref());
    let hostname = of_route.or(of_balancer)?.as_str();
    (!hostname.is_empty()).then_some(hostname)
}

/// Service and namespace in one part of a host name; a long namespace is cut and told from others by a hash.
fn label(service: &str, namespace: &str) -> String {
    let whole = format!("{service}-{namespace}");
    if whole.len() <= LABEL_LIMIT {
        return whole;
    }
    let room = LABEL_LIMIT - service.len() - HASH_DIGITS - 2;
    let cut: String = namespace.chars().take(room).collect();
    let hash = hash::of_bytes(namespace.as_bytes());
    format!("{service}-{}-{}", cut.trim_end_matches('-'), &hash[..HASH_DIGITS])
}
