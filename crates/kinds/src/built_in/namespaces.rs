//! Namespace.

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::{
    Target, Verb,
    cells::{name, object_age},
    complaints::{Complaints, Path},
    row::{AGE, CLUSTER, NAME, Row, STATUS, SubresourceRow, carry_over_all_but_status},
    value::{carry_over, entry, is_set, list, text},
};

pub(super) const ROWS: &[Row] = &[Row {
    plural: "namespaces",
    singular: "namespace",
    kind: "Namespace",
    reset_fields: |target| match target {
        Target::Main | Target::Subresource(_) => &[&["status"]],
        Target::Status => &[&["spec"]],
    },
    is_held: |namespace| !list(namespace, "spec.finalizers").is_empty(),
    begin_deletion: |namespace, _| {
        if let Some(map) = namespace.as_object_mut() {
            entry(map, "status").insert("phase".to_owned(), json!("Terminating"));
        }
    },
    returns_deleted: true,
    type_name: "core.Namespace",
    short_names: &["ns"],
    verbs: &[
        Verb::Create,
        Verb::Delete,
        Verb::Get,
        Verb::List,
        Verb::Patch,
        Verb::Update,
        Verb::Watch,
    ],
    subresources: &[
        SubresourceRow {
            name: "finalize",
            verbs: &[Verb::Update],
            ..STATUS
        },
        STATUS,
    ],
    columns: &[NAME, ("Status", "string", 0), AGE],
    cells,
    fields: &[("status.phase", &["status.phase"], "")],
    name: hyperplane_schema::names::dns_1123_label,
    create,
    update,
    validate,
    ..CLUSTER
}];

/// The finalizer that keeps a namespace until its contents are gone.
const FINALIZER: &str = "kubernetes";

fn cells(object: &Value, now: Timestamp) -> Vec<Value> {
    vec![
        name(object),
        Value::from(text(object, "status.phase")),
        object_age(object, now),
    ]
}

fn create(object: &mut Value) {
    let has_finalizer = list(object, "spec.finalizers").iter().any(|name| name == FINALIZER);
    let Some(map) = object.as_object_mut() else { return };
    map.insert("status".to_owned(), json!({ "phase": "Active" }));
    if !has_finalizer {
        let finalizers = entry(map, "spec").entry("finalizers").or_insert_with(|| json!([]));
        if let Value::Array(finalizers) = finalizers {
            finalizers.push(Value::from(FINALIZER));
        }
    }
}

fn update(object: &mut Value, old: &Value, target: Target<'_>) {
    match target {
        Target::Main => {
            carry_over(object, old, "status");
            carry_over(object, old, "spec");
        }
        Target::Status => carry_over_all_but_status(object, old),
        Target::Subresource(_) => carry_over(object, old, "status"),
    }
}

/// A namespace that is being deleted is terminating, and no other is.
fn validate(object: &Value, old: Option<&Value>, target: Target<'_>, complaints: &mut Complaints) {
    if target != Target::Status || old.is_none() {
        return;
    }
    let phase = text(object, "status.phase");
    let is_deleted = is_set(object["metadata"].get("deletionTimestamp"));
    let path = Path::new("status.phase");
    if !is_deleted && phase != "Active" {
        complaints.invalid(&path, phase, "may only be 'Active' if `deletionTimestamp` is empty");
    }
    if is_deleted && phase != "Terminating" {
        complaints.invalid(
            &path,
            phase,
            "may only be 'Terminating' if `deletionTimestamp` is not empty",
        );
    }
}
