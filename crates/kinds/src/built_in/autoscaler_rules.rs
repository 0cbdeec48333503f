//! What an autoscaler must be, in its second version.

use hyperplane_schema::names::path_segment;
use serde_json::Value;

use crate::{
    Target,
    complaints::{Complaints, Path},
    quantity::Quantity,
    value::{at, list, number, text},
};

const SOURCES: [&str; 5] = ["object", "external", "pods", "resource", "containerResource"];
const TYPES: [&str; 5] = ["ContainerResource", "External", "Object", "Pods", "Resource"];

pub(super) fn validate(object: &Value, _old: Option<&Value>, target: Target<'_>, complaints: &mut Complaints) {
    if target == Target::Status {
        return;
    }
    let specification = &object["spec"];
    let path = Path::new("spec");
    let least = number(specification, "minReplicas");
    let most = number(specification, "maxReplicas").unwrap_or_default();
    if let Some(least) = least.filter(|least| *least < 1) {
        complaints.invalid(&path.child("minReplicas"), least, "must be greater than or equal to 1");
    }
    let most_path = path.child("maxReplicas");
    match most {
        0 => complaints.required(&most_path, "must be set and greater than 0"),
        ..0 => complaints.invalid(&most_path, most, "must be greater than or equal to 1"),
        _ => {}
    }
    if least.is_some_and(|least| most < least) {
        complaints.invalid(&most_path, most, "must be greater than or equal to `minReplicas`");
    }
    validate_reference(
        &specification["scaleTargetRef"],
        &path.child("scaleTargetRef"),
        complaints,
    );
    let metrics = path.child("metrics");
    for (index, metric) in list(specification, "metrics").iter().enumerate() {
        validate_metric(metric, &metrics.index(index), complaints);
    }
}

fn validate_reference(reference: &Value, path: &Path<'_>, complaints: &mut Complaints) {
    for field in ["kind", "name"] {
        match text(reference, field) {
            "" => complaints.required(&path.child(field), ""),
            name => complaints.each(&path.child(field), name, path_segment(name, false)),
        }
    }
}

fn validate_metric(metric: &Value, path: &Path<'_>, complaints: &mut Complaints) {
    let kind = text(metric, "type");
    if kind.is_empty() {
        complaints.required(&path.child("type"), "must specify a metric source type");
    }
    complaints.one_of(&path.child("type"), kind, &TYPES);
    let given: Vec<&str> = SOURCES
        .iter()
        .copied()
        .filter(|source| metric.get(source).is_some())
        .collect();
    if let [first] = given[..] {
        validate_source(first, &metric[first], &path.child(first), complaints);
    }
    let expected = SOURCES.iter().find(|source| source.eq_ignore_ascii_case(kind));
    match expected {
        None => complaints.one_of(&path.child("type"), kind, &TYPES),
        Some(expected) if metric.get(expected).is_none() => {
            complaints.required(
                &path.child(expected),
                "must populate information for the given metric source",
            );
        }
        Some(_) => {}
    }
    if given.len() != 1 {
        for source in given.iter().filter(|source| Some(*source) != expected) {
            complaints.forbidden(&path.child(source), "must populate the given metric source only");
        }
    }
}

fn validate_source(kind: &str, source: &Value, path: &Path<'_>, complaints: &mut Complaints) {
    let is_resource = matches!(kind, "resource" | "containerResource");
    if is_resource && text(source, "name").is_empty() {
        complaints.required(&path.child("name"), "must specify a resource name");
    }
    if !is_resource && text(source, "metric.name").is_empty() {
        complaints.required(&path.child("metric.name"), "must specify a metric name");
    }
    if kind == "object" {
        validate_reference(&source["describedObject"], &path.child("describedObject"), complaints);
    }
    let target = &source["target"];
    let target_path = path.child("target");
    validate_target(target, &target_path, complaints);
    if is_resource {
        match (target.get("averageUtilization"), target.get("averageValue")) {
            (None, None) => complaints.required(
                &target_path.child("averageUtilization"),
                "must set either a target raw value or a target utilization",
            ),
            (Some(_), Some(_)) => complaints.forbidden(
                &target_path.child("averageValue"),
                "may not set both a target raw value and a target utilization",
            ),
            _ => {}
        }
    }
}

fn validate_target(target: &Value, path: &Path<'_>, complaints: &mut Complaints) {
    let kind = text(target, "type");
    if kind.is_empty() {
        complaints.required(&path.child("type"), "must specify a metric target type");
    }
    if !matches!(kind, "Utilization" | "Value" | "AverageValue") {
        complaints.invalid(
            &path.child("type"),
            kind,
            "must be either Utilization, Value, or AverageValue",
        );
    }
    for field in ["value", "averageValue"] {
        let amount = text(target, field);
        if Quantity::parse(amount).is_ok_and(|quantity| quantity <= Quantity::ZERO) {
            complaints.invalid(&path.child(field), amount, "must be positive");
        }
    }
    if let Some(share) = at(target, "averageUtilization")
        .and_then(Value::as_i64)
        .filter(|share| *share < 1)
    {
        complaints.invalid(&path.child("averageUtilization"), share, "must be greater than 0");
    }
}
