//! What the PKI operator may do in the namespace of a control plane. Whoever renders its Role takes the rules from here.

use k8s_openapi::api::rbac::v1::PolicyRule;

/// The group of HostedControlPlane.
const GROUP: &str = "hypershift.openshift.io";

/// The rules of the Role. They hold for one namespace only.
pub fn rules() -> Vec<PolicyRule> {
    vec![
        // Authorities, leaves and kubeconfigs. Deletion is for a kubeconfig whose name the user took back.
        rule("", &["secrets"], &["get", "list", "watch", "create", "patch", "delete"]),
        rule("", &["configmaps"], &["get", "list", "watch", "create", "patch"]),
        // The addresses that load balancers got.
        rule("", &["services"], &["get", "list", "watch"]),
        rule(GROUP, &["hostedcontrolplanes"], &["get", "list", "watch"]),
        rule(GROUP, &["hostedcontrolplanes/status"], &["patch"]),
        // An owner that blocks until its dependents are gone may be named only by who may change its finalizers
        // (kubernetes, plugin/pkg/admission/gc).
        rule(GROUP, &["hostedcontrolplanes/finalizers"], &["update"]),
        rule("events.k8s.io", &["events"], &["create", "patch"]),
        rule(
            "coordination.k8s.io",
            &["leases"],
            &["get", "create", "update", "patch"],
        ),
    ]
}

fn rule(group: &str, resources: &[&str], verbs: &[&str]) -> PolicyRule {
    let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    PolicyRule {
        api_groups: Some(vec![group.to_owned()]),
        resources: Some(owned(resources)),
        verbs: owned(verbs),
        ..PolicyRule::default()
    }
}
