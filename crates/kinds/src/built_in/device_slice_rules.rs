//! What slices of devices must be. How much of a device a claim may take at a time is not judged.

use hyperplane_schema::{
    BadValue,
    names::{dns_1123_label, dns_1123_subdomain, label_value, qualified_name},
};
use serde_json::{Map, Value};

use super::{
    device_class_rules::{
        too_many, validate_binding_conditions, validate_count, validate_pool_name, validate_qualified_name,
        validate_unique,
    },
    placement_rules::validate_node_selector,
    storage_rules::validate_driver_name,
};
use crate::{
    Target,
    complaints::{Complaints, Path},
    names::is_semantic_version,
    value::{at, is_set, is_true, list, number, object, text},
};

/// How many devices a slice may have, and how many where they have taints or take from counters.
const DEVICE_LIMIT: usize = 128;
const ADVANCED_DEVICE_LIMIT: usize = 64;
/// How many sets of counters a slice may have, and from how many a device may take.
const COUNTER_SET_LIMIT: usize = 8;
const CONSUMPTION_LIMIT: usize = 2;
/// How many counters a set may have.
const COUNTER_LIMIT: usize = 32;
/// How many attributes and capacities a device may have.
const ATTRIBUTE_LIMIT: usize = 32;
/// How long the value of an attribute may be.
const VALUE_LIMIT: usize = 64;
/// How many taints a device may have.
const TAINT_LIMIT: usize = 16;

const ONE_WAY: &str = "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required";
const ONE_WAY_PER_DEVICE: &str = "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to true in the ResourceSlice spec";
const NO_WAY_PER_DEVICE: &str = "`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true in the ResourceSlice spec";
const UNSET_OR_TRUE: &str = "must be either unset or set to true";

pub(super) fn validate_slice(slice: &Value, old: Option<&Value>, _target: Target<'_>, complaints: &mut Complaints) {
    let specification = &slice["spec"];
    let path = Path::new("spec");
    validate_driver_name(text(specification, "driver"), &path.child("driver"), complaints);
    validate_pool(specification, &path.child("pool"), complaints);
    if let Some(old) = old {
        for field in ["pool.name", "driver", "nodeName"] {
            let before = at(&old["spec"], field);
            complaints.unchanged(&path.child(field), at(specification, field), before);
        }
    }
    validate_nodes(specification, &path, complaints);
    if is_set(specification.get("sharedCounters")) && is_set(specification.get("devices")) {
        complaints.invalid(&path, "", "only one of `sharedCounters` or `devices` is allowed");
    }
    validate_devices(
        specification,
        old.map(|old| &old["spec"]),
        &path.child("devices"),
        complaints,
    );
    let counters = list(specification, "sharedCounters");
    let counters_path = path.child("sharedCounters");
    if validate_count(
        counters,
        COUNTER_SET_LIMIT,
        &counters_path,
        complaints,
        |set, path, complaints| {
            validate_counters(set, "name", path, complaints);
        },
    ) {
        validate_unique(counters.iter().map(|set| text(set, "name")), &counters_path, complaints);
    }
}

fn validate_pool(specification: &Value, path: &Path<'_>, complaints: &mut Complaints) {
    validate_pool_name(text(specification, "pool.name"), &path.child("name"), complaints);
    let count = number(specification, "pool.resourceSliceCount").unwrap_or_default();
    if count <= 0 {
        complaints.invalid(&path.child("resourceSliceCount"), count, "must be greater than zero");
    }
    let generation = number(specification, "pool.generation").unwrap_or_default();
    if generation < 0 {
        complaints.invalid(
            &path.child("generation"),
            generation,
            "must be greater than or equal to zero",
        );
    }
}

/// From which nodes the devices of the slice can be used: one of four ways to say it.
fn validate_nodes(specification: &Value, path: &Path<'_>, complaints: &mut Complaints) {
    let mut ways = Vec::new();
    let empty = "must be either unset or set to a non-empty string";
    validate_node_ways(specification, empty, path, complaints, &mut ways);
    if let Some(selector) = specification
        .get("nodeSelector")
        .filter(|selector| selector.is_object())
    {
        let terms = list(selector, "nodeSelectorTerms");
        if terms.len() != 1 {
            let path = path.child("nodeSelector.nodeSelectorTerms");
            complaints.invalid(&path, BadValue::Omitted, "must have exactly one node selector term");
        }
    }
    validate_true(specification, "perDeviceNodeSelection", path, complaints, &mut ways);
    match ways.len() {
        0 => complaints.required(path, ONE_WAY),
        1 => {}
        _ => {
            let given = format!("{{{}}}", ways.join(", "));
            complaints.invalid(path, given, format!("{ONE_WAY}, but multiple fields are set"));
        }
    }
}

/// The three ways that slices and devices share. Notes those that are used.
fn validate_node_ways(
    holder: &Value,
    empty: &str,
    path: &Path<'_>,
    complaints: &mut Complaints,
    ways: &mut Vec<String>,
) {
    match holder.get("nodeName").and_then(Value::as_str) {
        None => {}
        Some("") => complaints.invalid(&path.child("nodeName"), "", empty),
        Some(name) => {
            ways.push("`nodeName`".to_owned());
            complaints.each(&path.child("nodeName"), name, dns_1123_subdomain(name));
        }
    }
    if let Some(selector) = holder.get("nodeSelector").filter(|selector| selector.is_object()) {
        ways.push("`nodeSelector`".to_owned());
        validate_node_selector(selector, &path.child("nodeSelector"), complaints);
    }
    validate_true(holder, "allNodes", path, complaints, ways);
}

fn validate_true(holder: &Value, field: &str, path: &Path<'_>, complaints: &mut Complaints, ways: &mut Vec<String>) {
    match holder.get(field).and_then(Value::as_bool) {
        None => {}
        Some(true) => ways.push(format!("`{field}`")),
        Some(false) => complaints.invalid(&path.child(field), false, UNSET_OR_TRUE),
    }
}

fn validate_devices(specification: &Value, old: Option<&Value>, path: &Path<'_>, complaints: &mut Complaints) {
    let devices = list(specification, "devices");
    let is_advanced = |device: &Value| is_set(device.get("taints")) || is_set(device.get("consumesCounters"));
    let limit = if devices.iter().any(is_advanced) {
        ADVANCED_DEVICE_LIMIT
    } else {
        DEVICE_LIMIT
    };
    let is_per_device = is_true(specification, "perDeviceNodeSelection");
    let before = old.map_or(&[][..], |old| list(old, "devices"));
    let is_short = validate_count(devices, limit, path, complaints, |device, path, complaints| {
        let name = text(device, "name");
        complaints.each(&path.child("name"), name, dns_1123_label(name));
        validate_attributes(device, path, complaints);
        let before = before.iter().find(|before| text(before, "name") == name);
        validate_taints(device, before, path, complaints);
        validate_consumption(device, path, complaints);
        validate_device_nodes(device, is_per_device, path, complaints);
        validate_binding_conditions(device, path, complaints);
    });
    if is_short {
        validate_unique(devices.iter().map(|device| text(device, "name")), path, complaints);
    }
}

fn validate_attributes(device: &Value, path: &Path<'_>, complaints: &mut Complaints) {
    let empty = Map::new();
    let attributes = object(device, "attributes").unwrap_or(&empty);
    let capacities = object(device, "capacity").unwrap_or(&empty);
    let count = attributes.len() + capacities.len();
    if count > ATTRIBUTE_LIMIT {
        let detail = format!("the total number of attributes and capacities must not exceed {ATTRIBUTE_LIMIT}");
        complaints.invalid(path, count, detail);
    }
    let attributes_path = path.child("attributes");
    for (name, attribute) in attributes {
        validate_qualified_name(name, &attributes_path, complaints);
        validate_attribute(attribute, &attributes_path.key(name), complaints);
    }
    let capacities_path = path.child("capacity");
    let is_shared = is_true(device, "allowMultipleAllocations");
    for (name, capacity) in capacities {
        validate_qualified_name(name, &capacities_path, complaints);
        if !is_shared && capacity.get("requestPolicy").is_some_and(Value::is_object) {
            let path = capacities_path.key(name);
            complaints.forbidden(&path.child("requestPolicy"), "allowMultipleAllocations must be true");
        }
    }
}

fn validate_attribute(attribute: &Value, path: &Path<'_>, complaints: &mut Complaints) {
    let values = attribute.as_object().map_or(0, Map::len);
    let limit = i64::try_from(VALUE_LIMIT).unwrap_or(i64::MAX);
    for field in ["string", "version"] {
        let Some(value) = attribute.get(field).and_then(Value::as_str) else {
            continue;
        };
        let path = path.child(field);
        if field == "version" && !is_semantic_version(value) {
            complaints.invalid(&path, value, "must be a string compatible with semver.org spec 2.0.0");
        }
        if value.len() > VALUE_LIMIT {
            complaints.too_long(&path, limit);
        }
    }
    match values {
        0 => complaints.invalid(path, "", "exactly one value must be specified"),
        1 => {}
        _ => complaints.invalid(path, BadValue::Omitted, "exactly one value must be specified"),
    }
}

/// Taints are judged where they are new.
fn validate_taints(device: &Value, before: Option<&Value>, path: &Path<'_>, complaints: &mut Complaints) {
    let taints = list(device, "taints");
    if before.is_some_and(|before| list(before, "taints") == taints) {
        return;
    }
    let path = path.child("taints");
    validate_count(taints, TAINT_LIMIT, &path, complaints, |taint, path, complaints| {
        let (key, value) = (text(taint, "key"), text(taint, "value"));
        complaints.each(&path.child("key"), key, qualified_name(key));
        complaints.each(&path.child("value"), value, label_value(value));
        let effects = ["NoExecute", "NoSchedule", "None"];
        complaints.required_one_of(&path.child("effect"), text(taint, "effect"), &effects);
    });
}

fn validate_consumption(device: &Value, path: &Path<'_>, complaints: &mut Complaints) {
    let consumptions = list(device, "consumesCounters");
    let path = path.child("consumesCounters");
    if validate_count(
        consumptions,
        CONSUMPTION_LIMIT,
        &path,
        complaints,
        |consumption, path, complaints| {
            validate_counters(consumption, "counterSet", path, complaints);
        },
    ) {
        let sets = consumptions.iter().map(|consumption| text(consumption, "counterSet"));
        validate_unique(sets, &path, complaints);
    }
}

/// A set of counters, or what is taken from one.
fn validate_counters(holder: &Value, name_field: &str, path: &Path<'_>, complaints: &mut Complaints) {
    let name_path = path.child(name_field);
    match text(holder, name_field) {
        "" => complaints.required(&name_path, ""),
        name => complaints.each(&name_path, name, dns_1123_label(name)),
    }
    let path = path.child("counters");
    match object(holder, "counters").filter(|counters| !counters.is_empty()) {
        None => complaints.required(&path, ""),
        Some(counters) if counters.len() > COUNTER_LIMIT => too_many(counters.len(), COUNTER_LIMIT, &path, complaints),
        Some(counters) => {
            for name in counters.keys() {
                complaints.each(&path, name, dns_1123_label(name));
            }
        }
    }
}

fn validate_device_nodes(device: &Value, is_per_device: bool, path: &Path<'_>, complaints: &mut Complaints) {
    if !is_per_device {
        let fields = ["nodeName", "nodeSelector", "allNodes"];
        if fields
            .iter()
            .any(|field| device.get(field).is_some_and(|value| !value.is_null()))
        {
            complaints.invalid(path, Value::Null, NO_WAY_PER_DEVICE);
        }
        return;
    }
    let mut ways = Vec::new();
    validate_node_ways(device, "must not be empty", path, complaints, &mut ways);
    match ways.len() {
        0 => complaints.required(path, ONE_WAY_PER_DEVICE),
        1 => {}
        _ => complaints.invalid(path, format!("{{{}}}", ways.join(", ")), ONE_WAY_PER_DEVICE),
    }
}
