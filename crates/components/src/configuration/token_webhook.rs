//! A webhook of the user's own that tells who a token is of.

use hyperplane_api::common::SecretName;
use serde_json::Value;

use crate::inputs::Inputs;

/// The key with the kubeconfig that leads to the webhook.
pub(crate) const KEY: &str = "kubeConfig";

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

/// The Secret with the kubeconfig, if there is to be a webhook.
pub(crate) fn secret<'a>(inputs: &Inputs<'a>) -> Option<&'a str> {
    given(inputs).filter(|name| !has_providers(inputs) && name.parse::<SecretName>().is_ok())
}

/// What it waits for. That the Secret and its key exist is asked of everything that pods mount.
pub(crate) fn waits(inputs: &Inputs<'_>) -> Vec<String> {
    let Some(name) = secret(inputs) else { return Vec::new() };
    let Some(bytes) = inputs.objects.secret_value(name, KEY) else {
        return Vec::new();
    };
    let kubeconfig: Option<Value> = std::str::from_utf8(bytes)
        .ok()
        .and_then(|text| serde_saphyr::from_str(text).ok());
    let Some(kubeconfig) = kubeconfig.filter(|value| value["clusters"].is_array()) else {
        return vec![format!("Secret {name}: {KEY} is no kubeconfig")];
    };
    let foreign = FOREIGN.iter().filter(|key| has(&kubeconfig, key, DEEPEST));
    foreign
        .map(|key| format!("Secret {name}: {KEY} has {key}, but must hold everything in itself"))
        .collect()
}

/// What is left out.
pub(crate) fn warnings(inputs: &Inputs<'_>) -> Vec<String> {
    let path = "configuration.authentication.webhookTokenAuthenticator";
    match given(inputs) {
        Some(_) if has_providers(inputs) => vec![format!("{path} is not used with type OIDC")],
        Some(name) if name.parse::<SecretName>().is_err() => {
            vec![format!("{path}.kubeConfig.name must be the name of a Secret")]
        }
        None | Some(_) => Vec::new(),
    }
}

fn given<'a>(inputs: &Inputs<'a>) -> Option<&'a str> {
    let path = ["authentication", "webhookTokenAuthenticator", "kubeConfig", "name"];
    inputs.configuration(&path).as_str().filter(|name| !name.is_empty())
}

fn has_providers(inputs: &Inputs<'_>) -> bool {
    inputs.configuration(&["authentication", "type"]).as_str() == Some("OIDC")
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
