//! Addresses of load balancers: each Service of that type gets one of loopback, which it keeps for its life. Where it is
//! listened on, no other process of the machine has it.

use std::{collections::BTreeSet, net::Ipv4Addr, sync::Arc, time::Duration};

use hyperplane_runtime::{Context, EventType, Failure, Next, ObjectKey, Reconciler, Store};
use hyperplane_seams::Random;
use k8s_openapi::api::core::v1::Service;
use serde_json::json;

use super::claims::Claims;

/// The addresses that are given out: 127.64.0.0/10, which a machine has to itself and nothing else uses.
const POOL: u32 = 0x7f40_0000;
const POOL_SIZE: u64 = 1 << 22;
/// How many addresses are tried before one is taken that another program seems to have: that many are not taken by
/// chance, so something keeps all of them from us.
const CANDIDATES: usize = 64;
/// When it is looked again whether an address that another process has is free.
const RETRY: Duration = Duration::from_secs(30);

/// Gives addresses.
pub(crate) struct LoadBalancers {
    /// Every Service, to give none twice.
    pub(crate) services: Store<Service>,
    /// Whether only Services of Hyperplane get one: on a cluster that others use, too.
    pub(crate) selects: fn(&Service) -> bool,
    /// Where addresses are listened on: those that this process has. Elsewhere they are only names.
    pub(crate) claims: Option<Claims>,
}

impl Reconciler for LoadBalancers {
    type Object = Service;

    const SWEEPS: bool = true;

    async fn reconcile(&self, context: &Context, service: Arc<Service>) -> Result<Next, Failure> {
        if !(self.selects)(&service) {
            return Ok(Next::OnChange);
        }
        let key = ObjectKey::of(service.as_ref());
        let addresses = addresses(&service);
        if !is_load_balancer(&service) {
            self.release(&key, None);
            if !addresses.is_empty() {
                context
                    .apply_status(service.as_ref(), &json!({"loadBalancer": {}}))
                    .await?;
            }
            return Ok(Next::OnChange);
        }
        let address = match addresses.first() {
            Some(address) => *address,
            None => self.choose(&service, &key),
        };
        self.release(&key, Some(address));
        let status = json!({"loadBalancer": {"ingress": [{"ip": address.to_string(), "ipMode": "VIP"}]}});
        context.apply_status(service.as_ref(), &status).await?;
        Ok(self.hold(context, address, &key))
    }

    async fn sweep(&self, _: &Context, key: &ObjectKey) -> Result<(), Failure> {
        if self.services.get(key).is_none() {
            self.release(key, None);
        }
        Ok(())
    }
}

impl LoadBalancers {
    /// An address that no other Service has and, where it is listened on, no other program. There it follows from the
    /// Service itself and not from its name alone, which Services of other processes have, too.
    fn choose(&self, service: &Service, key: &ObjectKey) -> Ipv4Addr {
        let taken = self.taken();
        let Some(claims) = &self.claims else {
            return candidates(&key.to_string(), &taken)
                .next()
                .expect("the sequence of candidates has no end");
        };
        let ports = ports(service);
        let uid = service.metadata.uid.as_deref().unwrap_or_default();
        let about = format!("{key} {uid}");
        let mut candidates = candidates(&about, &taken).peekable();
        let first = *candidates.peek().expect("the sequence of candidates has no end");
        let mut free = candidates.take(CANDIDATES);
        free.find(|address| claims.take_unused(*address, &ports, key).is_ok())
            .unwrap_or(first)
    }

    /// Keeps other processes from an address. One that another process has stays the Service's all the same: kubeconfigs
    /// name it.
    fn hold(&self, context: &Context, address: Ipv4Addr, key: &ObjectKey) -> Next {
        let Some(Err(error)) = self.claims.as_ref().map(|claims| claims.take(address, key)) else {
            return Next::OnChange;
        };
        context.event(EventType::Warning, "AddressTaken", taken_words(address, key));
        tracing::warn!(service = %key, %address, %error, "Another process on this machine has the address of a Service.");
        Next::After(RETRY)
    }

    fn release(&self, key: &ObjectKey, except: Option<Ipv4Addr>) {
        if let Some(claims) = &self.claims {
            claims.release(key, except);
        }
    }

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

fn ports(service: &Service) -> Vec<u16> {
    let ports = service.spec.as_ref().and_then(|spec| spec.ports.as_ref());
    let numbers = ports.into_iter().flatten().map(|port| u16::try_from(port.port));
    numbers.filter_map(Result::ok).collect()
}

/// The addresses that a name leads to, one after the other, without those that are taken.
fn candidates(name: &str, taken: &BTreeSet<Ipv4Addr>) -> impl Iterator<Item = Ipv4Addr> {
    let mut random = Random::named(0, name);
    let addresses = std::iter::repeat_with(move || {
        let offset = u32::try_from(random.below(POOL_SIZE)).unwrap_or_default();
        Ipv4Addr::from(POOL + offset)
    });
    // The first and the last address of a network are no host's, by habit if not by rule.
    addresses.filter(|address| !matches!(address.octets()[3], 0 | 255) && !taken.contains(address))
}

/// Who has an address, and what to do.
fn taken_words(address: Ipv4Addr, key: &ObjectKey) -> String {
    let ObjectKey { namespace, name } = key;
    format!(
        "another process on this machine, such as another hyperplane up, has {address}: end it (on Linux, ss -lunp src \
         {address} shows it), or, if no kubeconfig that you need names the address, let another one be chosen: kubectl \
         patch service {name} --namespace {namespace} --subresource status --type merge --patch \
         '{{\"status\":{{\"loadBalancer\":null}}}}'"
    )
}

#[cfg(test)]
mod tests;
