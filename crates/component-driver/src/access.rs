//! What the operators of a control plane may do in its namespace. Whoever makes a control plane grants it; whoever drives
//! components, dedicated or shared, has exactly this.

use hyperplane_api::constants::groups;
use k8s_openapi::api::rbac::v1::PolicyRule;

/// The group of monitors.
pub const MONITORING: &str = "monitoring.coreos.com";

/// The verbs of those who only look.
pub const READ: &[&str] = &["get", "list", "watch"];
/// The verbs of those who keep a copy of everything.
pub const WATCH: &[&str] = &["list", "watch"];
/// The verbs of those who make and change. All changes are patches.
pub const MAKE: &[&str] = &["create", "list", "patch", "watch"];
/// The verbs of those who make, change and remove. Whoever meets a conflict looks what is there.
pub const WRITE: &[&str] = &["create", "delete", "get", "list", "patch", "watch"];
/// The verbs of those who report: a status is patched.
pub const REPORT: &[&str] = &["patch"];

/// The control-plane operator: it writes everything that components consist of, and hands on rights to them, but never
/// beyond the namespace.
pub fn control_plane_operator_rules() -> Vec<PolicyRule> {
    let mut rules = vec![
        rule("", &["configmaps", "secrets", "serviceaccounts", "services"], WRITE),
        // Those who make load balancers say only there why one does not come.
        rule("", &["events"], &["list"]),
        rule("apps", &["deployments", "statefulsets"], WRITE),
        rule("batch", &["cronjobs", "jobs"], WATCH),
        rule(MONITORING, &["podmonitors", "servicemonitors"], WRITE),
        rule("policy", &["poddisruptionbudgets"], WRITE),
        rule(
            groups::HYPERSHIFT,
            &["hostedcontrolplanes"],
            &["get", "list", "patch", "watch"],
        ),
        rule(groups::HYPERSHIFT, &["hostedcontrolplanes/finalizers"], &["update"]),
        rule(groups::HYPERSHIFT, &["hostedcontrolplanes/status"], REPORT),
    ];
    rules.extend(driver_rules());
    rules.extend(housekeeping_rules());
    rules
}

/// The PKI operator: it writes certificates and kubeconfigs, and reports.
pub fn pki_operator_rules() -> Vec<PolicyRule> {
    let mut rules = vec![
        // Deletion is for a kubeconfig whose name the user took back.
        rule("", &["secrets"], WRITE),
        rule("", &["configmaps"], MAKE),
        // The addresses that load balancers got.
        rule("", &["services"], WATCH),
        rule(groups::HYPERSHIFT, &["hostedcontrolplanes"], WATCH),
        rule(groups::HYPERSHIFT, &["hostedcontrolplanes/status"], REPORT),
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
        rule("", &["configmaps", "secrets", "services"], WATCH),
        rule(groups::CLUSTER_API, &["machines"], WATCH),
        rule(groups::HYPERSHIFT, &["hostedcontrolplanes"], WATCH),
        rule(groups::HYPERSHIFT, &["hostedcontrolplanes/status"], REPORT),
    ];
    rules.extend(housekeeping_rules());
    rules
}

/// What everybody needs who drives components, of whatever they consist: their reports, and the rights that they are given.
pub fn driver_rules() -> Vec<PolicyRule> {
    vec![
        rule(groups::HYPERSHIFT, &["controlplanecomponents"], WRITE),
        rule(groups::HYPERSHIFT, &["controlplanecomponents/status"], REPORT),
        rule(groups::RBAC, &["rolebindings", "roles"], WRITE),
        // Whoever grants a right must have it, or may hand on any.
        rule(groups::RBAC, &["roles"], &["bind", "escalate"]),
    ]
}

/// What every operator does besides its work: it says what happened, and holds a lease in its namespace.
pub fn housekeeping_rules() -> Vec<PolicyRule> {
    let mut rules = event_rules();
    rules.push(rule("coordination.k8s.io", &["leases"], &["create", "get", "update"]));
    rules
}

/// Saying what happened.
pub fn event_rules() -> Vec<PolicyRule> {
    vec![rule("", &["events"], &["create", "patch"])]
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
