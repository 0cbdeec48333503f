//! How objects get from one version to another: not at all, or by a webhook.

use serde_json::Value;

use super::fields::{is_established, list, present, text};
use super::options::Options;
use crate::field_error::FieldError;
use crate::go_net::Url;
use crate::names;

/// The versions of ConversionReview that a server understands.
const REVIEW_VERSIONS: [&str; 2] = ["v1", "v1beta1"];

/// Complaints about `spec.conversion`.
pub(super) fn validate(conversion: &Value, options: &Options) -> Vec<FieldError> {
    const PATH: &str = "spec.conversion";
    let mut errors = Vec::new();
    if conversion.is_null() {
        return errors;
    }
    let strategy = text(conversion, "strategy");
    match strategy {
        "" => errors.push(FieldError::required(format!("{PATH}.strategy"), "")),
        "None" | "Webhook" => {}
        other => {
            errors.push(FieldError::not_supported(
                format!("{PATH}.strategy"),
                other,
                ["None", "Webhook"],
            ));
        }
    }
    let webhook = present(conversion, "webhook");
    let client = webhook.and_then(|webhook| present(webhook, "clientConfig"));
    let versions = webhook.map_or(&[][..], |webhook| list(webhook, "conversionReviewVersions"));
    if strategy == "Webhook" {
        match client {
            None => errors.push(FieldError::required(
                format!("{PATH}.webhookClientConfig"),
                "required when strategy is set to Webhook",
            )),
            Some(client) => validate_client(client, &format!("{PATH}.webhookClientConfig"), options, &mut errors),
        }
        validate_review_versions(
            versions,
            &format!("{PATH}.conversionReviewVersions"),
            options,
            &mut errors,
        );
    } else {
        let unwanted = "should not be set when strategy is not set to Webhook";
        if client.is_some() {
            errors.push(FieldError::forbidden(format!("{PATH}.webhookClientConfig"), unwanted));
        }
        if !versions.is_empty() {
            errors.push(FieldError::forbidden(
                format!("{PATH}.conversionReviewVersions"),
                unwanted,
            ));
        }
    }
    errors
}

fn validate_client(client: &Value, path: &str, options: &Options, errors: &mut Vec<FieldError>) {
    match (present(client, "url"), present(client, "service")) {
        (Some(url), None) => validate_url(url.as_str().unwrap_or_default(), &format!("{path}.url"), errors),
        (None, Some(service)) => validate_service(service, &format!("{path}.service"), errors),
        _ => errors.push(FieldError::required(path, "exactly one of url or service is required")),
    }
    let bundle = text(client, "caBundle");
    if !bundle.is_empty() && !options.allows_invalid_bundle && !is_bundle(bundle) {
        errors.push(FieldError::invalid(
            format!("{path}.caBundle"),
            bundle,
            "unable to load root certificates: unable to parse bytes as PEM block",
        ));
    }
}

fn validate_url(url: &str, path: &str, errors: &mut Vec<FieldError>) {
    const FORM: &str = "; desired format: https://host[/path]";
    let (before, fragment) = url.split_once('#').unwrap_or((url, ""));
    let parsed = match Url::parse(before) {
        Ok(parsed) => parsed,
        Err(error) => {
            let quoted = crate::go_text::quote(url);
            errors.push(FieldError::required(
                path,
                format!("url must be a valid URL: parse {quoted}: {error}{FORM}"),
            ));
            return;
        }
    };
    let mut refuse = |value: &str, detail: String| errors.push(FieldError::invalid(path, value, detail));
    if parsed.scheme != "https" {
        refuse(&parsed.scheme, format!("'https' is the only allowed URL scheme{FORM}"));
    }
    if parsed.host.is_empty() {
        refuse(&parsed.host, format!("host must be specified{FORM}"));
    }
    if let Some(user) = &parsed.user {
        refuse(user, "user information is not permitted in the URL".to_owned());
    }
    if !fragment.is_empty() {
        refuse(fragment, "fragments are not permitted in the URL".to_owned());
    }
    if !parsed.query.is_empty() {
        refuse(
            &parsed.query,
            "query parameters are not permitted in the URL".to_owned(),
        );
    }
}

fn validate_service(service: &Value, path: &str, errors: &mut Vec<FieldError>) {
    // Upstream hands name and namespace over in the wrong order, so each is reported under the other's name.
    for (name, reported) in [("namespace", "name"), ("name", "namespace")] {
        if text(service, name).is_empty() {
            errors.push(FieldError::required(format!("{path}.{reported}"), ""));
        }
    }
    let port = service.get("port").and_then(Value::as_i64).unwrap_or(443);
    if !(1..=65535).contains(&port) {
        let detail = "port is not valid: must be between 1 and 65535, inclusive";
        errors.push(FieldError::invalid(format!("{path}.port"), port, detail));
    }
    if let Some(url_path) = present(service, "path").and_then(Value::as_str) {
        validate_path(url_path, &format!("{path}.path"), errors);
    }
}

fn validate_path(url_path: &str, path: &str, errors: &mut Vec<FieldError>) {
    let mut refuse = |detail: String| errors.push(FieldError::invalid(path, url_path, detail));
    match url_path {
        "" | "/" => return,
        "//" => return refuse("segment[0] may not be empty".to_owned()),
        _ => {}
    }
    if !url_path.starts_with('/') {
        refuse("must start with a '/'".to_owned());
    }
    let steps = url_path.get(1..).unwrap_or_default();
    for (index, step) in steps.strip_suffix('/').unwrap_or(steps).split('/').enumerate() {
        if step.is_empty() {
            refuse(format!("segment[{index}] may not be empty"));
            continue;
        }
        for words in names::dns_1123_subdomain(step) {
            refuse(format!("segment[{index}]: {words}"));
        }
    }
}

fn validate_review_versions(versions: &[Value], path: &str, options: &Options, errors: &mut Vec<FieldError>) {
    if versions.is_empty() {
        errors.push(FieldError::required(path, ""));
        return;
    }
    for (index, version) in versions.iter().enumerate() {
        let field = format!("{path}[{index}]");
        if versions[..index].contains(version) {
            errors.push(FieldError::invalid(field, version.clone(), "duplicate version"));
            continue;
        }
        for words in names::dns_1035_label(version.as_str().unwrap_or_default()) {
            errors.push(FieldError::invalid(field.clone(), version.clone(), words));
        }
    }
    if options.requires_recognized_review_version && !versions.iter().any(is_recognized) {
        let detail = format!("must include at least one of {}", REVIEW_VERSIONS.join(", "));
        errors.push(FieldError::invalid(path, versions.to_vec(), detail));
    }
}

fn is_recognized(version: &Value) -> bool {
    version
        .as_str()
        .is_some_and(|version| REVIEW_VERSIONS.contains(&version))
}

/// Whether an old definition names a version that is understood, or none.
pub(super) fn has_recognized_or_no_version(conversion: &Value) -> bool {
    let versions = list(&conversion["webhook"], "conversionReviewVersions");
    versions.is_empty() || versions.iter().any(is_recognized)
}

/// Whether a bad bundle may stay bad: while nothing is served, or where it was bad before.
pub(super) fn allows_invalid_bundle(old: &Value) -> bool {
    let bundle = text(&old["spec"]["conversion"]["webhook"]["clientConfig"], "caBundle");
    !is_established(old) || !bundle.is_empty() && !is_bundle(bundle)
}

/// A bundle is base64 of PEM, which begins with dashes.
fn is_bundle(bundle: &str) -> bool {
    bundle.starts_with("LS0tLS1CRUdJTi")
}
