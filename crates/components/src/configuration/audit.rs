//! Audit policies: which requests are written down, and how much of each.

use hyperplane_api::{
    constants::objects::{copies, keys},
    hypershift::configuration::api_server::audit::{ApiServerAudit, AuditProfile},
};
use serde_json::{Value, json};

use super::{file, kubeconfig};
use crate::inputs::Inputs;

/// Whether events also go to a webhook of the user's own.
pub(crate) fn has_webhook(inputs: &Inputs<'_>) -> bool {
    let webhook = inputs.control_plane.spec.audit_webhook.as_ref();
    webhook.is_some_and(|webhook| !webhook.name.is_empty())
}

/// What the webhook waits for.
pub(crate) fn waits(inputs: &Inputs<'_>) -> Vec<String> {
    if has_webhook(inputs) {
        kubeconfig::waits(inputs, copies::AUDIT_WEBHOOK, keys::AUDIT_WEBHOOK)
    } else {
        Vec::new()
    }
}

const WRITES: &[&str] = &["create", "update", "patch", "delete", "deletecollection"];

/// The policy of a control plane.
pub(crate) fn policy(inputs: &Inputs<'_>) -> String {
    let audit = audit(inputs);
    let mut rules = Vec::new();
    for rule in audit.map(|audit| &audit.custom_rules).into_iter().flatten() {
        if !rule.group.is_empty() && is_known(&rule.profile) {
            rules.extend(quiet(&rule.profile, Some(&rule.group)));
            rules.extend(rules_of(&rule.profile, Some(&rule.group)));
        }
    }
    let profile = audit.map(|audit| &audit.profile).filter(|profile| is_known(profile));
    let profile = profile.unwrap_or(&AuditProfile::Default);
    rules.extend(quiet(profile, None));
    rules.extend(rules_of(profile, None));
    file(&json!({
        "apiVersion": "audit.k8s.io/v1",
        "kind": "Policy",
        "omitStages": ["RequestReceived"],
        "rules": rules,
    }))
}

/// What is left out.
pub(crate) fn warnings(inputs: &Inputs<'_>) -> Vec<String> {
    let audit = audit(inputs).into_iter();
    let words = audit.flat_map(|audit| {
        let own = audit.custom_rules.iter().map(|rule| &rule.profile);
        [&audit.profile].into_iter().chain(own)
    });
    let unknown = words.filter(|word| !is_known(word) && !word.as_str().is_empty());
    unknown
        .map(|word| {
            let word = word.as_str();
            format!(
                "configuration.apiServer.audit: {word:?} is not one of Default, WriteRequestBodies, AllRequestBodies, None"
            )
        })
        .collect()
}

fn audit<'a>(inputs: &Inputs<'a>) -> Option<&'a ApiServerAudit> {
    inputs.api_server().map(|api_server| &api_server.audit)
}

fn is_known(profile: &AuditProfile) -> bool {
    !matches!(profile, AuditProfile::Unrecognised(_))
}

/// What would fill the log without telling anybody anything.
fn quiet(profile: &AuditProfile, group: Option<&str>) -> Vec<Value> {
    if *profile == AuditProfile::None {
        return Vec::new();
    }
    let rules = [
        json!({"level": "None", "resources": [{"group": "", "resources": ["events"]}, {"group": "events.k8s.io"}]}),
        json!({"level": "None", "nonResourceURLs": ["/healthz*", "/livez*", "/readyz*", "/version", "/openapi/*"]}),
    ];
    rules.into_iter().map(|rule| limited(rule, group)).collect()
}

fn rules_of(profile: &AuditProfile, group: Option<&str>) -> Vec<Value> {
    // What Secrets and tokens hold never reaches the log.
    let without_bodies = json!({
        "level": "Metadata",
        "resources": [
            {"group": "", "resources": ["secrets", "configmaps", "serviceaccounts/token"]},
            {"group": "authentication.k8s.io", "resources": ["tokenreviews", "tokenrequests"]},
        ],
    });
    let metadata = json!({"level": "Metadata"});
    let rules = match profile {
        AuditProfile::None => vec![json!({"level": "None"})],
        AuditProfile::Default | AuditProfile::Unrecognised(_) => vec![metadata],
        AuditProfile::WriteRequestBodies => {
            vec![
                without_bodies,
                json!({"level": "RequestResponse", "verbs": WRITES}),
                metadata,
            ]
        }
        AuditProfile::AllRequestBodies => vec![without_bodies, json!({"level": "RequestResponse"})],
    };
    rules.into_iter().map(|rule| limited(rule, group)).collect()
}

fn limited(mut rule: Value, group: Option<&str>) -> Value {
    if let Some(group) = group {
        rule["userGroups"] = json!([group]);
    }
    rule
}
