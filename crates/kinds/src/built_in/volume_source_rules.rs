//! What the volumes of a pod must be.

use std::collections::BTreeSet;

use hyperplane_schema::names::dns_1123_label;
use serde_json::Value;

use super::container_rules::{validate_descending, validate_no_backsteps};
use crate::{
    complaints::{Complaints, Path},
    quantity::Quantity,
    value::{list, number, text},
};

/// Every kind of source, in the order in which upstream looks at them: the first that is given counts.
const SOURCES: [&str; 30] = [
    "emptyDir",
    "hostPath",
    "gitRepo",
    "gcePersistentDisk",
    "awsElasticBlockStore",
    "secret",
    "nfs",
    "iscsi",
    "glusterfs",
    "flocker",
    "persistentVolumeClaim",
    "rbd",
    "cinder",
    "cephfs",
    "quobyte",
    "downwardAPI",
    "fc",
    "flexVolume",
    "configMap",
    "azureFile",
    "vsphereVolume",
    "photonPersistentDisk",
    "portworxVolume",
    "azureDisk",
    "storageos",
    "projected",
    "scaleIO",
    "csi",
    "ephemeral",
    "image",
];
const FILE_MODE: &str = "must be a number between 0 and 0777 (octal), both inclusive";
const HIGHEST_MODE: i64 = 0o777;

/// Checks the volumes of a pod; gives the names of those that are good.
pub(super) fn validate_volumes<'a>(
    specification: &'a Value,
    path: &Path<'_>,
    complaints: &mut Complaints,
) -> BTreeSet<&'a str> {
    let path = path.child("volumes");
    let mut names = BTreeSet::new();
    for (index, volume) in list(specification, "volumes").iter().enumerate() {
        let path = path.index(index);
        let before = complaints.0.len();
        validate_sources(volume, &path, complaints);
        let name = text(volume, "name");
        let name_path = path.child("name");
        if name.is_empty() {
            complaints.required(&name_path, "");
        } else {
            complaints.each(&name_path, name, dns_1123_label(name));
        }
        if names.contains(name) {
            complaints.duplicate(&name_path, name);
        }
        if complaints.0.len() == before {
            names.insert(name);
        }
    }
    names
}

fn validate_sources(volume: &Value, path: &Path<'_>, complaints: &mut Complaints) {
    let mut given = SOURCES.iter().filter_map(|name| Some((*name, volume.get(name)?)));
    match given.next() {
        None => complaints.required(path, "must specify a volume type"),
        Some((name, source)) => validate_source(name, source, &path.child(name), complaints),
    }
    for (name, _) in given {
        complaints.forbidden(&path.child(name), "may not specify more than 1 volume type");
    }
}

fn validate_source(name: &str, source: &Value, path: &Path<'_>, complaints: &mut Complaints) {
    match name {
        "emptyDir" => {
            let limit = Quantity::parse(text(source, "sizeLimit"));
            if limit.is_ok_and(Quantity::is_negative) {
                complaints.forbidden(
                    &path.child("sizeLimit"),
                    "SizeLimit field must be a valid resource quantity",
                );
            }
        }
        "hostPath" => match text(source, "path") {
            "" => complaints.required(&path.child("path"), ""),
            place => validate_no_backsteps(place, &path.child("path"), complaints),
        },
        "secret" => validate_files(source, "secretName", path, complaints),
        "configMap" => validate_files(source, "name", path, complaints),
        "persistentVolumeClaim" if text(source, "claimName").is_empty() => {
            complaints.required(&path.child("claimName"), "");
        }
        "nfs" => validate_nfs(source, path, complaints),
        "projected" => validate_projected(source, path, complaints),
        "downwardAPI" => validate_mode(source, "defaultMode", path, complaints),
        "csi" if text(source, "driver").is_empty() => complaints.required(&path.child("driver"), ""),
        _ => {}
    }
}

fn validate_files(source: &Value, name: &str, path: &Path<'_>, complaints: &mut Complaints) {
    if text(source, name).is_empty() {
        complaints.required(&path.child(name), "");
    }
    validate_mode(source, "defaultMode", path, complaints);
    validate_items(source, path, complaints);
}

fn validate_items(source: &Value, path: &Path<'_>, complaints: &mut Complaints) {
    let items = path.child("items");
    for (index, item) in list(source, "items").iter().enumerate() {
        let path = items.index(index);
        for field in ["key", "path"] {
            if text(item, field).is_empty() {
                complaints.required(&path.child(field), "");
            }
        }
        validate_file_path(text(item, "path"), &path.child("path"), complaints);
        validate_mode(item, "mode", &path, complaints);
    }
}

/// A file below the volume, which must not look like one that the kubelet makes.
fn validate_file_path(place: &str, path: &Path<'_>, complaints: &mut Complaints) {
    validate_descending(place, path, complaints);
    if place.starts_with("..") && !place.starts_with("../") && place != ".." {
        complaints.invalid(path, place, "must not start with '..'");
    }
}

fn validate_mode(source: &Value, field: &str, path: &Path<'_>, complaints: &mut Complaints) {
    if let Some(mode) = number(source, field)
        && !(0..=HIGHEST_MODE).contains(&mode)
    {
        complaints.invalid(&path.child(field), mode, FILE_MODE);
    }
}

fn validate_nfs(source: &Value, path: &Path<'_>, complaints: &mut Complaints) {
    if text(source, "server").is_empty() {
        complaints.required(&path.child("server"), "");
    }
    let place = text(source, "path");
    if place.is_empty() {
        complaints.required(&path.child("path"), "");
    }
    if !place.starts_with('/') {
        complaints.invalid(&path.child("path"), place, "must be an absolute path");
    }
}

fn validate_projected(source: &Value, path: &Path<'_>, complaints: &mut Complaints) {
    validate_mode(source, "defaultMode", path, complaints);
    let sources = path.child("sources");
    for (index, source) in list(source, "sources").iter().enumerate() {
        let path = sources.index(index);
        for kind in ["secret", "configMap"] {
            if let Some(source) = source.get(kind) {
                let path = path.child(kind);
                if text(source, "name").is_empty() {
                    complaints.required(&path.child("name"), "");
                }
                validate_items(source, &path, complaints);
            }
        }
        if let Some(token) = source.get("serviceAccountToken") {
            validate_token(token, &path.child("serviceAccountToken"), complaints);
        }
        let count = source.as_object().map_or(0, serde_json::Map::len);
        if count > 1 {
            complaints.forbidden(&path, "may not specify more than 1 volume type per source");
        }
    }
}

fn validate_token(token: &Value, path: &Path<'_>, complaints: &mut Complaints) {
    const SHORTEST: i64 = 600;
    const LONGEST: i64 = 1 << 32;
    let seconds = number(token, "expirationSeconds").unwrap_or(SHORTEST);
    let field = path.child("expirationSeconds");
    if seconds < SHORTEST {
        complaints.invalid(&field, seconds, "may not specify a duration less than 10 minutes");
    }
    if seconds > LONGEST {
        complaints.invalid(&field, seconds, "may not specify a duration larger than 2^32 seconds");
    }
    if text(token, "path").is_empty() {
        complaints.required(&path.child("path"), "");
    } else {
        validate_file_path(text(token, "path"), &path.child("path"), complaints);
    }
}
