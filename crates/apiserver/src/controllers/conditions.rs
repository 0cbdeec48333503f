//! Conditions in a status, over plain values. A condition that did not change keeps its time.

use serde_json::{Value, json};

/// A condition.
#[derive(Clone, Debug)]
pub(crate) struct Condition {
    kind: &'static str,
    is_true: bool,
    reason: &'static str,
    message: String,
}

impl Condition {
    /// A condition that holds or does not.
    pub(crate) fn new(kind: &'static str, is_true: bool, reason: &'static str, message: &str) -> Self {
        Self {
            kind,
            is_true,
            reason,
            message: message.to_owned(),
        }
    }
}

/// Puts conditions into an object's status. Their time is `now` where their status changes.
pub(crate) fn set(object: &mut Value, conditions: &[Condition], now: &str) {
    if !object["status"].is_object() {
        object["status"] = json!({});
    }
    if !object["status"]["conditions"].is_array() {
        object["status"]["conditions"] = json!([]);
    }
    let Some(known) = object["status"]["conditions"].as_array_mut() else {
        return;
    };
    for condition in conditions {
        let status = if condition.is_true { "True" } else { "False" };
        let found = known.iter_mut().find(|entry| entry["type"] == condition.kind);
        let time = match &found {
            Some(entry) if entry["status"] == status => entry["lastTransitionTime"].clone(),
            _ => json!(now),
        };
        let entry = json!({
            "type": condition.kind, "status": status, "reason": condition.reason, "message": condition.message,
            "lastTransitionTime": time,
        });
        match found {
            Some(place) => *place = entry,
            None => known.push(entry),
        }
    }
}

/// Whether a condition of an object holds.
pub(crate) fn is_true(object: &Value, kind: &str) -> bool {
    let conditions = object.pointer("/status/conditions").and_then(Value::as_array);
    conditions
        .into_iter()
        .flatten()
        .any(|entry| entry["type"] == kind && entry["status"] == "True")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_change_with_the_status_only() {
        let mut object = json!({});
        set(&mut object, &[Condition::new("Ready", false, "A", "a")], "1");
        set(&mut object, &[Condition::new("Ready", false, "B", "b")], "2");
        assert_eq!(object["status"]["conditions"][0]["lastTransitionTime"], "1");
        assert_eq!(object["status"]["conditions"][0]["reason"], "B");
        set(&mut object, &[Condition::new("Ready", true, "B", "b")], "3");
        assert_eq!(object["status"]["conditions"][0]["lastTransitionTime"], "3");
        assert!(is_true(&object, "Ready"));
        assert!(!is_true(&object, "Other"));
    }
}
