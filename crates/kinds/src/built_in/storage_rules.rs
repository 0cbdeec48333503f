//! What the kinds of the storage group must be.

use hyperplane_schema::names::{dns_1123_subdomain, qualified_name};
use serde_json::{Map, Value};

use crate::{
    Target,
    complaints::{Complaints, NOT_NEGATIVE, Path, is_different, texts},
    labels::validate_selector,
    quantity::Quantity,
    value::{at, list, object, text},
};

/// How many bytes the parameters of a class may have.
const PARAMETER_BYTES: usize = 256 * 1024;
/// How many parameters a class may have.
const PARAMETER_COUNT: usize = 512;
/// The longest name of a driver.
const DRIVER_LIMIT: usize = 63;

pub(super) fn validate_storage_class(
    class: &Value,
    old: Option<&Value>,
    _target: Target<'_>,
    complaints: &mut Complaints,
) {
    if let Some(old) = old {
        for field in ["parameters", "provisioner", "reclaimPolicy", "volumeBindingMode"] {
            complaints.unchanged(&Path::new(field), class.get(field), old.get(field));
        }
        return;
    }
    validate_provisioner(text(class, "provisioner"), &Path::new("provisioner"), complaints);
    validate_parameters(object(class, "parameters"), &Path::new("parameters"), complaints);
    let policy = text(class, "reclaimPolicy");
    if !policy.is_empty() {
        complaints.one_of(&Path::new("reclaimPolicy"), policy, &["Delete", "Retain"]);
    }
    let mode = text(class, "volumeBindingMode");
    complaints.one_of(
        &Path::new("volumeBindingMode"),
        mode,
        &["Immediate", "WaitForFirstConsumer"],
    );
}

fn validate_provisioner(name: &str, path: &Path<'_>, complaints: &mut Complaints) {
    if name.is_empty() {
        complaints.required(path, "");
    } else {
        let lower = name.to_lowercase();
        complaints.each(path, &lower, qualified_name(&lower));
    }
}

fn validate_parameters(parameters: Option<&Map<String, Value>>, path: &Path<'_>, complaints: &mut Complaints) {
    let Some(parameters) = parameters else { return };
    let limit = |limit: usize| i64::try_from(limit).unwrap_or(i64::MAX);
    if parameters.len() > PARAMETER_COUNT {
        complaints.too_long(path, limit(PARAMETER_COUNT));
        return;
    }
    if parameters.contains_key("") {
        complaints.invalid(path, "", "field can not be empty.");
    }
    let size: usize = texts(parameters).map(|(key, value)| key.len() + value.len()).sum();
    if size > PARAMETER_BYTES {
        complaints.too_long(path, limit(PARAMETER_BYTES));
    }
}

/// A name of a driver is a subdomain that fits into a label.
pub(super) fn validate_driver_name(name: &str, path: &Path<'_>, complaints: &mut Complaints) {
    if name.is_empty() {
        complaints.required(path, "");
        return;
    }
    if name.len() > DRIVER_LIMIT {
        complaints.too_long(path, i64::try_from(DRIVER_LIMIT).unwrap_or(i64::MAX));
    }
    let lower = name.to_lowercase();
    complaints.each(path, name, dns_1123_subdomain(&lower));
}

pub(super) fn validate_attachment(
    attachment: &Value,
    old: Option<&Value>,
    target: Target<'_>,
    complaints: &mut Complaints,
) {
    let specification = &attachment["spec"];
    let path = Path::new("spec");
    validate_driver_name(text(specification, "attacher"), &path.child("attacher"), complaints);
    let volume = at(specification, "source.persistentVolumeName");
    let inline = at(specification, "source.inlineVolumeSpec");
    match (volume, inline) {
        (None, None) => {
            let detail = "must specify exactly one of inlineVolumeSpec and persistentVolumeName";
            complaints.required(&path.child("source"), detail);
        }
        (Some(_), Some(_)) => {
            let detail = "must specify exactly one of inlineVolumeSpec and persistentVolumeName";
            complaints.forbidden(&path.child("source"), detail);
        }
        (Some(name), None) if name == "" => {
            complaints.required(
                &path.child("source.persistentVolumeName"),
                "must specify non empty persistentVolumeName",
            );
        }
        _ => {}
    }
    let node = text(specification, "nodeName");
    complaints.each(&path.child("nodeName"), node, dns_1123_subdomain(node));
    if let Some(old) = old.filter(|_| target != Target::Status)
        && is_different(attachment.get("spec"), old.get("spec"))
    {
        complaints.invalid(&path, hyperplane_schema::BadValue::Omitted, "field is immutable");
    }
}

pub(super) fn validate_csi_node(node: &Value, _old: Option<&Value>, _target: Target<'_>, complaints: &mut Complaints) {
    let path = Path::new("spec.drivers");
    let drivers = list(node, "spec.drivers");
    for (index, driver) in drivers.iter().enumerate() {
        let path = path.index(index);
        let name = text(driver, "name");
        validate_driver_name(name, &path.child("name"), complaints);
        if text(driver, "nodeID").is_empty() {
            complaints.required(&path.child("nodeID"), "");
        }
        if drivers[..index].iter().any(|earlier| text(earlier, "name") == name) {
            complaints.duplicate(&path.child("name"), name);
        }
    }
}

pub(super) fn validate_csi_driver(
    driver: &Value,
    old: Option<&Value>,
    _target: Target<'_>,
    complaints: &mut Complaints,
) {
    let specification = &driver["spec"];
    let path = Path::new("spec");
    let policy = text(specification, "fsGroupPolicy");
    let policies = ["File", "None", "ReadWriteOnceWithFSType"];
    complaints.one_of(&path.child("fsGroupPolicy"), policy, &policies);
    let modes = path.child("volumeLifecycleModes");
    for mode in list(specification, "volumeLifecycleModes")
        .iter()
        .filter_map(Value::as_str)
    {
        complaints.one_of(&modes, mode, &["Ephemeral", "Persistent"]);
    }
    if let Some(old) = old {
        for field in ["attachRequired", "volumeLifecycleModes"] {
            let before = old["spec"].get(field);
            complaints.unchanged(&path.child(field), specification.get(field), before);
        }
    }
}

pub(super) fn validate_capacity(
    capacity: &Value,
    old: Option<&Value>,
    _target: Target<'_>,
    complaints: &mut Complaints,
) {
    validate_selector(capacity.get("nodeTopology"), &Path::new("nodeTopology"), complaints);
    let class = text(capacity, "storageClassName");
    complaints.each(&Path::new("storageClassName"), class, dns_1123_subdomain(class));
    let amount = text(capacity, "capacity");
    if Quantity::parse(amount).is_ok_and(Quantity::is_negative) {
        complaints.invalid(&Path::new("capacity"), amount, NOT_NEGATIVE);
    }
    if let Some(old) = old {
        for field in ["nodeTopology", "storageClassName"] {
            complaints.unchanged(&Path::new(field), capacity.get(field), old.get(field));
        }
    }
}

pub(super) fn validate_attributes_class(
    class: &Value,
    old: Option<&Value>,
    _target: Target<'_>,
    complaints: &mut Complaints,
) {
    if let Some(old) = old {
        for field in ["driverName", "parameters"] {
            if is_different(class.get(field), old.get(field)) {
                complaints.forbidden(&Path::new(field), format!("updates to {field} are forbidden."));
            }
        }
    }
    validate_provisioner(text(class, "driverName"), &Path::new("driverName"), complaints);
    let path = Path::new("parameters");
    let parameters = object(class, "parameters");
    validate_parameters(parameters, &path, complaints);
    if parameters.is_none_or(Map::is_empty) {
        complaints.required(&path, "must contain at least one key/value pair");
    }
}
