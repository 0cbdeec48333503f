//! EndpointSlices: which pods are behind a Service. One slice per Service holds all of them; nothing here has more pods
//! than a slice may have.

use std::sync::Arc;

use hyperplane_runtime::{Context, Failure, Next, Reconciler, Store};
use k8s_openapi::{
    api::{
        core::v1::{Node, ObjectReference, Pod, Service, ServicePort},
        discovery::v1::{Endpoint, EndpointConditions, EndpointPort, EndpointSlice},
    },
    apimachinery::pkg::{apis::meta::v1::ObjectMeta, util::intstr::IntOrString},
};
use kube::{Resource, ResourceExt};

use crate::{
    names,
    nodes::ZONE,
    pods,
    selector::{self, Labels},
};

const SERVICE: &str = "kubernetes.io/service-name";
const MANAGED_BY: &str = "endpointslice.kubernetes.io/managed-by";
const CONTROLLER: &str = "endpointslice-controller.k8s.io";
const HEADLESS: &str = "service.kubernetes.io/headless";
/// The most that the API takes in one slice.
const MOST: usize = 1000;

/// Keeps slices.
pub(crate) struct Endpoints {
    /// Every pod.
    pub(crate) pods: Store<Pod>,
    /// Every node, for zones.
    pub(crate) nodes: Store<Node>,
}

impl Reconciler for Endpoints {
    type Object = Service;

    async fn reconcile(&self, context: &Context, service: Arc<Service>) -> Result<Next, Failure> {
        let pods = self.pods.namespace(service.namespace().unwrap_or_default()).all();
        if let Some(slice) = build(&service, &pods, &self.nodes.all()) {
            context.apply(&slice).await?;
        }
        Ok(Next::OnChange)
    }
}

/// The labels that pods behind a Service have; none where somebody else says who is behind it.
pub(crate) fn selected(service: &Service) -> Option<&Labels> {
    let spec = service.spec.as_ref()?;
    spec.selector
        .as_ref()
        .filter(|selector| !selector.is_empty() && spec.type_.as_deref() != Some("ExternalName"))
}

/// Whether a pod takes part in a Service.
pub(crate) fn is_behind(service: &Service, pod: &Pod) -> bool {
    selected(service).is_some_and(|wanted| selector::contains(pod.labels(), wanted))
}

/// Whether a pod gets new connections of a Service.
pub(crate) fn serves(service: &Service, pod: &Pod) -> bool {
    let publishes_all = service.spec.as_ref().and_then(|spec| spec.publish_not_ready_addresses) == Some(true);
    is_behind(service, pod)
        && !pods::is_over(pod)
        && (publishes_all || (pods::is_ready(pod) && !pods::is_terminating(pod)))
}

/// The port of a pod that a port of a Service leads to.
pub(crate) fn target(port: &ServicePort, pod: &Pod) -> Option<i32> {
    match port.target_port.as_ref() {
        None => Some(port.port),
        Some(IntOrString::Int(number)) => Some(*number),
        Some(IntOrString::String(name)) => {
            let containers = pods::containers(pod).iter().chain(pods::init_containers(pod));
            let mut ports = containers.flat_map(|container| container.ports.iter().flatten());
            ports
                .find(|port| port.name.as_ref() == Some(name))
                .map(|port| port.container_port)
        }
    }
}

fn build(service: &Service, pods: &[Arc<Pod>], nodes: &[Arc<Node>]) -> Option<EndpointSlice> {
    selected(service)?;
    let spec = service.spec.as_ref()?;
    let behind: Vec<&Arc<Pod>> = pods
        .iter()
        .filter(|pod| is_behind(service, pod) && !pods::is_over(pod) && address(pod).is_some())
        .take(MOST)
        .collect();
    let ports = spec.ports.iter().flatten().filter_map(|port| {
        // A slice has one set of numbers; pods of one Service that name their ports differently are not told apart.
        let number = match behind.first() {
            Some(pod) => target(port, pod)?,
            None => port.port,
        };
        Some(EndpointPort {
            name: Some(port.name.clone().unwrap_or_default()),
            port: Some(number),
            protocol: Some(port.protocol.clone().unwrap_or_else(|| "TCP".to_owned())),
            app_protocol: port.app_protocol.clone(),
        })
    });
    let ports: Vec<EndpointPort> = if behind.is_empty() { Vec::new() } else { ports.collect() };
    let name = names::named(&service.name_any(), &service.uid().unwrap_or_default());
    let mut labels = service.labels().clone();
    labels.insert(SERVICE.to_owned(), service.name_any());
    labels.insert(MANAGED_BY.to_owned(), CONTROLLER.to_owned());
    if spec.cluster_ip.as_deref() == Some("None") {
        labels.insert(HEADLESS.to_owned(), String::new());
    }
    Some(EndpointSlice {
        metadata: ObjectMeta {
            name: Some(name),
            namespace: service.namespace(),
            labels: Some(labels),
            owner_references: service.controller_owner_ref(&()).map(|owner| vec![owner]),
            ..ObjectMeta::default()
        },
        address_type: "IPv4".to_owned(),
        endpoints: Some(behind.into_iter().map(|pod| endpoint(service, pod, nodes)).collect()),
        ports: Some(ports).filter(|ports| !ports.is_empty()),
    })
}

fn address(pod: &Pod) -> Option<&String> {
    pod.status.as_ref()?.pod_ip.as_ref()
}

fn endpoint(service: &Service, pod: &Pod, nodes: &[Arc<Node>]) -> Endpoint {
    let is_terminating = pods::is_terminating(pod);
    let node = nodes.iter().find(|node| node.name_any() == pods::node(pod));
    let hostname = pods::spec(pod).filter(|spec| spec.subdomain.as_deref() == Some(&service.name_any()));
    Endpoint {
        addresses: address(pod).cloned().into_iter().collect(),
        conditions: Some(EndpointConditions {
            ready: Some(serves(service, pod)),
            serving: Some(pods::is_ready(pod)),
            terminating: Some(is_terminating),
        }),
        hostname: hostname.and_then(|spec| spec.hostname.clone()),
        node_name: Some(pods::node(pod).to_owned()),
        zone: node.and_then(|node| node.labels().get(ZONE).cloned()),
        target_ref: Some(ObjectReference {
            kind: Some("Pod".to_owned()),
            name: Some(pod.name_any()),
            namespace: pod.namespace(),
            uid: pod.uid(),
            ..ObjectReference::default()
        }),
        ..Endpoint::default()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn service(more: &Value) -> Service {
        let mut service = json!({"metadata": {"name": "web", "namespace": "n", "uid": "u"}, "spec": {
            "selector": {"app": "web"}, "ports": [{"port": 80, "targetPort": "http"}]}});
        if let Some(fields) = more.as_object() {
            for (field, value) in fields {
                service["spec"][field] = value.clone();
            }
        }
        hyperplane_objects::read(&service).unwrap()
    }

    fn pod(name: &str, is_ready: bool) -> Arc<Pod> {
        let status = if is_ready { "True" } else { "False" };
        let pod = json!({
            "metadata": {"name": name, "namespace": "n", "labels": {"app": "web"}},
            "spec": {"nodeName": "a", "containers": [{"name": "c", "ports": [{"name": "http", "containerPort": 8080}]}]},
            "status": {"phase": "Running", "podIP": "10.0.0.1", "conditions": [{"type": "Ready", "status": status}]},
        });
        Arc::new(hyperplane_objects::read(&pod).unwrap())
    }

    fn shown(service: &Service) -> Vec<(String, bool)> {
        let slice = build(service, &[pod("a", true), pod("b", false)], &[]).unwrap();
        assert_eq!(slice.ports.as_ref().unwrap()[0].port, Some(8080));
        let endpoints = slice.endpoints.iter().flatten();
        let shown = endpoints.map(|endpoint| {
            let name = endpoint.target_ref.as_ref().unwrap().name.clone().unwrap();
            (name, endpoint.conditions.as_ref().unwrap().ready.unwrap())
        });
        shown.collect()
    }

    #[test]
    fn a_slice_says_who_is_ready() {
        assert_eq!(
            shown(&service(&json!({}))),
            [("a".to_owned(), true), ("b".to_owned(), false)]
        );
        let all = service(&json!({"publishNotReadyAddresses": true}));
        assert_eq!(shown(&all), [("a".to_owned(), true), ("b".to_owned(), true)]);
        assert!(build(&service(&json!({"selector": null})), &[], &[]).is_none());
    }
}
