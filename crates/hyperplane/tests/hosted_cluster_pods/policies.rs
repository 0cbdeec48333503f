//! Network policies of a control plane as the kernel enforces them: who reaches which port, tried with real connections
//! from real pods.

use std::time::Duration;

use serde_json::{Value, json};

use crate::{
    ground::{Ground, is_ready},
    hosted::INSIDE,
};

/// How long a pod may take to run.
const POD_LIMIT: Duration = Duration::from_mins(1);

/// Who tries, where to, and whether it may.
const WAYS: &[(&str, &str, u16, bool)] = &[
    // Clients of the hosted cluster may be anywhere.
    (OUTSIDE, "kube-apiserver", 6443, true),
    (OUTSIDE, "etcd-client", 2379, false),
    (OUTSIDE, "kube-controller-manager", 10257, false),
    (OUTSIDE, "kube-scheduler", 10259, false),
    // Parts of a control plane find each other.
    (INSIDE, "kube-apiserver", 6443, true),
    (INSIDE, "etcd-client", 2379, true),
    (INSIDE, "kube-controller-manager", 10257, true),
];

/// A namespace that is no control plane's.
const OUTSIDE: &str = "bystanders";

/// The name of pods that try.
const PROBE: &str = "probe";

/// Tries every way.
pub fn are_enforced(ground: &Ground) {
    ground.kubectl(&["create", "namespace", OUTSIDE]).unwrap();
    for namespace in [OUTSIDE, INSIDE] {
        ground.cluster.apply(&probe(namespace).to_string()).unwrap();
    }
    for namespace in [OUTSIDE, INSIDE] {
        ground.until("a pod that tries runs", POD_LIMIT, || {
            let pod = ground.json(&["get", "pod", PROBE, "--namespace", namespace])?;
            is_ready(&pod).then_some(()).ok_or_else(|| pod["status"].to_string())
        });
    }
    for (from, component, port, is_allowed) in WAYS {
        let Some(address) = address(ground, component) else {
            println!("no pod of {component}");
            continue;
        };
        let to = format!("{address}:{port}");
        let connect = [
            "exec",
            "--namespace",
            from,
            PROBE,
            "--",
            "/usr/bin/workload",
            "connect",
            &to,
        ];
        let tried = ground.kubectl(&connect);
        assert_eq!(tried.is_ok(), *is_allowed, "{from} to {component}:{port}: {tried:?}");
    }
    ground.tell("network policies refuse and let through as they are to");
    for namespace in [OUTSIDE, INSIDE] {
        let delete = ["delete", "pod", PROBE, "--namespace", namespace, "--grace-period=1"];
        ground.kubectl(&delete).unwrap();
    }
}

/// The address of a pod itself: that of a Service would tell no more, and some have none.
fn address(ground: &Ground, component: &str) -> Option<String> {
    let component = component.strip_suffix("-client").unwrap_or(component);
    let selector = format!("--selector=app={component}");
    let pods = ground.json(&["get", "pods", "--namespace", INSIDE, &selector]).unwrap();
    let pod = pods["items"].as_array()?.iter().find(|pod| is_ready(pod))?;
    pod["status"]["podIP"].as_str().map(str::to_owned)
}

fn probe(namespace: &str) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": PROBE, "namespace": namespace},
        "spec": {
            "terminationGracePeriodSeconds": 1,
            "securityContext": {"runAsNonRoot": true, "runAsUser": 65532, "seccompProfile": {"type": "RuntimeDefault"}},
            "containers": [{
                "name": PROBE,
                "image": hyperplane_testbed::image::cluster::WORKLOAD,
                "imagePullPolicy": "IfNotPresent",
                "command": ["/usr/bin/workload", "wait"],
                "securityContext": {"allowPrivilegeEscalation": false, "capabilities": {"drop": ["ALL"]}},
            }],
        },
    })
}
