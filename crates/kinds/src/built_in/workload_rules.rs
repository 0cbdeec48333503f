//! What the kinds that keep pods running must be (apps/validation).

use serde_json::{Value, json};

use super::{
    pod_spec_rules::validate_template,
    share_rules::{amount, validate_not_over_all, validate_share},
};
use crate::{
    Target,
    complaints::{Complaints, Path},
    labels::{is_empty_selector, selects, validate_selector},
    value::{at, is_set, number, object, text},
};

const SPECIFICATION: Path<'static> = Path::new("spec");
const MISMATCH: &str = "`selector` does not match template `labels`";

pub(super) fn validate_deployment(
    object: &Value,
    old: Option<&Value>,
    target: Target<'_>,
    complaints: &mut Complaints,
) {
    if target == Target::Status {
        return;
    }
    let specification = &object["spec"];
    let path = &SPECIFICATION;
    complaints.not_negative(&path.child("replicas"), specification.get("replicas"));
    validate_selector_and_template(specification, "deployment", "ReplicaSet", path, complaints);
    validate_deployment_strategy(&specification["strategy"], &path.child("strategy"), complaints);
    for field in ["minReadySeconds", "revisionHistoryLimit", "progressDeadlineSeconds"] {
        complaints.not_negative(&path.child(field), specification.get(field));
    }
    if let Some(deadline) = number(specification, "progressDeadlineSeconds")
        && deadline <= number(specification, "minReadySeconds").unwrap_or_default()
    {
        let detail = "must be greater than minReadySeconds";
        complaints.invalid(&path.child("progressDeadlineSeconds"), deadline, detail);
    }
    validate_same_selector(object, old, complaints);
}

fn validate_same_selector(object: &Value, old: Option<&Value>, complaints: &mut Complaints) {
    if let Some(old) = old {
        let path = SPECIFICATION.child("selector");
        complaints.unchanged(&path, at(object, "spec.selector"), at(old, "spec.selector"));
    }
}

/// A selector that selects something, and a template that it selects.
pub(super) fn validate_selector_and_template(
    specification: &Value,
    kind: &str,
    owner: &str,
    path: &Path<'_>,
    complaints: &mut Complaints,
) {
    let selector_path = path.child("selector");
    match selector_of(specification) {
        None => complaints.required(&selector_path, ""),
        Some(selector) => {
            validate_selector(Some(selector), &selector_path, complaints);
            if is_empty_selector(selector) {
                let detail = format!("empty selector is invalid for {kind}");
                complaints.invalid(&selector_path, selector.clone(), detail);
            }
        }
    }
    let template_path = path.child("template");
    let template = &specification["template"];
    let is_empty = selector_of(specification).is_some_and(is_empty_selector);
    if !is_empty && !is_selected(selector_of(specification), template) {
        complaints.invalid(&template_path.child("metadata.labels"), labels_of(template), MISMATCH);
    }
    validate_template(template, &template_path, complaints);
    validate_running_always(template, owner, &template_path, complaints);
}

/// A selector is written as null when there is none.
fn selector_of(specification: &Value) -> Option<&Value> {
    specification.get("selector").filter(|selector| !selector.is_null())
}

fn is_selected(selector: Option<&Value>, template: &Value) -> bool {
    selector.is_some_and(|selector| selects(selector, object(template, "metadata.labels")))
}

fn labels_of(template: &Value) -> Value {
    at(template, "metadata.labels").cloned().unwrap_or(Value::Null)
}

fn validate_running_always(template: &Value, owner: &str, path: &Path<'_>, complaints: &mut Complaints) {
    complaints.one_of(
        &path.child("spec.restartPolicy"),
        text(template, "spec.restartPolicy"),
        &["Always"],
    );
    if at(template, "spec.activeDeadlineSeconds").is_some() {
        let detail = format!("activeDeadlineSeconds in {owner} is not Supported");
        complaints.forbidden(&path.child("spec.activeDeadlineSeconds"), detail);
    }
}

fn validate_deployment_strategy(strategy: &Value, path: &Path<'_>, complaints: &mut Complaints) {
    let rolling_path = path.child("rollingUpdate");
    match (text(strategy, "type"), strategy.get("rollingUpdate")) {
        ("Recreate", Some(_)) => {
            complaints.forbidden(&rolling_path, "may not be specified when strategy `type` is 'Recreate'");
        }
        ("Recreate", None) => {}
        ("RollingUpdate", Some(rolling)) => validate_rolling_deployment(rolling, &rolling_path, complaints),
        _ => complaints.add(hyperplane_schema::FieldError::not_supported(
            path.to_string(),
            shown_strategy(strategy),
            ["Recreate", "RollingUpdate"],
        )),
    }
}

/// A strategy as upstream prints its internal form.
pub(super) fn shown_strategy(strategy: &Value) -> hyperplane_schema::BadValue {
    let rolling = strategy.get("rollingUpdate").cloned().unwrap_or(Value::Null);
    hyperplane_schema::BadValue::Text(format!(
        r#"{{"Type":{},"RollingUpdate":{rolling}}}"#,
        json!(text(strategy, "type"))
    ))
}

fn validate_rolling_deployment(rolling: &Value, path: &Path<'_>, complaints: &mut Complaints) {
    for field in ["maxUnavailable", "maxSurge"] {
        if let Some(value) = rolling.get(field) {
            validate_share(value, &path.child(field), complaints);
        }
    }
    let unavailable = rolling.get("maxUnavailable");
    if amount(unavailable) == 0 && amount(rolling.get("maxSurge")) == 0 {
        let shown = unavailable.cloned().unwrap_or(Value::Null);
        complaints.invalid(
            &path.child("maxUnavailable"),
            shown,
            "may not be 0 when `maxSurge` is 0",
        );
    }
    if let Some(unavailable) = unavailable {
        validate_not_over_all(unavailable, &path.child("maxUnavailable"), complaints);
    }
}

pub(super) fn validate_replica_set(
    object: &Value,
    old: Option<&Value>,
    target: Target<'_>,
    complaints: &mut Complaints,
) {
    if target == Target::Status {
        return;
    }
    let path = &SPECIFICATION;
    for field in ["replicas", "minReadySeconds"] {
        complaints.not_negative(&path.child(field), object["spec"].get(field));
    }
    validate_selector_and_template(&object["spec"], "deployment", "ReplicaSet", path, complaints);
    validate_same_selector(object, old, complaints);
}

pub(super) fn validate_replication_controller(
    object: &Value,
    _old: Option<&Value>,
    target: Target<'_>,
    complaints: &mut Complaints,
) {
    if target == Target::Status {
        return;
    }
    let specification = &object["spec"];
    let path = &SPECIFICATION;
    complaints.not_negative(&path.child("minReadySeconds"), specification.get("minReadySeconds"));
    if !is_set(specification.get("selector")) {
        complaints.required(&path.child("selector"), "");
    }
    complaints.not_negative(&path.child("replicas"), specification.get("replicas"));
    let template_path = path.child("template");
    let Some(template) = specification.get("template") else {
        complaints.required(&template_path, "");
        return;
    };
    let selector = json!({ "matchLabels": specification.get("selector").cloned().unwrap_or_else(|| json!({})) });
    if !is_selected(Some(&selector), template) {
        complaints.invalid(&template_path.child("metadata.labels"), labels_of(template), MISMATCH);
    }
    validate_template(template, &template_path, complaints);
    validate_running_always(template, "ReplicationController", &template_path, complaints);
}

pub(super) fn validate_daemon_set(
    object: &Value,
    old: Option<&Value>,
    target: Target<'_>,
    complaints: &mut Complaints,
) {
    if target == Target::Status {
        return;
    }
    validate_same_selector(object, old, complaints);
    let specification = &object["spec"];
    let path = &SPECIFICATION;
    let selector = selector_of(specification);
    validate_selector(selector, &path.child("selector"), complaints);
    let template = &specification["template"];
    let template_path = path.child("template");
    if !is_selected(selector, template) {
        complaints.invalid(&template_path.child("metadata.labels"), labels_of(template), MISMATCH);
    }
    if let Some(selector) = selector.filter(|selector| is_empty_selector(selector)) {
        complaints.invalid(
            &path.child("selector"),
            selector.clone(),
            "empty selector is invalid for daemonset",
        );
    }
    validate_template(template, &template_path, complaints);
    validate_running_always(template, "DaemonSet", &template_path, complaints);
    complaints.not_negative(&path.child("minReadySeconds"), specification.get("minReadySeconds"));
    validate_daemon_strategy(
        &specification["updateStrategy"],
        &path.child("updateStrategy"),
        complaints,
    );
    complaints.not_negative(
        &path.child("revisionHistoryLimit"),
        specification.get("revisionHistoryLimit"),
    );
}

fn validate_daemon_strategy(strategy: &Value, path: &Path<'_>, complaints: &mut Complaints) {
    match (text(strategy, "type"), strategy.get("rollingUpdate")) {
        ("OnDelete", _) => {}
        ("RollingUpdate", Some(rolling)) => {
            validate_rolling_daemon_set(rolling, &path.child("rollingUpdate"), complaints);
        }
        _ => complaints.add(hyperplane_schema::FieldError::not_supported(
            path.to_string(),
            shown_strategy(strategy),
            ["RollingUpdate", "OnDelete"],
        )),
    }
}

fn validate_rolling_daemon_set(rolling: &Value, path: &Path<'_>, complaints: &mut Complaints) {
    for check in [validate_share, validate_not_over_all] {
        for field in ["maxUnavailable", "maxSurge"] {
            if let Some(value) = rolling.get(field) {
                check(value, &path.child(field), complaints);
            }
        }
    }
    let (unavailable, surge) = (amount(rolling.get("maxUnavailable")), amount(rolling.get("maxSurge")));
    if unavailable != 0 && surge != 0 {
        let shown = rolling.get("maxSurge").cloned().unwrap_or(Value::Null);
        complaints.invalid(
            &path.child("maxSurge"),
            shown,
            "may not be set when maxUnavailable is non-zero",
        );
    } else if unavailable == 0 && surge == 0 {
        complaints.required(&path.child("maxUnavailable"), "cannot be 0 when maxSurge is 0");
    }
}

pub(super) fn validate_controller_revision(
    object: &Value,
    old: Option<&Value>,
    _target: Target<'_>,
    complaints: &mut Complaints,
) {
    let path = Path::new("data");
    if let Some(old) = old {
        complaints.unchanged(&path, object.get("data"), old.get("data"));
    } else {
        match object.get("data") {
            None | Some(Value::Null) => complaints.required(&path, "data is mandatory"),
            Some(Value::Object(_)) => {}
            Some(_) => complaints.required(&path, "data must be a valid JSON object"),
        }
    }
    complaints.not_negative(&Path::new("revision"), object.get("revision"));
}
