//! What this crate makes of a case, in the order in which the server calls it.

use anyhow::Result;
use hyperplane_kinds::{Resource, Target, Verb};
use hyperplane_schema::FieldError;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::{Answer, Case, NAMESPACE, comparable, resource_of};

/// The answer to a case. What only a server can know is taken from the recorded answer.
pub fn ask(case: &Case, recorded: &Answer) -> Result<Answer> {
    let resource = resource_of(&case.object)?;
    match (&case.change, &recorded.old) {
        (Some(change), Some(old)) => Ok(change_object(&resource, change, old, case.target.as_deref())),
        // The object before the change was refused.
        (Some(_), None) | (None, _) => Ok(create(&resource, &case.object, recorded)),
    }
}

fn create(resource: &Resource, object: &Value, recorded: &Answer) -> Answer {
    let mut object = object.clone();
    if resource.is_namespaced() {
        object["metadata"]["namespace"] = json!(NAMESPACE);
    }
    if let Some(refusal) = read(resource, &mut object) {
        return refusal;
    }
    let behaviour = &resource.behaviour;
    behaviour.default(&mut object);
    let is_stored = resource.verbs.contains(&Verb::Get);
    for field in ["uid", "creationTimestamp"].into_iter().filter(|_| is_stored) {
        let value = recorded
            .object
            .as_ref()
            .map_or(json!("u"), |object| object["metadata"][field].clone());
        object["metadata"][field] = value;
    }
    behaviour.prepare_create(&mut object);
    behaviour.stamp(&mut object, None, Target::Main, Timestamp::UNIX_EPOCH);
    allocate(&mut object, recorded);
    let name = object["metadata"]["name"].as_str().unwrap_or_default();
    let mut errors: Vec<FieldError> = behaviour
        .validate_name(name)
        .into_iter()
        .map(|message| FieldError::invalid("metadata.name", name, message))
        .collect();
    errors.extend(behaviour.validate(&object, None, Target::Main));
    outcome(resource, object, &errors, 201)
}

/// What a server shares out, as the recorded one did.
fn allocate(object: &mut Value, recorded: &Answer) {
    let Some(recorded) = &recorded.object else { return };
    if object["kind"] == "CertificateSigningRequest" {
        object["spec"]["username"] = recorded["spec"]["username"].clone();
    }
    if object["kind"] != "Service" {
        return;
    }
    for field in [
        "clusterIP",
        "clusterIPs",
        "ipFamilies",
        "ipFamilyPolicy",
        "healthCheckNodePort",
    ] {
        if let Some(value) = recorded["spec"].get(field) {
            object["spec"][field] = value.clone();
        }
    }
    let ports = object["spec"].get_mut("ports").and_then(Value::as_array_mut);
    for (index, port) in ports.into_iter().flatten().enumerate() {
        if let Some(number) = recorded["spec"]["ports"][index].get("nodePort") {
            port["nodePort"] = number.clone();
        }
    }
}

fn change_object(resource: &Resource, change: &Value, old: &Value, target: Option<&str>) -> Answer {
    let behaviour = &resource.behaviour;
    let mut object = old.clone();
    merge(&mut object, change);
    if let Some(refusal) = read(resource, &mut object) {
        return refusal;
    }
    let target = match target {
        None => Target::Main,
        Some("status") => Target::Status,
        Some(other) => Target::Subresource(other),
    };
    behaviour.default(&mut object);
    behaviour.prepare_update(&mut object, old, target);
    behaviour.stamp(&mut object, Some(old), target, Timestamp::UNIX_EPOCH);
    let errors = behaviour.validate(&object, Some(old), target);
    outcome(resource, object, &errors, 200)
}

/// A body that is not even read.
fn read(resource: &Resource, object: &mut Value) -> Option<Answer> {
    let refusal = |message: String| Answer {
        code: 400,
        message,
        ..Answer::default()
    };
    let (kind, version) = (&resource.kind, &resource.version);
    match resource.behaviour.read(object) {
        Ok(unknown) if unknown.is_empty() => None,
        Ok(unknown) => {
            let unknown: Vec<String> = unknown.iter().map(|path| format!("unknown field {path:?}")).collect();
            Some(refusal(format!(
                "{kind} in version {version:?} cannot be handled as a {kind}: strict decoding error: {}",
                unknown.join(", ")
            )))
        }
        Err(malformed) => Some(refusal(format!(
            "{kind} in version {version:?} cannot be handled as a {kind}: {}",
            malformed.0
        ))),
    }
}

fn outcome(resource: &Resource, object: Value, errors: &[FieldError], code: u16) -> Answer {
    if errors.is_empty() {
        let mut object = object;
        resource.behaviour.default(&mut object);
        let cells = resource.behaviour.cells(&object, Timestamp::UNIX_EPOCH);
        return Answer {
            code,
            object: Some(comparable(object)),
            cells,
            ..Answer::default()
        };
    }
    let mut causes: Vec<[String; 3]> = errors
        .iter()
        .map(|error| [error.kind.reason().to_owned(), error.field.clone(), error.body()])
        .collect();
    causes.sort();
    Answer {
        code: 422,
        causes,
        ..Answer::default()
    }
}

/// RFC 7386.
fn merge(target: &mut Value, patch: &Value) {
    let Value::Object(patch) = patch else {
        *target = patch.clone();
        return;
    };
    if !target.is_object() {
        *target = json!({});
    }
    for (name, value) in patch {
        match (value, target.as_object_mut()) {
            (Value::Null, Some(map)) => {
                map.remove(name);
            }
            (value, Some(map)) => merge(map.entry(name.clone()).or_insert(Value::Null), value),
            (_, None) => {}
        }
    }
}
