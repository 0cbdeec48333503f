//! Rights outside of the namespaces of control planes, as a table of words. What operators may do inside is said where
//! they are: with components and with certificates.

use hyperplane_api::constants::objects::roles;
use hyperplane_component_driver::access::{READ, WRITE, component_rules, housekeeping_rules, rule};
use k8s_openapi::api::rbac::v1::PolicyRule;

const HYPERSHIFT: &str = "hypershift.openshift.io";
const RBAC: &str = "rbac.authorization.k8s.io";

/// What the PKI operator may do outside of the namespace: sign requests for its own signers, and no others.
pub(super) fn pki_operator_everywhere(namespace: &str) -> Vec<PolicyRule> {
    let group = "certificates.k8s.io";
    let signers = ["customer-break-glass", "sre-break-glass"];
    let signers = signers
        .iter()
        .map(|class| format!("hypershift.openshift.io/{namespace}.{class}"));
    vec![
        rule(group, &["certificatesigningrequests"], READ),
        rule(
            group,
            &[
                "certificatesigningrequests/approval",
                "certificatesigningrequests/status",
            ],
            &["patch", "update"],
        ),
        PolicyRule {
            resource_names: Some(signers.collect()),
            ..rule(group, &["signers"], &["approve", "sign"])
        },
    ]
}

/// What an operator in a process of its own must read outside of its namespace.
pub(super) fn dedicated_operator_everywhere() -> Vec<PolicyRule> {
    vec![
        rule("", &["nodes"], READ),
        rule("hyperplane.dev", &["distributionreleases"], READ),
    ]
}

/// What a manager of Cluster API must read outside of its namespace.
pub(super) fn cluster_api_everywhere() -> Vec<PolicyRule> {
    vec![
        rule("apiextensions.k8s.io", &["customresourcedefinitions"], READ),
        rule("", &["namespaces"], READ),
    ]
}

/// What the manager may do: the rules of its ClusterRole. In shared mode it acts for operators of control planes by
/// impersonating their accounts, and has no need of their rights itself.
pub fn manager_rules() -> Vec<PolicyRule> {
    let mut rules = component_rules();
    rules.extend([
        rule("", &["namespaces"], WRITE),
        rule("", &["nodes"], READ),
        // Whether a member of etcd keeps failing is seen on its pod, and on its claim.
        rule("", &["persistentvolumeclaims"], &["get"]),
        rule("", &["pods"], &["list"]),
        rule("cluster.x-k8s.io", &["clusters"], WRITE),
        rule("cluster.x-k8s.io", &["machines"], READ),
        rule("infrastructure.cluster.x-k8s.io", &["kubevirtclusters"], WRITE),
        rule(
            "infrastructure.cluster.x-k8s.io",
            &["kubevirtclusters/status"],
            &["patch"],
        ),
        rule("capi-provider.agent-install.openshift.io", &["agentclusters"], WRITE),
        rule(
            "capi-provider.agent-install.openshift.io",
            &["agentclusters/status"],
            &["patch"],
        ),
        rule("hyperplane.dev", &["distributionreleases"], READ),
        rule(
            HYPERSHIFT,
            &["hostedclusters"],
            &["get", "list", "patch", "update", "watch"],
        ),
        rule(
            HYPERSHIFT,
            &["hostedclusters/finalizers", "hostedcontrolplanes/finalizers"],
            &["update"],
        ),
        rule(HYPERSHIFT, &["hostedclusters/status"], &["patch", "update"]),
        rule(HYPERSHIFT, &["hostedcontrolplanes"], WRITE),
        rule(HYPERSHIFT, &["nodepools"], &["delete", "get", "list", "watch"]),
        rule("networking.k8s.io", &["networkpolicies"], WRITE),
        rule("networking.k8s.io", &["servicecidrs"], READ),
        rule("discovery.k8s.io", &["endpointslices"], READ),
        // Whoever grants a right must have it, or may hand on any. The manager hands on those of tenants only.
        rule(RBAC, &["clusterrolebindings", "clusterroles"], WRITE),
        rule(RBAC, &["clusterroles"], &["bind", "escalate"]),
        PolicyRule {
            resource_names: Some(tenant_accounts()),
            ..rule("", &["serviceaccounts"], &["impersonate"])
        },
    ]);
    rules.extend(housekeeping_rules());
    rules
}

fn tenant_accounts() -> Vec<String> {
    [
        roles::CONTROL_PLANE_OPERATOR,
        roles::PKI_OPERATOR,
        roles::CONFIG_OPERATOR,
    ]
    .map(str::to_owned)
    .to_vec()
}
