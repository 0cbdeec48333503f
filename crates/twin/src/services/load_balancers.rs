//! Addresses of load balancers: each Service of that type gets one of loopback, which is the same every time.

use std::{collections::BTreeSet, net::Ipv4Addr, sync::Arc};

use hyperplane_runtime::{Context, Failure, Next, ObjectKey, Reconciler, Store};
use hyperplane_seams::Random;
use k8s_openapi::api::core::v1::Service;
use serde_json::json;

/// The addresses that are given out: 127.64.0.0/10, which a machine has to itself and nothing else uses.
const POOL: u32 = 0x7f40_0000;
const POOL_SIZE: u64 = 1 << 22;

/// Gives addresses.
pub(crate) struct LoadBalancers {
    /// Every Service, to give none twice.
    pub(crate) services: Store<Service>,
    /// Whether only Services of Hyperplane get one: on a cluster that others use, too.
    pub(crate) selects: fn(&Service) -> bool,
}

impl Reconciler for LoadBalancers {
    type Object = Service;

    async fn reconcile(&self, context: &Context, service: Arc<Service>) -> Result<Next, Failure> {
        if !(self.selects)(&service) {
            return Ok(Next::OnChange);
        }
        let addresses = addresses(&service);
        if !is_load_balancer(&service) {
            if !addresses.is_empty() {
                context
                    .apply_status(service.as_ref(), &json!({"loadBalancer": {}}))
                    .await?;
            }
            return Ok(Next::OnChange);
        }
        let address = match addresses.first() {
            Some(address) => *address,
            None => choose(&ObjectKey::of(service.as_ref()), &self.taken()),
        };
        let status = json!({"loadBalancer": {"ingress": [{"ip": address.to_string(), "ipMode": "VIP"}]}});
        context.apply_status(service.as_ref(), &status).await?;
        Ok(Next::OnChange)
    }
}

impl LoadBalancers {
    fn taken(&self) -> BTreeSet<Ipv4Addr> {
        self.services
            .all()
            .iter()
            .flat_map(|service| addresses(service))
            .collect()
    }
}

/// Whether a Service asks for a load balancer, and for none in particular.
pub(crate) fn is_load_balancer(service: &Service) -> bool {
    let spec = service.spec.as_ref();
    spec.is_some_and(|spec| spec.type_.as_deref() == Some("LoadBalancer") && spec.load_balancer_class.is_none())
        && service.metadata.deletion_timestamp.is_none()
}

/// The addresses that a Service has got.
pub(crate) fn addresses(service: &Service) -> Vec<Ipv4Addr> {
    let balancer = service.status.as_ref().and_then(|status| status.load_balancer.as_ref());
    let ingress = balancer.and_then(|balancer| balancer.ingress.as_ref());
    let texts = ingress.into_iter().flatten().filter_map(|ingress| ingress.ip.as_ref());
    texts.filter_map(|text| text.parse().ok()).collect()
}

fn choose(key: &ObjectKey, taken: &BTreeSet<Ipv4Addr>) -> Ipv4Addr {
    let mut random = Random::named(0, &key.to_string());
    loop {
        let offset = u32::try_from(random.below(POOL_SIZE)).unwrap_or_default();
        let address = Ipv4Addr::from(POOL + offset);
        // The first and the last address of a network are no host's, by habit if not by rule.
        if !matches!(address.octets()[3], 0 | 255) && !taken.contains(&address) {
            return address;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_the_same_every_time_and_never_shared() {
        let key = ObjectKey::namespaced("clusters-a", "kube-apiserver");
        let first = choose(&key, &BTreeSet::new());
        assert_eq!(first, choose(&key, &BTreeSet::new()));
        assert!(first.is_loopback());
        assert_ne!(first, choose(&key, &BTreeSet::from([first])));
    }
}
