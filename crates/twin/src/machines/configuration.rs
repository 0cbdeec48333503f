//! The configuration file of a kubelet: which fields there are, and whether a kubelet starts with it. Pure.

use std::{collections::BTreeMap, sync::LazyLock};

use serde_json::Value;

use super::obey::{Files, text};

/// The structure that the whole file is.
const WHOLE: &str = "KubeletConfiguration";
const API_VERSION: &str = "kubelet.config.k8s.io/v1beta1";
/// What stands for no structure.
const PLAIN: &str = "-";

/// The fields that there are, by the structure that has them, with the structure that each is.
static FIELDS: LazyLock<BTreeMap<(&str, &str), &str>> = LazyLock::new(|| {
    let lines = include_str!("kubelet-configuration.txt").lines();
    let rows = lines.filter_map(|line| line.strip_prefix("field "));
    rows.filter_map(|row| match row.split(' ').collect::<Vec<_>>().as_slice() {
        [structure, field, kind] => Some(((*structure, *field), *kind)),
        _ => None,
    })
    .collect()
});

/// Whether a kubelet starts with a configuration. A real one warns of fields that it does not know and goes on without
/// them; here it does not start, since nobody would see the warning and the node would not be what was asked for.
pub(super) fn check(configuration: &Value, files: &Files) -> Result<(), String> {
    if configuration["kind"] != WHOLE || configuration["apiVersion"] != API_VERSION {
        return Err("it is no KubeletConfiguration".to_owned());
    }
    check_fields(configuration, WHOLE, "")?;
    let authority = configuration["authentication"]["x509"]["clientCAFile"].as_str();
    if let Some(path) = authority.filter(|path| !path.is_empty()) {
        text(files, path).map_err(|why| format!("authentication.x509.clientCAFile: {why}"))?;
    }
    Ok(())
}

fn check_fields(value: &Value, structure: &str, place: &str) -> Result<(), String> {
    match value {
        Value::Object(fields) => {
            for (field, value) in fields {
                let place = if place.is_empty() {
                    field.clone()
                } else {
                    format!("{place}.{field}")
                };
                let Some(kind) = FIELDS.get(&(structure, field.as_str())) else {
                    return Err(format!("strict decoding error: unknown field {place:?}"));
                };
                if *kind != PLAIN {
                    check_fields(value, kind, &place)?;
                }
            }
            Ok(())
        }
        Value::Array(items) => items.iter().try_for_each(|item| check_fields(item, structure, place)),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn fields_are_those_of_kubelets() {
        assert!(FIELDS.len() > 150, "{}", FIELDS.len());
        let kind = |kind: &&&str| **kind != PLAIN;
        for structure in FIELDS.values().filter(kind) {
            assert!(
                FIELDS.keys().any(|(of, _)| of == structure),
                "{structure} has no fields"
            );
        }
    }

    #[test]
    fn a_field_that_nobody_knows_is_an_error() {
        let whole = |change: Value| {
            let mut whole = json!({"kind": WHOLE, "apiVersion": API_VERSION});
            whole
                .as_object_mut()
                .unwrap()
                .extend(change.as_object().unwrap().clone());
            check(&whole, &Files::new())
        };
        let unknown = |place: &str| Err(format!("strict decoding error: unknown field {place:?}"));
        for (change, expected) in [
            (json!({}), Ok(())),
            (
                json!({"maxPods": 250, "kubeReserved": {"cpu": "1"}, "logging": {"options": {"json": {}}}}),
                Ok(()),
            ),
            (
                json!({"registerWithTaints": [{"key": "a", "effect": "NoSchedule"}]}),
                Ok(()),
            ),
            (json!({"maxpods": 250}), unknown("maxpods")),
            (
                json!({"authentication": {"x509": {"clientCaFile": "/a"}}}),
                unknown("authentication.x509.clientCaFile"),
            ),
            (
                json!({"registerWithTaints": [{"name": "a"}]}),
                unknown("registerWithTaints.name"),
            ),
        ] {
            assert_eq!(whole(change.clone()), expected, "{change}");
        }
        assert!(whole(json!({"apiVersion": "kubelet.config.k8s.io/v1alpha1"})).is_err());
    }
}
