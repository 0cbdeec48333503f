//! What webhook configurations must be.

use std::collections::BTreeSet;

use hyperplane_schema::names::{dns_1035_label, dns_1123_subdomain};
use serde_json::Value;

use crate::{
    Target,
    complaints::{Complaints, Path},
    labels::validate_selector,
    names::port_number,
    value::{at, list, number, text},
};

const WILDCARD: &str = "*";
const OPERATIONS: [&str; 5] = ["*", "CONNECT", "CREATE", "DELETE", "UPDATE"];

pub(super) fn validate_mutating_webhooks(
    configuration: &Value,
    _old: Option<&Value>,
    _target: Target<'_>,
    complaints: &mut Complaints,
) {
    validate_webhooks(configuration, true, complaints);
}

pub(super) fn validate_validating_webhooks(
    configuration: &Value,
    _old: Option<&Value>,
    _target: Target<'_>,
    complaints: &mut Complaints,
) {
    validate_webhooks(configuration, false, complaints);
}

fn validate_webhooks(configuration: &Value, is_mutating: bool, complaints: &mut Complaints) {
    let path = Path::new("webhooks");
    let mut names = BTreeSet::new();
    for (index, webhook) in list(configuration, "webhooks").iter().enumerate() {
        let path = path.index(index);
        validate_webhook(webhook, is_mutating, &path, complaints);
        validate_review_versions(webhook, &path.child("admissionReviewVersions"), complaints);
        let name = text(webhook, "name");
        if !name.is_empty() && !names.insert(name) {
            complaints.duplicate(&path.child("name"), name);
        }
    }
}

fn validate_review_versions(webhook: &Value, path: &Path<'_>, complaints: &mut Complaints) {
    let versions = list(webhook, "admissionReviewVersions");
    if versions.is_empty() {
        complaints.required(path, "must specify one of v1, v1beta1");
        return;
    }
    for (index, version) in versions.iter().enumerate() {
        let text = version.as_str().unwrap_or_default();
        if versions[..index].contains(version) {
            complaints.invalid(&path.index(index), text, "duplicate version");
            continue;
        }
        complaints.each(&path.index(index), text, dns_1035_label(text));
    }
    if !versions.iter().any(|version| version == "v1" || version == "v1beta1") {
        let shown = webhook["admissionReviewVersions"].clone();
        complaints.invalid(path, shown, "must include at least one of v1, v1beta1");
    }
}

fn validate_webhook(webhook: &Value, is_mutating: bool, path: &Path<'_>, complaints: &mut Complaints) {
    validate_name(text(webhook, "name"), &path.child("name"), complaints);
    let rules = path.child("rules");
    for (index, rule) in list(webhook, "rules").iter().enumerate() {
        validate_rule(rule, &rules.index(index), complaints);
    }
    let known = |field: &str, known: &[&str], complaints: &mut Complaints| {
        if let Some(value) = webhook.get(field).and_then(Value::as_str) {
            complaints.one_of(&path.child(field), value, known);
        }
    };
    known("failurePolicy", &["Fail", "Ignore"], complaints);
    known("matchPolicy", &["Equivalent", "Exact"], complaints);
    if webhook.get("sideEffects").is_none() {
        complaints.required(&path.child("sideEffects"), "must specify one of None, NoneOnDryRun");
    }
    known("sideEffects", &["None", "NoneOnDryRun"], complaints);
    if let Some(seconds) = number(webhook, "timeoutSeconds")
        && !(1..=30).contains(&seconds)
    {
        let detail = "the timeout value must be between 1 and 30 seconds";
        complaints.invalid(&path.child("timeoutSeconds"), seconds, detail);
    }
    for selector in ["namespaceSelector", "objectSelector"] {
        validate_selector(webhook.get(selector), &path.child(selector), complaints);
    }
    if is_mutating {
        known("reinvocationPolicy", &["IfNeeded", "Never"], complaints);
    }
    validate_client(&webhook["clientConfig"], &path.child("clientConfig"), complaints);
}

/// A name with three parts at least, so that it can be told from others.
fn validate_name(name: &str, path: &Path<'_>, complaints: &mut Complaints) {
    let messages = dns_1123_subdomain(name);
    if name.is_empty() {
        complaints.required(path, "");
    } else if !messages.is_empty() {
        complaints.invalid(path, name, messages.join(","));
    } else if name.split('.').count() < 3 {
        let detail = "should be a domain with at least three segments separated by dots";
        complaints.invalid(path, name, detail);
    }
}

fn validate_rule(rule: &Value, path: &Path<'_>, complaints: &mut Complaints) {
    let others = [
        ("operations", "operations"),
        ("apiGroups", "API groups"),
        ("apiVersions", "API versions"),
    ];
    for (field, words) in others {
        let values = list(rule, field);
        if values.is_empty() {
            complaints.required(&path.child(field), "");
        }
        if values.len() > 1 && values.iter().any(|value| value == WILDCARD) {
            let detail = format!("if '*' is present, must not specify other {words}");
            complaints.invalid(&path.child(field), rule[field].clone(), detail);
        }
        if field == "operations" {
            let path = path.child(field);
            for (index, operation) in values.iter().filter_map(Value::as_str).enumerate() {
                complaints.one_of(&path.index(index), operation, &OPERATIONS);
            }
        }
    }
    if list(rule, "resources").is_empty() {
        complaints.required(&path.child("resources"), "");
    }
    if let Some(scope) = rule.get("scope").and_then(Value::as_str) {
        complaints.one_of(&path.child("scope"), scope, &["*", "Cluster", "Namespaced"]);
    }
}

fn validate_client(client: &Value, path: &Path<'_>, complaints: &mut Complaints) {
    match (client.get("url").and_then(Value::as_str), client.get("service")) {
        (Some(url), None) => validate_url(url, &path.child("url"), complaints),
        (None, Some(service)) => validate_service(service, &path.child("service"), complaints),
        _ => complaints.required(path, "exactly one of url or service is required"),
    }
}

fn validate_url(url: &str, path: &Path<'_>, complaints: &mut Complaints) {
    const FORM: &str = "; desired format: https://host[/path]";
    let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
    if scheme != "https" {
        complaints.invalid(path, scheme, format!("'https' is the only allowed URL scheme{FORM}"));
    }
    let authority = if scheme.is_empty() {
        ""
    } else {
        rest.split(['/', '?', '#']).next().unwrap_or_default()
    };
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    if host.is_empty() {
        complaints.invalid(path, host, format!("host must be specified{FORM}"));
    }
    if let Some((user, _)) = authority.rsplit_once('@') {
        complaints.invalid(path, user, "user information is not permitted in the URL");
    }
    let (before, fragment) = rest.split_once('#').unwrap_or((rest, ""));
    if !fragment.is_empty() {
        complaints.invalid(path, fragment, "fragments are not permitted in the URL");
    }
    if let Some((_, query)) = before.split_once('?')
        && !query.is_empty()
    {
        complaints.invalid(path, query, "query parameters are not permitted in the URL");
    }
}

fn validate_service(service: &Value, path: &Path<'_>, complaints: &mut Complaints) {
    for field in ["name", "namespace"] {
        if text(service, field).is_empty() {
            complaints.required(&path.child(field), "");
        }
    }
    let port = at(service, "port").and_then(Value::as_i64).unwrap_or_default();
    let messages = port_number(port);
    if !messages.is_empty() {
        complaints.invalid(
            &path.child("port"),
            port,
            format!("port is not valid: {}", messages.join(", ")),
        );
    }
    let place = text(service, "path");
    if !place.is_empty() && !place.starts_with('/') {
        complaints.invalid(&path.child("path"), place, "must start with a '/'");
    }
}
