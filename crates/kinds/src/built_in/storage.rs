//! The storage group: classes, drivers, attachments.

use jiff::Timestamp;
use serde_json::Value;

use super::storage_rules::{
    validate_attachment, validate_attributes_class, validate_capacity, validate_csi_driver, validate_csi_node,
    validate_storage_class,
};
use crate::{
    cells::{NONE, UNSET, name, object_age, or},
    row::{AGE, CLUSTER, Generation, NAME, NAMESPACED, Row, STATUS},
    value::{at, is_true, list, text},
};

pub(super) const ROWS: &[Row] = &[
    CSI_DRIVER,
    CSI_NODE,
    CAPACITY,
    STORAGE_CLASS,
    ATTACHMENT,
    ATTRIBUTES_CLASS,
];

const GROUP: &str = "storage.k8s.io";

const CSI_DRIVER: Row = Row {
    group: GROUP,
    plural: "csidrivers",
    singular: "csidriver",
    kind: "CSIDriver",
    returns_deleted: true,
    type_name: "storage.CSIDriver",
    columns: &[
        NAME,
        ("AttachRequired", "boolean", 0),
        ("PodInfoOnMount", "boolean", 0),
        ("StorageCapacity", "boolean", 0),
        ("TokenRequests", "string", 0),
        ("RequiresRepublish", "boolean", 0),
        ("Modes", "string", 0),
        AGE,
    ],
    cells: driver_cells,
    generation: Generation::Specification,
    allows_unconditional_update: false,
    validate: validate_csi_driver,
    ..CLUSTER
};

const CSI_NODE: Row = Row {
    group: GROUP,
    plural: "csinodes",
    singular: "csinode",
    kind: "CSINode",
    returns_deleted: true,
    type_name: "storage.CSINode",
    columns: &[NAME, ("Drivers", "integer", 0), AGE],
    cells: |object, now| {
        vec![
            name(object),
            Value::from(list(object, "spec.drivers").len()),
            object_age(object, now),
        ]
    },
    allows_unconditional_update: false,
    validate: validate_csi_node,
    ..CLUSTER
};

const CAPACITY: Row = Row {
    group: GROUP,
    plural: "csistoragecapacities",
    singular: "csistoragecapacity",
    kind: "CSIStorageCapacity",
    type_name: "storage.CSIStorageCapacity",
    allows_unconditional_update: false,
    validate: validate_capacity,
    ..NAMESPACED
};

const STORAGE_CLASS: Row = Row {
    group: GROUP,
    plural: "storageclasses",
    singular: "storageclass",
    kind: "StorageClass",
    returns_deleted: true,
    type_name: "storage.StorageClass",
    short_names: &["sc"],
    columns: &[
        NAME,
        ("Provisioner", "string", 0),
        ("ReclaimPolicy", "string", 0),
        ("VolumeBindingMode", "string", 0),
        ("AllowVolumeExpansion", "string", 0),
        AGE,
    ],
    cells: class_cells,
    validate: validate_storage_class,
    ..CLUSTER
};

const ATTACHMENT: Row = Row {
    group: GROUP,
    plural: "volumeattachments",
    singular: "volumeattachment",
    kind: "VolumeAttachment",
    returns_deleted: true,
    type_name: "storage.VolumeAttachment",
    subresources: &[STATUS],
    columns: &[
        NAME,
        ("Attacher", "string", 0),
        ("PV", "string", 0),
        ("Node", "string", 0),
        ("Attached", "boolean", 0),
        AGE,
    ],
    cells: attachment_cells,
    allows_unconditional_update: false,
    validate: validate_attachment,
    ..CLUSTER
};

const ATTRIBUTES_CLASS: Row = Row {
    group: GROUP,
    plural: "volumeattributesclasses",
    singular: "volumeattributesclass",
    kind: "VolumeAttributesClass",
    returns_deleted: true,
    type_name: "storage.VolumeAttributesClass",
    short_names: &["vac"],
    columns: &[NAME, ("DriverName", "string", 0), AGE],
    cells: |object, now| {
        vec![
            name(object),
            Value::from(text(object, "driverName")),
            object_age(object, now),
        ]
    },
    validate: validate_attributes_class,
    ..CLUSTER
};

/// The annotations, new and old, that make a class the default.
const DEFAULT_CLASS: [&str; 2] = [
    "storageclass.kubernetes.io/is-default-class",
    "storageclass.beta.kubernetes.io/is-default-class",
];

fn class_cells(class: &Value, now: Timestamp) -> Vec<Value> {
    let annotations = at(class, "metadata.annotations");
    let is_default = DEFAULT_CLASS.iter().any(|name| {
        annotations
            .and_then(|annotations| annotations.get(name))
            .is_some_and(|value| value == "true")
    });
    let suffix = if is_default { " (default)" } else { "" };
    vec![
        Value::from(format!("{}{suffix}", text(class, "metadata.name"))),
        Value::from(text(class, "provisioner")),
        Value::from(or(text(class, "reclaimPolicy"), "Delete")),
        Value::from(or(text(class, "volumeBindingMode"), "Immediate")),
        Value::from(is_true(class, "allowVolumeExpansion")),
        object_age(class, now),
    ]
}

fn attachment_cells(attachment: &Value, now: Timestamp) -> Vec<Value> {
    vec![
        name(attachment),
        Value::from(text(attachment, "spec.attacher")),
        Value::from(text(attachment, "spec.source.persistentVolumeName")),
        Value::from(text(attachment, "spec.nodeName")),
        Value::from(is_true(attachment, "status.attached")),
        object_age(attachment, now),
    ]
}

fn driver_cells(driver: &Value, now: Timestamp) -> Vec<Value> {
    let flag =
        |path: &str, otherwise: bool| Value::from(at(driver, path).and_then(Value::as_bool).unwrap_or(otherwise));
    let modes: Vec<&str> = list(driver, "spec.volumeLifecycleModes")
        .iter()
        .filter_map(Value::as_str)
        .collect();
    let requests = list(driver, "spec.tokenRequests");
    let audiences: Vec<&str> = requests.iter().map(|request| text(request, "audience")).collect();
    let tokens = if requests.is_empty() {
        UNSET.to_owned()
    } else {
        audiences.join(",")
    };
    vec![
        name(driver),
        flag("spec.attachRequired", true),
        flag("spec.podInfoOnMount", false),
        flag("spec.storageCapacity", false),
        Value::from(tokens),
        flag("spec.requiresRepublish", false),
        Value::from(or(&modes.join(","), NONE)),
        object_age(driver, now),
    ]
}
