//! The programs as Deployments: how many, where, with which limits and under which restrictions, and how many of them may
//! be away at a time.

use serde_json::{Value, json};

use crate::{
    furniture::OPERATOR_PRIORITY, labels, metrics::PORT_NAME, options::Options, program::PORT, program::Program,
};

/// What a manager of a few clusters uses; one more cluster takes some megabytes (docs/benchmarks.md), and so there is no
/// limit at which all of them would be without a manager.
const MEMORY: &str = "256Mi";
/// What it uses while nothing happens, and a little more.
const CPU: &str = "100m";

/// A budget and a Deployment for each program.
pub(crate) fn manifests(options: &Options) -> Vec<Value> {
    let programs = Program::of(options);
    let each = |program: &Program| [budget(*program, options), deployment(*program, options)];
    programs.iter().flat_map(each).collect()
}

fn budget(program: Program, options: &Options) -> Value {
    json!({
        "apiVersion": "policy/v1", "kind": "PodDisruptionBudget",
        "metadata": metadata(program, options),
        "spec": {
            // Said so, a single replica does not keep its node from being drained.
            "maxUnavailable": 1,
            "selector": {"matchLabels": labels::selector(program)},
            // One that does not become ready must not keep its node, either.
            "unhealthyPodEvictionPolicy": "AlwaysAllow",
        },
    })
}

fn deployment(program: Program, options: &Options) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": metadata(program, options),
        "spec": {
            "replicas": options.replicas,
            "revisionHistoryLimit": 3,
            "selector": {"matchLabels": labels::selector(program)},
            "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}},
            "template": {
                "metadata": {"labels": labels::of(program)},
                "spec": pod(program, options),
            },
        },
    })
}

fn pod(program: Program, options: &Options) -> Value {
    json!({
        "serviceAccountName": program.account(),
        "priorityClassName": OPERATOR_PRIORITY,
        "enableServiceLinks": false,
        "affinity": {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [
            apart(program, "topology.kubernetes.io/zone", 100),
            apart(program, "kubernetes.io/hostname", 50),
        ]}},
        "securityContext": {"runAsNonRoot": true, "seccompProfile": {"type": "RuntimeDefault"}},
        "containers": [container(program, options)],
    })
}

/// Not in one place, if there is another.
fn apart(program: Program, topology: &str, weight: u32) -> Value {
    json!({"weight": weight, "podAffinityTerm": {
        "topologyKey": topology, "labelSelector": {"matchLabels": labels::selector(program)},
    }})
}

fn container(program: Program, options: &Options) -> Value {
    json!({
        "name": program.account(),
        "image": options.image,
        "imagePullPolicy": options.pull_policy.word(),
        "command": ["hyperplane"],
        "args": program.arguments(options),
        "ports": [{"name": PORT_NAME, "containerPort": PORT, "protocol": "TCP"}],
        "livenessProbe": probe("/healthz", 30, 20),
        "readinessProbe": probe("/readyz", 10, 10),
        "resources": {"requests": {"cpu": CPU, "memory": MEMORY}},
        "securityContext": {
            "allowPrivilegeEscalation": false,
            "capabilities": {"drop": ["ALL"]},
            "readOnlyRootFilesystem": true,
            "runAsNonRoot": true,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
    })
}

fn probe(path: &str, period_seconds: u32, timeout_seconds: u32) -> Value {
    json!({
        "httpGet": {"path": path, "port": PORT_NAME},
        "initialDelaySeconds": 5, "periodSeconds": period_seconds, "timeoutSeconds": timeout_seconds,
        "failureThreshold": 3,
    })
}

fn metadata(program: Program, options: &Options) -> Value {
    json!({"name": program.account(), "namespace": options.namespace, "labels": labels::of(program)})
}
