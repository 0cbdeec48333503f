//! Defaults of the other kinds of the core group.

use serde_json::{Map, Value, json};

use crate::{
    types::{DefaultFunction, encode_bytes},
    value::{entry, field, is_set, put, put_text},
};

pub(super) const FUNCTIONS: &[(&str, DefaultFunction)] = &[
    ("core.EndpointPort", protocol),
    ("core.LimitRangeItem", limit_range_item),
    ("core.Namespace", namespace),
    ("core.NamespaceStatus", namespace_status),
    ("core.NodeStatus", node_status),
    ("core.PersistentVolume", persistent_volume),
    ("core.PersistentVolumeClaim", persistent_volume_claim),
    ("core.PersistentVolumeClaimSpec", persistent_volume_claim_spec),
    ("core.ReplicationController", replication_controller),
    ("core.Secret", secret),
    ("core.Service", service),
];

/// The label that holds the name of a namespace.
const NAMESPACE_LABEL: &str = "kubernetes.io/metadata.name";
/// How long a client stays with its backend, if it shall.
const AFFINITY_SECONDS: i64 = 10_800;

fn protocol(map: &mut Map<String, Value>) {
    put_text(map, "protocol", "TCP");
}

fn namespace(map: &mut Map<String, Value>) {
    let metadata = entry(map, "metadata");
    let name = field(metadata, "name").to_owned();
    if !name.is_empty() {
        entry(metadata, "labels").insert(NAMESPACE_LABEL.to_owned(), Value::from(name));
    }
}

fn namespace_status(map: &mut Map<String, Value>) {
    put_text(map, "phase", "Active");
}

fn node_status(map: &mut Map<String, Value>) {
    if !is_set(map.get("allocatable"))
        && let Some(capacity) = map.get("capacity").filter(|capacity| is_set(Some(capacity))).cloned()
    {
        map.insert("allocatable".to_owned(), capacity);
    }
}

fn persistent_volume(map: &mut Map<String, Value>) {
    put_text(entry(map, "status"), "phase", "Pending");
    let specification = entry(map, "spec");
    put_text(specification, "persistentVolumeReclaimPolicy", "Retain");
    put(specification, "volumeMode", "Filesystem");
}

fn persistent_volume_claim(map: &mut Map<String, Value>) {
    put_text(entry(map, "status"), "phase", "Pending");
}

fn persistent_volume_claim_spec(map: &mut Map<String, Value>) {
    put(map, "volumeMode", "Filesystem");
}

/// Texts that a client sent are kept as bytes like all others, and win over bytes of the same name.
fn secret(map: &mut Map<String, Value>) {
    put_text(map, "type", "Opaque");
    if let Some(Value::Object(texts)) = map.remove("stringData") {
        let data = entry(map, "data");
        for (name, text) in texts {
            let bytes = encode_bytes(text.as_str().unwrap_or_default().as_bytes());
            data.insert(name, Value::from(bytes));
        }
    }
}

fn replication_controller(map: &mut Map<String, Value>) {
    let labels = map
        .get("spec")
        .and_then(|specification| specification.get("template")?.get("metadata")?.get("labels"))
        .filter(|labels| is_set(Some(labels)))
        .cloned();
    let Some(labels) = labels else { return };
    for (outer, name) in [("spec", "selector"), ("metadata", "labels")] {
        let map = entry(map, outer);
        if !is_set(map.get(name)) {
            map.insert(name.to_owned(), labels.clone());
        }
    }
}

fn limit_range_item(map: &mut Map<String, Value>) {
    if field(map, "type") != "Container" {
        return;
    }
    for (source, target) in [
        ("max", "default"),
        ("default", "defaultRequest"),
        ("min", "defaultRequest"),
    ] {
        let Some(amounts) = map.get(source).and_then(Value::as_object).cloned() else {
            continue;
        };
        let target = entry(map, target);
        for (name, amount) in amounts {
            target.entry(name).or_insert(amount);
        }
    }
}

fn service(map: &mut Map<String, Value>) {
    let specification = entry(map, "spec");
    affinity(specification);
    put_text(specification, "type", "ClusterIP");
    for port in specification
        .get_mut("ports")
        .and_then(Value::as_array_mut)
        .into_iter()
        .flatten()
    {
        port.as_object_mut().into_iter().for_each(service_port);
    }
    let kind = field(specification, "type").to_owned();
    let is_published = matches!(kind.as_str(), "NodePort" | "LoadBalancer");
    let has_external_addresses = kind == "ClusterIP" && is_set(specification.get("externalIPs"));
    if is_published || has_external_addresses {
        put_text(specification, "externalTrafficPolicy", "Cluster");
    }
    if is_published || kind == "ClusterIP" {
        put(specification, "internalTrafficPolicy", "Cluster");
    }
    if kind == "LoadBalancer" {
        put(specification, "allocateLoadBalancerNodePorts", true);
        let status = map.get_mut("status").and_then(|status| status.get_mut("loadBalancer"));
        let addresses = status
            .and_then(|balancer| balancer.get_mut("ingress"))
            .and_then(Value::as_array_mut);
        for address in addresses.into_iter().flatten().filter_map(Value::as_object_mut) {
            if is_set(address.get("ip")) {
                put(address, "ipMode", "VIP");
            }
        }
    }
}

fn affinity(specification: &mut Map<String, Value>) {
    put_text(specification, "sessionAffinity", "None");
    match field(specification, "sessionAffinity") {
        "None" => {
            specification.remove("sessionAffinityConfig");
        }
        "ClientIP" => {
            let seconds = specification
                .get("sessionAffinityConfig")
                .and_then(|config| config.get("clientIP")?.get("timeoutSeconds"));
            if seconds.is_none() {
                let config = json!({ "clientIP": { "timeoutSeconds": AFFINITY_SECONDS } });
                specification.insert("sessionAffinityConfig".to_owned(), config);
            }
        }
        _ => {}
    }
}

fn service_port(port: &mut Map<String, Value>) {
    put_text(port, "protocol", "TCP");
    let is_unset = port
        .get("targetPort")
        .is_none_or(|target| target.is_null() || target == "" || target.as_i64() == Some(0));
    if is_unset {
        let number = port.get("port").cloned().unwrap_or_else(|| Value::from(0));
        port.insert("targetPort".to_owned(), number);
    }
}
