//! Defaults of what extends the API: webhooks, policies, definitions.

use serde_json::{Map, Value, json};

use crate::{
    types::DefaultFunction,
    value::{entry, field, is_set, put, put_text},
};

pub(super) const FUNCTIONS: &[(&str, DefaultFunction)] = &[
    ("admission.MutatingAdmissionPolicySpec", failure_policy),
    ("admission.ValidatingAdmissionPolicySpec", failure_policy),
    ("admission.MatchResources", match_resources),
    ("admission.MutatingWebhook", mutating_webhook),
    ("admission.ValidatingWebhook", webhook),
    ("admission.RuleWithOperations", rule),
    ("admission.NamedRuleWithOperations", rule),
    ("admission.ServiceReference", service_reference),
    ("apiextensions.CustomResourceDefinition", definition),
    ("apiextensions.ServiceReference", service_reference),
    ("apiregistration.ServiceReference", service_reference),
];

/// How long a webhook may take.
const TIMEOUT_SECONDS: i64 = 10;
/// Where webhooks listen.
const HTTPS_PORT: i64 = 443;

fn failure_policy(map: &mut Map<String, Value>) {
    put(map, "failurePolicy", "Fail");
}

fn match_resources(map: &mut Map<String, Value>) {
    put(map, "matchPolicy", "Equivalent");
    put(map, "namespaceSelector", json!({}));
    put(map, "objectSelector", json!({}));
}

fn webhook(map: &mut Map<String, Value>) {
    failure_policy(map);
    match_resources(map);
    put(map, "timeoutSeconds", TIMEOUT_SECONDS);
}

fn mutating_webhook(map: &mut Map<String, Value>) {
    webhook(map);
    put(map, "reinvocationPolicy", "Never");
}

fn rule(map: &mut Map<String, Value>) {
    put(map, "scope", "*");
}

fn service_reference(map: &mut Map<String, Value>) {
    put(map, "port", HTTPS_PORT);
}

fn definition(map: &mut Map<String, Value>) {
    let specification = entry(map, "spec");
    let names = entry(specification, "names");
    let kind = field(names, "kind").to_owned();
    put_text(names, "singular", &kind.to_lowercase());
    if !kind.is_empty() {
        put_text(names, "listKind", &format!("{kind}List"));
    }
    put(specification, "conversion", json!({ "strategy": "None" }));
    let stored = specification
        .get("versions")
        .and_then(Value::as_array)
        .and_then(|versions| versions.iter().find(|version| version["storage"] == true))
        .and_then(|version| version.get("name"))
        .cloned();
    let status = entry(map, "status");
    if !is_set(status.get("storedVersions"))
        && let Some(stored) = stored
    {
        status.insert("storedVersions".to_owned(), json!([stored]));
    }
}
