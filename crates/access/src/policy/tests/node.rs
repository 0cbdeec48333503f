//! What a node may, asked of a real server question by question.

use serde_json::{Value, json};

use super::{super::*, team};
use crate::FieldRequirement;

fn nodes() -> Policy {
    let policy = team();
    policy.put(
        "persistentvolumes",
        &json!({"metadata": {"name": "pv1"}, "spec": {
            "claimRef": {"namespace": "team", "name": "pvc1"},
            "csi": {"driver": "d", "nodeStageSecretRef": {"namespace": "other", "name": "stage"},
                    "controllerPublishSecretRef": {"namespace": "other", "name": "ctl"}}}}),
    );
    policy.put("pods", &pod());
    policy.put(
        "volumeattachments.storage.k8s.io",
        &json!({"metadata": {"name": "va"}, "spec": {"nodeName": "n1"}}),
    );
    policy.put(
        "resourceslices.resource.k8s.io",
        &json!({"metadata": {"name": "rs"}, "spec": {"nodeName": "n1"}}),
    );
    policy
}

fn pod() -> Value {
    json!({"metadata": {"namespace": "team", "name": "p1", "uid": "u1"}, "spec": {
        "nodeName": "n1",
        "serviceAccountName": "local",
        "imagePullSecrets": [{"name": "pull"}],
        "containers": [{"envFrom": [{"configMapRef": {"name": "cm1"}}],
                        "env": [{"valueFrom": {"secretKeyRef": {"name": "s2"}}}]}],
        "resourceClaims": [{"name": "a", "resourceClaimName": "rc1"}, {"name": "b"}],
        "volumes": [
            {"name": "v", "persistentVolumeClaim": {"claimName": "pvc1"}},
            {"name": "e", "ephemeral": {}},
            {"name": "pr", "projected": {"sources": [{"secret": {"name": "s3"}}, {"configMap": {"name": "cm2"}}]}},
        ]},
        "status": {"resourceClaimStatuses": [{"name": "b", "resourceClaimName": "rc2"}]}})
}

/// Verb, group, resource, subresource, namespace, name, and the reason; an answer without one begins with yes or no.
type NodeCase = (
    &'static str,
    &'static str,
    &'static str,
    &'static str,
    &'static str,
    &'static str,
    &'static str,
);

const UNRELATED: &str = "no relationship found between node 'n1' and this object";

const NODE_CASES: [NodeCase; 59] = [
    ("get", "", "secrets", "", "team", "pull", "yes"),
    ("get", "", "secrets", "", "team", "s2", "yes"),
    ("get", "", "secrets", "", "team", "s3", "yes"),
    ("get", "", "secrets", "", "other", "stage", "yes"),
    ("get", "", "secrets", "", "other", "ctl", UNRELATED),
    ("get", "", "secrets", "", "other", "pull", UNRELATED),
    ("get", "", "secrets", "log", "team", "s2", "cannot read subresource"),
    ("list", "", "secrets", "", "team", "", "No Object name found"),
    (
        "list",
        "",
        "secrets",
        "",
        "",
        "",
        "can only read namespaced object of this type",
    ),
    (
        "update",
        "",
        "secrets",
        "",
        "team",
        "s2",
        "can only read resources of this type",
    ),
    ("get", "", "configmaps", "", "team", "cm1", "yes"),
    ("watch", "", "configmaps", "", "team", "cm2", "yes"),
    ("get", "", "configmaps", "", "team", "cm3", UNRELATED),
    ("get", "", "persistentvolumeclaims", "", "team", "pvc1", "yes"),
    ("get", "", "persistentvolumeclaims", "", "team", "p1-e", "yes"),
    (
        "list",
        "",
        "persistentvolumeclaims",
        "",
        "team",
        "",
        "can only get individual resources of this type",
    ),
    ("patch", "", "persistentvolumeclaims", "status", "team", "pvc1", "yes"),
    (
        "get",
        "",
        "persistentvolumeclaims",
        "status",
        "team",
        "pvc1",
        "can only get/update/patch this type",
    ),
    ("get", "", "persistentvolumes", "", "", "pv1", "yes"),
    (
        "get",
        "",
        "persistentvolumes",
        "status",
        "",
        "pv1",
        "cannot get subresource",
    ),
    ("get", "", "persistentvolumes", "", "", "pv2", UNRELATED),
    ("get", "resource.k8s.io", "resourceclaims", "", "team", "rc1", "yes"),
    ("get", "resource.k8s.io", "resourceclaims", "", "team", "rc2", "yes"),
    ("get", "resource.k8s.io", "resourceclaims", "", "team", "b", UNRELATED),
    ("get", "storage.k8s.io", "volumeattachments", "", "", "va", "yes"),
    ("get", "storage.k8s.io", "volumeattachments", "", "", "vb", UNRELATED),
    ("get", "", "serviceaccounts", "", "team", "local", "yes"),
    ("get", "", "serviceaccounts", "", "team", "default", UNRELATED),
    ("create", "", "serviceaccounts", "token", "team", "local", "yes"),
    ("create", "", "serviceaccounts", "token", "team", "default", UNRELATED),
    (
        "create",
        "",
        "serviceaccounts",
        "",
        "team",
        "default",
        "can only create token subresource of serviceaccount",
    ),
    (
        "update",
        "",
        "serviceaccounts",
        "x",
        "team",
        "default",
        "can only create tokens for individual service accounts",
    ),
    ("get", "", "pods", "", "team", "p1", "yes"),
    ("get", "", "pods", "", "team", "p2", UNRELATED),
    (
        "list",
        "",
        "pods",
        "",
        "",
        "",
        "can only list/watch pods with spec.nodeName field selector",
    ),
    ("list", "", "pods", "", "team", "p1", "yes"),
    ("create", "", "pods", "eviction", "team", "x", "yes"),
    ("create", "", "pods", "binding", "team", "x", "no"),
    ("delete", "", "pods", "", "team", "x", "yes"),
    ("update", "", "pods", "", "team", "p1", "no"),
    ("get", "", "nodes", "", "", "n1", "yes"),
    (
        "get",
        "",
        "nodes",
        "",
        "",
        "n2",
        "node 'n1' cannot read 'n2', only its own Node object",
    ),
    (
        "list",
        "",
        "nodes",
        "",
        "",
        "",
        "node 'n1' cannot read all nodes, only its own Node object",
    ),
    ("delete", "", "nodes", "", "", "n1", "no"),
    ("update", "", "nodes", "status", "", "n1", "yes"),
    ("get", "", "nodes", "status", "", "n1", "no"),
    ("list", "", "services", "", "", "", "yes"),
    ("delete", "", "services", "", "team", "a", "no"),
    (
        "get",
        "coordination.k8s.io",
        "leases",
        "",
        "kube-node-lease",
        "n1",
        "yes",
    ),
    (
        "get",
        "coordination.k8s.io",
        "leases",
        "",
        "kube-node-lease",
        "n2",
        "can only access node lease with the same name as the requesting node",
    ),
    (
        "list",
        "coordination.k8s.io",
        "leases",
        "",
        "kube-node-lease",
        "",
        "can only get, create, update, patch, or delete a node lease",
    ),
    (
        "get",
        "coordination.k8s.io",
        "leases",
        "",
        "team",
        "n1",
        "can only access leases in the \"kube-node-lease\" system namespace",
    ),
    ("create", "storage.k8s.io", "csinodes", "", "", "", "yes"),
    (
        "get",
        "storage.k8s.io",
        "csinodes",
        "",
        "",
        "n2",
        "can only access CSINode with the same name as the requesting node",
    ),
    ("get", "resource.k8s.io", "resourceslices", "", "", "rs", "yes"),
    ("get", "resource.k8s.io", "resourceslices", "", "", "other", UNRELATED),
    (
        "list",
        "resource.k8s.io",
        "resourceslices",
        "",
        "",
        "",
        "can only list/watch/deletecollection resourceslices with nodeName field selector",
    ),
    (
        "explode",
        "resource.k8s.io",
        "resourceslices",
        "",
        "",
        "",
        "only the following verbs are allowed for a ResourceSlice: get, watch, list, create, update, patch, delete, deletecollection",
    ),
    ("get", "certificates.k8s.io", "podcertificaterequests", "", "", "", "no"),
];

#[test]
fn a_node_may_what_a_real_server_lets_it() {
    let policy = nodes();
    let node = User::node("n1");
    for (verb, group, resource, subresource, namespace, name, expected) in NODE_CASES {
        let attributes = Attributes::resource(&node, verb, group, resource, namespace, name);
        let decision = policy.authorize(&Attributes {
            subresource,
            ..attributes
        });
        let answer = match &decision {
            Decision::Allow(_) => "yes",
            _ if decision.reason().is_empty() => "no",
            _ => decision.reason(),
        };
        assert_eq!(
            answer, expected,
            "{verb} {group}/{resource}/{subresource} {namespace}/{name}"
        );
    }
}

#[test]
fn a_node_lists_its_own_pods_by_a_field_selector() {
    let policy = nodes();
    let node = User::node("n1");
    let cases = [
        ("spec.nodeName", true, "n1", true),
        ("spec.nodeName", true, "n2", false),
        ("spec.nodeName", false, "n1", false),
        ("metadata.name", true, "n1", false),
    ];
    for (field, equals, value, expected) in cases {
        let fields = [FieldRequirement {
            field: field.to_owned(),
            equals,
            value: value.to_owned(),
        }];
        let list = Attributes {
            fields: &fields,
            ..Attributes::resource(&node, "list", "", "pods", "", "")
        };
        assert_eq!(policy.authorize(&list).is_allowed(), expected, "{fields:?}");
    }
}

#[test]
fn what_a_pod_named_is_forgotten_with_the_last_pod_that_named_it() {
    let policy = nodes();
    let node = User::node("n1");
    let may = |resource, namespace, name| {
        policy
            .authorize(&Attributes::resource(&node, "get", "", resource, namespace, name))
            .is_allowed()
    };
    let mut second = pod();
    second["metadata"]["name"] = json!("p9");
    policy.put("pods", &second);
    policy.remove("pods", "team", "p1");
    assert!(may("secrets", "team", "s2") && may("secrets", "other", "stage") && may("persistentvolumes", "", "pv1"));
    policy.remove("pods", "team", "p9");
    assert!(!may("secrets", "team", "s2") && !may("secrets", "other", "stage") && !may("persistentvolumes", "", "pv1"));
    policy.put("pods", &pod());
    policy.remove("persistentvolumes", "", "pv1");
    assert!(may("persistentvolumeclaims", "team", "pvc1") && !may("secrets", "other", "stage"));
}

#[test]
fn a_mirror_pod_gives_its_node_nothing() {
    let policy = Policy::new();
    let mut mirror = pod();
    mirror["metadata"]["annotations"] = json!({"kubernetes.io/config.mirror": "x"});
    policy.put("pods", &mirror);
    let node = User::node("n1");
    let may = |resource, name| {
        policy
            .authorize(&Attributes::resource(&node, "get", "", resource, "team", name))
            .is_allowed()
    };
    assert!(may("pods", "p1"));
    assert!(!may("secrets", "s2"));
}

#[test]
fn references_that_are_added_to_a_running_pod_count() {
    let policy = nodes();
    let node = User::node("n1");
    let may = |name| {
        policy
            .authorize(&Attributes::resource(&node, "get", "", "secrets", "team", name))
            .is_allowed()
    };
    let mut changed = pod();
    changed["spec"]["ephemeralContainers"] = json!([{"envFrom": [{"secretRef": {"name": "late"}}]}]);
    assert!(!may("late"));
    policy.put("pods", &changed);
    assert!(may("late"));
}

#[test]
fn a_node_without_a_name_is_told_so() {
    let decision = Policy::new().authorize(&Attributes::resource(&User::node(""), "get", "", "pods", "", ""));
    assert_eq!(
        decision,
        Decision::NoOpinion("unknown node for user \"system:node:\"".to_owned())
    );
}
