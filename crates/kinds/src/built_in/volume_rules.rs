//! What volumes and claims must be.

use hyperplane_schema::names::dns_1123_subdomain;
use serde_json::{Map, Value};

use super::placement_rules::validate_node_selector;
use crate::{
    Target,
    complaints::{Complaints, Path, is_different},
    labels::validate_selector,
    quantity::Quantity,
    value::{at, carry_over, entry, list, object, text},
};

const MODES: [&str; 4] = ["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"];
const NOT_POSITIVE: &str = "must be greater than zero";
const IMMUTABLE_CLAIM: &str =
    "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims";

/// The sources of a volume, in the order in which upstream looks at them.
const SOURCES: [&str; 22] = [
    "hostPath",
    "gcePersistentDisk",
    "awsElasticBlockStore",
    "glusterfs",
    "flocker",
    "nfs",
    "rbd",
    "quobyte",
    "cephfs",
    "iscsi",
    "cinder",
    "fc",
    "flexVolume",
    "azureFile",
    "vsphereVolume",
    "photonPersistentDisk",
    "portworxVolume",
    "azureDisk",
    "scaleIO",
    "local",
    "storageos",
    "csi",
];

pub(super) fn validate_claim(claim: &Value, old: Option<&Value>, target: Target<'_>, complaints: &mut Complaints) {
    if target == Target::Status {
        return;
    }
    validate_claim_specification(&claim["spec"], &Path::new("spec"), complaints);
    if let Some(old) = old {
        validate_claim_change(claim, old, complaints);
    }
}

/// A claim in a StatefulSet, which has no metadata of its own yet.
pub(super) fn validate_claim_template(claim: &Value, path: &Path<'_>, complaints: &mut Complaints) {
    validate_claim_specification(&claim["spec"], &path.child("spec"), complaints);
}

fn validate_claim_specification(specification: &Value, path: &Path<'_>, complaints: &mut Complaints) {
    if list(specification, "accessModes").is_empty() {
        complaints.required(&path.child("accessModes"), "at least 1 access mode is required");
    }
    validate_selector(specification.get("selector"), &path.child("selector"), complaints);
    validate_modes(specification, &path.child("accessModes"), complaints);
    let resources = path.child("resources");
    let storage = resources.key("storage");
    match at(specification, "resources.requests.storage") {
        None => complaints.required(&storage, ""),
        Some(amount) => validate_positive(amount, &storage, complaints),
    }
    let class = text(specification, "storageClassName");
    if !class.is_empty() {
        complaints.each(&path.child("storageClassName"), class, dns_1123_subdomain(class));
    }
    validate_volume_mode(specification, path, complaints);
}

fn validate_volume_mode(specification: &Value, path: &Path<'_>, complaints: &mut Complaints) {
    if let Some(mode) = specification.get("volumeMode").and_then(Value::as_str) {
        complaints.one_of(&path.child("volumeMode"), mode, &["Block", "Filesystem"]);
    }
}

fn validate_modes(specification: &Value, path: &Path<'_>, complaints: &mut Complaints) {
    let modes: Vec<&str> = list(specification, "accessModes")
        .iter()
        .filter_map(Value::as_str)
        .collect();
    for mode in &modes {
        complaints.one_of(path, mode, &MODES);
    }
    let is_single = |mode: &&&str| **mode == "ReadWriteOncePod";
    let others = modes
        .iter()
        .filter(|mode| MODES.contains(mode) && !is_single(mode))
        .count();
    if modes.iter().any(|mode| is_single(&mode)) && others > 0 {
        complaints.forbidden(path, "may not use ReadWriteOncePod with other access modes");
    }
}

fn validate_positive(amount: &Value, path: &Path<'_>, complaints: &mut Complaints) {
    let text = amount.as_str().unwrap_or_default();
    if Quantity::parse(text).is_ok_and(|quantity| quantity <= Quantity::ZERO) {
        complaints.invalid(path, text, NOT_POSITIVE);
    }
}

fn validate_claim_change(claim: &Value, old: &Value, complaints: &mut Complaints) {
    let (mut new, mut before) = (claim["spec"].clone(), old["spec"].clone());
    if text(old, "spec.volumeName").is_empty() {
        carry_over(&mut before, &new, "volumeName");
    }
    if at(&before, "storageClassName").is_none() {
        carry_over(&mut before, &new, "storageClassName");
    }
    let (size, old_size) = (storage(claim), storage(old));
    if text(claim, "status.phase") == "Bound" {
        if let (Some(map), Some(size)) = (new.as_object_mut(), at(&before, "resources.requests.storage")) {
            entry(entry(map, "resources"), "requests").insert("storage".to_owned(), size.clone());
        }
        carry_over(&mut new, &before, "volumeAttributesClassName");
    }
    if is_different(Some(&new), Some(&before)) {
        complaints.forbidden(&Path::new("spec"), IMMUTABLE_CLAIM);
    }
    if let (Some(size), Some(old_size)) = (size, old_size)
        && size < old_size
    {
        let path = Path::new("spec.resources.requests.storage");
        complaints.forbidden(&path, "field can not be less than status.capacity");
    }
}

fn storage(claim: &Value) -> Option<Quantity> {
    Quantity::parse(text(claim, "spec.resources.requests.storage")).ok()
}

pub(super) fn validate_volume(volume: &Value, old: Option<&Value>, target: Target<'_>, complaints: &mut Complaints) {
    if target == Target::Status {
        return;
    }
    let specification = &volume["spec"];
    let path = Path::new("spec");
    if list(specification, "accessModes").is_empty() {
        complaints.required(&path.child("accessModes"), "");
    }
    validate_modes(specification, &path.child("accessModes"), complaints);
    validate_capacity(specification, &path.child("capacity"), complaints);
    let policy = text(specification, "persistentVolumeReclaimPolicy");
    let policies = ["Delete", "Recycle", "Retain"];
    complaints.one_of(&path.child("persistentVolumeReclaimPolicy"), policy, &policies);
    if let Some(required) = at(specification, "nodeAffinity.required") {
        validate_node_selector(required, &path.child("nodeAffinity.required"), complaints);
    }
    validate_source(specification, &path, complaints);
    let class = text(specification, "storageClassName");
    if !class.is_empty() {
        complaints.each(&path.child("storageClassName"), class, dns_1123_subdomain(class));
    }
    validate_volume_mode(specification, &path, complaints);
    if let Some(old) = old {
        validate_volume_change(specification, &old["spec"], complaints);
    }
}

fn validate_capacity(specification: &Value, path: &Path<'_>, complaints: &mut Complaints) {
    let capacity = object(specification, "capacity");
    if capacity.is_none_or(Map::is_empty) {
        complaints.required(path, "");
    }
    if capacity.is_none_or(|capacity| capacity.len() != 1 || !capacity.contains_key("storage")) {
        let shown = specification.get("capacity").cloned().unwrap_or(Value::Null);
        complaints.add(hyperplane_schema::FieldError::not_supported(
            path.to_string(),
            shown,
            ["storage"],
        ));
    }
    for (name, amount) in capacity.into_iter().flatten() {
        validate_positive(amount, &path.key(name), complaints);
    }
}

fn validate_source(specification: &Value, path: &Path<'_>, complaints: &mut Complaints) {
    let mut given = SOURCES
        .iter()
        .filter_map(|name| Some((*name, specification.get(name)?)));
    match given.next() {
        None => complaints.required(path, "must specify a volume type"),
        Some(("hostPath" | "local", source)) if text(source, "path").is_empty() => {
            let kind = if specification.get("hostPath").is_some() {
                "hostPath"
            } else {
                "local"
            };
            let path = path.child(kind);
            complaints.required(&path.child("path"), "");
        }
        Some(("csi", source)) => validate_csi(source, &path.child("csi"), complaints),
        Some(("local", _)) if specification.get("nodeAffinity").is_none() => {
            complaints.required(&path.child("nodeAffinity"), "Local volume requires node affinity");
        }
        Some(_) => {}
    }
    for (name, _) in given {
        complaints.forbidden(&path.child(name), "may not specify more than 1 volume type");
    }
}

fn validate_csi(source: &Value, path: &Path<'_>, complaints: &mut Complaints) {
    for field in ["driver", "volumeHandle"] {
        if text(source, field).is_empty() {
            complaints.required(&path.child(field), "");
        }
    }
}

fn validate_volume_change(new: &Value, old: &Value, complaints: &mut Complaints) {
    if SOURCES.iter().any(|source| new.get(source) != old.get(source)) {
        let path = Path::new("spec.persistentvolumesource");
        complaints.forbidden(&path, "spec.persistentvolumesource is immutable after creation");
    }
    complaints.unchanged(&Path::new("volumeMode"), new.get("volumeMode"), old.get("volumeMode"));
}
