//! The number of replicas of an object as a resource of its own, whatever the object's kind. Who owns the replicas is
//! told in terms of the Scale to its clients, and in terms of the object where it is stored.

use hyperplane_kinds::{Resource, ScalePaths};
use hyperplane_merge::{Author, ResetFields, ScaleFields, Scope, Types};
use hyperplane_schema::FieldError;
use hyperplane_wire::{
    Failure, GroupKind, Origin, Reason,
    decode::{self, Expected},
    negotiate::BodyFormat,
    options::FieldValidation,
    patch,
};
use serde_json::{Value, json};

use crate::{
    call::{Answer, Call},
    core::Core,
    label_selector, metadata, ownership,
    verbs::{modify::Modification, patch::Patch, strategic, update::check_name_of_update},
};

const SCALE_VERSION: &str = "autoscaling/v1";
const SCALE: Expected<'static> = Expected {
    group: "autoscaling",
    version: "v1",
    kind: "Scale",
};
/// What upstream says of every Scale of a custom resource that it cannot read.
const UNREGISTERED: &str = "no kind is registered for the type v1.Scale in scheme \"pkg/runtime/scheme.go:111\"";

/// The scale of an object.
pub(crate) fn get(core: &Core, call: &Call) -> Result<Value, Failure> {
    let entry = Core::find(&core.store.snapshot(), &call.served, &call.namespace, &call.name);
    let entry = entry.ok_or_else(|| call.not_found())?;
    scale_of(&call.served.resource, &call.served.show(&entry, entry.revision))
}

/// Replaces the scale of an object.
pub(crate) async fn update(core: &Core, call: &Call, body: &[u8], format: BodyFormat) -> Result<Value, Failure> {
    let wanted = sent(call, body, format)?;
    let uid = Some(metadata::text(&wanted, "uid").to_owned()).filter(|uid| !uid.is_empty());
    modify(core, call, uid, &|scale| Ok(owned(core, call, scale, wanted.clone()))).await
}

/// Changes the scale of an object.
pub(crate) async fn patch(core: &Core, call: &Call, patch: &Patch) -> Result<Value, Failure> {
    modify(core, call, None, &|scale| match patch {
        Patch::Json(body) => {
            let patched = patch::json_patch(scale, body, call.field_validation)?;
            Ok(owned(core, call, scale, settled(call, patched.value)?))
        }
        Patch::Merge(body) => {
            let patched = patch::merge_patch(scale, body, call.field_validation)?;
            Ok(owned(core, call, scale, settled(call, patched.value)?))
        }
        Patch::Strategic(body) => {
            let patched = strategic::patch(scale, body, call.field_validation, &Types::deduced())?;
            Ok(owned(core, call, scale, settled(call, patched.value)?))
        }
        Patch::Apply { body, force } => {
            let decoded =
                decode::decode(body, BodyFormat::Yaml).map_err(|error| Failure::bad_request(error.to_string()))?;
            let applied = with_scope(|scope| {
                hyperplane_merge::apply(Some(scale), &decoded.value, &author(core, call), scope, *force)
            });
            let applied = applied.map_err(ownership::refused)?;
            if call.served.is_custom {
                return Err(never_applied(&decoded.value));
            }
            Ok(applied)
        }
    })
    .await
}

/// Upstream looks for conflicts and then cannot bring a Scale into a version of a custom kind: none can be applied.
fn never_applied(intent: &Value) -> Failure {
    Failure::unclassified(format!(
        "failed to convert new object ({}/{}; {SCALE_VERSION}, Kind=Scale) to proper version: request to convert CR to an \
         invalid group/version: {SCALE_VERSION}",
        metadata::text(intent, "namespace"),
        metadata::text(intent, "name"),
    ))
}

/// The Scale in a body. Whatever is wrong with one of a custom resource is told in the same words, as upstream has it.
fn sent(call: &Call, body: &[u8], format: BodyFormat) -> Result<Value, Failure> {
    let read = decode::decode_object(body, format, &SCALE, Origin::BuiltIn)
        .and_then(|decoded| settled(call, decoded.value))
        .map_err(|failure| match (call.served.is_custom, failure.reason) {
            (true, Reason::BadRequest) if call.field_validation != FieldValidation::Strict => {
                Failure::bad_request(UNREGISTERED)
            }
            _ => failure,
        })?;
    check_identity(call, &read)?;
    Ok(read)
}

/// A Scale with what it knows alone; what else was sent is told to the client, or refused.
fn settled(call: &Call, mut scale: Value) -> Result<Value, Failure> {
    let mut complaints = Vec::new();
    prune(
        &mut scale,
        "",
        &["apiVersion", "kind", "metadata", "spec", "status"],
        &mut complaints,
    );
    for (part, known) in [("spec", &["replicas"][..]), ("status", &["replicas", "selector"][..])] {
        if let Some(value) = scale.get_mut(part) {
            prune(value, &format!("{part}."), known, &mut complaints);
        }
    }
    check_count(&scale)?;
    match call.field_validation {
        FieldValidation::Strict if !complaints.is_empty() => return Err(SCALE.strict_failure(&complaints)),
        FieldValidation::Warn => complaints.iter().for_each(|complaint| call.warnings.add(complaint)),
        FieldValidation::Ignore | FieldValidation::Strict => {}
    }
    check_not_negative(call, &scale)?;
    Ok(scale)
}

fn prune(value: &mut Value, prefix: &str, known: &[&str], complaints: &mut Vec<String>) {
    let Some(fields) = value.as_object_mut() else {
        return;
    };
    fields.retain(|name, _| {
        let is_known = known.contains(&name.as_str());
        if !is_known {
            complaints.push(format!("unknown field \"{prefix}{name}\""));
        }
        is_known
    });
}

fn check_count(scale: &Value) -> Result<(), Failure> {
    let found = match &scale["spec"]["replicas"] {
        Value::Null => return Ok(()),
        Value::Number(number) if number.as_i64().is_some_and(|count| i32::try_from(count).is_ok()) => return Ok(()),
        Value::Number(number) => format!("number {number}"),
        Value::String(_) => "string".to_owned(),
        Value::Bool(_) => "bool".to_owned(),
        Value::Array(_) => "array".to_owned(),
        Value::Object(_) => "object".to_owned(),
    };
    Err(SCALE.mishandled(&format!(
        "json: cannot unmarshal {found} into Go struct field ScaleSpec.spec.replicas of type int32"
    )))
}

/// Custom kinds have rules of their own for the number.
fn check_not_negative(call: &Call, scale: &Value) -> Result<(), Failure> {
    let count = scale["spec"]["replicas"].as_i64().unwrap_or_default();
    if count >= 0 || call.served.is_custom {
        return Ok(());
    }
    let error = FieldError::invalid("spec.replicas", count, "must be greater than or equal to 0");
    Err(Failure::invalid(
        &GroupKind::new(SCALE.group, SCALE.kind),
        &call.name,
        &[error],
    ))
}

fn check_identity(call: &Call, scale: &Value) -> Result<(), Failure> {
    let namespace = metadata::text(scale, "namespace");
    if !namespace.is_empty() && namespace != call.namespace {
        return Err(Failure::bad_request(
            "the namespace of the provided object does not match the namespace sent on the request",
        ));
    }
    check_name_of_update(call, scale)
}

/// The Scale that a client sent, with what changed owned by it.
fn owned(core: &Core, call: &Call, old: &Value, mut new: Value) -> Value {
    metadata::copy(&mut new, old, "managedFields");
    with_scope(|scope| hyperplane_merge::update(Some(old), new, &author(core, call), scope))
}

fn author<'a>(core: &Core, call: &'a Call) -> Author<'a> {
    Author {
        manager: &call.manager,
        api_version: SCALE_VERSION,
        subresource: &call.subresource,
        time: core.clock.now(),
    }
}

fn with_scope<R>(act: impl FnOnce(&Scope<'_>) -> R) -> R {
    let types = Types::deduced();
    act(&Scope {
        types: &|api_version| (api_version == SCALE_VERSION).then_some(&types),
        reset: &ResetFields::none(),
    })
}

async fn modify(
    core: &Core,
    call: &Call,
    uid: Option<String>,
    change: &(dyn Fn(&Value) -> Result<Value, Failure> + Send + Sync),
) -> Result<Value, Failure> {
    let resource = &call.served.resource;
    let next = |old: Option<&Value>| {
        let old = old.ok_or_else(|| call.not_found())?;
        let mut scale = scale_of(resource, old)?;
        let owners = scale_fields(resource)?.to_scale(&old["metadata"]["managedFields"]);
        if !owners.is_null() {
            metadata::set(&mut scale, "managedFields", owners);
        }
        let scale = change(&scale)?;
        let mut object = old.clone();
        if let Some(revision) = metadata::of(&scale)
            .get("resourceVersion")
            .filter(|revision| **revision != json!(""))
        {
            metadata::set(&mut object, "resourceVersion", revision.clone());
        }
        let replicas = scale.pointer("/spec/replicas").cloned().unwrap_or_else(|| json!(0));
        put(&mut object, &paths(resource)?.specification, replicas);
        let owners = scale_fields(resource)?.to_parent(
            &old["metadata"]["managedFields"],
            &scale["metadata"]["managedFields"],
            &call.served.api_version,
        );
        if owners.is_null() {
            metadata::remove(&mut object, "managedFields");
        } else {
            metadata::set(&mut object, "managedFields", owners);
        }
        resource.behaviour.default(&mut object);
        Ok(object)
    };
    let main = call.of(&call.namespace, &call.name);
    let modification = Modification {
        uid,
        creates: false,
        next: &next,
    };
    let modified = core.modify(&main, &modification).await?;
    let object = match modified.answer {
        Answer::Stored(entry) => call.served.show(&entry, entry.revision),
        Answer::Value(value) | Answer::Status(value) => value,
    };
    scale_of(resource, &object)
}

fn paths(resource: &Resource) -> Result<&ScalePaths, Failure> {
    resource.scale.as_ref().ok_or_else(Failure::generic_path_not_found)
}

fn scale_fields(resource: &Resource) -> Result<ScaleFields, Failure> {
    let path: Vec<&str> = paths(resource)?.specification.iter().map(String::as_str).collect();
    Ok(ScaleFields::default().at(&resource.api_version(), Some(&path)))
}

fn scale_of(resource: &Resource, object: &Value) -> Result<Value, Failure> {
    let paths = paths(resource)?;
    let replicas = |path: &[String]| at(object, path).and_then(Value::as_i64).unwrap_or_default();
    let mut metadata = json!({});
    for field in ["name", "namespace", "uid", "resourceVersion", "creationTimestamp"] {
        if let Some(value) = metadata::of(object).get(field) {
            metadata[field] = value.clone();
        }
    }
    let mut scale = json!({
        "kind": "Scale", "apiVersion": SCALE_VERSION, "metadata": metadata,
        "spec": {"replicas": replicas(&paths.specification)},
        "status": {"replicas": replicas(&paths.status)},
    });
    if scale["spec"]["replicas"] == 0 {
        scale["spec"] = json!({});
    }
    if let Some(selector) = paths
        .selector
        .as_ref()
        .and_then(|path| at(object, path))
        .and_then(selector_text)
    {
        scale["status"]["selector"] = json!(selector);
    }
    Ok(scale)
}

/// Custom resources keep the selector as text, built-in kinds as a LabelSelector or as labels.
fn selector_text(selector: &Value) -> Option<String> {
    match selector {
        Value::String(text) => Some(text.clone()),
        Value::Object(fields) if fields.contains_key("matchLabels") || fields.contains_key("matchExpressions") => {
            label_selector::parse(selector).map(|selector| selector.to_string())
        }
        Value::Object(_) => {
            label_selector::parse(&json!({"matchLabels": selector})).map(|selector| selector.to_string())
        }
        _ => None,
    }
}

fn at<'a>(object: &'a Value, path: &[String]) -> Option<&'a Value> {
    path.iter().try_fold(object, |value, field| value.get(field))
}

fn put(object: &mut Value, path: &[String], value: Value) {
    let mut place = object;
    for field in path {
        if !place.is_object() {
            *place = json!({});
        }
        place = &mut place[field.as_str()];
    }
    *place = value;
}
