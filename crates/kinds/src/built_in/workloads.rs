//! The kinds that keep pods running: Deployment, ReplicaSet, StatefulSet, DaemonSet, ReplicationController; and the
//! ControllerRevision in which some of them keep their past.

use jiff::Timestamp;
use serde_json::Value;

use super::{
    pod_warnings::{template_warnings, workload_warnings},
    stateful_set_rules::validate_stateful_set,
    workload_rules::{
        validate_controller_revision, validate_daemon_set, validate_deployment, validate_replica_set,
        validate_replication_controller,
    },
};
use crate::{
    Propagation, Target,
    cells::{NONE, containers, count, labels, name, object_age, or, selector, selector_text},
    row::{AGE, Generation, NAME, NAMESPACED, Row, SCALE, STATUS, carry_over_by_target, reset_status},
    value::{at, entry, list, number, text},
};

pub(super) const ROWS: &[Row] = &[
    REPLICATION_CONTROLLER,
    CONTROLLER_REVISION,
    DAEMON_SET,
    DEPLOYMENT,
    REPLICA_SET,
    STATEFUL_SET,
];

const WORKLOAD: Row = Row {
    group: "apps",
    categories: &["all"],
    generation: Generation::Specification,
    ..NAMESPACED
};

const CONTAINERS: [crate::row::ColumnRow; 2] = [("Containers", "string", 1), ("Images", "string", 1)];
const SELECTOR: crate::row::ColumnRow = ("Selector", "string", 1);

const REPLICA_COLUMNS: &[crate::row::ColumnRow] = &[
    NAME,
    ("Desired", "integer", 0),
    ("Current", "integer", 0),
    ("Ready", "integer", 0),
    AGE,
    CONTAINERS[0],
    CONTAINERS[1],
    SELECTOR,
];

const REPLICATION_CONTROLLER: Row = Row {
    group: "",
    plural: "replicationcontrollers",
    singular: "replicationcontroller",
    kind: "ReplicationController",
    type_name: "core.ReplicationController",
    short_names: &["rc"],
    subresources: &[SCALE, STATUS],
    scale_selector: Some("spec.selector"),
    columns: REPLICA_COLUMNS,
    cells: |object, now| replica_cells(object, now, labels(at(object, "spec.selector"))),
    fields: &[("status.replicas", &["status.replicas"], "0")],
    propagation: Propagation::Orphan,
    validate: validate_replication_controller,
    warnings: workload_warnings,
    ..WORKLOAD
};

const CONTROLLER_REVISION: Row = Row {
    group: "apps",
    plural: "controllerrevisions",
    singular: "controllerrevision",
    kind: "ControllerRevision",
    type_name: "apps.ControllerRevision",
    columns: &[NAME, ("Controller", "string", 0), ("Revision", "string", 0), AGE],
    cells: revision_cells,
    validate: validate_controller_revision,
    ..NAMESPACED
};

const DAEMON_SET: Row = Row {
    plural: "daemonsets",
    singular: "daemonset",
    kind: "DaemonSet",
    type_name: "apps.DaemonSet",
    short_names: &["ds"],
    subresources: &[STATUS],
    columns: &[
        NAME,
        ("Desired", "integer", 0),
        ("Current", "integer", 0),
        ("Ready", "integer", 0),
        ("Up-to-date", "integer", 0),
        ("Available", "integer", 0),
        ("Node Selector", "string", 0),
        AGE,
        CONTAINERS[0],
        CONTAINERS[1],
        SELECTOR,
    ],
    cells: daemon_set_cells,
    create: create_daemon_set,
    update: update_daemon_set,
    validate: validate_daemon_set,
    warnings: template_warnings,
    ..WORKLOAD
};

const DEPLOYMENT: Row = Row {
    plural: "deployments",
    singular: "deployment",
    kind: "Deployment",
    reset_fields: |target| match target {
        Target::Main => &[&["status"]],
        Target::Status => &[&["spec"], &["metadata", "labels"]],
        Target::Subresource(_) => &[],
    },
    type_name: "apps.Deployment",
    short_names: &["deploy"],
    subresources: &[SCALE, STATUS],
    scale_selector: Some("spec.selector"),
    columns: &[
        NAME,
        ("Ready", "string", 0),
        ("Up-to-date", "string", 0),
        ("Available", "string", 0),
        AGE,
        CONTAINERS[0],
        CONTAINERS[1],
        SELECTOR,
    ],
    cells: deployment_cells,
    generation: Generation::SpecificationAndAnnotations,
    update: update_deployment,
    validate: validate_deployment,
    warnings: workload_warnings,
    ..WORKLOAD
};

const REPLICA_SET: Row = Row {
    plural: "replicasets",
    singular: "replicaset",
    kind: "ReplicaSet",
    type_name: "apps.ReplicaSet",
    short_names: &["rs"],
    subresources: &[SCALE, STATUS],
    scale_selector: Some("spec.selector"),
    columns: REPLICA_COLUMNS,
    cells: |object, now| replica_cells(object, now, selector(at(object, "spec.selector"))),
    validate: validate_replica_set,
    warnings: workload_warnings,
    ..WORKLOAD
};

const STATEFUL_SET: Row = Row {
    plural: "statefulsets",
    singular: "statefulset",
    kind: "StatefulSet",
    type_name: "apps.StatefulSet",
    short_names: &["sts"],
    subresources: &[SCALE, STATUS],
    scale_selector: Some("spec.selector"),
    columns: &[NAME, ("Ready", "string", 0), AGE, CONTAINERS[0], CONTAINERS[1]],
    cells: stateful_set_cells,
    validate: validate_stateful_set,
    warnings: template_warnings,
    ..WORKLOAD
};

/// The number in which the templates of a DaemonSet were once counted. No client sees it, but old pods carry it.
const TEMPLATE_GENERATION: &str = "deprecated.daemonset.template.generation";

fn create_daemon_set(object: &mut Value) {
    reset_status(object);
    set_template_generation(object, 1);
}

fn set_template_generation(object: &mut Value, generation: i64) {
    let Some(map) = object.as_object_mut() else { return };
    let annotations = entry(entry(map, "metadata"), "annotations");
    annotations.insert(TEMPLATE_GENERATION.to_owned(), Value::from(generation.to_string()));
}

fn template_generation(object: &Value) -> i64 {
    let annotations = &object["metadata"]["annotations"];
    annotations[TEMPLATE_GENERATION]
        .as_str()
        .and_then(|text| text.parse().ok())
        .unwrap_or_default()
}

fn update_daemon_set(object: &mut Value, old: &Value, target: Target<'_>) {
    carry_over_by_target(object, old, target);
    let changed = target == Target::Main && at(object, "spec.template") != at(old, "spec.template");
    set_template_generation(object, template_generation(old) + i64::from(changed));
}

/// The status of a Deployment cannot change its labels.
fn update_deployment(object: &mut Value, old: &Value, target: Target<'_>) {
    carry_over_by_target(object, old, target);
    if target == Target::Status
        && let Some(map) = object.as_object_mut()
    {
        let metadata = entry(map, "metadata");
        match old["metadata"].get("labels") {
            Some(labels) => metadata.insert("labels".to_owned(), labels.clone()),
            None => metadata.remove("labels"),
        };
    }
}

fn replica_cells(object: &Value, now: Timestamp, selector: String) -> Vec<Value> {
    let [names, images] = containers(&object["spec"]["template"]["spec"]);
    vec![
        name(object),
        count(object, "spec.replicas"),
        count(object, "status.replicas"),
        count(object, "status.readyReplicas"),
        object_age(object, now),
        names,
        images,
        Value::from(selector),
    ]
}

fn ready(object: &Value) -> Value {
    let number = |path| number(object, path).unwrap_or_default();
    Value::from(format!(
        "{}/{}",
        number("status.readyReplicas"),
        number("spec.replicas")
    ))
}

fn deployment_cells(object: &Value, now: Timestamp) -> Vec<Value> {
    let [names, images] = containers(&object["spec"]["template"]["spec"]);
    vec![
        name(object),
        ready(object),
        count(object, "status.updatedReplicas"),
        count(object, "status.availableReplicas"),
        object_age(object, now),
        names,
        images,
        Value::from(selector_text(at(object, "spec.selector"))),
    ]
}

fn stateful_set_cells(object: &Value, now: Timestamp) -> Vec<Value> {
    let [names, images] = containers(&object["spec"]["template"]["spec"]);
    vec![name(object), ready(object), object_age(object, now), names, images]
}

fn daemon_set_cells(object: &Value, now: Timestamp) -> Vec<Value> {
    let [names, images] = containers(&object["spec"]["template"]["spec"]);
    vec![
        name(object),
        count(object, "status.desiredNumberScheduled"),
        count(object, "status.currentNumberScheduled"),
        count(object, "status.numberReady"),
        count(object, "status.updatedNumberScheduled"),
        count(object, "status.numberAvailable"),
        Value::from(labels(at(object, "spec.template.spec.nodeSelector"))),
        object_age(object, now),
        names,
        images,
        Value::from(selector(at(object, "spec.selector"))),
    ]
}

fn revision_cells(object: &Value, now: Timestamp) -> Vec<Value> {
    let mut owners = list(object, "metadata.ownerReferences").iter();
    let controller = owners
        .find(|owner| owner["controller"] == true)
        .map_or_else(String::new, |owner| {
            let kind = match text(owner, "apiVersion").split_once('/') {
                Some((group, _)) => format!("{}.{group}", text(owner, "kind")),
                None => text(owner, "kind").to_owned(),
            };
            format!("{}/{}", kind.to_lowercase(), text(owner, "name"))
        });
    vec![
        name(object),
        Value::from(or(&controller, NONE)),
        count(object, "revision"),
        object_age(object, now),
    ]
}
