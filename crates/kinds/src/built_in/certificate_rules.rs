//! What a CertificateSigningRequest and its decisions must be. The request itself is read by who signs it.

use hyperplane_schema::names::{dns_1123_label, dns_1123_subdomain};
use serde_json::Value;

use crate::{
    Target,
    complaints::{Complaints, Path},
    value::{list, number, text},
};

/// What a certificate can be for.
const USAGES: [&str; 23] = [
    "any",
    "cert sign",
    "client auth",
    "code signing",
    "content commitment",
    "crl sign",
    "data encipherment",
    "decipher only",
    "digital signature",
    "email protection",
    "encipher only",
    "ipsec end system",
    "ipsec tunnel",
    "ipsec user",
    "key agreement",
    "key encipherment",
    "microsoft sgc",
    "netscape sgc",
    "ocsp signing",
    "s/mime",
    "server auth",
    "signing",
    "timestamping",
];
/// The shortest life of a certificate.
const SHORTEST_SECONDS: i64 = 600;
const DECISIONS: [&str; 2] = ["Approved", "Denied"];

pub(super) fn validate(request: &Value, old: Option<&Value>, target: Target<'_>, complaints: &mut Complaints) {
    let specification = &request["spec"];
    let path = Path::new("spec");
    validate_usages(specification, &path.child("usages"), complaints);
    validate_signer(text(specification, "signerName"), &path.child("signerName"), complaints);
    if let Some(seconds) = number(specification, "expirationSeconds")
        && seconds < SHORTEST_SECONDS
    {
        let detail = "may not specify a duration less than 600 seconds (10 minutes)";
        complaints.invalid(&path.child("expirationSeconds"), seconds, detail);
    }
    validate_conditions(request, complaints);
    if let Some(old) = old {
        validate_change(request, old, target, complaints);
    }
}

fn validate_usages(specification: &Value, path: &Path<'_>, complaints: &mut Complaints) {
    let usages = list(specification, "usages");
    if usages.is_empty() {
        complaints.required(path, "");
    }
    for (index, usage) in usages.iter().filter_map(Value::as_str).enumerate() {
        complaints.one_of(&path.index(index), usage, &USAGES);
    }
    for (index, usage) in usages.iter().enumerate() {
        if usages[..index].contains(usage) {
            complaints.duplicate(&path.index(index), usage.clone());
        }
    }
}

/// A signer is named `domain/path`.
fn validate_signer(name: &str, path: &Path<'_>, complaints: &mut Complaints) {
    if name.is_empty() {
        complaints.required(path, "");
        return;
    }
    if name == "kubernetes.io/legacy-unknown" {
        complaints.invalid(path, name, "the legacy signerName is not allowed via this API version");
        return;
    }
    let Some((domain, rest)) = name.split_once('/').filter(|(_, rest)| !rest.contains('/')) else {
        let detail = "must be a fully qualified domain and path of the form 'example.com/signer-name'";
        complaints.invalid(path, name, detail);
        return;
    };
    for message in dns_1123_subdomain(domain) {
        complaints.invalid(path, domain, format!("validating label {domain:?}: {message}"));
    }
    if domain.split('.').count() < 2 {
        complaints.invalid(
            path,
            domain,
            "should be a domain with at least two segments separated by dots",
        );
    }
    for label in rest.split('.') {
        for message in dns_1123_label(label) {
            complaints.invalid(path, rest, format!("validating label {label:?}: {message}"));
        }
    }
}

fn validate_conditions(request: &Value, complaints: &mut Complaints) {
    let path = Path::new("status.conditions");
    let conditions = list(request, "status.conditions");
    let has = |kind: &str| conditions.iter().any(|condition| text(condition, "type") == kind);
    for (index, condition) in conditions.iter().enumerate() {
        let path = path.index(index);
        let kind = text(condition, "type");
        if kind.is_empty() {
            complaints.required(&path.child("type"), "");
        }
        match (kind, text(condition, "status")) {
            (_, "") => complaints.required(&path.child("status"), ""),
            ("Approved" | "Denied" | "Failed", status) => {
                complaints.one_of(&path.child("status"), status, &["True"]);
            }
            (_, status) => complaints.one_of(&path.child("status"), status, &["True", "False", "Unknown"]),
        }
        let other = if kind == "Approved" { "Denied" } else { "Approved" };
        if DECISIONS.contains(&kind) && has(other) && index > 0 {
            let detail = "Approved and Denied conditions are mutually exclusive";
            complaints.invalid(&path.child("type"), kind, detail);
        }
        if conditions[..index].iter().any(|earlier| text(earlier, "type") == kind) {
            complaints.duplicate(&path.child("type"), kind);
        }
    }
}

fn validate_change(request: &Value, old: &Value, target: Target<'_>, complaints: &mut Complaints) {
    let of = |request: &Value, kind: &str| -> Vec<Value> {
        let conditions = list(request, "status.conditions").iter();
        conditions
            .filter(|condition| text(condition, "type") == kind)
            .cloned()
            .collect()
    };
    let path = Path::new("status.conditions");
    for kind in ["Approved", "Denied", "Failed"] {
        if of(request, kind).len() < of(old, kind).len() {
            complaints.forbidden(&path, format!("updates may not remove a condition of type {kind:?}"));
        }
    }
    if !matches!(target, Target::Subresource(_)) {
        for kind in DECISIONS {
            let (before, now) = (of(old, kind), of(request, kind));
            if now.len() > before.len() {
                complaints.forbidden(&path, format!("updates may not add a condition of type {kind:?}"));
            } else if now.len() == before.len() && now != before {
                complaints.forbidden(&path, format!("updates may not modify a condition of type {kind:?}"));
            }
        }
    }
    let (before, now) = (text(old, "status.certificate"), text(request, "status.certificate"));
    if now != before && (target != Target::Status || !before.is_empty()) {
        let detail = match target {
            Target::Status => "updates may not modify existing certificate content",
            _ => "updates may not set certificate content",
        };
        complaints.forbidden(&Path::new("status.certificate"), detail);
    }
}
