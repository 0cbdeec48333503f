//! The policy for virtual machines on another cluster than the management cluster. Nothing of the control plane is there:
//! machines reach the world, each other and names, and nothing else of that cluster.

use std::collections::BTreeMap;

use hyperplane_api::{constants::labels, hypershift::hosted_cluster::HostedCluster};
use k8s_openapi::api::networking::v1::{NetworkPolicy, NetworkPolicyIngressRule, NetworkPolicySpec};

use super::parts::{KUBEVIRT, VIRTUAL_MACHINE, addresses_outside, namespaces, pods, to, to_dns_in, with};
use crate::metadata;

/// What the policy is made from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MachinesElsewhere<'a> {
    /// The cluster that the machines are of.
    pub(crate) cluster: &'a HostedCluster,
    /// The name of its infrastructure, which its machines carry.
    pub(crate) infra_id: &'a str,
    /// The namespace with its machines.
    pub(crate) namespace: &'a str,
    /// Networks of the cluster that the machines run on.
    pub(crate) closed: &'a [String],
    /// Labels of the namespaces with DNS servers there.
    pub(crate) dns: &'a [BTreeMap<String, String>],
    /// Labels of the namespaces with the router there, if it has one.
    pub(crate) router: Option<&'a BTreeMap<String, String>>,
}

/// The name of the policy. Several clusters may share the namespace.
pub(crate) fn elsewhere_name(infra_id: &str) -> String {
    format!("{VIRTUAL_MACHINE}-{infra_id}")
}

/// The policy.
pub(crate) fn elsewhere(of: &MachinesElsewhere<'_>) -> NetworkPolicy {
    let infra_id = (labels::INFRA_ID.as_str().to_owned(), of.infra_id.to_owned());
    let machines = BTreeMap::from([(KUBEVIRT.to_owned(), VIRTUAL_MACHINE.to_owned()), infra_id.clone()]);
    let mut metadata = metadata::in_namespace(of.cluster, of.namespace, &elsewhere_name(of.infra_id));
    // Not the label of what we make: where the namespace is one of a control plane, too, whoever looks after that would
    // take the policy for one of its own that is not wanted any more.
    metadata.labels = Some(BTreeMap::from([infra_id]));
    let mut rules = vec![to(addresses_outside(of.closed)), to(vec![pods(with(&machines))])];
    rules.extend(to_dns_in(of.dns));
    rules.extend(of.router.map(|labels| to(vec![namespaces(labels)])));
    NetworkPolicy {
        metadata,
        spec: Some(NetworkPolicySpec {
            pod_selector: Some(with(&machines)),
            policy_types: Some(vec!["Ingress".to_owned(), "Egress".to_owned()]),
            // Load balancers lead users to the machines, from wherever they are.
            ingress: Some(vec![NetworkPolicyIngressRule::default()]),
            egress: Some(rules),
        }),
    }
}
