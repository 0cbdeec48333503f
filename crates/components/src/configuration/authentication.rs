//! Identity providers of the user: from OpenShift's shape to the API server's own.

use hyperplane_api::constants::objects::keys;
use serde_json::{Map, Value, json};

use super::file;
use crate::inputs::Inputs;

/// The first minor of Kubernetes in which the configuration has its final version.
const FIRST_WITH_FINAL_VERSION: u64 = 34;

/// Whether users come from identity providers of their own.
pub(crate) fn is_wanted(inputs: &Inputs<'_>) -> bool {
    inputs.configuration(&["authentication", "type"]).as_str() == Some("OIDC") && providers(inputs).next().is_some()
}

/// The configuration for the API server.
pub(crate) fn configuration(inputs: &Inputs<'_>) -> String {
    let version = if inputs.release.kubernetes.generation() >= FIRST_WITH_FINAL_VERSION {
        "apiserver.config.k8s.io/v1"
    } else {
        "apiserver.config.k8s.io/v1beta1"
    };
    let authenticators: Vec<Value> = providers(inputs)
        .map(|provider| authenticator(inputs, provider))
        .collect();
    file(&json!({"apiVersion": version, "kind": "AuthenticationConfiguration", "jwt": authenticators}))
}

/// What the configuration waits for.
pub(crate) fn waits(inputs: &Inputs<'_>) -> Vec<String> {
    if !is_wanted(inputs) {
        return Vec::new();
    }
    let authorities = providers(inputs).filter_map(authority);
    let absent = authorities.filter(|name| inputs.objects.config_map_value(name, keys::USER_CA_BUNDLE).is_none());
    absent
        .map(|name| format!("ConfigMap {name} does not exist or has no key {}", keys::USER_CA_BUNDLE))
        .collect()
}

fn providers<'a>(inputs: &Inputs<'a>) -> impl Iterator<Item = &'a Value> {
    let providers = inputs.configuration(&["authentication", "oidcProviders"]);
    providers.as_array().into_iter().flatten()
}

/// The ConfigMap with who is trusted as a provider.
fn authority(provider: &Value) -> Option<&str> {
    let name = provider["issuer"]["issuerCertificateAuthority"]["name"].as_str();
    name.filter(|name| !name.is_empty())
}

fn authenticator(inputs: &Inputs<'_>, provider: &Value) -> Value {
    let issuer = &provider["issuer"];
    let mut of_issuer = Map::new();
    of_issuer.insert("url".to_owned(), issuer["issuerURL"].clone());
    let audiences = issuer["audiences"].as_array().cloned().unwrap_or_default();
    if audiences.len() > 1 {
        of_issuer.insert("audienceMatchPolicy".to_owned(), json!("MatchAny"));
    }
    of_issuer.insert("audiences".to_owned(), Value::Array(audiences));
    let trust = authority(provider).and_then(|name| inputs.objects.config_map_value(name, keys::USER_CA_BUNDLE));
    if let Some(trust) = trust {
        of_issuer.insert("certificateAuthority".to_owned(), json!(trust));
    }
    let mut authenticator = json!({"issuer": of_issuer, "claimMappings": mappings(provider)});
    let rules: Vec<Value> = rules(provider).collect();
    if !rules.is_empty() {
        authenticator["claimValidationRules"] = Value::Array(rules);
    }
    let users = provider["userValidationRules"].as_array().cloned().unwrap_or_default();
    if !users.is_empty() {
        authenticator["userValidationRules"] = Value::Array(users);
    }
    authenticator
}

fn mappings(provider: &Value) -> Value {
    let mappings = &provider["claimMappings"];
    let username = &mappings["username"];
    let claim = username["claim"]
        .as_str()
        .filter(|claim| !claim.is_empty())
        .unwrap_or("sub");
    let prefix = match username["prefixPolicy"].as_str() {
        Some("Prefix") => username["prefix"]["prefixString"]
            .as_str()
            .unwrap_or_default()
            .to_owned(),
        Some("NoPrefix") => String::new(),
        // As OpenShift has it: a name that is no address of mail is told apart by its issuer.
        _ if claim == "email" => String::new(),
        _ => format!("{}#", provider["issuer"]["issuerURL"].as_str().unwrap_or_default()),
    };
    let mut all = json!({"username": {"claim": claim, "prefix": prefix}});
    let groups = mappings["groups"]["claim"].as_str().filter(|claim| !claim.is_empty());
    if let Some(groups) = groups {
        let prefix = mappings["groups"]["prefix"].as_str().unwrap_or_default();
        all["groups"] = json!({"claim": groups, "prefix": prefix});
    }
    for field in ["claim", "expression"] {
        if let Some(text) = mappings["uid"][field].as_str().filter(|text| !text.is_empty()) {
            all["uid"] = json!({field: text});
        }
    }
    let extra = mappings["extra"].as_array().cloned().unwrap_or_default();
    if !extra.is_empty() {
        all["extra"] = Value::Array(extra);
    }
    all
}

fn rules(provider: &Value) -> impl Iterator<Item = Value> {
    let rules = provider["claimValidationRules"].as_array().into_iter().flatten();
    rules.filter_map(|rule| {
        let required = &rule["requiredClaim"];
        if let Some(claim) = required["claim"].as_str() {
            return Some(json!({"claim": claim, "requiredValue": required["requiredValue"]}));
        }
        let expression = rule["cel"]["expression"].as_str()?;
        Some(json!({"expression": expression, "message": rule["cel"]["message"].as_str().unwrap_or_default()}))
    })
}
