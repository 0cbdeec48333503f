//! The metadata of every object, as OpenAPI components: what custom resources refer to without saying so.
//! Must agree with `io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta` of a real server, without its descriptions.

use std::collections::BTreeMap;

use serde_json::{Value, json};

/// The name of the component that describes metadata.
pub(super) const OBJECT_META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";

/// The components that metadata consists of.
pub(super) fn definitions() -> BTreeMap<String, Value> {
    let text = json!({"type": "string"});
    let required_text = json!({"type": "string", "default": ""});
    let integer = json!({"type": "integer", "format": "int64"});
    let time = json!({"type": "string", "format": "date-time"});
    let texts = json!({"type": "object", "additionalProperties": {"type": "string", "default": ""}});
    let owner = json!({
        "type": "object",
        "required": ["apiVersion", "kind", "name", "uid"],
        "properties": {
            "apiVersion": required_text,
            "blockOwnerDeletion": {"type": "boolean"},
            "controller": {"type": "boolean"},
            "kind": required_text,
            "name": required_text,
            "uid": required_text,
        },
        "x-kubernetes-map-type": "atomic",
    });
    let entry = json!({
        "type": "object",
        "properties": {
            "apiVersion": text,
            "fieldsType": text,
            "fieldsV1": {"type": "object"},
            "manager": text,
            "operation": text,
            "subresource": text,
            "time": time,
        },
    });
    let object_meta = json!({
        "type": "object",
        "properties": {
            "annotations": texts,
            "creationTimestamp": time,
            "deletionGracePeriodSeconds": integer,
            "deletionTimestamp": time,
            "finalizers": {"type": "array", "items": required_text, "x-kubernetes-list-type": "set"},
            "generateName": text,
            "generation": integer,
            "labels": texts,
            "managedFields": {"type": "array", "items": entry, "x-kubernetes-list-type": "atomic"},
            "name": text,
            "namespace": text,
            "ownerReferences": {
                "type": "array",
                "items": owner,
                "x-kubernetes-list-map-keys": ["uid"],
                "x-kubernetes-list-type": "map",
            },
            "resourceVersion": text,
            "selfLink": text,
            "uid": text,
        },
    });
    BTreeMap::from([(OBJECT_META.to_owned(), object_meta)])
}
