//! Warnings about pods and what makes them.

use hyperplane_schema::names::dns_1123_label;
use serde_json::Value;

use crate::value::{is_set, list, number, object, text};

/// The name of what makes pods becomes part of their names.
pub(super) fn name_warning(object: &Value) -> Option<String> {
    let messages = dns_1123_label(text(object, "metadata.name"));
    (!messages.is_empty()).then(|| {
        format!(
            "metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; a DNS label is recommended: [{}]",
            messages.join(" ")
        )
    })
}

pub(super) fn pod_warnings(pod: &Value, old: Option<&Value>) -> Vec<String> {
    if old.is_some() {
        return Vec::new();
    }
    let messages = dns_1123_label(text(pod, "metadata.name"));
    let name = (!messages.is_empty()).then(|| {
        format!(
            "metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is recommended: [{}]",
            messages.join(" ")
        )
    });
    name.into_iter()
        .chain(specification_warnings(&pod["spec"], "spec"))
        .collect()
}

/// Of a new object with a template, whose name pods inherit.
pub(super) fn workload_warnings(object: &Value, old: Option<&Value>) -> Vec<String> {
    let name = if old.is_none() { name_warning(object) } else { None };
    name.into_iter().chain(template_warnings(object, old)).collect()
}

/// Of an object with a template, when the template is new or other.
pub(super) fn template_warnings(object: &Value, old: Option<&Value>) -> Vec<String> {
    if old.is_some_and(|old| old["spec"] == object["spec"]) {
        return Vec::new();
    }
    specification_warnings(&object["spec"]["template"]["spec"], "spec.template.spec")
}

fn specification_warnings(specification: &Value, path: &str) -> Vec<String> {
    let mut warnings = Vec::new();
    for kind in ["containers", "initContainers"] {
        for (index, container) in list(specification, kind).iter().enumerate() {
            let path = format!("{path}.{kind}[{index}]");
            repeated_variables(container, &path, &mut warnings);
            fractional_bytes(container, &path, &mut warnings);
        }
    }
    let grace = number(specification, "terminationGracePeriodSeconds");
    if grace.is_some_and(|seconds| seconds < 0) {
        warnings.push(format!(
            "{path}.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1"
        ));
    }
    for (index, volume) in list(specification, "volumes").iter().enumerate() {
        if is_set(volume.get("gitRepo")) {
            warnings.push(format!(
                "{path}.volumes[{index}].gitRepo: deprecated in v1.11, and disabled by default in v1.33+"
            ));
        }
    }
    warnings
}

/// Only the last of several variables of one name is ever seen.
fn repeated_variables(container: &Value, path: &str, warnings: &mut Vec<String>) {
    let variables = list(container, "env");
    for (index, variable) in variables.iter().enumerate() {
        let name = text(variable, "name");
        let hidden = variables[..index]
            .iter()
            .any(|earlier| text(earlier, "name") == name && !text(variable, "value").contains(&format!("$({name})")));
        if hidden {
            warnings.push(format!(
                "{path}.env[{index}]: hides previous definition of {name:?}, which may be dropped when using apply"
            ));
        }
    }
}

fn fractional_bytes(container: &Value, path: &str, warnings: &mut Vec<String>) {
    for kind in ["limits", "requests"] {
        for resource in ["memory", "ephemeral-storage"] {
            let amounts = object(container, &format!("resources.{kind}"));
            let amount = amounts
                .and_then(|amounts| amounts.get(resource))
                .and_then(Value::as_str)
                .unwrap_or_default();
            if crate::quantity::Quantity::parse(amount).is_ok_and(|quantity| !quantity.is_whole()) {
                warnings.push(format!(
                    "{path}.resources.{kind}[{resource}]: fractional byte value {amount:?} is invalid, must be an integer"
                ));
            }
        }
    }
}
