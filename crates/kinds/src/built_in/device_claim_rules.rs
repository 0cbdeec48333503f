//! What claims of devices and their templates must be.

use std::collections::{BTreeMap, BTreeSet};

use hyperplane_schema::{
    BadValue,
    names::{dns_1123_label, dns_1123_subdomain, label_value, qualified_name},
};
use serde_json::Value;

use super::{
    device_class_rules::{
        CONFIGURATION_LIMIT, validate_configuration, validate_count, validate_qualified_name, validate_selectors,
        validate_unique,
    },
    device_status_rules::validate_status,
};
use crate::{
    Target,
    complaints::{Complaints, Path, is_different},
    labels::{validate_annotations, validate_labels},
    value::{list, number, text},
};

/// How many requests a claim may have, and how many of them another part of it may name.
pub(super) const REQUEST_LIMIT: usize = 32;
/// How many constraints a claim may have.
const CONSTRAINT_LIMIT: usize = 32;
/// How many alternatives a request may have.
const ALTERNATIVE_LIMIT: usize = 8;

const EFFECTS: [&str; 3] = ["NoExecute", "NoSchedule", "None"];
const ONE_FORM: &str = "exactly one of `exactly` or `firstAvailable` is required";
const NO_REQUEST: &str =
    "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'";
const NO_ATTRIBUTE: &str =
    r#"exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set"#;
const NOT_FULL: &str = "a fully qualified name must be a domain and a name separated by a slash";

pub(super) fn validate_claim(claim: &Value, old: Option<&Value>, target: Target<'_>, complaints: &mut Complaints) {
    match (old, target) {
        (Some(old), Target::Status) => validate_status(claim, old, complaints),
        (Some(old), _) => validate_immutable(claim, old, complaints),
        (None, _) => validate_devices(&claim["spec"]["devices"], &Path::new("spec.devices"), complaints),
    }
}

pub(super) fn validate_template(
    template: &Value,
    old: Option<&Value>,
    _target: Target<'_>,
    complaints: &mut Complaints,
) {
    let metadata = &template["spec"]["metadata"];
    let path = Path::new("spec.metadata");
    validate_labels(metadata.get("labels"), &path.child("labels"), complaints);
    validate_annotations(metadata.get("annotations"), &path.child("annotations"), complaints);
    let devices = &template["spec"]["spec"]["devices"];
    validate_devices(devices, &Path::new("spec.spec.devices"), complaints);
    if let Some(old) = old {
        validate_immutable(template, old, complaints);
    }
}

fn validate_immutable(object: &Value, old: &Value, complaints: &mut Complaints) {
    if is_different(object.get("spec"), old.get("spec")) {
        complaints.invalid(&Path::new("spec"), BadValue::Omitted, "field is immutable");
    }
}

fn validate_devices(devices: &Value, path: &Path<'_>, complaints: &mut Complaints) {
    let names = RequestNames::of(devices);
    let requests = list(devices, "requests");
    let requests_path = path.child("requests");
    if validate_count(requests, REQUEST_LIMIT, &requests_path, complaints, validate_request) {
        let names = requests.iter().map(|request| text(request, "name"));
        validate_unique(names, &requests_path, complaints);
    }
    let constraints = list(devices, "constraints");
    validate_count(
        constraints,
        CONSTRAINT_LIMIT,
        &path.child("constraints"),
        complaints,
        |constraint, path, complaints| validate_constraint(constraint, &names, path, complaints),
    );
    validate_count(
        list(devices, "config"),
        CONFIGURATION_LIMIT,
        &path.child("config"),
        complaints,
        |configuration, path, complaints| {
            names.validate_references(configuration, path, complaints);
            validate_configuration(configuration, path, complaints);
        },
    );
}

fn validate_request(request: &Value, path: &Path<'_>, complaints: &mut Complaints) {
    let name = text(request, "name");
    complaints.each(&path.child("name"), name, dns_1123_label(name));
    let alternatives = list(request, "firstAvailable");
    let exactly = request.get("exactly").filter(|exactly| exactly.is_object());
    match (exactly, alternatives) {
        (None, []) => complaints.required(path, ONE_FORM),
        (Some(exactly), []) => validate_demand(exactly, &path.child("exactly"), complaints),
        (None, alternatives) => {
            let path = path.child("firstAvailable");
            let is_short = validate_count(
                alternatives,
                ALTERNATIVE_LIMIT,
                &path,
                complaints,
                |alternative, path, complaints| {
                    let name = text(alternative, "name");
                    complaints.each(&path.child("name"), name, dns_1123_label(name));
                    validate_demand(alternative, path, complaints);
                },
            );
            if is_short {
                let names = alternatives.iter().map(|alternative| text(alternative, "name"));
                validate_unique(names, &path, complaints);
            }
        }
        (Some(_), _) => {
            let detail = format!("{ONE_FORM}, but multiple fields are set");
            complaints.invalid(path, Value::Null, detail);
        }
    }
}

/// Which devices are wanted, and how many.
fn validate_demand(demand: &Value, path: &Path<'_>, complaints: &mut Complaints) {
    let class_path = path.child("deviceClassName");
    match text(demand, "deviceClassName") {
        "" => complaints.required(&class_path, ""),
        class => complaints.each(&class_path, class, dns_1123_subdomain(class)),
    }
    validate_selectors(demand, path, complaints);
    let count = number(demand, "count").unwrap_or_default();
    let count_path = path.child("count");
    match text(demand, "allocationMode") {
        "All" if count != 0 => {
            complaints.invalid(&count_path, count, "must not be specified when allocationMode is 'All'");
        }
        "ExactCount" if count <= 0 => complaints.invalid(&count_path, count, "must be greater than zero"),
        mode => complaints.one_of(&path.child("allocationMode"), mode, &["All", "ExactCount"]),
    }
    let tolerations = path.child("tolerations");
    for (index, toleration) in list(demand, "tolerations").iter().enumerate() {
        validate_toleration(toleration, &tolerations.index(index), complaints);
    }
}

fn validate_toleration(toleration: &Value, path: &Path<'_>, complaints: &mut Complaints) {
    let key = text(toleration, "key");
    if !key.is_empty() {
        complaints.each(&path.child("key"), key, qualified_name(key));
    }
    let value = text(toleration, "value");
    let value_path = path.child("value");
    match text(toleration, "operator") {
        "Exists" if !value.is_empty() => {
            complaints.invalid(&value_path, value, "must be empty for operator `Exists`");
        }
        "Equal" => complaints.each(&value_path, value, label_value(value)),
        operator => complaints.required_one_of(&path.child("operator"), operator, &["Equal", "Exists"]),
    }
    let effect = text(toleration, "effect");
    if !effect.is_empty() {
        complaints.one_of(&path.child("effect"), effect, &EFFECTS);
    }
}

fn validate_constraint(constraint: &Value, names: &RequestNames<'_>, path: &Path<'_>, complaints: &mut Complaints) {
    names.validate_references(constraint, path, complaints);
    let mut attributes = ["matchAttribute", "distinctAttribute"].into_iter();
    let Some(field) = attributes.find(|field| constraint.get(*field).is_some_and(Value::is_string)) else {
        complaints.required(path, NO_ATTRIBUTE);
        return;
    };
    let (name, path) = (text(constraint, field), path.child(field));
    validate_qualified_name(name, &path, complaints);
    if !name.contains('/') {
        complaints.invalid(&path, name, NOT_FULL);
    }
}

/// The names of the requests of a claim, with those of their alternatives.
pub(super) struct RequestNames<'a>(BTreeMap<&'a str, BTreeSet<&'a str>>);

impl<'a> RequestNames<'a> {
    /// The names in the field `devices` of a claim.
    pub(super) fn of(devices: &'a Value) -> Self {
        let alternatives = |request: &'a Value| {
            let entries = list(request, "firstAvailable").iter();
            entries.map(|alternative| text(alternative, "name")).collect()
        };
        let requests = list(devices, "requests").iter();
        Self(
            requests
                .map(|request| (text(request, "name"), alternatives(request)))
                .collect(),
        )
    }

    /// The field `requests` of a part of a claim, which names some of its requests.
    pub(super) fn validate_references(&self, part: &Value, path: &Path<'_>, complaints: &mut Complaints) {
        let path = path.child("requests");
        let requests = list(part, "requests");
        let is_short = validate_count(requests, REQUEST_LIMIT, &path, complaints, |name, path, complaints| {
            self.validate_reference(name.as_str().unwrap_or_default(), path, complaints);
        });
        if is_short {
            validate_unique(requests.iter().filter_map(Value::as_str), &path, complaints);
        }
    }

    /// A name of a request, or of one of its alternatives behind a slash.
    pub(super) fn validate_reference(&self, name: &str, path: &Path<'_>, complaints: &mut Complaints) {
        let parts: Vec<&str> = name.split('/').collect();
        let is_known = match parts[..] {
            [request] => self.0.contains_key(request),
            [request, alternative] => self.0.get(request).is_some_and(|names| names.contains(alternative)),
            _ => {
                complaints.invalid(path, name, NO_REQUEST);
                return;
            }
        };
        for part in parts {
            complaints.each(path, part, dns_1123_label(part));
        }
        if !is_known {
            complaints.invalid(path, name, NO_REQUEST);
        }
    }
}
