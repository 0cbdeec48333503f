//! What may differ between two servers that have done the same, each with the reason. Everything else must be equal.

use std::sync::LazyLock;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use regex::Regex;
use serde_json::{Value, json};

/// Kinds whose objects are the cluster's own doing, made from what is compared.
const IGNORED: &[(&str, &str)] = &[
    ("Event", "tells what happened on the way, not where it ended"),
    ("Lease", "a heartbeat"),
    (
        "Pod",
        "made from templates that are compared, and counted in the status of their owners",
    ),
    ("ReplicaSet", "as pods"),
    ("ControllerRevision", "as pods"),
    ("Endpoints", "addresses of pods"),
    ("EndpointSlice", "addresses of pods"),
    ("ComponentStatus", "the health of the server's own parts"),
];

/// Fields by kind, or kind and name, and path; `*` is any kind, any key and any index.
const FIELDS: &[(&str, &str, &str)] = &[
    ("*", "metadata/uid", "drawn by the server"),
    ("*", "metadata/resourceVersion", "counts all writes of a server"),
    ("*", "metadata/generation", "counts the writes on the way"),
    ("*", "metadata/creationTimestamp", "time"),
    ("*", "metadata/ownerReferences/*/uid", "drawn by the server"),
    ("*", "metadata/managedFields/*/time", "time"),
    (
        "ConfigMap/kube-root-ca.crt",
        "data",
        "the authority of a server's own certificate; in this process there is none",
    ),
    ("Service", "spec/clusterIP", "drawn by the server"),
    ("Service", "spec/clusterIPs", "drawn by the server"),
    ("Service", "spec/ports/*/nodePort", "drawn by the server"),
    (
        "Machine",
        "status/addresses/*/address",
        "drawn for the identity of a machine",
    ),
    (
        "KubevirtMachine",
        "status/addresses/*/address",
        "drawn for the identity of a machine",
    ),
    (
        "Node",
        "status/addresses/*/address",
        "drawn for the identity of a machine",
    ),
    (
        "StatefulSet",
        "status/currentRevision",
        "a name by a hash that is the controller's own",
    ),
    (
        "StatefulSet",
        "status/updateRevision",
        "a name by a hash that is the controller's own",
    ),
];

/// Texts that differ in every control plane, wherever they are.
static TEXTS: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
    let texts = [
        (r"-----BEGIN ([A-Z ]+)-----[^-]*-----END [A-Z ]+-----\n?", "<$1>\n"),
        (r"[A-Za-z0-9+/]{100,}={0,2}", "<base64>"),
        (r"\b[0-9a-f]{64}\b", "<hash of key material>"),
        (r"\bkey-[0-9a-f]{8}\b", "key-<hash of key material>"),
        (r#""secret": "[A-Za-z0-9+/]{43}=""#, "\"secret\": <key>"),
        (r"Bearer [A-Za-z0-9+/]+=*", "Bearer <token>"),
        (r"\bkonnectivity-agent-[a-z0-9]{5}\b", "<a pod of konnectivity-agent>"),
        (
            r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b",
            "<uid>",
        ),
        (r"@<uid>/\d+", "@<uid>/<version>"),
        (r#"ReplicaSet "[a-z0-9-]+""#, "ReplicaSet <name by a hash>"),
        (r"\b\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z", "<time>"),
    ];
    texts
        .into_iter()
        .map(|(pattern, word)| (Regex::new(pattern).unwrap(), word))
        .collect()
});

/// Whether objects of a kind are not compared.
pub fn is_ignored(kind: &str) -> bool {
    IGNORED.iter().any(|(ignored, _)| *ignored == kind)
}

/// An object without what may differ.
pub fn masked(kind: &str, mut object: Value) -> Value {
    keep_our_managers(&mut object);
    let generation = object["metadata"]["generation"].clone();
    relate(&mut object, &generation);
    let title = format!("{kind}/{}", object["metadata"]["name"].as_str().unwrap_or_default());
    for (_, path, _) in FIELDS.iter().filter(|(of, _, _)| [kind, &title, "*"].contains(of)) {
        let path: Vec<&str> = path.split('/').collect();
        remove(&mut object, &path);
    }
    if kind == "Secret" {
        decode(&mut object);
    }
    mask_texts(&mut object);
    object
}

/// Who else wrote is the cluster's business: a real one has many controllers where the simulated one has one.
fn keep_our_managers(object: &mut Value) {
    let Some(Value::Array(entries)) = object.pointer_mut("/metadata/managedFields") else {
        return;
    };
    let manager = |entry: &Value| entry["manager"].as_str().unwrap_or_default().to_owned();
    entries.retain(|entry| manager(entry).starts_with("hyperplane/"));
    entries.sort_by_key(|entry| (manager(entry), entry["subresource"].to_string()));
}

/// Generations count the writes on the way. What counts is whether the current one was seen.
fn relate(value: &mut Value, generation: &Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| relate(item, generation)),
        Value::Object(fields) => {
            for (key, value) in fields {
                if key == "observedGeneration" {
                    *value = json!(if value == generation { "current" } else { "older" });
                } else {
                    relate(value, generation);
                }
            }
        }
        _ => {}
    }
}

fn remove(value: &mut Value, path: &[&str]) {
    let Some((first, rest)) = path.split_first() else {
        return;
    };
    match value {
        Value::Object(fields) if rest.is_empty() => {
            fields.remove(*first);
        }
        Value::Object(fields) => {
            for (_, value) in fields.iter_mut().filter(|(key, _)| *first == "*" || key == first) {
                remove(value, rest);
            }
        }
        Value::Array(items) if *first == "*" => items.iter_mut().for_each(|item| remove(item, rest)),
        _ => {}
    }
}

/// Shows what is in a Secret, so that only the keys in it are masked.
fn decode(object: &mut Value) {
    let Some(Value::Object(data)) = object.get_mut("data") else {
        return;
    };
    for value in data.values_mut() {
        let bytes = value.as_str().and_then(|text| STANDARD.decode(text).ok());
        let text = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
        *value = text.map_or_else(|| json!("<bytes>"), Value::String);
    }
}

fn mask_texts(value: &mut Value) {
    match value {
        Value::String(text) => *text = mask(text),
        Value::Array(items) => items.iter_mut().for_each(mask_texts),
        Value::Object(fields) => {
            // What was applied is told by keys, in which there may be a uid.
            let before = std::mem::take(fields);
            for (key, mut value) in before {
                mask_texts(&mut value);
                fields.insert(mask(&key), value);
            }
        }
        _ => {}
    }
}

fn mask(text: &str) -> String {
    let mut text = text.to_owned();
    for (pattern, word) in TEXTS.iter() {
        text = pattern.replace_all(&text, *word).into_owned();
    }
    text
}
