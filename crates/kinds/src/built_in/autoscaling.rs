//! HorizontalPodAutoscaler, of which two versions are served and the second is stored.

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::autoscaler_rules::validate;
use crate::{
    cells::{NONE, UNSET, count, name, object_age, or},
    row::{AGE, NAME, NAMESPACED, Row, STATUS},
    value::{at, entry, is_set, list, number, text},
};

pub(super) const ROWS: &[Row] = &[
    Row {
        version: "v2",
        type_name: "autoscaling2.HorizontalPodAutoscaler",
        cells,
        validate,
        ..AUTOSCALER
    },
    Row {
        version: "v1",
        type_name: "autoscaling1.HorizontalPodAutoscaler",
        cells: |object, now| cells(&as_stored(object), now),
        validate: |object, old, target, complaints| {
            validate(&as_stored(object), old.map(as_stored).as_ref(), target, complaints);
        },
        to_stored,
        from_stored,
        ..AUTOSCALER
    },
];

const AUTOSCALER: Row = Row {
    group: "autoscaling",
    plural: "horizontalpodautoscalers",
    singular: "horizontalpodautoscaler",
    kind: "HorizontalPodAutoscaler",
    short_names: &["hpa"],
    categories: &["all"],
    subresources: &[STATUS],
    columns: &[
        NAME,
        ("Reference", "string", 0),
        ("Targets", "string", 0),
        ("MinPods", "string", 0),
        ("MaxPods", "string", 0),
        ("Replicas", "string", 0),
        AGE,
    ],
    storage_version: "autoscaling/v2",
    ..NAMESPACED
};

/// Where the first version keeps what it has no fields for.
const METRICS_ANNOTATION: &str = "autoscaling.alpha.kubernetes.io/metrics";
const BEHAVIOR_ANNOTATION: &str = "autoscaling.alpha.kubernetes.io/behavior";
const CONDITIONS_ANNOTATION: &str = "autoscaling.alpha.kubernetes.io/conditions";
const CURRENT_ANNOTATION: &str = "autoscaling.alpha.kubernetes.io/current-metrics";
/// How many metrics a cell shows.
const SHOWN: usize = 2;

fn as_stored(object: &Value) -> Value {
    let mut stored = object.clone();
    to_stored(&mut stored);
    stored
}

/// Takes a document out of an annotation.
fn take(map: &mut Map<String, Value>, annotation: &str) -> Option<Value> {
    let metadata = map.get_mut("metadata")?.as_object_mut()?;
    let annotations = metadata.get_mut("annotations")?.as_object_mut()?;
    let text = annotations.remove(annotation)?;
    if annotations.is_empty() {
        metadata.remove("annotations");
    }
    serde_json::from_str(text.as_str()?).ok()
}

fn to_stored(object: &mut Value) {
    let Some(map) = object.as_object_mut() else { return };
    let metrics = take(map, METRICS_ANNOTATION);
    let behavior = take(map, BEHAVIOR_ANNOTATION);
    let conditions = take(map, CONDITIONS_ANNOTATION);
    let current = take(map, CURRENT_ANNOTATION);
    let specification = entry(map, "spec");
    let mut all: Vec<Value> = Vec::new();
    if let Some(percentage) = specification.remove("targetCPUUtilizationPercentage") {
        all.push(cpu_metric("target", "averageUtilization", &percentage, true));
    }
    all.extend(
        metrics
            .and_then(|metrics| metrics.as_array().cloned())
            .into_iter()
            .flatten(),
    );
    if !all.is_empty() {
        specification.insert("metrics".to_owned(), Value::Array(all));
    }
    if let Some(behavior) = behavior {
        specification.insert("behavior".to_owned(), behavior);
    }
    let status = entry(map, "status");
    let mut all: Vec<Value> = Vec::new();
    if let Some(percentage) = status.remove("currentCPUUtilizationPercentage") {
        all.push(cpu_metric("current", "averageUtilization", &percentage, false));
    }
    all.extend(
        current
            .and_then(|current| current.as_array().cloned())
            .into_iter()
            .flatten(),
    );
    status.insert(
        "currentMetrics".to_owned(),
        if all.is_empty() { Value::Null } else { Value::Array(all) },
    );
    if let Some(conditions) = conditions {
        status.insert("conditions".to_owned(), conditions);
    }
}

fn cpu_metric(holder: &str, field: &str, percentage: &Value, has_type: bool) -> Value {
    let mut target = json!({ field: percentage });
    if has_type {
        target["type"] = json!("Utilization");
    }
    json!({ "type": "Resource", "resource": { "name": "cpu", holder: target } })
}

fn from_stored(object: &mut Value) {
    let Some(map) = object.as_object_mut() else { return };
    let mut annotations = Vec::new();
    let specification = entry(map, "spec");
    let metrics = specification.remove("metrics");
    let percentage = split_cpu(metrics, "target", METRICS_ANNOTATION, &mut annotations);
    if let Some(percentage) = percentage {
        specification.insert("targetCPUUtilizationPercentage".to_owned(), percentage);
    }
    if let Some(behavior) = specification.remove("behavior") {
        annotations.push((BEHAVIOR_ANNOTATION, behavior));
    }
    let status = entry(map, "status");
    let current = status.remove("currentMetrics");
    if let Some(percentage) = split_cpu(current, "current", CURRENT_ANNOTATION, &mut annotations) {
        status.insert("currentCPUUtilizationPercentage".to_owned(), percentage);
    }
    if let Some(conditions) = status
        .remove("conditions")
        .filter(|conditions| is_set(Some(conditions)))
    {
        annotations.push((CONDITIONS_ANNOTATION, conditions));
    }
    if !annotations.is_empty() {
        let target = entry(entry(map, "metadata"), "annotations");
        for (name, document) in annotations {
            target.insert(name.to_owned(), Value::from(document.to_string()));
        }
    }
}

/// The share of processors in percent; every other metric goes to an annotation.
fn split_cpu(
    metrics: Option<Value>,
    holder: &str,
    annotation: &'static str,
    annotations: &mut Vec<(&'static str, Value)>,
) -> Option<Value> {
    let Some(Value::Array(mut metrics)) = metrics else {
        return None;
    };
    let path = format!("resource.{holder}.averageUtilization");
    let position = metrics
        .iter()
        .position(|metric| text(metric, "resource.name") == "cpu" && number(metric, &path).is_some());
    let percentage = position.map(|position| at(&metrics.remove(position), &path).cloned().unwrap_or_default());
    if !metrics.is_empty() {
        annotations.push((annotation, Value::Array(metrics)));
    }
    percentage
}

fn cells(object: &Value, now: Timestamp) -> Vec<Value> {
    let target = &object["spec"]["scaleTargetRef"];
    let minimum = number(object, "spec.minReplicas").map_or_else(|| UNSET.to_owned(), |number| number.to_string());
    vec![
        name(object),
        Value::from(format!("{}/{}", text(target, "kind"), text(target, "name"))),
        Value::from(metrics(object)),
        Value::from(minimum),
        count(object, "spec.maxReplicas"),
        count(object, "status.currentReplicas"),
        object_age(object, now),
    ]
}

fn metrics(object: &Value) -> String {
    let metrics = list(object, "spec.metrics");
    let current = list(object, "status.currentMetrics");
    let shown: Vec<String> = metrics
        .iter()
        .enumerate()
        .take(SHOWN)
        .map(|(position, metric)| one_metric(metric, current.get(position)))
        .collect();
    match metrics.len() {
        0 => NONE.to_owned(),
        length if length > SHOWN => format!("{} + {} more...", shown.join(", "), length - SHOWN),
        _ => shown.join(", "),
    }
}

fn one_metric(metric: &Value, current: Option<&Value>) -> String {
    let (field, has_name) = match text(metric, "type") {
        "External" => ("external", false),
        "Object" => ("object", false),
        "Pods" => ("pods", false),
        "Resource" => ("resource", true),
        "ContainerResource" => ("containerResource", true),
        _ => return "<unknown type>".to_owned(),
    };
    let source = &metric[field];
    let now = current.and_then(|current| current.get(field));
    let value = |name: &str| {
        let current = now.map_or("", |now| text(now, &format!("current.{name}")));
        format!(
            "{}/{}",
            or(current, "<unknown>"),
            text(source, &format!("target.{name}"))
        )
    };
    let has_average = at(source, "target.averageValue").is_some();
    let words = match (has_name, has_average) {
        (true, true) => value("averageValue"),
        (true, false) => utilization(source, now),
        (false, true) if field == "pods" => value("averageValue"),
        (false, true) => format!("{} (avg)", value("averageValue")),
        (false, false) => value("value"),
    };
    if has_name {
        format!("{}: {words}", text(source, "name"))
    } else {
        words
    }
}

fn utilization(source: &Value, now: Option<&Value>) -> String {
    let percent = |number: Option<i64>, otherwise: &str| {
        number.map_or_else(|| otherwise.to_owned(), |number| format!("{number}%"))
    };
    let current = now.and_then(|now| number(now, "current.averageUtilization"));
    let target = number(source, "target.averageUtilization");
    format!("{}/{}", percent(current, "<unknown>"), percent(target, "<auto>"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_version_shows_the_share_of_processors_and_keeps_the_rest() {
        let stored = json!({
            "metadata": {},
            "spec": { "maxReplicas": 3, "metrics": [
                { "type": "Resource", "resource": { "name": "cpu", "target": { "type": "Utilization", "averageUtilization": 80 } } },
                { "type": "Pods", "pods": { "metric": { "name": "m" }, "target": { "type": "AverageValue", "averageValue": "1" } } },
            ] },
            "status": { "currentMetrics": null },
        });
        let mut first = stored.clone();
        from_stored(&mut first);
        assert_eq!(first["spec"]["targetCPUUtilizationPercentage"], 80);
        assert!(first["spec"].get("metrics").is_none());
        to_stored(&mut first);
        assert_eq!(first, stored);
    }
}
