//! Dynamic resource allocation: classes of devices, claims of them and their templates, and the slices in which drivers
//! publish what there is. The scheduler allocates; here are the kinds alone.

use std::collections::BTreeSet;

use jiff::Timestamp;
use serde_json::{Map, Value};

use super::{
    device_claim_rules::{validate_claim, validate_template},
    device_class_rules::validate_class,
    device_slice_rules::validate_slice,
};
use crate::{
    Target,
    cells::{name, name_and_age, object_age},
    row::{AGE, CLUSTER, Generation, NAME, NAMESPACED, ResetFields, Row, STATUS, carry_over_by_target},
    value::{at, carry_over, is_set, list, text},
};

pub(super) const ROWS: &[Row] = &[CLASS, CLAIM, TEMPLATE, SLICE];

const GROUP: &str = "resource.k8s.io";

const CLASS: Row = Row {
    group: GROUP,
    plural: "deviceclasses",
    singular: "deviceclass",
    kind: "DeviceClass",
    returns_deleted: true,
    type_name: "dra.DeviceClass",
    columns: &[NAME, AGE],
    cells: name_and_age,
    generation: Generation::Specification,
    validate: validate_class,
    ..CLUSTER
};

const CLAIM: Row = Row {
    group: GROUP,
    plural: "resourceclaims",
    singular: "resourceclaim",
    kind: "ResourceClaim",
    returns_deleted: true,
    type_name: "dra.ResourceClaim",
    subresources: &[STATUS],
    columns: &[NAME, ("State", "string", 0), AGE],
    cells: |claim, now| vec![name(claim), Value::from(claim_state(claim)), object_age(claim, now)],
    update: update_claim,
    reset_fields: claim_reset_fields,
    validate: validate_claim,
    ..NAMESPACED
};

const TEMPLATE: Row = Row {
    group: GROUP,
    plural: "resourceclaimtemplates",
    singular: "resourceclaimtemplate",
    kind: "ResourceClaimTemplate",
    returns_deleted: true,
    type_name: "dra.ResourceClaimTemplate",
    columns: &[NAME, AGE],
    cells: name_and_age,
    validate: validate_template,
    ..NAMESPACED
};

const SLICE: Row = Row {
    group: GROUP,
    plural: "resourceslices",
    singular: "resourceslice",
    kind: "ResourceSlice",
    returns_deleted: true,
    type_name: "dra.ResourceSlice",
    columns: &[
        NAME,
        ("Node", "string", 0),
        ("Driver", "string", 0),
        ("Pool", "string", 0),
        AGE,
    ],
    cells: slice_cells,
    fields: &[
        ("spec.driver", &["spec.driver"], ""),
        ("spec.nodeName", &["spec.nodeName"], ""),
    ],
    generation: Generation::Specification,
    create: drop_disabled,
    update: |slice, _, _| drop_disabled(slice),
    stamp: |slice, _, _, now| stamp_taints(slice, now),
    validate: validate_slice,
    warnings: |slice, _| slice_warnings(slice),
    ..CLUSTER
};

/// What has become of a claim, in one cell.
fn claim_state(claim: &Value) -> String {
    let is_deleted = is_set(at(claim, "metadata.deletionTimestamp"));
    let mut states = Vec::new();
    if is_deleted {
        states.push("deleted");
    }
    if at(claim, "status.allocation").is_some_and(Value::is_object) {
        states.push("allocated");
        if !list(claim, "status.reservedFor").is_empty() {
            states.push("reserved");
        }
    } else if !is_deleted {
        states.push("pending");
    }
    states.join(",")
}

fn slice_cells(slice: &Value, now: Timestamp) -> Vec<Value> {
    vec![
        name(slice),
        Value::from(text(slice, "spec.nodeName")),
        Value::from(text(slice, "spec.driver")),
        Value::from(text(slice, "spec.pool.name")),
        object_age(slice, now),
    ]
}

/// What a write of the status cannot change in the metadata.
const METADATA_OF_OBJECT: [&str; 4] = ["labels", "annotations", "finalizers", "ownerReferences"];

fn claim_reset_fields(target: Target<'_>) -> ResetFields {
    match target {
        Target::Main => &[&["status"]],
        Target::Status => &[&["metadata"], &["spec"]],
        Target::Subresource(_) => &[],
    }
}

fn update_claim(claim: &mut Value, old: &Value, target: Target<'_>) {
    carry_over_by_target(claim, old, target);
    if target != Target::Status {
        return;
    }
    if let Some(metadata) = claim.get_mut("metadata") {
        for field in METADATA_OF_OBJECT {
            carry_over(metadata, &old["metadata"], field);
        }
    }
    drop_deallocated(claim, old);
}

/// Which device an allocation or a status is about.
pub(super) type DeviceId<'a> = [&'a str; 4];

/// The device of an entry of an allocation or of the statuses of devices.
pub(super) fn device_id(entry: &Value) -> DeviceId<'_> {
    ["driver", "pool", "device", "shareID"].map(|field| text(entry, field))
}

/// The devices that are allocated to a claim.
pub(super) fn allocated_devices(claim: &Value) -> BTreeSet<DeviceId<'_>> {
    let results = list(claim, "status.allocation.devices.results");
    results.iter().map(device_id).collect()
}

/// Statuses of devices go with their allocation, so that clients who know nothing of them need not care.
fn drop_deallocated(claim: &mut Value, old: &Value) {
    let kept: Vec<Value> = {
        let (before, now) = (allocated_devices(old), allocated_devices(claim));
        let is_deallocated = |id: DeviceId<'_>| before.contains(&id) && !now.contains(&id);
        let devices = list(claim, "status.devices").iter();
        devices
            .filter(|device| !is_deallocated(device_id(device)))
            .cloned()
            .collect()
    };
    let Some(Value::Object(status)) = claim.get_mut("status") else {
        return;
    };
    if kept.is_empty() {
        status.remove("devices");
    } else {
        status.insert("devices".to_owned(), Value::Array(kept));
    }
}

/// The devices of a slice, to change them.
fn devices_of(slice: &mut Value) -> impl Iterator<Item = &mut Map<String, Value>> {
    let devices = slice.pointer_mut("/spec/devices").and_then(Value::as_array_mut);
    devices.into_iter().flatten().filter_map(Value::as_object_mut)
}

/// Fields of features that are off unless an administrator asks for them: attributes that are lists, and devices that
/// count as resources of their node.
fn drop_disabled(slice: &mut Value) {
    for device in devices_of(slice) {
        device.remove("nodeAllocatableResourceMappings");
        let attributes = device.get_mut("attributes").and_then(Value::as_object_mut);
        let attributes = attributes.into_iter().flat_map(|attributes| attributes.values_mut());
        for attribute in attributes.filter_map(Value::as_object_mut) {
            attribute.retain(|name, _| !matches!(name.as_str(), "bools" | "ints" | "strings" | "versions"));
        }
    }
}

/// A taint without a time was added now.
fn stamp_taints(slice: &mut Value, now: Timestamp) {
    let now = now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    for device in devices_of(slice) {
        let taints = device.get_mut("taints").and_then(Value::as_array_mut);
        for taint in taints.into_iter().flatten().filter_map(Value::as_object_mut) {
            if !is_set(taint.get("timeAdded")) {
                taint.insert("timeAdded".to_owned(), Value::from(now.as_str()));
            }
        }
    }
}

fn slice_warnings(slice: &Value) -> Vec<String> {
    let driver = text(slice, "spec.driver");
    if driver == driver.to_lowercase() {
        return Vec::new();
    }
    let words = "driver names should be lowercase";
    vec![format!(
        "spec.driver: {words}; {driver:?} contains uppercase characters"
    )]
}
