//! Job and CronJob.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::{
    batch_rules::{cron_job_warnings, validate_cron_job, validate_job},
    pod_warnings::workload_warnings,
};
use crate::{
    Propagation,
    cells::{NONE, UNSET, containers, has_condition, name, object_age, or, selector},
    human::{age, human_duration},
    row::{AGE, Generation, NAME, NAMESPACED, Row, STATUS, carry_over_by_target, reset_status},
    types::parse_time,
    value::{at, entry, is_set, is_true, list, number, text},
};

pub(super) const ROWS: &[Row] = &[CRON_JOB, JOB];

const CRON_JOB: Row = Row {
    group: "batch",
    plural: "cronjobs",
    singular: "cronjob",
    kind: "CronJob",
    type_name: "batch.CronJob",
    short_names: &["cj"],
    categories: &["all"],
    subresources: &[STATUS],
    columns: &[
        NAME,
        ("Schedule", "string", 0),
        ("Timezone", "string", 0),
        ("Suspend", "boolean", 0),
        ("Active", "integer", 0),
        ("Last Schedule", "string", 0),
        AGE,
        ("Containers", "string", 1),
        ("Images", "string", 1),
        ("Selector", "string", 1),
    ],
    cells: cron_job_cells,
    generation: Generation::Specification,
    validate: validate_cron_job,
    warnings: cron_job_warnings,
    ..NAMESPACED
};

const JOB: Row = Row {
    group: "batch",
    plural: "jobs",
    singular: "job",
    kind: "Job",
    type_name: "batch.Job",
    categories: &["all"],
    subresources: &[STATUS],
    columns: &[
        NAME,
        ("Status", "string", 0),
        ("Completions", "string", 0),
        ("Duration", "string", 0),
        AGE,
        ("Containers", "string", 1),
        ("Images", "string", 1),
        ("Selector", "string", 1),
    ],
    cells: job_cells,
    fields: &[("status.successful", &["status.succeeded"], "0")],
    generation: Generation::Specification,
    propagation: Propagation::Orphan,
    create: create_job,
    update: |job, old, target| {
        carry_over_by_target(job, old, target);
        label_as_template(job);
    },
    validate: validate_job,
    warnings: workload_warnings,
    ..NAMESPACED
};

/// Labels that tie the pods of a job to it: the old names and the new.
const UID_LABELS: [&str; 2] = ["controller-uid", "batch.kubernetes.io/controller-uid"];
const NAME_LABELS: [&str; 2] = ["job-name", "batch.kubernetes.io/job-name"];

/// Unless the selector is the user's own, a job selects its pods by its uid, which must be known by now.
fn create_job(job: &mut Value) {
    reset_status(job);
    if !is_true(job, "spec.manualSelector") {
        generate_selector(job);
    }
    label_as_template(job);
}

/// A job without labels has those of its pods.
fn label_as_template(job: &mut Value) {
    let labels = at(job, "spec.template.metadata.labels").cloned();
    if is_set(at(job, "metadata.labels")) || !is_set(labels.as_ref()) {
        return;
    }
    if let (Some(labels), Some(map)) = (labels, job.as_object_mut()) {
        entry(map, "metadata").insert("labels".to_owned(), labels);
    }
}

fn generate_selector(job: &mut Value) {
    let uid = text(job, "metadata.uid").to_owned();
    let job_name = text(job, "metadata.name").to_owned();
    let Some(specification) = job.get_mut("spec").and_then(Value::as_object_mut) else {
        return;
    };
    let labels = entry(entry(entry(specification, "template"), "metadata"), "labels");
    for (names, value) in [(UID_LABELS, &uid), (NAME_LABELS, &job_name)] {
        for label in names {
            labels.insert(label.to_owned(), Value::from(value.as_str()));
        }
    }
    let match_labels = entry(entry(specification, "selector"), "matchLabels");
    match_labels.entry(UID_LABELS[1]).or_insert(json!(uid));
}

fn cron_job_cells(job: &Value, now: Timestamp) -> Vec<Value> {
    let template = &job["spec"]["jobTemplate"]["spec"];
    let [names, images] = containers(&template["template"]["spec"]);
    let last = at(job, "status.lastScheduleTime").map_or_else(|| NONE.to_owned(), |time| age(Some(time), now));
    let suspend = job["spec"].get("suspend").and_then(Value::as_bool);
    let suspend = suspend.map_or(UNSET, |suspend| if suspend { "True" } else { "False" });
    vec![
        name(job),
        Value::from(text(job, "spec.schedule")),
        Value::from(or(text(job, "spec.timeZone"), NONE)),
        Value::from(suspend),
        Value::from(list(job, "status.active").len()),
        Value::from(last),
        object_age(job, now),
        names,
        images,
        Value::from(selector(at(template, "selector"))),
    ]
}

fn job_cells(job: &Value, now: Timestamp) -> Vec<Value> {
    let [names, images] = containers(&job["spec"]["template"]["spec"]);
    vec![
        name(job),
        Value::from(status(job)),
        Value::from(completions(job)),
        Value::from(duration(job, now)),
        object_age(job, now),
        names,
        images,
        Value::from(selector(at(job, "spec.selector"))),
    ]
}

fn status(job: &Value) -> &'static str {
    let has = |kind| has_condition(job, "status.conditions", kind);
    if has("Complete") {
        "Complete"
    } else if has("Failed") {
        "Failed"
    } else if is_set(at(job, "metadata.deletionTimestamp")) {
        "Terminating"
    } else if has("Suspended") {
        "Suspended"
    } else if has("FailureTarget") {
        "FailureTarget"
    } else if has("SuccessCriteriaMet") {
        "SuccessCriteriaMet"
    } else {
        "Running"
    }
}

fn completions(job: &Value) -> String {
    let succeeded = number(job, "status.succeeded").unwrap_or_default();
    let parallelism = number(job, "spec.parallelism").unwrap_or_default();
    match number(job, "spec.completions") {
        Some(completions) => format!("{succeeded}/{completions}"),
        None if parallelism > 1 => format!("{succeeded}/1 of {parallelism}"),
        None => format!("{succeeded}/1"),
    }
}

fn duration(job: &Value, now: Timestamp) -> String {
    let time = |path| parse_time(text(job, path));
    match (time("status.startTime"), time("status.completionTime")) {
        (None, _) => String::new(),
        (Some(start), end) => human_duration(end.unwrap_or(now).duration_since(start).as_secs()),
    }
}
