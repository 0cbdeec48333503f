//! Which Service a name or an address means. Pure: the rules of a cluster's DNS, and the addresses that Services have.

use std::{net::IpAddr, sync::Arc};

use hyperplane_runtime::ObjectKey;
use k8s_openapi::api::core::v1::{Pod, Service, ServicePort};
use kube::ResourceExt;

use crate::{pods, services::load_balancers};

/// A Service, or one pod of a headless one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// The Service.
    pub(crate) service: ObjectKey,
    /// The host name of the one pod that is meant.
    pub(crate) pod: Option<String>,
    /// Whether ports of nodes are meant, and not those of the Service.
    is_node: bool,
}

impl Place {
    /// All of a Service.
    pub(crate) fn of(service: &Service) -> Self {
        Self {
            service: ObjectKey::of(service),
            pod: None,
            is_node: false,
        }
    }

    /// A Service by its ports on nodes.
    pub(crate) fn on_nodes(service: &Service) -> Self {
        Self {
            is_node: true,
            ..Self::of(service)
        }
    }

    /// Whether a pod of the Service is meant.
    pub(crate) fn is_meant(&self, pod: &Pod) -> bool {
        let Some(wanted) = &self.pod else { return true };
        let spec = pods::spec(pod);
        let hostname = spec
            .and_then(|spec| spec.hostname.clone())
            .unwrap_or_else(|| pod.name_any());
        hostname == *wanted
    }

    /// The port of the Service under a number. A headless one has no ports of its own: clients talk to its pods.
    pub(crate) fn port<'a>(&self, service: &'a Service, number: u16) -> Option<&'a ServicePort> {
        let mut ports = service.spec.as_ref()?.ports.iter().flatten();
        ports.find(|port| {
            let shown = if self.is_node { port.node_port } else { Some(port.port) };
            shown == Some(i32::from(number))
        })
    }
}

/// What can be asked about Services. Two implementations: the store of a running twin, and a list in tests.
pub(crate) trait Services {
    /// Whether there is one of that name.
    fn has(&self, key: &ObjectKey) -> bool;
    /// The first one that has an address.
    fn at(&self, address: IpAddr) -> Option<Arc<Service>>;
}

/// What a host means, as seen from a namespace; none where it means no Service.
pub(crate) fn locate(host: &str, namespace: &str, services: &impl Services) -> Option<Place> {
    if let Ok(address) = host.parse::<IpAddr>() {
        return services.at(address).map(|service| Place::of(&service));
    }
    let host = host.trim_end_matches('.').to_ascii_lowercase();
    let name = host
        .strip_suffix(".svc.cluster.local")
        .or_else(|| host.strip_suffix(".svc"));
    let parts: Vec<&str> = name.unwrap_or(&host).split('.').collect();
    let (pod, key) = match parts.as_slice() {
        [service] => (None, ObjectKey::namespaced(namespace, *service)),
        [service, namespace] => (None, ObjectKey::namespaced(*namespace, *service)),
        [pod, service, namespace] => (Some((*pod).to_owned()), ObjectKey::namespaced(*namespace, *service)),
        _ => return None,
    };
    services.has(&key).then_some(Place {
        service: key,
        pod,
        is_node: false,
    })
}

/// The addresses that mean a Service.
pub(crate) fn addresses(service: &Service) -> Vec<IpAddr> {
    let own = service.spec.as_ref().and_then(|spec| spec.cluster_ip.as_ref());
    let own = own.and_then(|own| own.parse().ok());
    let balanced = load_balancers::addresses(service).into_iter().map(IpAddr::V4);
    own.into_iter().chain(balanced).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    impl Services for [Arc<Service>; 1] {
        fn has(&self, key: &ObjectKey) -> bool {
            self.iter().any(|service| ObjectKey::of(service.as_ref()) == *key)
        }

        fn at(&self, address: IpAddr) -> Option<Arc<Service>> {
            self.iter()
                .find(|service| addresses(service).contains(&address))
                .cloned()
        }
    }

    #[test]
    fn names_mean_what_they_mean_in_a_cluster() {
        let service: Service = hyperplane_objects::read(json!({
            "metadata": {"name": "api", "namespace": "n"},
            "spec": {"clusterIP": "10.0.0.7", "ports": [{"port": 6443, "nodePort": 30001}]},
            "status": {"loadBalancer": {"ingress": [{"ip": "127.64.0.9"}]}},
        }))
        .unwrap();
        let services = [Arc::new(service)];
        let cases = [
            ("api", "n", Some(None)),
            ("api", "other", None),
            ("api.n", "other", Some(None)),
            ("api.n.svc", "", Some(None)),
            ("API.n.svc.cluster.local.", "", Some(None)),
            ("api-0.api.n.svc", "", Some(Some("api-0"))),
            ("10.0.0.7", "", Some(None)),
            ("127.64.0.9", "", Some(None)),
            ("10.0.0.8", "", None),
            ("api.example.com.n.svc", "", None),
        ];
        for (host, namespace, expected) in cases {
            let found = locate(host, namespace, &services).map(|place| place.pod);
            assert_eq!(
                found,
                expected.map(|pod| pod.map(str::to_owned)),
                "{host} from {namespace:?}"
            );
        }
        let place = Place::on_nodes(&services[0]);
        assert!(place.port(&services[0], 30001).is_some() && place.port(&services[0], 6443).is_none());
    }
}
