//! Settings in the shapes of OpenShift's configuration API, read into what programs of Kubernetes take. Settings that
//! cannot be understood are left out and named; they never stop a control plane that runs.

pub(crate) mod audit;
pub(crate) mod authentication;
pub(crate) mod client_ca;
pub(crate) mod encryption;
pub(crate) mod feature_gates;
mod kubeconfig;
#[cfg(test)]
mod tests;
pub(crate) mod tls;
pub(crate) mod token_webhook;

use serde_json::{Map, Value};

/// A configuration file. JSON is YAML too, and its text does not depend on the library that writes it.
pub(crate) fn file(value: &Value) -> String {
    let mut text = serde_json::to_string_pretty(&sorted(value)).expect("a JSON value can always be written");
    text.push('\n');
    text
}

/// The same value with all keys in order, however the map keeps them.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let mut keys: Vec<&String> = fields.keys().collect();
            keys.sort();
            let ordered: Map<String, Value> = keys
                .into_iter()
                .map(|key| (key.clone(), sorted(&fields[key])))
                .collect();
            Value::Object(ordered)
        }
        Value::Array(items) => Value::Array(items.iter().map(sorted).collect()),
        other => other.clone(),
    }
}
