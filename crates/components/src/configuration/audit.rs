//! Audit policies: which requests are written down, and how much of each.

use hyperplane_api::constants::objects::{copies, keys};
use serde_json::{Value, json};

use super::{file, kubeconfig};
use crate::inputs::Inputs;

/// How much is written down, as the configuration API names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Profile {
    Default,
    WriteRequestBodies,
    AllRequestBodies,
    None,
}

impl Profile {
    fn of(word: &str) -> Option<Self> {
        Some(match word {
            "Default" => Self::Default,
            "WriteRequestBodies" => Self::WriteRequestBodies,
            "AllRequestBodies" => Self::AllRequestBodies,
            "None" => Self::None,
            _ => return None,
        })
    }
}

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
    let audit = inputs.configuration(&["apiServer", "audit"]);
    let profile = audit["profile"]
        .as_str()
        .and_then(Profile::of)
        .unwrap_or(Profile::Default);
    let mut rules = Vec::new();
    for rule in audit["customRules"].as_array().into_iter().flatten() {
        let group = rule["group"].as_str().filter(|group| !group.is_empty());
        let own = rule["profile"].as_str().and_then(Profile::of);
        if let Some((group, own)) = group.zip(own) {
            rules.extend(quiet(own, Some(group)));
            rules.extend(rules_of(own, Some(group)));
        }
    }
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
    let audit = inputs.configuration(&["apiServer", "audit"]);
    let rules = audit["customRules"].as_array().into_iter().flatten();
    let own = rules.map(|rule| &rule["profile"]);
    let words = [&audit["profile"]].into_iter().chain(own).filter_map(Value::as_str);
    let unknown = words.filter(|word| !word.is_empty() && Profile::of(word).is_none());
    unknown
        .map(|word| {
            format!(
                "configuration.apiServer.audit: {word:?} is not one of Default, WriteRequestBodies, AllRequestBodies, None"
            )
        })
        .collect()
}

/// What would fill the log without telling anybody anything.
fn quiet(profile: Profile, group: Option<&str>) -> Vec<Value> {
    if profile == Profile::None {
        return Vec::new();
    }
    let rules = [
        json!({"level": "None", "resources": [{"group": "", "resources": ["events"]}, {"group": "events.k8s.io"}]}),
        json!({"level": "None", "nonResourceURLs": ["/healthz*", "/livez*", "/readyz*", "/version", "/openapi/*"]}),
    ];
    rules.into_iter().map(|rule| limited(rule, group)).collect()
}

fn rules_of(profile: Profile, group: Option<&str>) -> Vec<Value> {
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
        Profile::None => vec![json!({"level": "None"})],
        Profile::Default => vec![metadata],
        Profile::WriteRequestBodies => {
            vec![
                without_bodies,
                json!({"level": "RequestResponse", "verbs": WRITES}),
                metadata,
            ]
        }
        Profile::AllRequestBodies => vec![without_bodies, json!({"level": "RequestResponse"})],
    };
    rules.into_iter().map(|rule| limited(rule, group)).collect()
}

fn limited(mut rule: Value, group: Option<&str>) -> Value {
    if let Some(group) = group {
        rule["userGroups"] = json!([group]);
    }
    rule
}
