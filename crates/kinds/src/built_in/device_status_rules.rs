//! What the status of a claim of devices must be: what was allocated, for whom it is reserved, and what drivers say of it.

use std::collections::BTreeSet;

use hyperplane_schema::{BadValue, names::dns_1123_label};
use serde_json::Value;

use super::{
    device_claim_rules::RequestNames,
    device_class_rules::{
        CONFIGURATION_LIMIT, too_many, validate_binding_conditions, validate_configuration, validate_count,
        validate_pool_name, validate_raw, validate_unique,
    },
    devices::{allocated_devices, device_id},
    placement_rules::validate_node_selector,
    storage_rules::validate_driver_name,
};
use crate::{
    complaints::{Complaints, Path, is_different},
    value::{at, is_set, list, text},
};

/// How many consumers may share a claim.
const RESERVATION_LIMIT: usize = 256;
/// How many devices may be allocated to a claim.
const RESULT_LIMIT: usize = 32;
/// How many conditions a device may have.
const CONDITION_LIMIT: usize = 8;
/// How long the data of a driver about a device may be, in bytes.
const DATA_BYTES: usize = 10 * 1024;

pub(super) fn validate_status(claim: &Value, old: &Value, complaints: &mut Complaints) {
    let path = Path::new("status");
    validate_reservations(claim, old, &path.child("reservedFor"), complaints);
    validate_devices(claim, &path.child("devices"), complaints);
    let allocation_path = path.child("allocation");
    let [new, before] = [claim, old].map(|claim| at(claim, "status.allocation").filter(|value| value.is_object()));
    match (new, before) {
        (Some(new), Some(before)) if is_different(Some(new), Some(before)) => {
            complaints.invalid(&allocation_path, BadValue::Omitted, "field is immutable");
        }
        (Some(new), None) => {
            let names = RequestNames::of(&claim["spec"]["devices"]);
            validate_allocation(new, &names, &allocation_path, complaints);
        }
        _ => {}
    }
}

fn validate_reservations(claim: &Value, old: &Value, path: &Path<'_>, complaints: &mut Complaints) {
    let consumers = list(claim, "status.reservedFor");
    let is_short = validate_count(
        consumers,
        RESERVATION_LIMIT,
        path,
        complaints,
        |consumer, path, complaints| {
            for field in ["resource", "name", "uid"] {
                if text(consumer, field).is_empty() {
                    complaints.required(&path.child(field), "");
                }
            }
        },
    );
    if is_short {
        validate_unique(consumers.iter().map(|consumer| text(consumer, "uid")), path, complaints);
    }
    if consumers.is_empty() {
        return;
    }
    if !at(claim, "status.allocation").is_some_and(Value::is_object) {
        complaints.forbidden(path, "may not be specified when `allocated` is not set");
    } else if is_set(at(claim, "metadata.deletionTimestamp")) {
        let before = list(old, "status.reservedFor");
        if consumers.iter().any(|consumer| !before.contains(consumer)) {
            let detail = "new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set";
            complaints.forbidden(path, detail);
        }
    }
}

/// What drivers say of devices, which must be devices of the claim.
fn validate_devices(claim: &Value, path: &Path<'_>, complaints: &mut Complaints) {
    let allocated = allocated_devices(claim);
    let mut seen = BTreeSet::new();
    for (index, device) in list(claim, "status.devices").iter().enumerate() {
        let (path, id) = (path.index(index), device_id(device));
        validate_device_names(device, &path, complaints);
        if !allocated.contains(&id) {
            complaints.invalid(&path, BadValue::Omitted, "must be an allocated device in the claim");
        }
        let conditions = list(device, "conditions").len();
        if conditions > CONDITION_LIMIT {
            too_many(conditions, CONDITION_LIMIT, &path.child("conditions"), complaints);
        }
        if is_set(device.get("data")) {
            validate_raw(device.get("data"), DATA_BYTES, &path.child("data"), complaints);
        }
        if !seen.insert(id) {
            complaints.duplicate(&path, BadValue::Omitted);
        }
    }
}

fn validate_device_names(device: &Value, path: &Path<'_>, complaints: &mut Complaints) {
    validate_driver_name(text(device, "driver"), &path.child("driver"), complaints);
    validate_pool_name(text(device, "pool"), &path.child("pool"), complaints);
    let name = text(device, "device");
    complaints.each(&path.child("device"), name, dns_1123_label(name));
}

fn validate_allocation(allocation: &Value, names: &RequestNames<'_>, path: &Path<'_>, complaints: &mut Complaints) {
    let devices = path.child("devices");
    let results = list(allocation, "devices.results");
    validate_count(
        results,
        RESULT_LIMIT,
        &devices.child("results"),
        complaints,
        |result, path, complaints| {
            names.validate_reference(text(result, "request"), &path.child("request"), complaints);
            validate_device_names(result, path, complaints);
            validate_binding_conditions(result, path, complaints);
        },
    );
    // Those of the class and those of the claim.
    let limit = 2 * CONFIGURATION_LIMIT;
    let configurations = list(allocation, "devices.config");
    validate_count(
        configurations,
        limit,
        &devices.child("config"),
        complaints,
        |config, path, complaints| {
            let source = text(config, "source");
            complaints.required_one_of(&path.child("source"), source, &["FromClaim", "FromClass"]);
            names.validate_references(config, path, complaints);
            validate_configuration(config, path, complaints);
        },
    );
    if let Some(selector) = allocation.get("nodeSelector").filter(|selector| selector.is_object()) {
        validate_node_selector(selector, &path.child("nodeSelector"), complaints);
    }
}
