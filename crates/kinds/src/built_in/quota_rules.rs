//! What LimitRanges and ResourceQuotas must be.

use std::collections::BTreeSet;

use serde_json::Value;

use super::resource_rules::{validate_amount, validate_resource_name};
use crate::{
    Target,
    complaints::{Complaints, Path},
    quantity::Quantity,
    value::{at, list, object, text},
};

const LIMITS: [&str; 5] = ["max", "min", "default", "defaultRequest", "maxLimitRequestRatio"];

pub(super) fn validate_limit_range(
    range: &Value,
    _old: Option<&Value>,
    _target: Target<'_>,
    complaints: &mut Complaints,
) {
    let path = Path::new("spec.limits");
    let mut kinds = BTreeSet::new();
    for (index, limit) in list(range, "spec.limits").iter().enumerate() {
        let path = path.index(index);
        let kind = text(limit, "type");
        if !kinds.insert(kind) {
            complaints.duplicate(&path.child("type"), kind);
        }
        validate_limit(limit, kind, &path, complaints);
    }
}

fn validate_limit(limit: &Value, kind: &str, path: &Path<'_>, complaints: &mut Complaints) {
    let mut names: BTreeSet<&String> = BTreeSet::new();
    for field in LIMITS {
        names.extend(object(limit, field).into_iter().flat_map(serde_json::Map::keys));
    }
    if kind == "Pod" {
        for field in ["default", "defaultRequest"] {
            if limit.get(field).is_some() {
                let detail = "may not be specified when `type` is 'Pod'";
                complaints.forbidden(&path.child(field), detail);
            }
        }
    }
    for name in names {
        validate_order(limit, name, path, complaints);
    }
}

/// What must not be more than what: the field that is blamed, which of the two is shown, both fields and their words.
const ORDER: [(&str, Shown, [&str; 2], [&str; 2]); 6] = [
    ("min", Shown::Less, ["min", "max"], ["min value", "max value"]),
    (
        "defaultRequest",
        Shown::More,
        ["min", "defaultRequest"],
        ["min value", "default request value"],
    ),
    (
        "defaultRequest",
        Shown::Less,
        ["defaultRequest", "max"],
        ["default request value", "max value"],
    ),
    (
        "defaultRequest",
        Shown::Less,
        ["defaultRequest", "default"],
        ["default request value", "default limit value"],
    ),
    (
        "default",
        Shown::Less,
        ["min", "default"],
        ["min value", "default value"],
    ),
    (
        "default",
        Shown::More,
        ["default", "max"],
        ["default value", "max value"],
    ),
];

/// Which of two amounts a message shows: the one that should be less, or the other.
#[derive(Clone, Copy)]
enum Shown {
    Less,
    More,
}

/// The least, the usual and the most must stand in this order.
fn validate_order(limit: &Value, name: &str, path: &Path<'_>, complaints: &mut Complaints) {
    let amount = |field: &str| {
        let text = object(limit, field)?.get(name)?.as_str()?;
        Some((text, Quantity::parse(text).ok()?))
    };
    for (field, shown, [less, more], [less_words, more_words]) in ORDER {
        let (Some((less, less_amount)), Some((more, more_amount))) = (amount(less), amount(more)) else {
            continue;
        };
        if less_amount > more_amount {
            let path = path.child(field);
            let shown = match shown {
                Shown::Less => less,
                Shown::More => more,
            };
            let detail = format!("{less_words} {less} is greater than {more_words} {more}");
            complaints.invalid(&path.key(name), shown, detail);
        }
    }
}

pub(super) fn validate_quota(quota: &Value, _old: Option<&Value>, target: Target<'_>, complaints: &mut Complaints) {
    let fields: &[&str] = if target == Target::Status {
        &["status.hard", "status.used"]
    } else {
        &["spec.hard"]
    };
    for field in fields {
        let path = Path::new(field);
        for (name, amount) in object(quota, field).into_iter().flatten() {
            let path = path.key(name);
            validate_resource_name(name, &path, complaints);
            validate_amount(name, amount, &path, complaints);
        }
    }
}

/// A quota that allows more to be requested than to be used cannot be meant.
pub(super) fn quota_warnings(quota: &Value, old: Option<&Value>) -> Vec<String> {
    if old.is_some() {
        return Vec::new();
    }
    let hard = |name: &str| {
        let text = at(quota, "spec.hard")?.get(name)?.as_str()?;
        Some((text, Quantity::parse(text).ok()?))
    };
    let mut warnings = Vec::new();
    for resource in ["cpu", "memory", "ephemeral-storage"] {
        let limit_name = format!("limits.{resource}");
        let request_name = format!("requests.{resource}");
        let (name, request) = match hard(&request_name) {
            Some(request) => (request_name.as_str(), Some(request)),
            None if resource == "ephemeral-storage" => continue,
            None => (resource, hard(resource)),
        };
        if let (Some((request, request_amount)), Some((limit, limit_amount))) = (request, hard(&limit_name))
            && request_amount > limit_amount
        {
            warnings.push(format!(
                "ResourceQuota {name} ({request}) should be less than {limit_name} ({limit})"
            ));
        }
    }
    warnings
}
