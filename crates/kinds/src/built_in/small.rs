//! Kinds of which little is said: ComponentStatus, Lease, PriorityClass, RuntimeClass, CustomResourceDefinition,
//! APIService.

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::small_rules::{
    api_service_name, validate_api_service, validate_lease, validate_priority_class, validate_runtime_class,
};
use crate::{
    Target, Verb,
    cells::{count, name, object_age},
    complaints::Complaints,
    row::{AGE, CLUSTER, Generation, NAME, NAMESPACED, Row, STATUS, carry_over_by_target, reset_status},
    value::{entry, is_true, list, text},
};

pub(super) const COMPONENT_STATUS: &[Row] = &[Row {
    plural: "componentstatuses",
    singular: "componentstatus",
    kind: "ComponentStatus",
    type_name: "core.ComponentStatus",
    short_names: &["cs"],
    verbs: &[Verb::Get, Verb::List],
    columns: &[
        NAME,
        ("Status", "string", 0),
        ("Message", "string", 0),
        ("Error", "string", 0),
    ],
    cells: component_cells,
    deprecation: "v1 ComponentStatus is deprecated in v1.19+",
    ..CLUSTER
}];

pub(super) const ROWS: &[Row] = &[LEASE, PRIORITY_CLASS, RUNTIME_CLASS, DEFINITION, API_SERVICE];

const LEASE: Row = Row {
    group: "coordination.k8s.io",
    plural: "leases",
    singular: "lease",
    kind: "Lease",
    type_name: "coordination.Lease",
    columns: &[NAME, ("Holder", "string", 0), AGE],
    cells: |object, now| text_cells(object, now, "spec.holderIdentity"),
    creates_on_update: true,
    allows_unconditional_update: false,
    create: drop_disabled,
    update: |lease, _, _| drop_disabled(lease),
    validate: validate_lease,
    ..NAMESPACED
};

const PRIORITY_CLASS: Row = Row {
    group: "scheduling.k8s.io",
    plural: "priorityclasses",
    singular: "priorityclass",
    kind: "PriorityClass",
    type_name: "scheduling.PriorityClass",
    short_names: &["pc"],
    columns: &[
        NAME,
        ("Value", "integer", 0),
        ("Global-Default", "boolean", 0),
        AGE,
        ("PreemptionPolicy", "string", 0),
    ],
    cells: priority_cells,
    generation: Generation::Specification,
    validate: validate_priority_class,
    ..CLUSTER
};

const RUNTIME_CLASS: Row = Row {
    group: "node.k8s.io",
    plural: "runtimeclasses",
    singular: "runtimeclass",
    kind: "RuntimeClass",
    type_name: "node.RuntimeClass",
    columns: &[NAME, ("Handler", "string", 0), AGE],
    cells: |object, now| text_cells(object, now, "handler"),
    creates_on_update: true,
    allows_unconditional_update: false,
    validate: validate_runtime_class,
    ..CLUSTER
};

/// Its schemas are judged by the crate of schemas, which the server asks; here is what its other fields need.
const DEFINITION: Row = Row {
    group: "apiextensions.k8s.io",
    plural: "customresourcedefinitions",
    singular: "customresourcedefinition",
    kind: "CustomResourceDefinition",
    begin_deletion: begin_definition_deletion,
    validate: validate_definition,
    // The rules of definitions look at the name too.
    name: |_| Vec::new(),
    create: create_definition,
    update: update_definition,
    type_name: "apiextensions.CustomResourceDefinition",
    short_names: &["crd", "crds"],
    categories: &["api-extensions"],
    subresources: &[STATUS],
    generation: Generation::Specification,
    allows_unconditional_update: false,
    ..CLUSTER
};

const API_SERVICE: Row = Row {
    group: "apiregistration.k8s.io",
    plural: "apiservices",
    singular: "apiservice",
    kind: "APIService",
    type_name: "apiregistration.APIService",
    categories: &["api-extensions"],
    subresources: &[STATUS],
    columns: &[NAME, ("Service", "string", 0), ("Available", "string", 0), AGE],
    cells: api_service_cells,
    allows_unconditional_update: false,
    name: api_service_name,
    validate: validate_api_service,
    ..CLUSTER
};

fn component_cells(component: &Value, _now: Timestamp) -> Vec<Value> {
    let healthy = list(component, "conditions")
        .iter()
        .find(|condition| text(condition, "type") == "Healthy");
    let status = match healthy.map(|condition| text(condition, "status")) {
        None => "Unknown",
        Some("True") => "Healthy",
        Some(_) => "Unhealthy",
    };
    let field = |field| Value::from(healthy.map_or("", |condition| text(condition, field)));
    vec![name(component), Value::from(status), field("message"), field("error")]
}

/// Fields of features that are off unless an administrator asks for them.
fn drop_disabled(lease: &mut Value) {
    if let Some(specification) = lease.get_mut("spec").and_then(Value::as_object_mut) {
        specification.retain(|name, _| !matches!(name.as_str(), "strategy" | "preferredHolder"));
    }
}

fn text_cells(object: &Value, now: Timestamp, path: &str) -> Vec<Value> {
    vec![name(object), Value::from(text(object, path)), object_age(object, now)]
}

fn priority_cells(object: &Value, now: Timestamp) -> Vec<Value> {
    vec![
        name(object),
        count(object, "value"),
        Value::from(is_true(object, "globalDefault")),
        object_age(object, now),
        Value::from(text(object, "preemptionPolicy")),
    ]
}

fn api_service_cells(object: &Value, now: Timestamp) -> Vec<Value> {
    let service = object["spec"].get("service").filter(|service| !service.is_null());
    let service = service.map_or_else(
        || "Local".to_owned(),
        |service| format!("{}/{}", text(service, "namespace"), text(service, "name")),
    );
    let available = list(object, "status.conditions")
        .iter()
        .find(|condition| text(condition, "type") == "Available");
    let status = match available {
        None => "Unknown".to_owned(),
        Some(condition) => match (text(condition, "status"), text(condition, "reason")) {
            ("True", _) => "True".to_owned(),
            (status, reason) => format!("{status} ({reason})"),
        },
    };
    vec![
        name(object),
        Value::from(service),
        Value::from(status),
        object_age(object, now),
    ]
}

/// The finalizer that keeps a definition until its objects are gone.
const CLEANUP_FINALIZER: &str = "customresourcecleanup.apiextensions.k8s.io";

/// A definition begins with the version in which its objects are stored first.
fn create_definition(definition: &mut Value) {
    reset_status(definition);
    if let Some(map) = definition.as_object_mut() {
        let status = json!({"acceptedNames": {"plural": "", "kind": ""}, "conditions": null});
        map.insert("status".to_owned(), status);
    }
    add_stored_version(definition);
}

/// A version in which objects were ever stored is remembered.
fn update_definition(definition: &mut Value, old: &Value, target: Target<'_>) {
    carry_over_by_target(definition, old, target);
    if target == Target::Main {
        add_stored_version(definition);
    }
}

fn add_stored_version(definition: &mut Value) {
    let mut versions = list(&definition["spec"], "versions").iter();
    let stored = versions.find(|version| version["storage"] == true);
    let Some(name) = stored.map(|version| text(version, "name").to_owned()) else {
        return;
    };
    if let Some(map) = definition.as_object_mut() {
        add_text(entry(map, "status"), "storedVersions", &name);
    }
}

fn validate_definition(definition: &Value, old: Option<&Value>, _target: Target<'_>, complaints: &mut Complaints) {
    complaints
        .0
        .extend(hyperplane_schema::definition::validate(definition, old));
}

fn begin_definition_deletion(definition: &mut Value, now: Timestamp) {
    let Some(map) = definition.as_object_mut() else { return };
    let now = now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    let metadata = entry(map, "metadata");
    add_text(metadata, "finalizers", CLEANUP_FINALIZER);
    // Upstream marks definitions by hand: no grace period, and no new generation.
    metadata.insert("deletionTimestamp".to_owned(), json!(now));
    let condition = json!({
        "type": "Terminating",
        "status": "True",
        "lastTransitionTime": now,
        "reason": "InstanceDeletionPending",
        "message": "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon",
    });
    let conditions = entry(map, "status").entry("conditions").or_insert(Value::Null);
    if conditions.is_null() {
        *conditions = json!([]);
    }
    if let Value::Array(conditions) = conditions {
        conditions.retain(|condition| text(condition, "type") != "Terminating");
        conditions.push(condition);
    }
}

/// Adds a text to a list that does not have it.
fn add_text(map: &mut Map<String, Value>, name: &str, text: &str) {
    if let Value::Array(list) = map.entry(name).or_insert_with(|| json!([]))
        && !list.iter().any(|entry| entry == text)
    {
        list.push(Value::from(text));
    }
}
