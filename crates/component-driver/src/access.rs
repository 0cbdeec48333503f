//! What the operators of a control plane may do in its namespace. Whoever makes a control plane grants it; whoever drives
//! components, dedicated or shared, has exactly this.

use hyperplane_api::constants::groups;
use k8s_openapi::api::rbac::v1::PolicyRule;

/// The verbs of those who only look.
pub const READ: &[&str] = &["get", "list", "watch"];
/// The verbs of those who make, change and remove.
pub const WRITE: &[&str] = &["create", "delete", "get", "list", "patch", "update", "watch"];

/// The control-plane operator: it writes everything that components consist of, and hands on rights to them, but never
/// beyond the namespace.
pub fn control_plane_operator_rules() -> Vec<PolicyRule> {
    let mut rules = component_rules();
    rules.extend([
        rule("", &["endpoints", "persistentvolumeclaims", "pods"], READ),
        // Those who make load balancers say only there why one does not come.
        rule("", &["events"], &["list"]),
        rule("apps", &["replicasets"], READ),
        rule(groups::DISCOVERY, &["endpointslices"], READ),
        rule(
            groups::HYPERSHIFT,
            &["hostedcontrolplanes"],
            &["get", "list", "patch", "update", "watch"],
        ),
        rule(groups::HYPERSHIFT, &["hostedcontrolplanes/finalizers"], &["update"]),
        rule(
            groups::HYPERSHIFT,
            &["hostedcontrolplanes/status"],
            &["patch", "update"],
        ),
    ]);
    rules.extend(housekeeping_rules());
    rules
}

/// The PKI operator: it writes certificates and kubeconfigs, and reports.
pub fn pki_operator_rules() -> Vec<PolicyRule> {
    let mut rules = vec![
        // Deletion is for a kubeconfig whose name the user took back.
        rule("", &["secrets"], &["create", "delete", "get", "list", "patch", "watch"]),
        rule("", &["configmaps"], &["create", "get", "list", "patch", "watch"]),
        // The addresses that load balancers got.
        rule("", &["services"], READ),
        rule(groups::HYPERSHIFT, &["hostedcontrolplanes"], READ),
        rule(groups::HYPERSHIFT, &["hostedcontrolplanes/status"], &["patch"]),
        // An owner that blocks until its dependents are gone may be named only by who may change its finalizers
        // (kubernetes, plugin/pkg/admission/gc).
        rule(groups::HYPERSHIFT, &["hostedcontrolplanes/finalizers"], &["update"]),
    ];
    rules.extend(housekeeping_rules());
    rules
}

/// The config operator: it reads what it carries into the hosted cluster, and reports.
pub fn config_operator_rules() -> Vec<PolicyRule> {
    let mut rules = vec![
        rule("", &["configmaps"], WRITE),
        rule("", &["endpoints", "pods", "secrets", "services"], READ),
        rule("apps", &["deployments", "statefulsets"], READ),
        rule(
            groups::CLUSTER_API,
            &["machinedeployments", "machines", "machinesets"],
            &["get", "list", "patch", "watch"],
        ),
        rule(
            groups::HYPERSHIFT,
            &["controlplanecomponents", "hostedcontrolplanes"],
            READ,
        ),
        rule(groups::HYPERSHIFT, &["hostedcontrolplanes/finalizers"], &["update"]),
        rule(
            groups::HYPERSHIFT,
            &["hostedcontrolplanes/status"],
            &["patch", "update"],
        ),
    ];
    rules.extend(housekeeping_rules());
    rules
}

/// Everything that components consist of, with their reports.
pub fn component_rules() -> Vec<PolicyRule> {
    vec![
        rule("", &["configmaps", "secrets", "serviceaccounts", "services"], WRITE),
        rule("apps", &["deployments", "statefulsets"], WRITE),
        rule("batch", &["cronjobs", "jobs"], WRITE),
        rule(groups::HYPERSHIFT, &["controlplanecomponents"], WRITE),
        rule(
            groups::HYPERSHIFT,
            &["controlplanecomponents/status"],
            &["patch", "update"],
        ),
        rule(
            "monitoring.coreos.com",
            &["podmonitors", "prometheusrules", "servicemonitors"],
            WRITE,
        ),
        rule("policy", &["poddisruptionbudgets"], WRITE),
        rule(groups::RBAC, &["rolebindings", "roles"], WRITE),
        // Whoever grants a right must have it, or may hand on any.
        rule(groups::RBAC, &["roles"], &["bind", "escalate"]),
    ]
}

/// What every operator does besides its work.
pub fn housekeeping_rules() -> Vec<PolicyRule> {
    vec![
        rule("", &["events"], &["create", "patch"]),
        rule(
            "coordination.k8s.io",
            &["leases"],
            &["create", "get", "patch", "update"],
        ),
        rule(groups::EVENTS, &["events"], &["create", "patch"]),
    ]
}

/// One rule.
pub fn rule(group: &str, resources: &[&str], verbs: &[&str]) -> PolicyRule {
    let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<String>>();
    PolicyRule {
        api_groups: Some(vec![group.to_owned()]),
        resources: Some(owned(resources)),
        verbs: owned(verbs),
        ..PolicyRule::default()
    }
}
