//! Rights outside of the namespaces of control planes, as a table of words. What operators may do inside is said where
//! they are: with components and with certificates.

use hyperplane_api::constants::{groups, objects::roles};
use hyperplane_component_driver::access::{MONITORING, READ, REPORT, WATCH, WRITE, driver_rules, event_rules, rule};
use k8s_openapi::api::rbac::v1::PolicyRule;

/// What an operator in a process of its own must read outside of its namespace.
pub(super) fn dedicated_operator_everywhere() -> Vec<PolicyRule> {
    vec![rule(groups::HYPERPLANE, &["distributionreleases"], WATCH)]
}

/// What the ignition server must read outside of its namespace: what machines of a release run. It is granted whether the
/// server runs or not, because an account that nobody has can do nothing with it.
pub(super) fn ignition_server_everywhere() -> Vec<PolicyRule> {
    vec![rule(groups::HYPERPLANE, &["distributionreleases"], WATCH)]
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
    let mut rules = driver_rules();
    rules.extend([
        // Copies of what users gave, and what the components consist of that the manager drives itself.
        rule("", &["configmaps", "secrets", "serviceaccounts"], WRITE),
        rule("apps", &["deployments"], WRITE),
        rule("batch", &["jobs"], WRITE),
        rule(MONITORING, &["podmonitors"], WRITE),
        // What other components consist of is written by the operator of each control plane.
        rule("", &["services"], WATCH),
        rule("apps", &["statefulsets"], WATCH),
        rule("batch", &["cronjobs"], WATCH),
        rule(MONITORING, &["servicemonitors"], WATCH),
        rule("policy", &["poddisruptionbudgets"], WATCH),
        rule("", &["namespaces"], WRITE),
        rule("", &["nodes"], WATCH),
        // Whether a member of etcd keeps failing is seen on its pod, and on its claim. Pods of a control plane that goes are
        // let go sooner.
        rule("", &["persistentvolumeclaims"], &["get"]),
        rule("", &["pods"], &["delete", "list"]),
        rule(groups::CLUSTER_API, &["clusters"], WRITE),
        rule(
            groups::CLUSTER_API,
            &["machinedeployments", "machines", "machinesets"],
            &["delete", "get", "list", "watch"],
        ),
        rule(groups::INFRASTRUCTURE, &["kubevirtclusters"], WRITE),
        rule(groups::INFRASTRUCTURE, &["kubevirtclusters/status"], &["patch"]),
        rule(groups::AGENT_PROVIDER, &["agentclusters"], WRITE),
        rule(groups::AGENT_PROVIDER, &["agentclusters/status"], &["patch"]),
        rule(groups::HYPERPLANE, &["distributionreleases"], WATCH),
        rule(
            groups::HYPERSHIFT,
            &["hostedclusters"],
            &["get", "list", "patch", "watch"],
        ),
        rule(
            groups::HYPERSHIFT,
            &["hostedclusters/finalizers", "hostedcontrolplanes/finalizers"],
            &["update"],
        ),
        rule(groups::HYPERSHIFT, &["hostedclusters/status"], REPORT),
        rule(groups::HYPERSHIFT, &["hostedcontrolplanes"], WRITE),
        rule(groups::HYPERSHIFT, &["nodepools"], &["delete", "get", "list", "watch"]),
        rule("networking.k8s.io", &["networkpolicies"], WRITE),
        rule("networking.k8s.io", &["servicecidrs"], WATCH),
        rule(groups::DISCOVERY, &["endpointslices"], WATCH),
        // Whoever grants a right must have it, or may hand on any. The manager hands on those of tenants only.
        rule(groups::RBAC, &["clusterrolebindings", "clusterroles"], WRITE),
        rule(groups::RBAC, &["clusterroles"], &["bind", "escalate"]),
        PolicyRule {
            resource_names: Some(tenant_accounts()),
            ..rule("", &["serviceaccounts"], &["impersonate"])
        },
    ]);
    rules.extend(without_effect_rules());
    rules.extend(event_rules());
    rules
}

/// Objects of kinds that nothing acts on are looked at, to say so on them.
fn without_effect_rules() -> impl Iterator<Item = PolicyRule> {
    let kinds = [
        (groups::AUDIT_LOG_PERSISTENCE, "auditlogpersistenceconfigs"),
        (groups::BREAK_GLASS, "certificaterevocationrequests"),
        (groups::HYPERSHIFT, "hcpetcdbackups"),
        (groups::KARPENTER, "openshiftec2nodeclasses"),
        (groups::SCHEDULING, "clustersizingconfigurations"),
    ];
    kinds.into_iter().flat_map(|(group, plural)| {
        let status = format!("{plural}/status");
        [rule(group, &[plural], WATCH), rule(group, &[&status], REPORT)]
    })
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
