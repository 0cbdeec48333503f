//! Makes objects, all of them or none. Everything is tried without effect before anything is made; what then still fails
//! is told together with what exists and how to go on.

use anyhow::{Context as _, anyhow};
use http::{Method, Request};
use hyperplane_recipes::{Manifest, Manifests};
use kube::Client;
use serde_json::{Value, json};

use super::made::{Made, name};

/// Who made them, in managed fields.
const FIELD_MANAGER: &str = "hyperplane-cli";

/// Where objects of a kind are made.
const PLURALS: &[(&str, &str)] = &[
    ("Namespace", "namespaces"),
    ("Secret", "secrets"),
    ("ConfigMap", "configmaps"),
    ("HostedCluster", "hostedclusters"),
    ("NodePool", "nodepools"),
];

/// Kinds that users give names to.
const NAMED: [&str; 2] = ["HostedCluster", "NodePool"];

/// Makes everything, or nothing.
pub(super) async fn create(client: &Client, manifests: &Manifests) -> anyhow::Result<Vec<Made>> {
    let (namespaces, objects): (Vec<&Manifest>, Vec<&Manifest>) = manifests
        .objects
        .iter()
        .partition(|manifest| manifest.kind() == "Namespace");
    let mut made = Vec::new();
    for namespace in namespaces {
        made.push(make_namespace(client, namespace).await?);
    }
    // What users gave a name to is what they want to hear of first.
    let mut tried = objects.clone();
    tried.sort_by_key(|manifest| {
        NAMED
            .iter()
            .position(|kind| *kind == manifest.kind())
            .unwrap_or(NAMED.len())
    });
    for manifest in tried {
        if let Err(error) = post(client, manifest, true).await {
            take_back(client, &made).await;
            return Err(error).with_context(|| format!("nothing was made, as {} cannot be", manifest.title()));
        }
    }
    for manifest in objects {
        match post(client, manifest, false).await {
            Ok(object) => made.push(Made {
                name: name(manifest),
                object: Some(object).filter(|_| !manifest.is_sensitive),
                was_there: false,
            }),
            Err(error) => return Err(error).context(half_done(manifest, &made)),
        }
    }
    Ok(made)
}

/// The namespace, if it is not there. Who may not look takes it for granted: if it is missing, everything else is refused.
async fn make_namespace(client: &Client, manifest: &Manifest) -> anyhow::Result<Made> {
    let path = format!("{}/{}", path(manifest)?, manifest.name());
    let found: kube::Result<Value> = client.request(request(Method::GET, &path, None)?).await;
    let (object, was_there) = match found {
        Ok(found) => (Some(found), true),
        Err(kube::Error::Api(status)) if status.code == 403 => (None, true),
        Err(kube::Error::Api(status)) if status.code == 404 => (Some(post(client, manifest, false).await?), false),
        Err(error) => return Err(error).context("nothing was made, as the namespace cannot be looked at"),
    };
    Ok(Made {
        name: name(manifest),
        object,
        was_there,
    })
}

async fn post(client: &Client, manifest: &Manifest, is_dry: bool) -> anyhow::Result<Value> {
    let dry = if is_dry { "&dryRun=All" } else { "" };
    let path = format!(
        "{}?fieldManager={FIELD_MANAGER}&fieldValidation=Strict{dry}",
        path(manifest)?
    );
    Ok(client
        .request(request(Method::POST, &path, Some(&manifest.object))?)
        .await?)
}

/// Removes a namespace that was made a moment ago: that very one, and no other of its name.
async fn take_back(client: &Client, made: &[Made]) {
    for made in made.iter().filter(|made| !made.was_there) {
        let metadata = made.object.as_ref().map(|object| &object["metadata"]);
        let Some(metadata) = metadata else {
            continue;
        };
        let name = metadata["name"].as_str().unwrap_or_default();
        let options = json!({"preconditions": {"uid": metadata["uid"]}});
        let path = format!("/api/v1/namespaces/{name}");
        let Ok(request) = request(Method::DELETE, &path, Some(&options)) else {
            continue;
        };
        if client.request::<Value>(request).await.is_err() {
            super::making::note(&format!("namespace {name} was made and stays"));
        }
    }
}

/// What exists where everything could be made a moment ago, and then could not.
fn half_done(manifest: &Manifest, made: &[Made]) -> String {
    let there: Vec<&str> = made
        .iter()
        .filter(|made| !made.was_there)
        .map(|made| &*made.name)
        .collect();
    if there.is_empty() {
        return format!("nothing was made, as {} cannot be", manifest.title());
    }
    let namespace = manifest.namespace().unwrap_or_default();
    let there = there.join(" ");
    format!(
        "{} cannot be made, and there is already: {there}. Remove that (kubectl delete -n {namespace} {there}) and try \
         again",
        manifest.title()
    )
}

/// Where an object is made.
fn path(manifest: &Manifest) -> anyhow::Result<String> {
    let plural = PLURALS.iter().find(|(kind, _)| *kind == manifest.kind());
    let (_, plural) = plural.ok_or_else(|| anyhow!("no recipe makes a {}", manifest.kind()))?;
    let version = manifest.api_version();
    let root = if version.contains('/') { "apis" } else { "api" };
    Ok(match manifest.namespace() {
        Some(namespace) => format!("/{root}/{version}/namespaces/{namespace}/{plural}"),
        None => format!("/{root}/{version}/{plural}"),
    })
}

fn request(method: Method, path: &str, body: Option<&Value>) -> anyhow::Result<Request<Vec<u8>>> {
    let body = body.map(serde_json::to_vec).transpose()?.unwrap_or_default();
    let request = Request::builder().method(method).uri(path);
    Ok(request
        .header(http::header::CONTENT_TYPE, "application/json")
        .body(body)?)
}
