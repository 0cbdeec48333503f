//! What Events must be. The older group is lenient, the newer is not.

use hyperplane_schema::names::qualified_name;
use serde_json::Value;

use crate::{
    Target,
    complaints::{Complaints, Path},
    value::{is_set, number, text},
};

/// How long what is said of an event may be.
const INSTANCE_LIMIT: usize = 128;
const ACTION_LIMIT: usize = 128;
const REASON_LIMIT: usize = 128;
const NOTE_LIMIT: usize = 1024;

pub(super) fn validate(event: &Value, old: Option<&Value>, _target: Target<'_>, complaints: &mut Complaints) {
    let is_core = text(event, "apiVersion") == "v1";
    let names = if is_core { CORE } else { OTHER };
    validate_namespace(event, &names, complaints);
    if is_set(event.get("eventTime")) {
        validate_new_style(event, &names, complaints);
    }
    if !is_core && old.is_none() {
        validate_strictly(event, complaints);
    }
}

/// What the two groups call their fields. Messages always use the names of the core group.
struct Names {
    object: &'static str,
    controller: &'static str,
    note: &'static str,
    shown_controller: &'static str,
}

const CORE: Names = Names {
    object: "involvedObject",
    controller: "reportingComponent",
    note: "message",
    shown_controller: "reportingComponent",
};
const OTHER: Names = Names {
    object: "regarding",
    controller: "reportingController",
    note: "note",
    shown_controller: "reportingController",
};

fn validate_namespace(event: &Value, names: &Names, complaints: &mut Complaints) {
    let namespace = text(event, "metadata.namespace");
    let about = text(&event[names.object], "namespace");
    let agrees = match (is_set(event.get("eventTime")), about) {
        (false, "") => namespace == "default",
        (false, about) => about == namespace,
        (true, "") => matches!(namespace, "default" | "kube-system"),
        (true, _) => true,
    };
    if !agrees {
        complaints.invalid(
            &Path::new("involvedObject.namespace"),
            about,
            "does not match event.namespace",
        );
    }
}

fn validate_new_style(event: &Value, names: &Names, complaints: &mut Complaints) {
    let controller = text(event, names.controller);
    let path = Path::new(names.shown_controller);
    if controller.is_empty() {
        complaints.required(&path, "");
    }
    complaints.each(&path, controller, qualified_name(controller));
    for (field, limit) in [
        ("reportingInstance", INSTANCE_LIMIT),
        ("action", ACTION_LIMIT),
        ("reason", REASON_LIMIT),
    ] {
        let path = Path::new(field);
        let value = text(event, field);
        if value.is_empty() {
            complaints.required(&path, "");
        }
        if value.len() > limit {
            complaints.invalid(&path, "", format!("can have at most {limit} characters"));
        }
    }
    if text(event, names.note).len() > NOTE_LIMIT {
        complaints.invalid(
            &Path::new("message"),
            "",
            format!("can have at most {NOTE_LIMIT} characters"),
        );
    }
}

fn validate_strictly(event: &Value, complaints: &mut Complaints) {
    if let Some(series) = event.get("series") {
        if number(series, "count").unwrap_or_default() < 2 {
            complaints.invalid(&Path::new("series.count"), "", "should be at least 2");
        }
        if !is_set(series.get("lastObservedTime")) {
            complaints.required(&Path::new("series.lastObservedTime"), "");
        }
    }
    if !is_set(event.get("eventTime")) {
        complaints.required(&Path::new("eventTime"), "");
    }
    let kind = text(event, "type");
    if !matches!(kind, "Normal" | "Warning") {
        complaints.invalid(&Path::new("type"), "", format!("has invalid value: {kind}"));
    }
    for (field, shown) in [
        ("deprecatedFirstTimestamp", "firstTimestamp"),
        ("deprecatedLastTimestamp", "lastTimestamp"),
        ("deprecatedCount", "count"),
        ("deprecatedSource", "source"),
    ] {
        let is_given = is_set(event.get(field)) && event.get(field) != Some(&Value::from(0));
        if is_given {
            complaints.invalid(&Path::new(shown), "", "needs to be unset");
        }
    }
}
