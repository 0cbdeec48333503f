//! What probes and lifecycle hooks must be.

use serde_json::Value;

use crate::{
    complaints::{Complaints, Path},
    names::{http_header, port_name, port_number},
    value::{list, number, text},
};

const HANDLERS: [&str; 5] = ["exec", "httpGet", "tcpSocket", "grpc", "sleep"];
const NUMBERS: [&str; 5] = [
    "initialDelaySeconds",
    "timeoutSeconds",
    "periodSeconds",
    "successThreshold",
    "failureThreshold",
];

pub(super) fn validate_lifecycle(container: &Value, path: &Path<'_>, complaints: &mut Complaints) {
    let Some(lifecycle) = container.get("lifecycle") else {
        return;
    };
    let path = path.child("lifecycle");
    for hook in ["postStart", "preStop"] {
        if let Some(handler) = lifecycle.get(hook) {
            validate_handler(handler, &path.child(hook), complaints);
        }
    }
}

pub(super) fn validate_probes(container: &Value, path: &Path<'_>, complaints: &mut Complaints) {
    for name in ["livenessProbe", "readinessProbe", "startupProbe"] {
        if let Some(probe) = container.get(name) {
            validate_probe(probe, name, &path.child(name), complaints);
        }
    }
}

fn validate_probe(probe: &Value, name: &str, path: &Path<'_>, complaints: &mut Complaints) {
    validate_handler(probe, path, complaints);
    for field in NUMBERS {
        complaints.not_negative(&path.child(field), probe.get(field));
    }
    let grace = path.child("terminationGracePeriodSeconds");
    if let Some(seconds) = number(probe, "terminationGracePeriodSeconds") {
        if seconds <= 0 {
            complaints.invalid(&grace, seconds, "must be greater than 0");
        }
        if name == "readinessProbe" {
            complaints.invalid(&grace, seconds, "must not be set for readinessProbes");
        }
    }
    let threshold = number(probe, "successThreshold").unwrap_or_default();
    if name != "readinessProbe" && threshold != 1 {
        complaints.invalid(&path.child("successThreshold"), threshold, "must be 1");
    }
}

fn validate_handler(handler: &Value, path: &Path<'_>, complaints: &mut Complaints) {
    let mut given = HANDLERS.iter().filter_map(|name| Some((*name, handler.get(name)?)));
    match given.next() {
        None => complaints.required(path, "must specify a handler type"),
        Some((name, action)) => validate_action(name, action, &path.child(name), complaints),
    }
    for (name, _) in given {
        complaints.forbidden(&path.child(name), "may not specify more than 1 handler type");
    }
}

fn validate_action(name: &str, action: &Value, path: &Path<'_>, complaints: &mut Complaints) {
    match name {
        "exec" if list(action, "command").is_empty() => complaints.required(&path.child("command"), ""),
        "httpGet" => {
            if text(action, "path").is_empty() {
                complaints.required(&path.child("path"), "");
            }
            validate_port(action.get("port"), &path.child("port"), complaints);
            complaints.one_of(&path.child("scheme"), text(action, "scheme"), &["HTTP", "HTTPS"]);
            for header in list(action, "httpHeaders") {
                let name = text(header, "name");
                complaints.each(&path.child("httpHeaders"), name, http_header(name));
            }
        }
        "tcpSocket" | "grpc" => validate_port(action.get("port"), &path.child("port"), complaints),
        _ => {}
    }
}

/// A port by its number or name.
pub(super) fn validate_port(port: Option<&Value>, path: &Path<'_>, complaints: &mut Complaints) {
    match port {
        Some(Value::String(name)) => complaints.each(path, name, port_name(name)),
        port => {
            let number = port.and_then(Value::as_i64).unwrap_or_default();
            complaints.each_number(path, number, port_number(number));
        }
    }
}
