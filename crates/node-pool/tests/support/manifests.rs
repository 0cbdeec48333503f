//! A cluster, its control plane and a pool that nothing is wrong with, as JSON, for tests inside and outside of the crate.

use serde_json::{Value, json};

use super::samples::{self, IMAGE, merge};

/// The version of [`IMAGE`].
pub(crate) const VERSION: &str = "1.36.4";

/// A cluster that pools can be made for, and with changes.
pub(crate) fn cluster(change: &Value) -> Value {
    let mut manifest = samples::hosted_cluster(&json!({
        "metadata": {"name": "blue", "namespace": "clusters", "uid": "11111111-2222-4333-8444-555555555555"},
        "spec": {
            "infraID": "blue-abcde",
            "pullSecret": {"name": "registry"},
            "sshKey": {"name": "keys"},
            "platform": {"type": "KubeVirt", "kubevirt": {}},
            "networking": {"machineNetwork": [{"cidr": "192.168.0.0/24"}]},
        },
        "status": {
            "ignitionEndpoint": "ignition.example.com",
            "kubeconfig": {"name": "blue-admin-kubeconfig"},
            "controlPlaneEndpoint": {"host": "api.example.com", "port": 6443},
            "controlPlaneVersion": {
                "desired": {"version": VERSION, "image": IMAGE},
                "history": [{"state": "Completed", "version": VERSION, "image": IMAGE,
                    "startedTime": "2027-01-01T00:00:00Z", "completionTime": "2027-01-01T00:10:00Z"}],
            },
        },
    }));
    merge(&mut manifest, change);
    manifest
}

/// Its control plane.
pub(crate) fn control_plane() -> Value {
    samples::hosted_control_plane(&json!({
        "metadata": {"name": "blue", "namespace": "clusters-blue",
            "annotations": {"hypershift.openshift.io/cluster": "clusters/blue"}},
    }))
}

/// A pool, and with changes.
pub(crate) fn pool(change: &Value) -> Value {
    let mut manifest = json!({
        "apiVersion": "hypershift.openshift.io/v1beta1",
        "kind": "NodePool",
        "metadata": {"name": "workers", "namespace": "clusters", "uid": "pool", "generation": 1},
        "spec": {
            "clusterName": "blue",
            "release": {"image": IMAGE},
            "replicas": 3,
            "management": {"upgradeType": "Replace"},
            "platform": {"type": "KubeVirt", "kubevirt": {"rootVolume": {
                "type": "Persistent", "diskImage": {"containerDiskImage": "registry.example.com/os:1"}}}},
        },
    });
    merge(&mut manifest, change);
    manifest
}
