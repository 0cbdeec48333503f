//! Usual objects for the tests of all crates, as JSON: each test lays over them what it is about.
#![allow(dead_code, reason = "each test target takes the part that it needs")]

use serde_json::{Value, json};

/// The release that they have.
pub const IMAGE: &str = "hyperplane.dev/kubernetes:v1.36.4";

/// A cluster of a user.
pub fn hosted_cluster(change: &Value) -> Value {
    let route = json!({"type": "Route"});
    let mut object = json!({
        "apiVersion": "hypershift.openshift.io/v1beta1",
        "kind": "HostedCluster",
        "metadata": {"name": "one", "namespace": "clusters"},
        "spec": {
            "release": {"image": IMAGE},
            "platform": {"type": "None"},
            "pullSecret": {"name": "pull-secret"},
            "networking": {
                "networkType": "Other",
                "clusterNetwork": [{"cidr": "10.132.0.0/14"}],
                "serviceNetwork": [{"cidr": "172.31.0.0/16"}],
            },
            "services": [
                published("APIServer", &json!({"type": "LoadBalancer"})),
                published("OAuthServer", &route),
                published("Konnectivity", &route),
                published("Ignition", &route),
            ],
        },
    });
    merge(&mut object, change);
    object
}

/// A control plane.
pub fn hosted_control_plane(change: &Value) -> Value {
    let mut object = json!({
        "apiVersion": "hypershift.openshift.io/v1beta1",
        "kind": "HostedControlPlane",
        "metadata": {"name": "one", "namespace": "clusters-one"},
        "spec": {
            "releaseImage": IMAGE,
            "infraID": "one-abcde",
            "issuerURL": "https://kubernetes.default.svc",
            "pullSecret": {"name": "pull-secret"},
            "sshKey": {"name": "ssh-key"},
            "dns": {"baseDomain": "example.com"},
            "etcd": {"managementType": "Managed", "managed": {"storage": {"type": "PersistentVolume"}}},
            "platform": {"type": "None"},
            "services": services(&json!({"type": "LoadBalancer"})),
        },
    });
    merge(&mut object, change);
    object
}

/// All services, published in one way.
pub fn services(strategy: &Value) -> Value {
    let names = ["APIServer", "OAuthServer", "Konnectivity", "Ignition"];
    names.iter().map(|name| published(name, strategy)).collect()
}

/// One entry of `spec.services`.
pub fn published(service: &str, strategy: &Value) -> Value {
    json!({"service": service, "servicePublishingStrategy": strategy})
}

/// Lays one value over another: objects are merged, null removes, everything else replaces.
pub fn merge(value: &mut Value, change: &Value) {
    let (Value::Object(fields), Value::Object(changes)) = (&mut *value, change) else {
        *value = change.clone();
        return;
    };
    for (key, change) in changes {
        if change.is_null() {
            fields.remove(key);
        } else {
            merge(fields.entry(key.clone()).or_insert(Value::Null), change);
        }
    }
}
