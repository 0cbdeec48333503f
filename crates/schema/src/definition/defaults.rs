//! What a definition need not say.

use serde_json::{Map, Value, json};

use super::fields::{flag, list, text};

/// Fills in names, conversion, the port of a conversion webhook and the stored versions.
pub fn default(definition: &mut Value) {
    let Some(fields) = definition.as_object_mut() else {
        return;
    };
    let spec = object(fields, "spec");
    default_names(object(spec, "names"));
    if !spec.get("conversion").is_some_and(Value::is_object) {
        spec.insert("conversion".to_owned(), json!({"strategy": "None"}));
    }
    if let Some(service) = service_of(spec) {
        service.entry("port").or_insert_with(|| Value::from(443));
    }
    let storage = list(&Value::Object(spec.clone()), "versions")
        .iter()
        .find(|version| flag(version, "storage"))
        .map(|version| text(version, "name").to_owned());
    let status = object(fields, "status");
    let is_unset = status
        .get("storedVersions")
        .and_then(Value::as_array)
        .is_none_or(Vec::is_empty);
    if let Some(storage) = storage.filter(|_| is_unset) {
        status.insert("storedVersions".to_owned(), json!([storage]));
    }
}

/// The field as an object, made if it is missing.
fn object<'a>(fields: &'a mut Map<String, Value>, name: &str) -> &'a mut Map<String, Value> {
    let field = fields.entry(name).or_insert(Value::Null);
    if !field.is_object() {
        *field = Value::Object(Map::new());
    }
    field.as_object_mut().expect("made an object above")
}

fn default_names(names: &mut Map<String, Value>) {
    let get =
        |names: &Map<String, Value>, name: &str| names.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let kind = get(names, "kind");
    if kind.is_empty() {
        return;
    }
    if get(names, "singular").is_empty() {
        names.insert("singular".to_owned(), Value::from(kind.to_lowercase()));
    }
    if get(names, "listKind").is_empty() {
        names.insert("listKind".to_owned(), Value::from(format!("{kind}List")));
    }
}

fn service_of(spec: &mut Map<String, Value>) -> Option<&mut Map<String, Value>> {
    let webhook = spec.get_mut("conversion")?.get_mut("webhook")?;
    webhook.get_mut("clientConfig")?.get_mut("service")?.as_object_mut()
}
