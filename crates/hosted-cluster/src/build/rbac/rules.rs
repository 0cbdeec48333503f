//! The rules of RBAC, as a table of words. What the PKI operator may do in a namespace is said where its certificates are.

use hyperplane_api::constants::objects::roles;
use k8s_openapi::api::rbac::v1::PolicyRule;

const HYPERSHIFT: &str = "hypershift.openshift.io";
const RBAC: &str = "rbac.authorization.k8s.io";

const READ: &[&str] = &["get", "list", "watch"];
const WRITE: &[&str] = &["create", "delete", "get", "list", "patch", "update", "watch"];

/// What the control-plane operator may do in the namespace of its control plane: write everything that components consist
/// of. It hands on rights to components, but never beyond the namespace.
pub(super) fn control_plane_operator() -> Vec<PolicyRule> {
    let mut rules = component_objects();
    rules.extend([
        rule("", &["endpoints", "persistentvolumeclaims", "pods"], READ),
        rule("apps", &["replicasets"], READ),
        rule("discovery.k8s.io", &["endpointslices"], READ),
        rule(HYPERSHIFT, &["hostedcontrolplanes"], &["get", "list", "patch", "update", "watch"]),
        rule(HYPERSHIFT, &["hostedcontrolplanes/finalizers"], &["update"]),
        rule(HYPERSHIFT, &["hostedcontrolplanes/status"], &["patch", "update"]),
    ]);
    rules.extend(housekeeping());
    rules
}

/// What the config operator may do in the namespace of its control plane: read what it carries into the hosted cluster, and
/// report.
pub(super) fn config_operator() -> Vec<PolicyRule> {
    let mut rules = vec![
        rule("", &["configmaps"], WRITE),
        rule("", &["endpoints", "pods", "secrets", "services"], READ),
        rule("apps", &["deployments", "statefulsets"], READ),
        rule("cluster.x-k8s.io", &["machinedeployments", "machines", "machinesets"], &["get", "list", "patch", "watch"]),
        rule(HYPERSHIFT, &["controlplanecomponents", "hostedcontrolplanes"], READ),
        rule(HYPERSHIFT, &["hostedcontrolplanes/finalizers"], &["update"]),
        rule(HYPERSHIFT, &["hostedcontrolplanes/status"], &["patch", "update"]),
    ];
    rules.extend(housekeeping());
    rules
}

/// What the PKI operator may do outside of the namespace: sign requests for its own signers, and no others.
pub(super) fn pki_operator_everywhere(namespace: &str) -> Vec<PolicyRule> {
    let group = "certificates.k8s.io";
    let signers = ["customer-break-glass", "sre-break-glass"];
    let signers = signers.iter().map(|class| format!("hypershift.openshift.io/{namespace}.{class}"));
    vec![
        rule(group, &["certificatesigningrequests"], READ),
        rule(
            group,
            &["certificatesigningrequests/approval", "certificatesigningrequests/status"],
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
    let mut rules = component_objects();
    rules.extend([
        rule("", &["namespaces"], WRITE),
        rule("", &["nodes"], READ),
        rule("cluster.x-k8s.io", &["clusters"], WRITE),
        rule("infrastructure.cluster.x-k8s.io", &["kubevirtclusters"], WRITE),
        rule("infrastructure.cluster.x-k8s.io", &["kubevirtclusters/status"], &["patch"]),
        rule("capi-provider.agent-install.openshift.io", &["agentclusters"], WRITE),
        rule("capi-provider.agent-install.openshift.io", &["agentclusters/status"], &["patch"]),
        rule("hyperplane.dev", &["distributionreleases"], READ),
        rule(HYPERSHIFT, &["hostedclusters"], &["get", "list", "patch", "update", "watch"]),
        rule(
            HYPERSHIFT,
            &["hostedclusters/finalizers", "hostedcontrolplanes/finalizers"],
            &["update"],
        ),
        rule(HYPERSHIFT, &["hostedclusters/status"], &["patch", "update"]),
        rule(HYPERSHIFT, &["hostedcontrolplanes"], WRITE),
        rule(HYPERSHIFT, &["nodepools"], &["delete", "get", "list", "watch"]),
        rule("networking.k8s.io", &["networkpolicies"], WRITE),
        // Whoever grants a right must have it, or may hand on any. The manager hands on those of tenants only.
        rule(RBAC, &["clusterrolebindings", "clusterroles"], WRITE),
        rule(RBAC, &["clusterroles"], &["bind", "escalate"]),
        PolicyRule {
            resource_names: Some(tenant_accounts()),
            ..rule("", &["serviceaccounts"], &["impersonate"])
        },
    ]);
    rules.extend(housekeeping());
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

/// Everything that components consist of, with their reports.
fn component_objects() -> Vec<PolicyRule> {
    vec![
        rule("", &["configmaps", "secrets", "serviceaccounts", "services"], WRITE),
        rule("apps", &["deployments", "statefulsets"], WRITE),
        rule("batch", &["cronjobs", "jobs"], WRITE),
        rule(HYPERSHIFT, &["controlplanecomponents"], WRITE),
        rule(HYPERSHIFT, &["controlplanecomponents/status"], &["patch", "update"]),
        rule(
            "monitoring.coreos.com",
            &["podmonitors", "prometheusrules", "servicemonitors"],
            WRITE,
        ),
        rule("policy", &["poddisruptionbudgets"], WRITE),
        rule(RBAC, &["rolebindings", "roles"], WRITE),
        rule(RBAC, &["roles"], &["bind", "escalate"]),
    ]
}

/// What every operator does besides its work.
fn housekeeping() -> Vec<PolicyRule> {
    vec![
        rule("", &["events"], &["create", "patch"]),
        rule("coordination.k8s.io", &["leases"], &["create", "get", "patch", "update"]),
        rule("events.k8s.io", &["events"], &["create", "patch"]),
    ]
}

fn rule(group: &str, resources: &[&str], verbs: &[&str]) -> PolicyRule {
    let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<String>>();
    PolicyRule {
        api_groups: Some(vec![group.to_owned()]),
        resources: Some(owned(resources)),
        verbs: owned(verbs),
        ..PolicyRule::default()
    }
}
