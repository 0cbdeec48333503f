//! What a PodDisruptionBudget must be.

use hyperplane_schema::{BadValue, go_text};
use serde_json::Value;

use super::share_rules::{validate_not_over_all, validate_share};
use crate::{
    Target,
    complaints::{Complaints, Path},
    labels::validate_selector,
    value::text,
};

pub(super) fn validate(budget: &Value, _old: Option<&Value>, target: Target<'_>, complaints: &mut Complaints) {
    if target == Target::Status {
        return;
    }
    let specification = &budget["spec"];
    let path = Path::new("spec");
    if specification.get("minAvailable").is_some() && specification.get("maxUnavailable").is_some() {
        let detail = "minAvailable and maxUnavailable cannot be both set";
        complaints.invalid(&path, BadValue::Text(shown(specification)), detail);
    }
    for field in ["minAvailable", "maxUnavailable"] {
        if let Some(value) = specification.get(field) {
            validate_share(value, &path.child(field), complaints);
            validate_not_over_all(value, &path.child(field), complaints);
        }
    }
    validate_selector(specification.get("selector"), &path.child("selector"), complaints);
    let policy = text(specification, "unhealthyPodEvictionPolicy");
    if !policy.is_empty() {
        let known = ["AlwaysAllow", "IfHealthyBudget"];
        complaints.one_of(&path.child("unhealthyPodEvictionPolicy"), policy, &known);
    }
}

/// The specification as upstream prints its own structure: every field, in the order in which they are declared there.
fn shown(specification: &Value) -> String {
    let field = |name: &str| specification.get(name).map_or_else(|| "null".to_owned(), go_text::json);
    let selector = specification
        .get("selector")
        .map_or_else(|| "null".to_owned(), shown_selector);
    format!(
        "{{\"MinAvailable\":{},\"Selector\":{selector},\"MaxUnavailable\":{},\"UnhealthyPodEvictionPolicy\":{}}}",
        field("minAvailable"),
        field("maxUnavailable"),
        field("unhealthyPodEvictionPolicy"),
    )
}

/// Labels stand before expressions there.
fn shown_selector(selector: &Value) -> String {
    let fields = ["matchLabels", "matchExpressions"].into_iter().filter_map(|name| {
        let value = selector.get(name)?;
        Some(format!("\"{name}\":{}", go_text::json(value)))
    });
    format!("{{{}}}", fields.collect::<Vec<_>>().join(","))
}
