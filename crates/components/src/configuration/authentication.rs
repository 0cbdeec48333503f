//! Identity providers of the user: from OpenShift's shape to the API server's own.

use hyperplane_api::{
    constants::objects::keys,
    hypershift::configuration::authentication::{
        AuthenticationType,
        claim_mapping::{UsernameClaimMapping, UsernamePrefixPolicy},
        oidc_provider::OidcProvider,
        validation_rule::ClaimValidationRule,
    },
};
use serde_json::{Map, Value, json};

use super::file;
use crate::inputs::Inputs;

/// The first minor of Kubernetes in which the configuration has its final version.
const FIRST_WITH_FINAL_VERSION: u64 = 34;

/// Whether users are to come from identity providers of their own.
pub(crate) fn has_providers(inputs: &Inputs<'_>) -> bool {
    let chosen = inputs.authentication().map(|settings| &settings.authentication_type);
    chosen == Some(&Some(AuthenticationType::Oidc))
}

/// Whether they can, as a provider is given.
pub(crate) fn is_wanted(inputs: &Inputs<'_>) -> bool {
    has_providers(inputs) && providers(inputs).next().is_some()
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

fn providers<'a>(inputs: &Inputs<'a>) -> impl Iterator<Item = &'a OidcProvider> {
    let settings = inputs.authentication().into_iter();
    settings.flat_map(|settings| &settings.oidc_providers)
}

/// The ConfigMap with who is trusted as a provider.
fn authority(provider: &OidcProvider) -> Option<&str> {
    let reference = provider.issuer.issuer_certificate_authority.as_ref()?;
    filled(Some(&reference.name))
}

/// A text that is there and not empty.
fn filled(text: Option<&String>) -> Option<&str> {
    text.map(String::as_str).filter(|text| !text.is_empty())
}

fn authenticator(inputs: &Inputs<'_>, provider: &OidcProvider) -> Value {
    let issuer = &provider.issuer;
    let mut of_issuer = Map::new();
    of_issuer.insert("url".to_owned(), json!(issuer.issuer_url));
    if issuer.audiences.len() > 1 {
        of_issuer.insert("audienceMatchPolicy".to_owned(), json!("MatchAny"));
    }
    of_issuer.insert("audiences".to_owned(), json!(issuer.audiences));
    if let Some(discovery) = filled(issuer.discovery_url.as_ref()) {
        of_issuer.insert("discoveryURL".to_owned(), json!(discovery));
    }
    let trust = authority(provider).and_then(|name| inputs.objects.config_map_value(name, keys::USER_CA_BUNDLE));
    if let Some(trust) = trust {
        of_issuer.insert("certificateAuthority".to_owned(), json!(trust));
    }
    let mut authenticator = json!({"issuer": of_issuer, "claimMappings": mappings(provider)});
    let rules: Vec<Value> = provider.claim_validation_rules.iter().filter_map(rule).collect();
    if !rules.is_empty() {
        authenticator["claimValidationRules"] = Value::Array(rules);
    }
    if !provider.user_validation_rules.is_empty() {
        authenticator["userValidationRules"] = json!(provider.user_validation_rules);
    }
    authenticator
}

fn mappings(provider: &OidcProvider) -> Value {
    let mappings = &provider.claim_mappings;
    let mut all = json!({"username": username(&mappings.username, &provider.issuer.issuer_url)});
    if let Some(groups) = &mappings.groups {
        if let Some(claim) = filled(groups.claim.as_ref()) {
            all["groups"] = json!({"claim": claim, "prefix": groups.prefix.as_deref().unwrap_or_default()});
        }
        if let Some(expression) = filled(groups.expression.as_ref()) {
            all["groups"] = json!({"expression": expression});
        }
    }
    all["uid"] = json!({"claim": "sub"});
    if let Some(uid) = &mappings.uid {
        if let Some(claim) = filled(uid.claim.as_ref()) {
            all["uid"] = json!({"claim": claim});
        }
        if let Some(expression) = filled(uid.expression.as_ref()) {
            all["uid"] = json!({"expression": expression});
        }
    }
    if !mappings.extra.is_empty() {
        all["extra"] = json!(mappings.extra);
    }
    all
}

fn username(mapping: &UsernameClaimMapping, issuer: &str) -> Value {
    // An expression says the whole name; the API server takes no prefix beside it.
    if let Some(expression) = filled(mapping.expression.as_ref()) {
        return json!({"expression": expression});
    }
    let claim = filled(mapping.claim.as_ref()).unwrap_or("sub");
    let prefix = match &mapping.prefix_policy {
        Some(UsernamePrefixPolicy::Prefix) => {
            let prefix = mapping.prefix.as_ref();
            prefix.map(|prefix| prefix.prefix_string.clone()).unwrap_or_default()
        }
        Some(UsernamePrefixPolicy::NoPrefix) => String::new(),
        // As OpenShift has it: a name that is no address of mail is told apart by its issuer.
        _ if claim == "email" => String::new(),
        _ => format!("{issuer}#"),
    };
    json!({"claim": claim, "prefix": prefix})
}

fn rule(rule: &ClaimValidationRule) -> Option<Value> {
    if let Some(required) = &rule.required_claim {
        return Some(json!({"claim": required.claim, "requiredValue": required.required_value}));
    }
    let expression = rule.cel.as_ref()?;
    Some(json!({"expression": expression.expression, "message": expression.message}))
}
