//! What a PodDisruptionBudget must be.

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
        complaints.invalid(&path, hyperplane_schema::BadValue::Omitted, detail);
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
