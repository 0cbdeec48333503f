//! What a node may write, in the words of a real server.

use serde_json::{Value, json};

use super::*;
use crate::{User, object::world::World};

fn world() -> World {
    let mut world = World::default();
    world.put("", "nodes", json!({"metadata": {"name": "n1", "uid": "u-n1"}}));
    world.put(
        "",
        "persistentvolumeclaims",
        json!({"metadata": {"namespace": "team", "name": "pvc1"}, "spec": {"volumeName": "pv1"}}),
    );
    world.put(
        "",
        "persistentvolumes",
        json!({"metadata": {"name": "pv1"}, "spec": {"csi": {"driver": "d"}}}),
    );
    world.put(
        "storage.k8s.io",
        "csidrivers",
        json!({"metadata": {"name": "d"}, "spec": {"tokenRequests": [{"audience": "disk"}]}}),
    );
    let volumes = json!([
        {"name": "t", "projected": {"sources": [{"serviceAccountToken": {"path": "t", "audience": "vault"}}]}},
        {"name": "v", "persistentVolumeClaim": {"claimName": "pvc1"}},
    ]);
    for (name, node) in [("p1", "n1"), ("p2", "n2")] {
        let metadata = json!({"namespace": "team", "name": name, "uid": format!("u-{name}")});
        world.put(
            "",
            "pods",
            json!({"metadata": metadata, "spec": {"nodeName": node, "volumes": volumes}}),
        );
    }
    world
}

/// Where a write goes: group, resource, subresource, namespace, name.
type Address = (&'static str, &'static str, &'static str, &'static str, &'static str);

fn write_as(user: &User, address: Address, object: Option<&Value>, old: Option<&Value>) -> String {
    let (group, resource, subresource, namespace, name) = address;
    let attributes = Attributes::resource(user, "update", group, resource, namespace, name);
    let attributes = Attributes {
        subresource,
        ..attributes
    };
    let (objects, policy) = (world(), Policy::with_defaults());
    let write = Write {
        attributes: &attributes,
        object,
        old,
        objects: &objects,
        policy: &policy,
    };
    node_restriction(&write).map_or_else(|refusal| format!("{} {refusal}", refusal.code()), |()| String::new())
}

fn create(address: Address, object: &Value) -> String {
    write_as(&User::node("n1"), address, Some(object), None)
}

fn update(address: Address, object: &Value, old: &Value) -> String {
    write_as(&User::node("n1"), address, Some(object), Some(old))
}

fn delete(address: Address, old: &Value) -> String {
    write_as(&User::node("n1"), address, None, Some(old))
}

fn node(labels: &Value) -> Value {
    json!({"metadata": {"name": "n1", "labels": labels}, "spec": {}})
}

const NODE: Address = ("", "nodes", "", "", "n1");
const PODS: Address = ("", "pods", "", "team", "");

#[test]
fn everybody_else_passes() {
    let alice = User::with_groups("alice", vec![]);
    assert_eq!(
        write_as(&alice, ("", "nodes", "", "", "n2"), Some(&json!({})), None),
        ""
    );
    let nameless = write_as(&User::node(""), NODE, Some(&json!({})), None);
    assert_eq!(
        nameless,
        "403 nodes \"n1\" is forbidden: could not determine node from user \"system:node:\""
    );
    assert_eq!(create(("", "events", "", "team", ""), &json!({})), "");
}

#[test]
fn a_node_writes_its_own_node_only() {
    let other = json!({"metadata": {"name": "n2"}});
    assert_eq!(
        create(("", "nodes", "", "", ""), &other),
        "403 nodes \"n2\" is forbidden: node \"n1\" is not allowed to modify node \"n2\""
    );
    assert_eq!(
        create(
            ("", "nodes", "", "", ""),
            &node(&json!({"kubernetes.io/os": "linux", "mine": "1"}))
        ),
        ""
    );
    assert_eq!(
        create(
            NODE,
            &node(&json!({"node-role.kubernetes.io/x": "y", "kubernetes.io/os": "linux"}))
        ),
        "403 nodes \"n1\" is forbidden: node \"n1\" is not allowed to set the following labels: node-role.kubernetes.io/x"
    );
    assert_eq!(delete(NODE, &node(&json!({}))), "");
}

#[test]
fn a_node_does_not_steer_workloads_to_itself() {
    let old = node(&json!({"node-role.kubernetes.io/x": "y"}));
    let labels = json!({"node-role.kubernetes.io/x": "z", "a.node-restriction.kubernetes.io/z": "1", "foo.kubelet.kubernetes.io/ok": "1", "mine": "1"});
    let refused = |what: &str| format!("403 nodes \"n1\" is forbidden: {what}");
    assert_eq!(
        update(NODE, &node(&labels), &old),
        refused("is not allowed to modify labels: a.node-restriction.kubernetes.io/z, node-role.kubernetes.io/x")
    );
    assert_eq!(
        update(NODE, &node(&json!({})), &old),
        refused("is not allowed to modify labels: node-role.kubernetes.io/x")
    );
    let changed = |path: &str, value: Value| {
        let mut new = old.clone();
        *new.pointer_mut(path).unwrap() = value;
        update(NODE, &new, &old)
    };
    assert_eq!(
        changed("/spec", json!({"taints": [{"key": "a"}]})),
        refused("node \"n1\" is not allowed to modify taints")
    );
    assert_eq!(changed("/spec", json!({"taints": []})), "");
    assert_eq!(
        changed("/spec", json!({"configSource": {}})),
        refused("node \"n1\" is not allowed to update configSource to a new non-nil configSource")
    );
    let owned = json!({"name": "n1", "labels": {"node-role.kubernetes.io/x": "y"}, "ownerReferences": [{}]});
    assert_eq!(
        changed("/metadata", owned),
        refused("node \"n1\" is not allowed to modify ownerReferences")
    );
    let mut status = old.clone();
    status["status"] = json!({"capacity": {"cpu": "1"}});
    assert_eq!(update(("", "nodes", "status", "", "n1"), &status, &old), "");
}

fn mirror(spec: &Value, owner: &Value) -> Value {
    json!({"metadata": {"name": "m", "annotations": {"kubernetes.io/config.mirror": "x"}, "ownerReferences": [owner]}, "spec": spec})
}

fn own() -> Value {
    json!({"apiVersion": "v1", "kind": "Node", "name": "n1", "uid": "u-n1", "controller": true})
}

#[test]
fn a_node_makes_mirror_pods_of_its_own_only() {
    let here = json!({"nodeName": "n1"});
    let owned = |changes: &Value| {
        let mut owner = own();
        owner
            .as_object_mut()
            .unwrap()
            .extend(changes.as_object().unwrap().clone());
        mirror(&here, &owner)
    };
    let mut unowned = mirror(&here, &own());
    unowned["metadata"]["ownerReferences"] = json!([]);
    let mut twice = mirror(&here, &own());
    twice["metadata"]["ownerReferences"] = json!([own(), own()]);
    let itself = "node \"n1\" can only create pods with an owner reference set to itself";
    let cases = [
        (mirror(&here, &own()), ""),
        (
            json!({"metadata": {"name": "m"}}),
            "pod does not have \"kubernetes.io/config.mirror\" annotation, node \"n1\" can only create mirror pods",
        ),
        (
            mirror(&json!({}), &own()),
            "node \"n1\" can only create pods with spec.nodeName set to itself",
        ),
        (unowned, itself),
        (owned(&json!({"kind": "Pod"})), itself),
        (
            twice,
            "node \"n1\" can only create pods with a single owner reference set to itself",
        ),
        (owned(&json!({"uid": "u"})), "node n1 UID mismatch: expected u got u-n1"),
        (
            owned(&json!({"controller": false})),
            "node \"n1\" can only create pods with a controller owner reference set to itself",
        ),
        (
            owned(&json!({"blockOwnerDeletion": true})),
            "node \"n1\" must not set blockOwnerDeletion on an owner reference",
        ),
    ];
    for (pod, expected) in cases {
        let expected = if expected.is_empty() {
            String::new()
        } else {
            format!("403 pods \"m\" is forbidden: {expected}")
        };
        assert_eq!(create(PODS, &pod), expected);
    }
    let generated = create(PODS, &json!({"metadata": {"generateName": "m-"}}));
    assert!(generated.starts_with("403 pods \"m-\" is forbidden"), "{generated}");
}

#[test]
fn a_mirror_pod_names_no_other_object() {
    let volume = |volume: Value| json!({"nodeName": "n1", "volumes": [volume]});
    let cases = [
        (json!({"nodeName": "n1", "serviceAccountName": "a"}), "serviceaccounts"),
        (json!({"nodeName": "n1", "resourceClaims": [{}]}), "resourceclaims"),
        (volume(json!({"configMap": {"name": "x"}})), "configmaps"),
        (volume(json!({"configMap": {}})), "configmaps (via configmap volumes)"),
        (volume(json!({"csi": {"driver": "x"}})), "csidrivers (via CSI volumes)"),
        (
            volume(json!({"persistentVolumeClaim": {"claimName": "x"}})),
            "persistentvolumeclaims",
        ),
        (
            volume(json!({"ephemeral": {}})),
            "persistentvolumeclaims (via ephemeral volumes)",
        ),
        (volume(json!({"azureFile": {"secretName": "s"}})), "secrets"),
        (volume(json!({"glusterfs": {}})), "endpoints (via glusterFS volumes)"),
        (
            volume(json!({"projected": {"sources": [{"serviceAccountToken": {}}]}})),
            "serviceaccounts (via projected volumes)",
        ),
        (
            volume(json!({"projected": {"sources": [{"downwardAPI": {}}, {"clusterTrustBundle": {}}]}})),
            "clustertrustbundles",
        ),
    ];
    for (spec, named) in cases {
        let refused = create(PODS, &mirror(&spec, &own()));
        assert_eq!(
            refused,
            format!("403 pods \"m\" is forbidden: node \"n1\" can not create pods that reference {named}")
        );
    }
    let local = volume(json!({"name": "v", "hostPath": {"path": "/"}}));
    assert_eq!(create(PODS, &mirror(&local, &own())), "");
    let unknown = create(PODS, &mirror(&volume(json!({"name": "v"})), &own()));
    assert_eq!(
        unknown,
        "403 pods \"m\" is forbidden: error checking mirror pod for API references: unknown volume type for volume  \"v\""
    );
}

#[test]
fn a_node_touches_pods_that_run_on_it_only() {
    let (p1, p2) = (("", "pods", "", "team", "p1"), ("", "pods", "", "team", "p2"));
    let refused = "403 pods \"p2\" is forbidden: node \"n1\" can only";
    assert_eq!(delete(p1, &json!({})), "");
    assert_eq!(
        delete(p2, &json!({})),
        format!("{refused} delete pods with spec.nodeName set to itself")
    );
    assert_eq!(
        delete(("", "pods", "", "team", "zz"), &json!({})),
        "404 pod \"zz\" not found"
    );
    assert_eq!(
        update(p1, &json!({}), &json!({})),
        "403 pods \"p1\" is forbidden: unexpected operation \"UPDATE\", node \"n1\" can only create and delete mirror pods"
    );
    let eviction = json!({"metadata": {"name": "p2"}});
    assert_eq!(create(("", "pods", "eviction", "team", "p1"), &eviction), "");
    assert_eq!(
        create(("", "pods", "eviction", "team", ""), &eviction),
        "403 pods \"p2\" is forbidden: node n1 can only evict pods with spec.nodeName set to itself"
    );
    assert_eq!(
        create(("", "pods", "eviction", "team", "zz"), &json!({})),
        "404 pod \"zz\" not found"
    );
    assert_eq!(
        create(("", "pods", "exec", "team", "p1"), &json!({})),
        "403 pods \"p1\" is forbidden: unexpected pod subresource \"exec\", only 'status' and 'eviction' are allowed"
    );
}

#[test]
fn a_node_reports_status_and_nothing_else() {
    let status = ("", "pods", "status", "team", "p1");
    let pod = |node: &str, changes: &Value| {
        let mut pod = json!({"metadata": {"labels": {}}, "spec": {"nodeName": node}, "status": {}});
        pod.as_object_mut()
            .unwrap()
            .extend(changes.as_object().unwrap().clone());
        pod
    };
    let cases = [
        ("n1", json!({"status": {"phase": "Running"}}), ""),
        (
            "n2",
            json!({}),
            "can only update pod status for pods with spec.nodeName set to itself",
        ),
        (
            "n1",
            json!({"metadata": {"labels": {"a": "b"}}}),
            "cannot update labels through pod status",
        ),
        ("n1", json!({"metadata": {}}), ""),
        (
            "n1",
            json!({"status": {"resourceClaimStatuses": [{"name": "x", "resourceClaimName": "y"}]}}),
            "cannot update resource claim statues",
        ),
        (
            "n1",
            json!({"status": {"extendedResourceClaimStatus": {"resourceClaimName": "y"}}}),
            "cannot update extended resource claim status",
        ),
    ];
    for (node, changes, expected) in cases {
        let expected = if expected.is_empty() {
            String::new()
        } else {
            format!("403 pods \"p1\" is forbidden: node \"n1\" {expected}")
        };
        assert_eq!(update(status, &pod(node, &changes), &pod(node, &json!({}))), expected);
    }
}

#[test]
fn a_node_resizes_claims_and_no_more() {
    let status = ("", "persistentvolumeclaims", "status", "team", "pvc1");
    let old = json!({"metadata": {"name": "pvc1", "resourceVersion": "1"}, "status": {"phase": "Pending"}});
    let new = |changes: &Value| {
        let mut new = old.clone();
        new.as_object_mut()
            .unwrap()
            .extend(changes.as_object().unwrap().clone());
        update(status, &new, &old)
    };
    assert_eq!(
        new(&json!({"status": {"phase": "Pending", "capacity": {"storage": "1Gi"}, "conditions": []}})),
        ""
    );
    assert_eq!(new(&json!({"metadata": {"name": "pvc1", "managedFields": []}})), "");
    let refused = "403 persistentvolumeclaims \"pvc1\" is forbidden: node \"n1\" is not allowed to update fields other than status.quantity and status.conditions:";
    assert_eq!(
        new(&json!({"status": {"phase": "Bound"}})),
        format!("{refused} status.phase")
    );
    assert_eq!(
        new(&json!({"metadata": {"name": "pvc1", "labels": {"a": "b"}}})),
        format!("{refused} metadata.labels")
    );
    let whole = update(("", "persistentvolumeclaims", "", "team", "pvc1"), &old, &old);
    assert_eq!(
        whole,
        "403 persistentvolumeclaims \"pvc1\" is forbidden: may only update PVC status"
    );
}

#[test]
fn a_node_has_one_lease_one_csi_node_and_its_own_slices() {
    let named = |name: &str| json!({"metadata": {"name": name}});
    let lease = |namespace: &'static str, name: &str| {
        create(("coordination.k8s.io", "leases", "", namespace, ""), &named(name))
    };
    assert_eq!(lease("kube-node-lease", "n1"), "");
    assert_eq!(
        lease("kube-node-lease", "n2"),
        "403 leases.coordination.k8s.io \"n2\" is forbidden: can only access node lease with the same name as the requesting node"
    );
    assert_eq!(
        lease("team", "n1"),
        "403 leases.coordination.k8s.io \"n1\" is forbidden: can only access leases in the \"kube-node-lease\" system namespace"
    );
    let csi_node = |name: &str| create(("storage.k8s.io", "csinodes", "", "", ""), &named(name));
    assert_eq!(csi_node("n1"), "");
    assert_eq!(
        csi_node("n2"),
        "403 csinodes.storage.k8s.io \"n2\" is forbidden: can only access CSINode with the same name as the requesting node"
    );
    let slices = ("resource.k8s.io", "resourceslices", "", "", "s");
    let slice = |node: &str| json!({"spec": {"nodeName": node}});
    let refused = |verb: &str| {
        format!(
            "403 resourceslices.resource.k8s.io \"s\" is forbidden: can only {verb} ResourceSlice with the same NodeName as the requesting node"
        )
    };
    assert_eq!(
        (create(slices, &slice("n1")), create(slices, &slice("n2"))),
        (String::new(), refused("create"))
    );
    assert_eq!(
        (delete(slices, &slice("n1")), delete(slices, &slice("n2"))),
        (String::new(), refused("delete"))
    );
}

#[test]
fn a_node_asks_for_tokens_of_its_own_pods_and_their_audiences() {
    let token = |spec: Value| {
        create(
            ("", "serviceaccounts", "token", "team", "local"),
            &json!({"spec": spec}),
        )
    };
    let bound = |name: &str, uid: &str| json!({"boundObjectRef": {"apiVersion": "v1", "kind": "Pod", "name": name, "uid": uid}});
    let for_audiences = |audiences: &[&str]| {
        let mut spec = bound("p1", "u-p1");
        spec["audiences"] = json!(audiences);
        token(spec)
    };
    let refused = |what: &str| format!("403 serviceaccounts \"local\" is forbidden: {what}");
    assert_eq!(for_audiences(&["vault"]), "");
    assert_eq!(for_audiences(&["disk"]), "", "asked for by the driver of a volume");
    assert_eq!(
        for_audiences(&["a", "b"]),
        refused("node may only request 0 or 1 audiences")
    );
    assert_eq!(
        for_audiences(&["a"]),
        refused(
            "audience \"a\" not found in pod spec volume, system:node:n1 is not authorized to request tokens for this audience"
        )
    );
    assert_eq!(token(json!({})), refused("node requested token not bound to a pod"));
    assert_eq!(
        token(bound("p1", "")),
        refused("node requested token with a pod binding without a uid")
    );
    assert_eq!(
        token(bound("p1", "zz")),
        refused(
            "the UID in the bound object reference (zz) does not match the UID in record. The object might have been deleted and then recreated"
        )
    );
    assert_eq!(token(bound("gone", "zz")), "404 pod \"gone\" not found");
    assert_eq!(
        token(bound("p2", "u-p2")),
        refused("node requested token bound to a pod scheduled on a different node")
    );
}

#[test]
fn a_node_asks_for_certificates_in_its_own_name() {
    use base64::{Engine as _, prelude::BASE64_STANDARD};
    let request = |name: &str, signer: &str| {
        let mut params = rcgen::CertificateParams::default();
        params.distinguished_name.push(rcgen::DnType::CommonName, name);
        let pem = params
            .serialize_request(&rcgen::KeyPair::generate().unwrap())
            .unwrap()
            .pem()
            .unwrap();
        let object =
            json!({"metadata": {"name": "c"}, "spec": {"signerName": signer, "request": BASE64_STANDARD.encode(pem)}});
        create(
            ("certificates.k8s.io", "certificatesigningrequests", "", "", ""),
            &object,
        )
    };
    assert_eq!(request("system:node:n1", "kubernetes.io/kubelet-serving"), "");
    assert_eq!(
        request("system:node:n2", "kubernetes.io/kubelet-serving"),
        "403 certificatesigningrequests.certificates.k8s.io \"c\" is forbidden: can only create a node CSR with CN=system:node:n1"
    );
    assert_eq!(request("anybody", "kubernetes.io/kube-apiserver-client"), "");
}
