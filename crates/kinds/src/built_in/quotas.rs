//! LimitRange and ResourceQuota.

use jiff::Timestamp;
use serde_json::Value;

use super::quota_rules::{quota_warnings, validate_limit_range, validate_quota};
use crate::{
    cells::{name, object_age, or},
    row::{AGE, NAME, NAMESPACED, Row, STATUS},
    value::{at, object},
};

pub(super) const LIMIT_RANGE: &[Row] = &[Row {
    plural: "limitranges",
    singular: "limitrange",
    kind: "LimitRange",
    type_name: "core.LimitRange",
    short_names: &["limits"],
    creates_on_update: true,
    validate: validate_limit_range,
    ..NAMESPACED
}];

pub(super) const RESOURCE_QUOTA: &[Row] = &[Row {
    plural: "resourcequotas",
    singular: "resourcequota",
    kind: "ResourceQuota",
    returns_deleted: true,
    type_name: "core.ResourceQuota",
    short_names: &["quota"],
    subresources: &[STATUS],
    columns: &[NAME, ("Request", "string", 0), ("Limit", "string", 0), AGE],
    cells,
    validate: validate_quota,
    warnings: quota_warnings,
    ..NAMESPACED
}];

fn cells(quota: &Value, now: Timestamp) -> Vec<Value> {
    let (mut requests, mut limits) = (Vec::new(), Vec::new());
    for (resource, hard) in object(quota, "status.hard").into_iter().flatten() {
        let used = at(quota, "status.used")
            .and_then(|used| used.get(resource))
            .and_then(Value::as_str);
        let line = format!(
            "{resource}: {}/{}",
            or(used.unwrap_or_default(), "0"),
            hard.as_str().unwrap_or_default()
        );
        if resource.starts_with("limits.") {
            limits.push(line);
        } else {
            requests.push(line);
        }
    }
    vec![
        name(quota),
        Value::from(requests.join(", ")),
        Value::from(limits.join(", ")),
        object_age(quota, now),
    ]
}
