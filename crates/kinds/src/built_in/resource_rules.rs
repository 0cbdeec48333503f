//! What requests and limits must be.

use hyperplane_schema::names::qualified_name;
use serde_json::Value;

use crate::{
    complaints::{Complaints, NOT_NEGATIVE, Path},
    quantity::Quantity,
    value::object,
};

/// Resources that are counted in whole numbers.
const COUNTED: [&str; 8] = [
    "pods",
    "replicationcontrollers",
    "resourcequotas",
    "secrets",
    "configmaps",
    "persistentvolumeclaims",
    "services.nodeports",
    "services.loadbalancers",
];

pub(super) fn validate_resources(resources: &Value, path: &Path<'_>, complaints: &mut Complaints) {
    let limits = object(resources, "limits");
    let limits_path = path.child("limits");
    for (name, amount) in limits.into_iter().flatten() {
        let path = limits_path.key(name);
        validate_container_resource(name, &path, complaints);
        validate_amount(name, amount, &path, complaints);
    }
    let requests_path = path.child("requests");
    for (name, amount) in object(resources, "requests").into_iter().flatten() {
        let item = requests_path.key(name);
        validate_container_resource(name, &item, complaints);
        validate_amount(name, amount, &item, complaints);
        let limit = limits.and_then(|limits| limits.get(name));
        validate_against_limit(name, amount, limit, [&requests_path, &limits_path], complaints);
    }
}

fn validate_against_limit(
    name: &str,
    amount: &Value,
    limit: Option<&Value>,
    [requests, limits]: [&Path<'_>; 2],
    complaints: &mut Complaints,
) {
    let (Some(text), Some(request)) = (amount.as_str(), quantity(Some(amount))) else {
        return;
    };
    let Some(limit_text) = limit.and_then(Value::as_str) else {
        if !may_overcommit(name) {
            complaints.required(limits, "Limit must be set for non overcommitable resources");
        }
        return;
    };
    let Some(most) = quantity(limit) else { return };
    if request != most && !may_overcommit(name) {
        complaints.invalid(requests, text, format!("must be equal to {name} limit of {limit_text}"));
    } else if request > most {
        let detail = format!("must be less than or equal to {name} limit of {limit_text}");
        complaints.invalid(requests, text, detail);
    }
}

fn quantity(value: Option<&Value>) -> Option<Quantity> {
    Quantity::parse(value?.as_str()?).ok()
}

/// Only what Kubernetes itself shares out can be promised more often than it exists.
fn may_overcommit(name: &str) -> bool {
    is_native(name) && !name.starts_with("hugepages-")
}

fn is_native(name: &str) -> bool {
    !name.contains('/') || name.contains("kubernetes.io/")
}

fn validate_container_resource(name: &str, path: &Path<'_>, complaints: &mut Complaints) {
    validate_resource_name(name, path, complaints);
    if !name.contains('/') {
        let is_standard = matches!(name, "cpu" | "memory" | "ephemeral-storage") || name.starts_with("hugepages-");
        if !is_standard {
            complaints.invalid(path, name, "must be a standard resource for containers");
        }
    } else if !is_native(name) && !is_extended(name) {
        complaints.invalid(path, name, "doesn't follow extended resource name standard");
    }
}

pub(super) fn is_extended(name: &str) -> bool {
    !is_native(name) && !name.starts_with("requests.") && qualified_name(&format!("requests.{name}")).is_empty()
}

/// Any resource: a qualified name, with a prefix unless it is one that Kubernetes knows.
pub(super) fn validate_resource_name(name: &str, path: &Path<'_>, complaints: &mut Complaints) {
    let messages = qualified_name(name);
    if !messages.is_empty() {
        complaints.each(path, name, messages);
    }
}

/// An amount that is neither negative nor, where things are counted, broken.
pub(super) fn validate_amount(name: &str, amount: &Value, path: &Path<'_>, complaints: &mut Complaints) {
    let Some(quantity) = quantity(Some(amount)) else { return };
    let text = amount.as_str().unwrap_or_default();
    if quantity.is_negative() {
        complaints.invalid(path, text, NOT_NEGATIVE);
    }
    let is_counted = COUNTED.contains(&name) || name.starts_with("count/") || !is_native(name);
    if is_counted && !quantity.is_whole() {
        complaints.invalid(path, text, "must be an integer");
    }
}
