//! Where metrics of the programs are found, and by whom.

use serde_json::{Value, json};

use crate::{labels, options::Options, program::PORT, program::Program};

/// The name of the port of probes and metrics.
pub(crate) const PORT_NAME: &str = "metrics";

/// A Service for each program, and, where it is asked for, a monitor that leads Prometheus there.
pub(crate) fn manifests(options: &Options) -> Vec<Value> {
    let programs = Program::of(options);
    let mut all: Vec<Value> = programs.iter().map(|program| service(*program, options)).collect();
    if options.monitoring {
        all.extend(programs.iter().map(|program| monitor(*program, options)));
    }
    all
}

fn service(program: Program, options: &Options) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Service",
        "metadata": metadata(program, options),
        "spec": {
            // Each process is scraped on its own, so that one that only waits is seen, too.
            "clusterIP": "None",
            "selector": labels::selector(program),
            "ports": [{"name": PORT_NAME, "port": PORT, "targetPort": PORT_NAME, "protocol": "TCP"}],
        },
    })
}

fn monitor(program: Program, options: &Options) -> Value {
    json!({
        "apiVersion": "monitoring.coreos.com/v1", "kind": "ServiceMonitor",
        "metadata": metadata(program, options),
        "spec": {
            "selector": {"matchLabels": labels::selector(program)},
            "endpoints": [{"port": PORT_NAME, "scheme": "http", "path": "/metrics"}],
        },
    })
}

fn metadata(program: Program, options: &Options) -> Value {
    json!({"name": program.account(), "namespace": options.namespace, "labels": labels::of(program)})
}
