//! A control plane for tests.

use hyperplane_api::hypershift::hosted_control_plane::HostedControlPlane;
use serde_json::{Value, json};

/// The namespace of the control plane.
pub(crate) const NAMESPACE: &str = "clusters-example";

/// A control plane with annotations.
pub(crate) fn control_plane(annotations: &Value) -> HostedControlPlane {
    let published = |service: &str| json!({"service": service, "servicePublishingStrategy": {"type": "LoadBalancer"}});
    serde_json::from_value(json!({
        "apiVersion": "hypershift.openshift.io/v1beta1",
        "kind": "HostedControlPlane",
        "metadata": {"name": "example", "namespace": NAMESPACE, "annotations": annotations},
        "spec": {
            "releaseImage": "hyperplane.dev/kubernetes:v1.36.4",
            "infraID": "example-x7k2p",
            "issuerURL": "https://kubernetes.default.svc",
            "pullSecret": {"name": "pull-secret"},
            "sshKey": {"name": "ssh-key"},
            "dns": {"baseDomain": "example.com"},
            "etcd": {"managementType": "Managed", "managed": {"storage": {"type": "PersistentVolume"}}},
            "platform": {"type": "None"},
            "services": [
                published("APIServer"), published("OAuthServer"), published("Konnectivity"), published("Ignition"),
            ],
        },
    }))
    .unwrap()
}
