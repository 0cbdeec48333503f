//! PersistentVolume and PersistentVolumeClaim.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::volume_rules::{validate_claim, validate_volume};
use crate::{
    Target,
    cells::{UNSET, name, object_age, or},
    row::{AGE, CLUSTER, NAME, NAMESPACED, Row, STATUS},
    value::{at, entry, is_set, list, text},
};

pub(super) const ROWS: &[Row] = &[CLAIM, VOLUME];

/// Both begin without a partner.
fn begin_pending(object: &mut Value) {
    if let Some(map) = object.as_object_mut() {
        map.insert("status".to_owned(), json!({ "phase": "Pending" }));
    }
}

const CLAIM: Row = Row {
    plural: "persistentvolumeclaims",
    singular: "persistentvolumeclaim",
    kind: "PersistentVolumeClaim",
    returns_deleted: true,
    type_name: "core.PersistentVolumeClaim",
    short_names: &["pvc"],
    subresources: &[STATUS],
    columns: &[
        NAME,
        ("Status", "string", 0),
        ("Volume", "string", 0),
        ("Capacity", "string", 0),
        ("Access Modes", "string", 0),
        ("StorageClass", "string", 0),
        ("VolumeAttributesClass", "string", 0),
        AGE,
        ("VolumeMode", "string", 1),
    ],
    cells: claim_cells,
    create: |object| {
        begin_pending(object);
        alike_sources(object);
    },
    validate: validate_claim,
    ..NAMESPACED
};

const VOLUME: Row = Row {
    plural: "persistentvolumes",
    singular: "persistentvolume",
    kind: "PersistentVolume",
    returns_deleted: true,
    type_name: "core.PersistentVolume",
    short_names: &["pv"],
    subresources: &[STATUS],
    columns: &[
        NAME,
        ("Capacity", "string", 0),
        ("Access Modes", "string", 0),
        ("Reclaim Policy", "string", 0),
        ("Status", "string", 0),
        ("Claim", "string", 0),
        ("StorageClass", "string", 0),
        ("VolumeAttributesClass", "string", 0),
        ("Reason", "string", 0),
        AGE,
        ("VolumeMode", "string", 1),
    ],
    cells: volume_cells,
    validate: validate_volume,
    stamp: stamp_phase,
    ..CLUSTER
};

/// The annotation that named the class before there was a field.
const CLASS_ANNOTATION: &str = "volume.beta.kubernetes.io/storage-class";

/// The two fields that name the source of a claim are kept alike where one can stand for the other.
fn alike_sources(object: &mut Value) {
    let Some(specification) = object.get_mut("spec").and_then(Value::as_object_mut) else {
        return;
    };
    let (source, reference) = (
        specification.get("dataSource").cloned(),
        specification.get("dataSourceRef").cloned(),
    );
    match (source, reference) {
        (Some(source), None) => {
            specification.insert("dataSourceRef".to_owned(), source);
        }
        (None, Some(reference)) if !is_set(reference.get("namespace")) => {
            specification.insert("dataSource".to_owned(), reference);
        }
        _ => {}
    }
}

/// The time of the last change of phase is the server's to say.
fn stamp_phase(object: &mut Value, old: Option<&Value>, target: Target<'_>, now: Timestamp) {
    let phase_changed = match (old, target) {
        (None, _) => true,
        (Some(old), Target::Status) => {
            let time = |volume: &Value| at(volume, "status.lastPhaseTransitionTime").cloned();
            let is_same_time = time(object).is_none() || time(object) == time(old);
            if text(old, "status.phase") == text(object, "status.phase") {
                if let (None, Some(time), Some(map)) = (time(object), time(old), object.as_object_mut()) {
                    entry(map, "status").insert("lastPhaseTransitionTime".to_owned(), time);
                }
                false
            } else {
                is_same_time
            }
        }
        _ => false,
    };
    if phase_changed && let Some(map) = object.as_object_mut() {
        let now = now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
        entry(map, "status").insert("lastPhaseTransitionTime".to_owned(), json!(now));
    }
}

fn claim_cells(claim: &Value, now: Timestamp) -> Vec<Value> {
    let is_bound = !text(claim, "spec.volumeName").is_empty();
    let bound = |text: String| if is_bound { text } else { String::new() };
    vec![
        name(claim),
        Value::from(phase(claim)),
        Value::from(text(claim, "spec.volumeName")),
        Value::from(bound(or(text(claim, "status.capacity.storage"), "0").to_owned())),
        Value::from(bound(modes(claim, "status.accessModes"))),
        Value::from(class(claim)),
        Value::from(or(text(claim, "spec.volumeAttributesClassName"), UNSET)),
        object_age(claim, now),
        Value::from(or(text(claim, "spec.volumeMode"), UNSET)),
    ]
}

fn volume_cells(volume: &Value, now: Timestamp) -> Vec<Value> {
    let claim = at(volume, "spec.claimRef").map_or_else(String::new, |claim| {
        format!("{}/{}", text(claim, "namespace"), text(claim, "name"))
    });
    vec![
        name(volume),
        Value::from(or(text(volume, "spec.capacity.storage"), "0")),
        Value::from(modes(volume, "spec.accessModes")),
        Value::from(text(volume, "spec.persistentVolumeReclaimPolicy")),
        Value::from(phase(volume)),
        Value::from(claim),
        Value::from(class(volume)),
        Value::from(or(text(volume, "spec.volumeAttributesClassName"), UNSET)),
        Value::from(text(volume, "status.reason")),
        object_age(volume, now),
        Value::from(or(text(volume, "spec.volumeMode"), UNSET)),
    ]
}

fn phase(object: &Value) -> &str {
    if is_set(at(object, "metadata.deletionTimestamp")) {
        "Terminating"
    } else {
        text(object, "status.phase")
    }
}

fn class(object: &Value) -> &str {
    let annotation = at(object, "metadata.annotations").and_then(|annotations| annotations.get(CLASS_ANNOTATION));
    annotation
        .and_then(Value::as_str)
        .unwrap_or_else(|| text(object, "spec.storageClassName"))
}

/// Access modes in short, in a fixed order.
fn modes(object: &Value, path: &str) -> String {
    let has = |mode: &str| list(object, path).iter().any(|entry| entry == mode);
    [
        ("ReadWriteOnce", "RWO"),
        ("ReadOnlyMany", "ROX"),
        ("ReadWriteMany", "RWX"),
        ("ReadWriteOncePod", "RWOP"),
    ]
    .into_iter()
    .filter(|(mode, _)| has(mode))
    .map(|(_, short)| short)
    .collect::<Vec<_>>()
    .join(",")
}
