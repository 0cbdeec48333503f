//! Numbers that may be shares: `3` or `25%`.

use serde_json::Value;

use crate::{
    complaints::{Complaints, Path},
    names::percent,
};

/// A number that is not negative, or a share.
pub(super) fn validate_share(value: &Value, path: &Path<'_>, complaints: &mut Complaints) {
    match value {
        Value::String(text) => complaints.each(path, text, percent(text)),
        number => complaints.not_negative(path, Some(number)),
    }
}

/// No more than all.
pub(super) fn validate_not_over_all(value: &Value, path: &Path<'_>, complaints: &mut Complaints) {
    if let Some(text) = value.as_str()
        && share(text).is_some_and(|share| share > 100)
    {
        complaints.invalid(path, text, "must not be greater than 100%");
    }
}

/// The number before the sign, or the number itself.
pub(super) fn amount(value: Option<&Value>) -> i64 {
    match value {
        Some(Value::String(text)) => share(text).unwrap_or_default(),
        other => other.and_then(Value::as_i64).unwrap_or_default(),
    }
}

fn share(text: &str) -> Option<i64> {
    text.strip_suffix('%')?.parse().ok()
}
