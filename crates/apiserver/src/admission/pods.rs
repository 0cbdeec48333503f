//! What every new pod gets: a service account and its token, a priority, and patience with nodes that are away.

use hyperplane_store::Key;
use hyperplane_wire::Failure;
use serde_json::{Value, json};

use crate::{call::Call, core::Core, metadata};

/// Where the token of the service account is mounted.
const TOKEN_PATH: &str = "/var/run/secrets/kubernetes.io/serviceaccount";
/// The volume with the token is named so, with a random end.
const TOKEN_VOLUME: &str = "kube-api-access-";
/// A pod that a kubelet runs by itself and shows here.
const MIRROR: &str = "kubernetes.io/config.mirror";
/// One hour and seven seconds, as upstream asks for: kubelets renew well before.
const TOKEN_SECONDS: u64 = 3607;
/// How long a pod stays on a node that is away.
const PATIENCE_SECONDS: u64 = 300;

/// Completes a new pod.
pub(super) fn complete(core: &Core, call: &Call, pod: &mut Value) -> Result<(), Failure> {
    let resource = &call.served.resource;
    let is_pod = resource.group.is_empty() && resource.plural == "pods" && call.subresource.is_empty();
    if !is_pod || !pod["spec"].is_object() {
        return Ok(());
    }
    account(core, call, pod)?;
    priority(core, call, pod)?;
    tolerations(pod);
    Ok(())
}

fn forbidden(call: &Call, pod: &Value, message: impl std::fmt::Display) -> Failure {
    Failure::forbidden(&call.group_resource(), metadata::text(pod, "name"), message)
}

fn account(core: &Core, call: &Call, pod: &mut Value) -> Result<(), Failure> {
    if metadata::of(pod)
        .get("annotations")
        .and_then(|annotations| annotations.get(MIRROR))
        .is_some()
    {
        return check_mirror(call, pod);
    }
    let name = match pod["spec"]["serviceAccountName"].as_str() {
        Some(name) if !name.is_empty() => name.to_owned(),
        _ => "default".to_owned(),
    };
    pod["spec"]["serviceAccountName"] = json!(name);
    pod["spec"]["serviceAccount"] = json!(name);
    let namespace = metadata::text(pod, "namespace").to_owned();
    let snapshot = core.store.snapshot();
    let Some(entry) = snapshot.get(&Key::new("serviceaccounts", namespace.as_str(), name.as_str())) else {
        let message = format!("error looking up service account {namespace}/{name}: serviceaccount {name:?} not found");
        return Err(forbidden(call, pod, message));
    };
    let account = entry.payload.value(entry.revision);
    let own = pod["spec"]["automountServiceAccountToken"].as_bool();
    if own
        .or(account["automountServiceAccountToken"].as_bool())
        .unwrap_or(true)
    {
        mount_token(core, pod);
    }
    let secrets = account["imagePullSecrets"]
        .as_array()
        .filter(|secrets| !secrets.is_empty());
    if pod["spec"]["imagePullSecrets"].as_array().is_none_or(Vec::is_empty)
        && let Some(secrets) = secrets
    {
        pod["spec"]["imagePullSecrets"] = json!(secrets);
    }
    Ok(())
}

fn check_mirror(call: &Call, pod: &Value) -> Result<(), Failure> {
    if !pod["spec"]["serviceAccountName"]
        .as_str()
        .unwrap_or_default()
        .is_empty()
    {
        return Err(forbidden(call, pod, "a mirror pod may not reference service accounts"));
    }
    Ok(())
}

/// Mounts the token into every container that has nothing in its place.
fn mount_token(core: &Core, pod: &mut Value) {
    let volumes = pod["spec"]["volumes"].as_array();
    let known = volumes.into_iter().flatten().find_map(|volume| {
        let name = volume["name"].as_str()?;
        (name.starts_with(TOKEN_VOLUME) && volume["projected"].is_object()).then(|| name.to_owned())
    });
    let is_new = known.is_none();
    let volume = known.unwrap_or_else(|| core.entropy.name(TOKEN_VOLUME));
    let mut is_mounted = false;
    for list in ["initContainers", "containers"] {
        for container in pod["spec"][list].as_array_mut().into_iter().flatten() {
            let mounts = container["volumeMounts"].as_array();
            if mounts
                .into_iter()
                .flatten()
                .any(|mount| mount["mountPath"] == TOKEN_PATH)
            {
                continue;
            }
            is_mounted = true;
            push(
                &mut container["volumeMounts"],
                json!({"name": volume, "readOnly": true, "mountPath": TOKEN_PATH}),
            );
        }
        // An absent list of containers stays absent.
        if pod["spec"][list].is_null()
            && let Some(specification) = pod["spec"].as_object_mut()
        {
            specification.remove(list);
        }
    }
    if is_new && is_mounted {
        push(&mut pod["spec"]["volumes"], token_volume(&volume));
    }
}

fn push(list: &mut Value, item: Value) {
    match list.as_array_mut() {
        Some(items) => items.push(item),
        None => *list = json!([item]),
    }
}

fn token_volume(name: &str) -> Value {
    json!({"name": name, "projected": {"defaultMode": 420, "sources": [
        {"serviceAccountToken": {"expirationSeconds": TOKEN_SECONDS, "path": "token"}},
        {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
        {"downwardAPI": {"items": [
            {"path": "namespace", "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"}},
        ]}},
    ]}})
}

/// The priority of a pod is that of its class, of the default class, or zero.
fn priority(core: &Core, call: &Call, pod: &mut Value) -> Result<(), Failure> {
    let name = pod["spec"]["priorityClassName"].as_str().unwrap_or_default().to_owned();
    let snapshot = core.store.snapshot();
    let registry = core.registry.get();
    let Some(served) = registry.find("scheduling.k8s.io", "v1", "priorityclasses") else {
        return Ok(());
    };
    let class = if name.is_empty() {
        let classes = snapshot.range(&served.resource.collection, None, None);
        let defaults = classes
            .map(|entry| entry.payload.value(entry.revision))
            .filter(|class| class["globalDefault"] == true);
        defaults.min_by_key(|class| class["value"].as_i64())
    } else {
        let Some(entry) = snapshot.get(&served.key("", &name)) else {
            return Err(forbidden(
                call,
                pod,
                format!("no PriorityClass with name {name} was found"),
            ));
        };
        Some(entry.payload.value(entry.revision))
    };
    let class = class.unwrap_or_else(|| json!({"value": 0}));
    let value = class["value"].as_i64().unwrap_or_default();
    let policy = class["preemptionPolicy"]
        .as_str()
        .unwrap_or("PreemptLowerPriority")
        .to_owned();
    if pod["spec"]["priority"].as_i64().is_some_and(|own| own != value) {
        let own = &pod["spec"]["priority"];
        return Err(forbidden(
            call,
            pod,
            format!(
                "the integer value of priority ({own}) must not be provided in pod spec; priority admission controller computed {value} from the given PriorityClass name"
            ),
        ));
    }
    if name.is_empty()
        && let Some(default) = class["metadata"]["name"].as_str()
    {
        pod["spec"]["priorityClassName"] = json!(default);
    }
    pod["spec"]["priority"] = json!(value);
    if pod["spec"]["preemptionPolicy"].is_null() {
        pod["spec"]["preemptionPolicy"] = json!(policy);
    }
    Ok(())
}

/// A pod leaves a node that is not ready or not reachable after a while, unless it says otherwise.
fn tolerations(pod: &mut Value) {
    for key in ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"] {
        let known = pod["spec"]["tolerations"].as_array().into_iter().flatten();
        let is_tolerated = known.into_iter().any(|toleration| {
            let its_key = toleration["key"].as_str().unwrap_or_default();
            let effect = toleration["effect"].as_str().unwrap_or_default();
            (its_key == key || its_key.is_empty()) && matches!(effect, "NoExecute" | "")
        });
        if !is_tolerated {
            let toleration =
                json!({"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": PATIENCE_SECONDS});
            push(&mut pod["spec"]["tolerations"], toleration);
        }
    }
}
