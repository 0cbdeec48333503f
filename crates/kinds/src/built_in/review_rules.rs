//! What is asked of reviews must be.

use serde_json::{Map, Value, json};

use crate::{
    Target,
    complaints::{Complaints, Path},
    value::{is_set, list, object, text},
};

const SPECIFICATION: Path<'static> = Path::new("spec");

pub(super) fn validate_binding(
    binding: &Value,
    _old: Option<&Value>,
    _target: Target<'_>,
    complaints: &mut Complaints,
) {
    let path = Path::new("target");
    let kind = text(binding, "target.kind");
    if !kind.is_empty() {
        complaints.one_of(&path.child("kind"), kind, &["Node", "<empty>"]);
    }
    if text(binding, "target.name").is_empty() {
        complaints.required(&path.child("name"), "");
    }
}

pub(super) fn validate_access_review(
    review: &Value,
    _old: Option<&Value>,
    _target: Target<'_>,
    complaints: &mut Complaints,
) {
    validate_attributes(review, complaints);
    validate_subject(review, complaints);
    validate_no_metadata(review, &[], "must be empty", complaints);
}

pub(super) fn validate_self_access_review(
    review: &Value,
    _old: Option<&Value>,
    _target: Target<'_>,
    complaints: &mut Complaints,
) {
    validate_attributes(review, complaints);
    validate_no_metadata(review, &[], "must be empty", complaints);
}

pub(super) fn validate_local_access_review(
    review: &Value,
    _old: Option<&Value>,
    _target: Target<'_>,
    complaints: &mut Complaints,
) {
    validate_attributes(review, complaints);
    validate_subject(review, complaints);
    validate_no_metadata(review, &["namespace"], "must be empty except for namespace", complaints);
    if let Some(attributes) = review["spec"].get("resourceAttributes") {
        let namespace = text(attributes, "namespace");
        if namespace != text(review, "metadata.namespace") {
            let path = Path::new("spec.resourceAttributes.namespace");
            complaints.invalid(&path, namespace, "must match metadata.namespace");
        }
    }
}

fn validate_attributes(review: &Value, complaints: &mut Complaints) {
    let specification = &review["spec"];
    match (
        specification.get("resourceAttributes"),
        specification.get("nonResourceAttributes"),
    ) {
        (Some(_), Some(other)) => {
            let path = SPECIFICATION.child("nonResourceAttributes");
            let detail = "cannot be specified in combination with resourceAttributes";
            let field = |name| json!(text(other, name));
            let shown = format!(r#"{{"Path":{},"Verb":{}}}"#, field("path"), field("verb"));
            complaints.invalid(&path, hyperplane_schema::BadValue::Text(shown), detail);
        }
        (None, None) => {
            let path = SPECIFICATION.child("resourceAttributes");
            let detail = "exactly one of nonResourceAttributes or resourceAttributes must be specified";
            complaints.invalid(&path, Value::Null, detail);
        }
        _ => {}
    }
}

fn validate_subject(review: &Value, complaints: &mut Complaints) {
    if text(review, "spec.user").is_empty() && list(review, "spec.groups").is_empty() {
        complaints.invalid(
            &SPECIFICATION.child("user"),
            "",
            "at least one of user or group must be specified",
        );
    }
}

fn validate_no_metadata(review: &Value, allowed: &[&str], detail: &str, complaints: &mut Complaints) {
    let is_extra = |(name, value): (&String, &Value)| {
        !allowed.contains(&name.as_str()) && name != "managedFields" && is_set(Some(value))
    };
    let metadata = object(review, "metadata");
    if metadata.is_some_and(|metadata: &Map<String, Value>| metadata.iter().any(is_extra)) {
        let shown = review["metadata"].clone();
        complaints.invalid(&Path::new("metadata"), shown, detail);
    }
}
