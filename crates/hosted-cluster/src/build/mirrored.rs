//! Which annotations of a cluster its control plane has, too. A key that is removed from the cluster is removed from the
//! control plane.

use std::collections::BTreeMap;

use hyperplane_api::{
    constants::{Annotation, KeyPrefix, annotations, ours},
    hypershift::hosted_cluster::HostedCluster,
};

/// Keys that are mirrored as they are.
pub(super) const KEYS: &[Annotation] = &[
    annotations::CLEANUP_CLOUD_RESOURCES,
    annotations::RESTORED_FROM_BACKUP,
    annotations::DISABLE_PKI_RECONCILIATION,
    annotations::DISABLE_MACHINE_MANAGEMENT,
    annotations::DISABLE_IGNITION_SERVER,
    annotations::DEBUG_DEPLOYMENTS,
    annotations::CLUSTER_AUTOSCALER_IMAGE,
    annotations::KONNECTIVITY_SERVER_IMAGE,
    annotations::KONNECTIVITY_AGENT_IMAGE,
    annotations::AWS_KMS_PROVIDER_IMAGE,
    annotations::IBM_CLOUD_KMS_PROVIDER_IMAGE,
    annotations::PORTIERIS_IMAGE,
    annotations::CERTIFIED_OPERATORS_CATALOG_IMAGE,
    annotations::COMMUNITY_OPERATORS_CATALOG_IMAGE,
    annotations::REDHAT_MARKETPLACE_CATALOG_IMAGE,
    annotations::REDHAT_OPERATORS_CATALOG_IMAGE,
    annotations::OLM_CATALOGS_REGISTRY_OVERRIDES,
    annotations::KARPENTER_PROVIDER_AWS_IMAGE,
    annotations::KARPENTER_OPERATOR_IMAGE,
    annotations::KARPENTER_CORE_E2E_OVERRIDE,
    annotations::TOPOLOGY,
    annotations::REQUEST_SERVING_NODE_ADDITIONAL_SELECTOR,
    annotations::CONTROL_PLANE_PRIORITY_CLASS,
    annotations::API_CRITICAL_PRIORITY_CLASS,
    annotations::ETCD_PRIORITY_CLASS,
    annotations::KUBE_API_SERVER_GOGC,
    annotations::KUBE_API_SERVER_GOMEMLIMIT,
    annotations::KUBE_API_SERVER_MAX_REQUESTS_INFLIGHT,
    annotations::KUBE_API_SERVER_MAX_MUTATING_REQUESTS_INFLIGHT,
    annotations::KUBE_API_SERVER_VERBOSITY_LEVEL,
    annotations::KUBE_API_SERVER_GOAWAY_CHANCE,
    annotations::KUBE_API_SERVER_SERVICE_ACCOUNT_TOKEN_MAX_EXPIRATION,
    annotations::DISABLE_PROFILING,
    annotations::OAUTH_LOGIN_URL_OVERRIDE,
    annotations::AWS_LOAD_BALANCER_TARGET_NODE_LABELS,
    annotations::AWS_LOAD_BALANCER_HEALTH_PROBE_MODE,
    annotations::AZURE_LOAD_BALANCER_HEALTH_PROBE_MODE,
    annotations::SHARED_LOAD_BALANCER_HEALTH_PROBE_PATH,
    annotations::SHARED_LOAD_BALANCER_HEALTH_PROBE_PORT,
    annotations::AWS_LOAD_BALANCER_SUBNETS,
    annotations::PRIVATE_INGRESS_CONTROLLER,
    annotations::INGRESS_CONTROLLER_LOAD_BALANCER_SCOPE,
    annotations::SWIFT_POD_NETWORK_INSTANCE,
    annotations::ENABLE_METRICS_FORWARDING,
    annotations::ENSURE_EXISTS_PULL_SECRET_RECONCILE,
    annotations::MANAGEMENT_PLATFORM,
    annotations::AWS_MACHINE_PUBLIC_IPS,
    annotations::AWS_KARPENTER_DEFAULT_INSTANCE_PROFILE,
    annotations::AWS_TERMINATION_HANDLER_QUEUE_URL,
];

/// Further keys that components here read from the control plane.
const FURTHER: &[Annotation] = &[
    annotations::HAS_BEEN_AVAILABLE,
    annotations::CONTROL_PLANE_OPERATOR_IMAGE,
    annotations::IMAGE_OVERRIDES,
    annotations::CAPI_MANAGER_IMAGE,
    annotations::CAPI_PROVIDER_KUBEVIRT_IMAGE,
    annotations::CAPI_PROVIDER_AGENT_IMAGE,
    annotations::MACHINE_APPROVER_IMAGE,
    annotations::DISABLE_MONITORING_SERVICES,
    annotations::SCOPE,
    annotations::CERTIFICATE_VALIDITY,
    annotations::CERTIFICATE_RENEWAL,
    ours::KEY_ALGORITHM,
    ours::RENDER_REVISION_REQUEST,
];

const PREFIXES: &[KeyPrefix] = &[
    annotations::IDENTITY_PROVIDER_OVERRIDES,
    annotations::RESOURCE_REQUEST_OVERRIDE,
];

/// Whether a key is mirrored.
pub(super) fn is_mirrored(key: &str) -> bool {
    let is_key = |known: &&Annotation| known.as_str() == key;
    let has_prefix = |prefix: &KeyPrefix| prefix.rest_of(key).is_some();
    KEYS.iter().chain(FURTHER).any(|known| is_key(&known)) || PREFIXES.iter().any(has_prefix)
}

/// The annotations of a cluster that its control plane has, too.
pub(super) fn of(cluster: &HostedCluster) -> BTreeMap<String, String> {
    let all = cluster.metadata.annotations.iter().flatten();
    all.filter(|(key, _)| is_mirrored(key))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// The constants say by a star which keys are mirrored. The restart date has a rule of its own.
    #[test]
    fn every_key_with_a_star_is_mirrored_and_no_other() {
        let text = include_str!("../../../api/src/constants/annotations.rs");
        let (keys, _) = text.split_once("constants! { KeyPrefix").unwrap();
        let mut starred = BTreeSet::new();
        let mut has_star = false;
        for line in keys.lines().map(str::trim) {
            if line.starts_with("///") {
                has_star |= line.starts_with("/// (*)");
            } else if let Some((_, rest)) = line.split_once(" = \"")
                && std::mem::take(&mut has_star)
            {
                starred.insert(rest.trim_end_matches("\";"));
            }
        }
        assert!(starred.remove(annotations::RESTART_DATE.as_str()));
        let ours: BTreeSet<&str> = KEYS.iter().map(|key| key.as_str()).collect();
        assert_eq!(ours, starred);
        for prefix in PREFIXES {
            assert!(text.contains(&format!("\"{}\"", prefix.as_str())));
        }
    }
}
