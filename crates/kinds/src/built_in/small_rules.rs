//! What leases, priority classes, runtime classes and API services must be.

use hyperplane_schema::names::{dns_1035_label, dns_1123_label, dns_1123_subdomain, path_segment};
use serde_json::Value;

use super::placement_rules::validate_tolerations;
use crate::{
    Target,
    complaints::{Complaints, NOT_NEGATIVE, Path},
    labels::validate_labels,
    value::{at, is_set, is_true, number, text},
};

/// The highest priority that users may give.
const HIGHEST_USER_PRIORITY: i64 = 1_000_000_000;
/// What only the system may name its priorities.
const SYSTEM_PREFIX: &str = "system-";
/// The priorities of the system.
const SYSTEM_PRIORITIES: [(&str, i64); 2] = [
    ("system-node-critical", 2_000_001_000),
    ("system-cluster-critical", 2_000_000_000),
];

pub(super) fn validate_lease(lease: &Value, _old: Option<&Value>, _target: Target<'_>, complaints: &mut Complaints) {
    let specification = &lease["spec"];
    let path = Path::new("spec");
    if let Some(seconds) = number(specification, "leaseDurationSeconds").filter(|seconds| *seconds <= 0) {
        complaints.invalid(&path.child("leaseDurationSeconds"), seconds, "must be greater than 0");
    }
    if let Some(count) = number(specification, "leaseTransitions").filter(|count| *count < 0) {
        complaints.invalid(&path.child("leaseTransitions"), count, NOT_NEGATIVE);
    }
}

pub(super) fn validate_priority_class(
    class: &Value,
    old: Option<&Value>,
    _target: Target<'_>,
    complaints: &mut Complaints,
) {
    let value = number(class, "value").unwrap_or_default();
    if let Some(old) = old {
        if value != number(old, "value").unwrap_or_default() {
            complaints.forbidden(&Path::new("value"), "may not be changed in an update.");
        }
        let (new, old) = (class.get("preemptionPolicy"), old.get("preemptionPolicy"));
        complaints.unchanged(&Path::new("preemptionPolicy"), new, old);
        return;
    }
    let name = text(class, "metadata.name");
    if name.starts_with(SYSTEM_PREFIX) {
        validate_system_priority(class, name, value, complaints);
    } else if value > HIGHEST_USER_PRIORITY {
        let detail = format!("maximum allowed value of a user defined priority is {HIGHEST_USER_PRIORITY}");
        complaints.forbidden(&Path::new("value"), detail);
    }
    if let Some(policy) = class.get("preemptionPolicy").and_then(Value::as_str) {
        complaints.required_one_of(
            &Path::new("preemptionPolicy"),
            policy,
            &["PreemptLowerPriority", "Never"],
        );
    }
}

fn validate_system_priority(class: &Value, name: &str, value: i64, complaints: &mut Complaints) {
    let why = match SYSTEM_PRIORITIES.iter().find(|(known, _)| *known == name) {
        None => format!("{name} is not a known system priority class"),
        Some((_, right)) if *right != value => {
            format!("value of {name} PriorityClass must be {right}")
        }
        Some(_) if is_true(class, "globalDefault") => format!("globalDefault of {name} must be false"),
        Some(_) => return,
    };
    let detail =
        format!("priority class names with '{SYSTEM_PREFIX}' prefix are reserved for system use only. error: {why}");
    complaints.forbidden(&Path::new("metadata.name"), detail);
}

pub(super) fn validate_runtime_class(
    class: &Value,
    old: Option<&Value>,
    _target: Target<'_>,
    complaints: &mut Complaints,
) {
    let path = Path::new("handler");
    if let Some(old) = old {
        complaints.unchanged(&path, class.get("handler"), old.get("handler"));
        return;
    }
    match text(class, "handler") {
        "" => complaints.required(&path, ""),
        handler => complaints.each(&path, handler, dns_1123_label(handler)),
    }
    if let Some(scheduling) = class.get("scheduling") {
        let path = Path::new("scheduling");
        validate_labels(scheduling.get("nodeSelector"), &path.child("nodeSelector"), complaints);
        validate_tolerations(scheduling, &path.child("tolerations"), complaints);
    }
}

/// The name must follow from version and group, which is judged with the object.
pub(super) fn api_service_name(name: &str) -> Vec<String> {
    path_segment(name, false)
}

pub(super) fn validate_api_service(
    service: &Value,
    _old: Option<&Value>,
    target: Target<'_>,
    complaints: &mut Complaints,
) {
    if target == Target::Status {
        return;
    }
    let specification = &service["spec"];
    let path = Path::new("spec");
    let (group, version) = (text(specification, "group"), text(specification, "version"));
    let name = text(service, "metadata.name");
    let required = format!("{version}.{group}");
    if name != required {
        let detail = format!(r#"must be `spec.version+"."+spec.group`: {required:?}"#);
        complaints.invalid(&Path::new("metadata.name"), name, detail);
    }
    if group.is_empty() && version != "v1" {
        let detail = "only v1 may have an empty group and it better be legacy kube";
        complaints.required(&path.child("group"), detail);
    }
    if !group.is_empty() {
        complaints.each(&path.child("group"), group, dns_1123_subdomain(group));
    }
    complaints.each(&path.child("version"), version, dns_1035_label(version));
    for (field, most) in [("groupPriorityMinimum", 20_000), ("versionPriority", 1000)] {
        let priority = number(specification, field).unwrap_or_default();
        if !(1..=most).contains(&priority) {
            let detail = format!("must be positive and less than {most}");
            complaints.invalid(&path.child(field), priority, detail);
        }
    }
    validate_backing_service(specification, &path, complaints);
}

fn validate_backing_service(specification: &Value, path: &Path<'_>, complaints: &mut Complaints) {
    let skips = is_true(specification, "insecureSkipTLSVerify");
    let has_bundle = is_set(specification.get("caBundle"));
    let skip_path = path.child("insecureSkipTLSVerify");
    let Some(service) = at(specification, "service") else {
        if skips {
            complaints.invalid(&skip_path, true, "local APIServices may not have insecureSkipTLSVerify");
        }
        return;
    };
    for field in ["namespace", "name"] {
        if text(service, field).is_empty() {
            let path = path.child("service");
            complaints.required(&path.child(field), "");
        }
    }
    if skips && has_bundle {
        complaints.invalid(&skip_path, true, "may not be true if caBundle is present");
    }
}
