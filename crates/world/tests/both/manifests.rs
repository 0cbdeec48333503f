//! Node pools, and what runs on their nodes, as users write them.

use serde_json::{Value, json};

use crate::samples::merge;

/// The images of releases begin with this.
const RELEASES: &str = "hyperplane.dev/kubernetes:v";

/// A pool of cluster `one` in which everything that is not given is usual.
pub fn pool(name: &str, version: &str, replicas: u64, change: &Value) -> Value {
    let mut manifest = json!({
        "metadata": {"name": name, "namespace": "clusters"},
        "spec": {
            "clusterName": "one",
            "release": {"image": release(version)},
            "replicas": replicas,
            "nodeDrainTimeout": "5m",
            "management": {"upgradeType": "Replace", "autoRepair": true},
            "platform": {"type": "KubeVirt", "kubevirt": {"rootVolume": {
                "type": "Persistent", "diskImage": {"containerDiskImage": "registry.example.com/os:1"}}}},
        },
    });
    merge(&mut manifest, change);
    manifest
}

/// The image of a release.
pub fn release(version: &str) -> String {
    format!("{RELEASES}{version}")
}

/// What changes the release of a pool or of a cluster.
pub fn to_release(version: &str) -> Value {
    json!({"spec": {"release": {"image": release(version)}}})
}

/// What changes the pace of a pool.
pub fn pace(surge: &Value, unavailable: &Value) -> Value {
    let update = json!({"maxSurge": surge, "maxUnavailable": unavailable});
    json!({"spec": {"management": {"replace": {"strategy": "RollingUpdate", "rollingUpdate": update}}}})
}

/// A ConfigMap with a MachineConfig that writes a file with this content.
pub fn machine_config(name: &str, content: &str) -> Value {
    let file = json!({"path": "/etc/example", "mode": 420, "contents": {"source": format!("data:,{content}")}});
    let config = json!({
        "apiVersion": "machineconfiguration.openshift.io/v1", "kind": "MachineConfig",
        "metadata": {"name": name, "labels": {"machineconfiguration.openshift.io/role": "worker"}},
        "spec": {"config": {"ignition": {"version": "3.2.0"}, "storage": {"files": [file]}}},
    });
    json!({"metadata": {"name": name}, "data": {"config": config.to_string()}})
}

/// A Deployment that runs on the nodes of a hosted cluster.
pub fn workload(replicas: u64) -> Value {
    json!({
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {"replicas": replicas, "selector": {"matchLabels": {"app": "web"}}, "template": {
            "metadata": {"labels": {"app": "web"}},
            "spec": {
                "containers": [{"name": "web", "image": "registry.example.com/web:1"}],
                "tolerations": [{"key": "example.com/color", "operator": "Exists"}],
            },
        }},
    })
}

/// Its budget: how many of its pods may go at a time.
pub fn budget(unavailable: u64) -> Value {
    json!({
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {"selector": {"matchLabels": {"app": "web"}}, "maxUnavailable": unavailable},
    })
}
