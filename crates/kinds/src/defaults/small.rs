//! Defaults of the small groups.

use serde_json::{Map, Value, json};

use crate::{
    types::DefaultFunction,
    value::{entry, field, is_set, put, put_number, put_text},
};

pub(super) const FUNCTIONS: &[(&str, DefaultFunction)] = &[
    ("authentication.TokenRequestSpec", token_request),
    ("discovery.EndpointPort", endpoint_port),
    ("dra.DeviceSubRequest", device_request),
    ("dra.ExactDeviceRequest", device_request),
    ("flowcontrol.ExemptPriorityLevelConfiguration", exempt_level),
    ("flowcontrol.FlowSchemaSpec", flow_schema),
    ("flowcontrol.LimitedPriorityLevelConfiguration", limited_level),
    ("flowcontrol.QueuingConfiguration", queuing),
    ("networking.IngressClass", ingress_class),
    ("networking.NetworkPolicy", network_policy),
    ("networking.NetworkPolicyPort", network_policy_port),
    ("rbac.ClusterRoleBinding", role_binding),
    ("rbac.RoleBinding", role_binding),
    ("rbac.Subject", subject),
    ("scheduling.PriorityClass", priority_class),
    ("storage.CSIDriver", csi_driver),
    ("storage.StorageClass", storage_class),
];

const RBAC_GROUP: &str = "rbac.authorization.k8s.io";
/// The lifetime of a token that is asked for without one.
const TOKEN_SECONDS: i64 = 3600;

fn token_request(map: &mut Map<String, Value>) {
    put(map, "expirationSeconds", TOKEN_SECONDS);
}

fn endpoint_port(map: &mut Map<String, Value>) {
    put(map, "name", "");
    put(map, "protocol", "TCP");
}

fn device_request(map: &mut Map<String, Value>) {
    put_text(map, "allocationMode", "ExactCount");
    if field(map, "allocationMode") == "ExactCount" {
        put_number(map, "count", 1);
    }
}

fn flow_schema(map: &mut Map<String, Value>) {
    put_number(map, "matchingPrecedence", 1000);
}

fn exempt_level(map: &mut Map<String, Value>) {
    put(map, "nominalConcurrencyShares", 0);
    put(map, "lendablePercent", 0);
}

fn limited_level(map: &mut Map<String, Value>) {
    put(map, "nominalConcurrencyShares", 30);
    put(map, "lendablePercent", 0);
}

fn queuing(map: &mut Map<String, Value>) {
    put_number(map, "handSize", 8);
    put_number(map, "queues", 64);
    put_number(map, "queueLengthLimit", 50);
}

fn ingress_class(map: &mut Map<String, Value>) {
    if let Some(Value::Object(parameters)) = entry(map, "spec").get_mut("parameters") {
        put(parameters, "scope", "Cluster");
    }
}

fn network_policy(map: &mut Map<String, Value>) {
    let specification = entry(map, "spec");
    if is_set(specification.get("policyTypes")) {
        return;
    }
    let types = if is_set(specification.get("egress")) {
        json!(["Ingress", "Egress"])
    } else {
        json!(["Ingress"])
    };
    specification.insert("policyTypes".to_owned(), types);
}

fn network_policy_port(map: &mut Map<String, Value>) {
    put(map, "protocol", "TCP");
}

fn role_binding(map: &mut Map<String, Value>) {
    put_text(entry(map, "roleRef"), "apiGroup", RBAC_GROUP);
}

fn subject(map: &mut Map<String, Value>) {
    if matches!(field(map, "kind"), "User" | "Group") {
        put_text(map, "apiGroup", RBAC_GROUP);
    }
}

fn priority_class(map: &mut Map<String, Value>) {
    put(map, "preemptionPolicy", "PreemptLowerPriority");
}

fn storage_class(map: &mut Map<String, Value>) {
    put(map, "reclaimPolicy", "Delete");
    put(map, "volumeBindingMode", "Immediate");
}

fn csi_driver(map: &mut Map<String, Value>) {
    let specification = entry(map, "spec");
    put(specification, "attachRequired", true);
    put(specification, "podInfoOnMount", false);
    put(specification, "storageCapacity", false);
    put(specification, "fsGroupPolicy", "ReadWriteOnceWithFSType");
    if !is_set(specification.get("volumeLifecycleModes")) {
        specification.insert("volumeLifecycleModes".to_owned(), json!(["Persistent"]));
    }
    put(specification, "requiresRepublish", false);
    put(specification, "seLinuxMount", false);
}
