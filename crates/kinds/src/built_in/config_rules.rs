//! What ConfigMaps, Secrets and ServiceAccounts must be.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use hyperplane_schema::{go_json, go_json::Verdict};
use serde_json::{Map, Value};

use crate::{
    Target,
    complaints::{Complaints, Path, is_different},
    names::config_key,
    types::bytes_length,
    value::{field, is_true, object, text},
};

/// How many bytes the data of a ConfigMap or Secret may have; larger ones do not fit into the watch of others.
const SIZE_LIMIT: usize = 1024 * 1024;
/// Says why a field of an object that was made immutable cannot change.
const IMMUTABLE: &str = "field is immutable when `immutable` is set";
/// Stands in complaints for what nobody may see.
const REDACTED: &str = "<secret contents redacted>";
/// How deeply Go's decoder goes.
const MAXIMUM_DEPTH: usize = 10_000;
const ACCOUNT_ANNOTATION: &str = "kubernetes.io/service-account.name";

pub(super) fn validate_config_map(
    config_map: &Value,
    old: Option<&Value>,
    _target: Target<'_>,
    complaints: &mut Complaints,
) {
    if let Some(old) = old {
        validate_immutable(config_map, old, &["data", "binaryData"], complaints);
    }
    let data = object(config_map, "data");
    let binary = object(config_map, "binaryData");
    for (key, _) in data.into_iter().flatten() {
        let path = Path::new("data");
        let path = path.key(key);
        complaints.each(&path, key, config_key(key));
        if binary.is_some_and(|binary| binary.contains_key(key)) {
            complaints.invalid(&path, key.as_str(), "duplicate of key present in binaryData");
        }
    }
    for (key, _) in binary.into_iter().flatten() {
        let path = Path::new("binaryData");
        complaints.each(&path.key(key), key, config_key(key));
    }
    let size = |map: Option<&Map<String, Value>>, length: fn(&str) -> usize| -> usize {
        map.into_iter()
            .flatten()
            .filter_map(|(_, value)| value.as_str())
            .map(length)
            .sum()
    };
    if size(data, str::len) + size(binary, bytes_length) > SIZE_LIMIT {
        complaints.too_long(&Path::new("[]"), i64::try_from(SIZE_LIMIT).unwrap_or(i64::MAX));
    }
}

pub(super) fn validate_secret(secret: &Value, old: Option<&Value>, _target: Target<'_>, complaints: &mut Complaints) {
    if let Some(old) = old {
        complaints.unchanged(&Path::new("type"), secret.get("type"), old.get("type"));
        validate_immutable(secret, old, &["data"], complaints);
    }
    let path = Path::new("data");
    let data = object(secret, "data");
    let mut size = 0;
    for (key, value) in data.into_iter().flatten() {
        complaints.each(&path.key(key), key, config_key(key));
        size += bytes_length(value.as_str().unwrap_or_default());
    }
    if size > SIZE_LIMIT {
        complaints.too_long(&path, i64::try_from(SIZE_LIMIT).unwrap_or(i64::MAX));
    }
    validate_type(secret, data, &path, complaints);
}

fn validate_type(secret: &Value, data: Option<&Map<String, Value>>, path: &Path<'_>, complaints: &mut Complaints) {
    let has = |key: &str| data.is_some_and(|data| data.contains_key(key));
    let mut require = |key: &str| {
        if !has(key) {
            complaints.required(&path.key(key), "");
        }
    };
    match text(secret, "type") {
        "kubernetes.io/service-account-token" => {
            let annotations = &secret["metadata"]["annotations"];
            if annotations[ACCOUNT_ANNOTATION].as_str().unwrap_or_default().is_empty() {
                let path = Path::new("metadata.annotations");
                complaints.required(&path.key(ACCOUNT_ANNOTATION), "");
            }
        }
        "kubernetes.io/dockercfg" => require(".dockercfg"),
        "kubernetes.io/dockerconfigjson" => require(".dockerconfigjson"),
        "kubernetes.io/basic-auth" if !has("username") && !has("password") => {
            require("username");
            require("password");
        }
        "kubernetes.io/ssh-auth" if data.is_none_or(|data| field(data, "ssh-privatekey").is_empty()) => {
            complaints.required(&path.key("ssh-privatekey"), "");
        }
        "kubernetes.io/tls" => {
            require("tls.crt");
            require("tls.key");
        }
        _ => {}
    }
    for (kind, key) in [
        ("kubernetes.io/dockercfg", ".dockercfg"),
        ("kubernetes.io/dockerconfigjson", ".dockerconfigjson"),
    ] {
        let encoded = data
            .and_then(|data| data.get(key))
            .and_then(Value::as_str)
            .unwrap_or_default();
        if text(secret, "type") == kind
            && !encoded.is_empty()
            && let Some(complaint) = no_object(encoded)
        {
            complaints.invalid(&path.key(key), REDACTED, complaint);
        }
    }
}

/// Why bytes in base64 are no JSON object, in the words of Go's decoder.
fn no_object(encoded: &str) -> Option<String> {
    let decoded = BASE64_STANDARD.decode(encoded).unwrap_or_default();
    if let Verdict::Invalid(complaint) = go_json::scan(&decoded, MAXIMUM_DEPTH) {
        return Some(complaint);
    }
    let kind = match decoded.trim_ascii().first()? {
        b'{' | b'n' => return None,
        b'[' => "array",
        b'"' => "string",
        b't' | b'f' => "bool",
        _ => "number",
    };
    Some(format!(
        "json: cannot unmarshal {kind} into Go value of type map[string]interface {{}}"
    ))
}

fn validate_immutable(object: &Value, old: &Value, fields: &[&str], complaints: &mut Complaints) {
    if !is_true(old, "immutable") {
        return;
    }
    if !is_true(object, "immutable") {
        complaints.forbidden(&Path::new("immutable"), IMMUTABLE);
    }
    for field in fields {
        if is_different(object.get(field), old.get(field)) {
            complaints.forbidden(&Path::new(field), IMMUTABLE);
        }
    }
}
