//! Paths below an object that are not the object: its scale, and actions on it. Each is one file; which kind has which
//! is data of the kind.

mod binding;
mod eviction;
pub(crate) mod log;
mod reviews;
pub(crate) mod scale;
mod token;

use hyperplane_wire::{
    Failure,
    decode::{self, Expected},
    negotiate::BodyFormat,
};
use serde_json::{Value, json};

use crate::{call::Call, core::Core, metadata, service::Server};

/// Paths that only a kubelet can answer.
const OF_KUBELETS: [&str; 5] = ["attach", "exec", "log", "portforward", "proxy"];

/// Reads a subresource that is not the object.
pub(crate) fn get(core: &Core, call: &Call) -> Result<Value, Failure> {
    match call.subresource.as_str() {
        "scale" => scale::get(core, call),
        other if OF_KUBELETS.contains(&other) => Err(no_kubelet(core, call)),
        _ => Err(Failure::generic_method_not_allowed()),
    }
}

/// Carries out an action, or answers a question that is never stored.
pub(crate) async fn create(server: &Server, call: &Call, body: &[u8], format: BodyFormat) -> Result<Value, Failure> {
    match call.subresource.as_str() {
        "" if call.served.resource.plural == "bindings" => {
            let binding = crate::reading::object(call, body, format)?;
            let pods = server.core.registry.get().find("", "v1", "pods").cloned();
            let pods = pods.ok_or_else(Failure::generic_path_not_found)?;
            let of_pod = Call {
                served: pods,
                subresource: "binding".to_owned(),
                ..call.of(&call.namespace, metadata::text(&binding, "name"))
            };
            binding::create(&server.core, &of_pod, &binding).await
        }
        "" => reviews::answer(server, call, body, format),
        "binding" => binding::create(&server.core, call, &object(call, body, format)?).await,
        "eviction" => eviction::create(&server.core, call, &object(call, body, format)?).await,
        "token" => token::create(server, call, object(call, body, format)?),
        other if OF_KUBELETS.contains(&other) => Err(no_kubelet(&server.core, call)),
        _ => Err(Failure::generic_method_not_allowed()),
    }
}

/// The object that an action takes.
fn object(call: &Call, body: &[u8], format: BodyFormat) -> Result<Value, Failure> {
    let subresource = call
        .served
        .resource
        .subresource(&call.subresource)
        .ok_or_else(Failure::generic_path_not_found)?;
    let decoded = decode::decode_object(
        body,
        format,
        &Expected::of_subresource(subresource),
        call.served.origin(),
    )?;
    let mut value = decoded.value;
    let (name, namespace) = (metadata::text(&value, "name"), metadata::text(&value, "namespace"));
    if !namespace.is_empty() && namespace != call.namespace {
        return Err(Failure::bad_request(
            "the namespace of the provided object does not match the namespace sent on the request",
        ));
    }
    // Bindings and evictions name their pod; a TokenRequest need not name its account.
    if name.is_empty() && call.subresource == "token" {
        metadata::set(&mut value, "name", call.name.as_str());
    }
    metadata::set(&mut value, "namespace", call.namespace.as_str());
    Ok(value)
}

/// The answer to an action that is done.
fn success() -> Value {
    json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201})
}

/// Puts a condition into the status of a pod; its time changes with its status only.
fn set_pod_condition(pod: &mut Value, condition: &Value, now: &str) {
    if !pod["status"]["conditions"].is_array() {
        pod["status"]["conditions"] = json!([]);
    }
    let Some(conditions) = pod["status"]["conditions"].as_array_mut() else {
        return;
    };
    let mut entry = condition.clone();
    entry["lastProbeTime"] = Value::Null;
    let found = conditions.iter_mut().find(|known| known["type"] == condition["type"]);
    entry["lastTransitionTime"] = match &found {
        Some(known) if known["status"] == condition["status"] => known["lastTransitionTime"].clone(),
        _ => json!(now),
    };
    match found {
        Some(known) => *known = entry,
        None => conditions.push(entry),
    }
}

fn no_kubelet(core: &Core, call: &Call) -> Failure {
    if Core::find(&core.store.snapshot(), &call.served, &call.namespace, &call.name).is_none() {
        return call.not_found();
    }
    Failure::service_unavailable(format!(
        "{} of {} {:?} needs a kubelet that this server can ask, and it has none",
        call.subresource, call.served.resource.plural, call.name
    ))
}
