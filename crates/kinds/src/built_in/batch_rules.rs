//! What jobs and their schedules must be (batch/validation).

use serde_json::Value;

use super::{
    cron::{ScheduleError, parse_schedule},
    pod_spec_rules::validate_template,
    pod_warnings::name_warning,
};
use crate::{
    Target,
    complaints::{Complaints, Path},
    labels::{selects, validate_selector},
    value::{at, carry_over, is_true, number, text},
};

/// A job's name is its schedule's with eleven characters more, and has to stay a label.
const CRON_NAME_LIMIT: usize = 52;
const SPECIFICATION: Path<'static> = Path::new("spec");

pub(super) fn validate_job(job: &Value, old: Option<&Value>, target: Target<'_>, complaints: &mut Complaints) {
    if target == Target::Status {
        return;
    }
    let specification = &job["spec"];
    let path = &SPECIFICATION;
    validate_job_specification(specification, path, complaints);
    let selector = specification.get("selector");
    match selector {
        None => complaints.required(&path.child("selector"), ""),
        Some(_) => validate_selector(selector, &path.child("selector"), complaints),
    }
    let labels = at(specification, "template.metadata.labels");
    if selector.is_some_and(|selector| !selects(selector, labels.and_then(Value::as_object))) {
        let shown = labels.cloned().unwrap_or(Value::Null);
        let detail = "`selector` does not match template `labels`";
        complaints.invalid(&path.child("template.metadata.labels"), shown, detail);
    }
    if let Some(old) = old {
        validate_job_change(specification, &old["spec"], path, complaints);
    }
}

fn validate_job_specification(specification: &Value, path: &Path<'_>, complaints: &mut Complaints) {
    for field in [
        "parallelism",
        "completions",
        "activeDeadlineSeconds",
        "backoffLimit",
        "ttlSecondsAfterFinished",
        "backoffLimitPerIndex",
        "maxFailedIndexes",
    ] {
        complaints.not_negative(&path.child(field), specification.get(field));
    }
    validate_completion_mode(specification, path, complaints);
    validate_template(&specification["template"], &path.child("template"), complaints);
    let policy = text(specification, "template.spec.restartPolicy");
    let policy_path = path.child("template.spec.restartPolicy");
    match policy {
        "Always" | "" => complaints.required(&policy_path, r#"valid values: "OnFailure", "Never""#),
        "OnFailure" if specification.get("podFailurePolicy").is_some() => {
            let detail = r#"only "Never" is supported when podFailurePolicy is specified"#;
            complaints.invalid(&policy_path, policy, detail);
        }
        other => complaints.one_of(&policy_path, other, &["OnFailure", "Never"]),
    }
}

fn validate_completion_mode(specification: &Value, path: &Path<'_>, complaints: &mut Complaints) {
    let mode = text(specification, "completionMode");
    if !mode.is_empty() {
        complaints.one_of(&path.child("completionMode"), mode, &["NonIndexed", "Indexed"]);
    }
    if mode == "Indexed" && specification.get("completions").is_none() {
        complaints.required(&path.child("completions"), "when completion mode is Indexed");
    }
    if mode != "Indexed" {
        for field in ["backoffLimitPerIndex", "maxFailedIndexes"] {
            if let Some(limit) = number(specification, field) {
                complaints.invalid(&path.child(field), limit, "requires indexed completion mode");
            }
        }
    }
}

fn validate_job_change(new: &Value, old: &Value, path: &Path<'_>, complaints: &mut Complaints) {
    let is_indexed = text(new, "completionMode") == "Indexed";
    let completions = path.child("completions");
    if !is_indexed {
        complaints.unchanged(&completions, new.get("completions"), old.get("completions"));
    } else if new.get("completions") != old.get("completions") && new.get("completions") != new.get("parallelism") {
        let shown = number(new, "completions").unwrap_or_default();
        complaints.invalid(
            &completions,
            shown,
            "can only be modified in tandem with spec.parallelism",
        );
    }
    complaints.unchanged(&path.child("selector"), new.get("selector"), old.get("selector"));
    validate_template_change(new, old, &path.child("template"), complaints);
    for field in [
        "completionMode",
        "podFailurePolicy",
        "backoffLimitPerIndex",
        "managedBy",
        "successPolicy",
    ] {
        complaints.unchanged(&path.child(field), new.get(field), old.get(field));
    }
}

/// Where a suspended job that never ran will run may still change; nothing else of the template may.
fn validate_template_change(new: &Value, old: &Value, path: &Path<'_>, complaints: &mut Complaints) {
    let (template, mut before) = (&new["template"], old["template"].clone());
    if is_true(old, "suspend") {
        let free: [(&str, &[&str]); 2] = [
            ("metadata", &["labels", "annotations"]),
            ("spec", &["affinity", "nodeSelector", "tolerations", "schedulingGates"]),
        ];
        for (part, fields) in free {
            for field in fields {
                if let Some(before) = before.get_mut(part) {
                    carry_over(before, &template[part], field);
                }
            }
        }
    }
    if template != &before {
        complaints.invalid(path, hyperplane_schema::BadValue::Omitted, "field is immutable");
    }
}

pub(super) fn validate_cron_job(job: &Value, old: Option<&Value>, target: Target<'_>, complaints: &mut Complaints) {
    if target == Target::Status {
        return;
    }
    let specification = &job["spec"];
    let path = &SPECIFICATION;
    let schedule = text(specification, "schedule");
    if schedule.is_empty() {
        complaints.required(&path.child("schedule"), "");
    } else {
        validate_schedule(schedule, &path.child("schedule"), complaints);
    }
    complaints.not_negative(
        &path.child("startingDeadlineSeconds"),
        specification.get("startingDeadlineSeconds"),
    );
    complaints.required_one_of(
        &path.child("concurrencyPolicy"),
        text(specification, "concurrencyPolicy"),
        &["Allow", "Forbid", "Replace"],
    );
    let template = path.child("jobTemplate.spec");
    validate_job_specification(&specification["jobTemplate"]["spec"], &template, complaints);
    validate_job_template(&specification["jobTemplate"]["spec"], &template, complaints);
    for field in ["successfulJobsHistoryLimit", "failedJobsHistoryLimit"] {
        complaints.not_negative(&path.child(field), specification.get(field));
    }
    let name = text(job, "metadata.name");
    if old.is_none() && name.len() > CRON_NAME_LIMIT {
        let detail = "must be no more than 52 characters";
        complaints.invalid(&Path::new("metadata.name"), name, detail);
    }
}

fn validate_job_template(specification: &Value, path: &Path<'_>, complaints: &mut Complaints) {
    if let Some(selector) = specification.get("selector") {
        complaints.invalid(
            &path.child("selector"),
            selector.clone(),
            "`selector` will be auto-generated",
        );
    }
    if is_true(specification, "manualSelector") {
        let path = path.child("manualSelector").to_string();
        complaints.add(hyperplane_schema::FieldError::not_supported(
            path,
            true,
            ["nil", "false"],
        ));
    }
}

fn validate_schedule(schedule: &str, path: &Path<'_>, complaints: &mut Complaints) {
    if let Err(ScheduleError(words)) = parse_schedule(schedule) {
        complaints.invalid(path, schedule, words);
    }
    if schedule.contains("TZ") {
        complaints.invalid(
            path,
            schedule,
            "cannot use TZ or CRON_TZ in schedule, use timeZone field instead",
        );
    }
}

pub(super) fn cron_job_warnings(job: &Value, old: Option<&Value>) -> Vec<String> {
    if old.is_none() {
        name_warning(job).into_iter().collect()
    } else {
        Vec::new()
    }
}
