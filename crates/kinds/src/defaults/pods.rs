//! Defaults of pods and of what they are made of.

use serde_json::{Map, Value, json};

use super::images::pull_policy;
use crate::{
    types::DefaultFunction,
    value::{entry, field, put, put_number, put_text},
};

pub(super) const FUNCTIONS: &[(&str, DefaultFunction)] = &[
    ("core.Pod", pod),
    ("core.PodSpec", pod_spec),
    ("core.Container", container),
    ("core.EphemeralContainer", container),
    ("core.Probe", probe),
    ("core.HTTPGetAction", http_get),
    ("core.Volume", volume),
    ("core.SecretVolumeSource", readable_by_all),
    ("core.ConfigMapVolumeSource", readable_by_all),
    ("core.DownwardAPIVolumeSource", readable_by_all),
    ("core.ProjectedVolumeSource", readable_by_all),
    ("core.ServiceAccountTokenProjection", token_projection),
    ("core.HostPathVolumeSource", host_path),
    ("core.ObjectFieldSelector", field_selector),
];

/// The mode of files in volumes, 0644 in octal.
const FILE_MODE: i64 = 420;
/// The lifetime of a projected token.
const TOKEN_SECONDS: i64 = 3600;
/// How long a pod may take to end.
const GRACE_SECONDS: i64 = 30;

fn pod(map: &mut Map<String, Value>) {
    if let Some(status) = map.get_mut("status").and_then(Value::as_object_mut) {
        pair_addresses(status);
    }
    let specification = entry(map, "spec");
    for containers in ["containers", "initContainers"] {
        each(specification, containers, request_what_is_limited);
    }
    put(specification, "enableServiceLinks", true);
    if specification.get("hostNetwork") == Some(&Value::Bool(true)) {
        for containers in ["containers", "initContainers"] {
            each(specification, containers, publish_on_host);
        }
    }
}

/// The one address of old clients and the list of new ones say the same; where they differ, the one counts.
fn pair_addresses(status: &mut Map<String, Value>) {
    let text = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or_default().to_owned();
    let first = text(status.get("podIPs").and_then(|addresses| addresses[0].get("ip")));
    let single = text(status.get("podIP"));
    if single.is_empty() && !first.is_empty() {
        status.insert("podIP".to_owned(), json!(first));
    } else if single != first {
        status.insert("podIPs".to_owned(), json!([{ "ip": single }]));
    }
}

/// Runs a function on every object of a list.
fn each(map: &mut Map<String, Value>, name: &str, function: fn(&mut Map<String, Value>)) {
    let entries = map.get_mut(name).and_then(Value::as_array_mut).into_iter().flatten();
    entries.filter_map(Value::as_object_mut).for_each(function);
}

/// What is limited and not requested is requested in full. Of pods only, not of templates.
fn request_what_is_limited(container: &mut Map<String, Value>) {
    let Some(limits) = container.get("resources").and_then(|resources| resources.get("limits")) else {
        return;
    };
    let Some(limits) = limits.as_object().filter(|limits| !limits.is_empty()).cloned() else {
        return;
    };
    let requests = entry(entry(container, "resources"), "requests");
    for (name, limit) in limits {
        requests.entry(name).or_insert(limit);
    }
}

fn publish_on_host(container: &mut Map<String, Value>) {
    each(container, "ports", |port| {
        let number = port.get("containerPort").and_then(Value::as_i64).unwrap_or_default();
        if number != 0 {
            put_number(port, "hostPort", number);
        }
    });
}

fn pod_spec(map: &mut Map<String, Value>) {
    put_text(map, "dnsPolicy", "ClusterFirst");
    put_text(map, "restartPolicy", "Always");
    put(map, "securityContext", json!({}));
    put(map, "terminationGracePeriodSeconds", GRACE_SECONDS);
    put_text(map, "schedulerName", "default-scheduler");
    // The name of the service account was once called otherwise; upstream keeps both alike.
    match (
        field(map, "serviceAccountName").to_owned(),
        field(map, "serviceAccount").to_owned(),
    ) {
        (name, _) if !name.is_empty() => {
            map.insert("serviceAccount".to_owned(), Value::from(name));
        }
        (_, old_name) if !old_name.is_empty() => {
            map.insert("serviceAccountName".to_owned(), Value::from(old_name));
        }
        _ => {}
    }
}

fn container(map: &mut Map<String, Value>) {
    let policy = pull_policy(field(map, "image"));
    put_text(map, "imagePullPolicy", policy);
    put_text(map, "terminationMessagePath", "/dev/termination-log");
    put_text(map, "terminationMessagePolicy", "File");
}

fn probe(map: &mut Map<String, Value>) {
    for (name, value) in [
        ("timeoutSeconds", 1),
        ("periodSeconds", 10),
        ("successThreshold", 1),
        ("failureThreshold", 3),
    ] {
        put_number(map, name, value);
    }
}

fn http_get(map: &mut Map<String, Value>) {
    put_text(map, "path", "/");
    put_text(map, "scheme", "HTTP");
}

fn volume(map: &mut Map<String, Value>) {
    if map.keys().all(|name| name == "name") {
        map.insert("emptyDir".to_owned(), json!({}));
    }
    if let Some(Value::Object(image)) = map.get_mut("image") {
        let policy = pull_policy(field(image, "reference"));
        put_text(image, "pullPolicy", policy);
    }
}

fn readable_by_all(map: &mut Map<String, Value>) {
    put(map, "defaultMode", FILE_MODE);
}

fn token_projection(map: &mut Map<String, Value>) {
    put(map, "expirationSeconds", TOKEN_SECONDS);
}

fn host_path(map: &mut Map<String, Value>) {
    put(map, "type", "");
}

fn field_selector(map: &mut Map<String, Value>) {
    put_text(map, "apiVersion", "v1");
}
