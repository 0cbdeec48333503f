//! Kubeconfigs of users that lead the API server to a webhook of theirs.

use serde_json::Value;

use crate::inputs::Inputs;

/// What a kubeconfig must not have: with it, the API server would read files of its own pod, or run programs, for whoever
/// wrote the kubeconfig.
const FOREIGN: &[&str] = &[
    "auth-provider",
    "certificate-authority",
    "client-certificate",
    "client-key",
    "exec",
    "tokenFile",
];

/// The most lists and maps in each other that are looked into; a kubeconfig has few.
const DEEPEST: usize = 16;

/// What is wrong with the kubeconfig in a Secret. That the Secret and its key exist is asked of everything that pods mount.
pub(super) fn waits(inputs: &Inputs<'_>, secret: &str, key: &str) -> Vec<String> {
    let Some(bytes) = inputs.objects.secret_value(secret, key) else {
        return Vec::new();
    };
    let kubeconfig: Option<Value> = std::str::from_utf8(bytes)
        .ok()
        .and_then(|text| serde_saphyr::from_str(text).ok());
    let Some(kubeconfig) = kubeconfig.filter(|value| value["clusters"].is_array()) else {
        return vec![format!("Secret {secret}: {key} is no kubeconfig")];
    };
    let foreign = FOREIGN.iter().filter(|word| has(&kubeconfig, word, DEEPEST));
    foreign
        .map(|word| format!("Secret {secret}: {key} has {word}, but must hold everything in itself"))
        .collect()
}

/// Whether a key stands anywhere in a value; beyond a depth that no kubeconfig has, it is taken for granted.
fn has(value: &Value, key: &str, depth: usize) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return true };
    match value {
        Value::Object(fields) => fields.iter().any(|(name, value)| name == key || has(value, key, depth)),
        Value::Array(items) => items.iter().any(|item| has(item, key, depth)),
        _ => false,
    }
}
