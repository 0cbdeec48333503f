//! What a real server makes of a case.

use anyhow::{Context as _, Result};
use http_body_util::BodyExt as _;
use hyperplane_kinds::Resource;
use hyperplane_testbed::{ControlPlane, Options};
use kube::{Client, client::Body};
use serde_json::{Value, json};

use super::{Answer, Case, NAMESPACE, resource_of};

const JSON: &str = "application/json";
const MERGE_PATCH: &str = "application/merge-patch+json";
const TABLE: &str = "application/json;as=Table;g=meta.k8s.io;v=v1";
/// The uid of every recorded object.
const UID: &str = "00000000-0000-0000-0000-000000000000";
/// Nothing but the kinds themselves decides: what admission adds is no business of this crate.
const NO_ADMISSION: &str = "--disable-admission-plugins=ServiceAccount,DefaultTolerationSeconds,Priority,\
    StorageObjectInUseProtection,DefaultStorageClass,DefaultIngressClass,NamespaceLifecycle,LimitRanger,\
    TaintNodesByCondition,RuntimeClass,CertificateApproval,CertificateSigning,CertificateSubjectRestriction,\
    PersistentVolumeClaimResize,ResourceQuota,PodSecurity,ClusterTrustBundleAttest";

/// Starts a control plane with the namespace of the cases.
pub async fn start() -> Result<(ControlPlane, Client)> {
    let options = Options {
        api_server_arguments: vec![NO_ADMISSION.to_owned()],
        ..Options::default()
    };
    let control_plane = ControlPlane::start(options).await?;
    let client = control_plane.client()?;
    let namespace = json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": NAMESPACE } });
    send(&client, "POST", "/api/v1/namespaces", JSON, JSON, Some(&namespace)).await?;
    Ok((control_plane, client))
}

/// The answer to a case.
pub async fn ask(client: &Client, case: &Case) -> Result<Answer> {
    let resource = resource_of(&case.object)?;
    let collection = collection_path(&resource);
    let Some(change) = &case.change else {
        let path = format!("{collection}?dryRun=All&fieldValidation=Strict");
        let (code, body) = send(client, "POST", &path, JSON, JSON, Some(&case.object)).await?;
        let mut answer = answer(code, &body);
        if answer.object.is_some() {
            let (_, table) = send(client, "POST", &path, JSON, TABLE, Some(&case.object)).await?;
            answer.cells = cells(&table);
        }
        return Ok(answer);
    };
    let path = format!("{collection}?fieldValidation=Strict");
    let (code, old) = send(client, "POST", &path, JSON, JSON, Some(&case.object)).await?;
    if code != 201 {
        return Ok(answer(code, &old));
    }
    let name = case.object["metadata"]["name"]
        .as_str()
        .context("a case without a name")?;
    let item = format!("{collection}/{name}");
    let target = case
        .target
        .as_ref()
        .map_or_else(String::new, |target| format!("/{target}"));
    let path = format!("{item}{target}?dryRun=All&fieldValidation=Strict");
    let (code, body) = send(client, "PATCH", &path, MERGE_PATCH, JSON, Some(change)).await?;
    let mut answer = answer(code, &body);
    if answer.object.is_some() {
        let (_, table) = send(client, "PATCH", &path, MERGE_PATCH, TABLE, Some(change)).await?;
        answer.cells = cells(&table);
    }
    answer.old = Some(settled(&old));
    let path = format!("{item}?gracePeriodSeconds=0&propagationPolicy=Background");
    send(client, "DELETE", &path, JSON, JSON, None).await?;
    Ok(answer)
}

fn collection_path(resource: &Resource) -> String {
    let prefix = if resource.group.is_empty() { "/api" } else { "/apis" };
    let namespace = if resource.is_namespaced() {
        format!("/namespaces/{NAMESPACE}")
    } else {
        String::new()
    };
    format!("{prefix}/{}{namespace}/{}", resource.api_version(), resource.plural)
}

fn answer(code: u16, body: &Value) -> Answer {
    if body["kind"] != "Status" {
        return Answer {
            code,
            object: Some(settled(body)),
            ..Answer::default()
        };
    }
    let text = |value: &Value, field: &str| value[field].as_str().unwrap_or_default().to_owned();
    let mut causes: Vec<[String; 3]> = body["details"]["causes"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|cause| [text(cause, "reason"), text(cause, "field"), text(cause, "message")])
        .collect();
    causes.sort();
    Answer {
        code,
        message: if causes.is_empty() {
            text(body, "message")
        } else {
            String::new()
        },
        causes,
        ..Answer::default()
    }
}

/// An object with fixed values for what is new in every run, so that recording it again changes nothing.
fn settled(object: &Value) -> Value {
    let uid = object["metadata"]["uid"].as_str().unwrap_or_default().to_owned();
    let text = if uid.is_empty() {
        object.to_string()
    } else {
        object.to_string().replace(&uid, UID)
    };
    let mut object: Value = serde_json::from_str(&text).unwrap_or_default();
    if let Some(metadata) = object["metadata"].as_object_mut() {
        metadata.remove("managedFields");
        for (name, value) in [("creationTimestamp", "2024-01-01T00:00:00Z"), ("resourceVersion", "1")] {
            if let Some(field) = metadata.get_mut(name) {
                *field = json!(value);
            }
        }
    }
    object
}

fn cells(table: &Value) -> Vec<Value> {
    table["rows"][0]["cells"].as_array().cloned().unwrap_or_default()
}

/// Sends one request; gives the status and the body.
pub async fn send(
    client: &Client,
    method: &str,
    path: &str,
    content_type: &str,
    accept: &str,
    body: Option<&Value>,
) -> Result<(u16, Value)> {
    let body = body.map_or_else(Vec::new, |body| body.to_string().into_bytes());
    let request = http::Request::builder()
        .method(method)
        .uri(path)
        .header("content-type", content_type)
        .header("accept", accept)
        .body(Body::from(body))?;
    let response = client.send(request).await?;
    let code = response.status().as_u16();
    let bytes = response.into_body().collect().await?.to_bytes();
    Ok((
        code,
        serde_json::from_slice(&bytes).with_context(|| String::from_utf8_lossy(&bytes).into_owned())?,
    ))
}
