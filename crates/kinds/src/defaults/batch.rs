//! Defaults of the batch and autoscaling groups.

use serde_json::{Map, Value, json};

use crate::{
    types::DefaultFunction,
    value::{entry, is_set, put, put_text},
};

pub(super) const FUNCTIONS: &[(&str, DefaultFunction)] = &[
    ("batch.CronJob", cron_job),
    ("batch.Job", job),
    ("batch.PodFailurePolicyOnPodConditionsPattern", condition_pattern),
    ("autoscaling1.HorizontalPodAutoscaler", autoscaler_v1),
    ("autoscaling2.HorizontalPodAutoscaler", autoscaler_v2),
];

/// How often a job's pods may fail.
const BACKOFF_LIMIT: i64 = 6;
/// The load that an autoscaler aims at when nothing is said, in percent.
const CPU_UTILIZATION: i64 = 80;

fn job(map: &mut Map<String, Value>) {
    let specification = entry(map, "spec");
    if !specification.contains_key("completions") && !specification.contains_key("parallelism") {
        put(specification, "completions", 1);
    }
    put(specification, "parallelism", 1);
    let limit = if specification.contains_key("backoffLimitPerIndex") {
        i64::from(i32::MAX)
    } else {
        BACKOFF_LIMIT
    };
    put(specification, "backoffLimit", limit);
    put(specification, "completionMode", "NonIndexed");
    put(specification, "suspend", false);
    let replacement = if specification.contains_key("podFailurePolicy") {
        "Failed"
    } else {
        "TerminatingOrFailed"
    };
    put(specification, "podReplacementPolicy", replacement);
    put(specification, "manualSelector", false);
}

fn cron_job(map: &mut Map<String, Value>) {
    let specification = entry(map, "spec");
    put_text(specification, "concurrencyPolicy", "Allow");
    put(specification, "suspend", false);
    put(specification, "successfulJobsHistoryLimit", 3);
    put(specification, "failedJobsHistoryLimit", 1);
}

fn condition_pattern(map: &mut Map<String, Value>) {
    put_text(map, "status", "True");
}

fn autoscaler_v1(map: &mut Map<String, Value>) {
    let specification = entry(map, "spec");
    put(specification, "minReplicas", 1);
    put(specification, "targetCPUUtilizationPercentage", CPU_UTILIZATION);
}

fn autoscaler_v2(map: &mut Map<String, Value>) {
    let specification = entry(map, "spec");
    put(specification, "minReplicas", 1);
    if !is_set(specification.get("metrics")) {
        let target = json!({ "type": "Utilization", "averageUtilization": CPU_UTILIZATION });
        let metric = json!({ "type": "Resource", "resource": { "name": "cpu", "target": target } });
        specification.insert("metrics".to_owned(), json!([metric]));
    }
    if let Some(Value::Object(behavior)) = specification.get_mut("behavior") {
        let up = json!([
            { "type": "Pods", "value": 4, "periodSeconds": 15 },
            { "type": "Percent", "value": 100, "periodSeconds": 15 },
        ]);
        let scale_up = entry(behavior, "scaleUp");
        put(scale_up, "stabilizationWindowSeconds", 0);
        put(scale_up, "selectPolicy", "Max");
        put(scale_up, "policies", up);
        let scale_down = entry(behavior, "scaleDown");
        put(scale_down, "selectPolicy", "Max");
        put(
            scale_down,
            "policies",
            json!([{ "type": "Percent", "value": 100, "periodSeconds": 15 }]),
        );
    }
}
