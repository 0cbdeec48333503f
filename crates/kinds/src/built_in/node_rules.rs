//! What Nodes must be.

use std::collections::BTreeSet;

use hyperplane_schema::{
    BadValue,
    names::{label_value, qualified_name},
};
use serde_json::{Value, json};

use crate::{
    Target,
    complaints::{Complaints, Path, is_different},
    value::{list, text},
};

pub(super) fn validate(node: &Value, old: Option<&Value>, target: Target<'_>, complaints: &mut Complaints) {
    validate_taints(node, complaints);
    let Some(old) = old.filter(|_| target != Target::Status) else {
        return;
    };
    let once = |field: &str| format!("node updates may not change {field} except from \"\" to valid");
    let (before, now) = (&old["spec"], &node["spec"]);
    if !list(before, "podCIDRs").is_empty() && list(before, "podCIDRs") != list(now, "podCIDRs") {
        complaints.forbidden(&Path::new("spec.podCIDRs"), once("podCIDR"));
    }
    if !text(before, "providerID").is_empty() && is_different(now.get("providerID"), before.get("providerID")) {
        complaints.forbidden(&Path::new("spec.providerID"), once("providerID"));
    }
}

fn validate_taints(node: &Value, complaints: &mut Complaints) {
    // Upstream looks for taints below the metadata in its messages.
    let path = Path::new("metadata.taints");
    let mut seen = BTreeSet::new();
    for (index, taint) in list(node, "spec.taints").iter().enumerate() {
        let path = path.index(index);
        let (key, value, effect) = (text(taint, "key"), text(taint, "value"), text(taint, "effect"));
        complaints.each(&path.child("key"), key, qualified_name(key));
        let messages = label_value(value);
        if !messages.is_empty() {
            complaints.invalid(&path.child("value"), value, messages.join(";"));
        }
        let known = ["NoSchedule", "PreferNoSchedule", "NoExecute"];
        complaints.required_one_of(&path.child("effect"), effect, &known);
        if !seen.insert((effect, key)) {
            let time = taint.get("timeAdded").cloned().unwrap_or(Value::Null);
            let shown = format!(
                r#"{{"Key":{},"Value":{},"Effect":{},"TimeAdded":{time}}}"#,
                json!(key),
                json!(value),
                json!(effect)
            );
            let mut error = hyperplane_schema::FieldError::duplicate(path.to_string(), BadValue::Text(shown));
            "taints must be unique by key and effect pair".clone_into(&mut error.detail);
            complaints.add(error);
        }
    }
}
