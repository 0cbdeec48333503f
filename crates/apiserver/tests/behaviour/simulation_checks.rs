//! What must hold of every server at rest, whatever happened to it before.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::simulation_ground::{Ground, condition};

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/// An object and where it was found.
struct Found {
    path: String,
    kind: String,
    object: Value,
}

/// Everything of the kinds that clients write.
async fn everything(ground: &Ground) -> Vec<Found> {
    let mut paths: Vec<String> = ["configmaps", "secrets", "serviceaccounts", "events", "namespaces"]
        .iter()
        .map(|plural| format!("/api/v1/{plural}"))
        .collect();
    paths.push(DEFINITIONS.to_owned());
    paths.extend(
        ["leaves", "foliage", "twigs"]
            .iter()
            .map(|plural| format!("/apis/x.test/v1/{plural}")),
    );
    let mut all = Vec::new();
    for path in paths {
        let Some(list) = ground.get(&path).await else {
            continue;
        };
        let kind = list["kind"].as_str().unwrap().trim_end_matches("List");
        let version = list["apiVersion"].as_str().unwrap();
        all.extend(list["items"].as_array().unwrap().iter().map(|object| Found {
            path: path.clone(),
            kind: format!("{version} {kind}"),
            object: object.clone(),
        }));
    }
    all
}

fn text<'a>(object: &'a Value, field: &str) -> &'a str {
    object["metadata"][field].as_str().unwrap_or_default()
}

fn place(found: &Found) -> String {
    let (namespace, name) = (text(&found.object, "namespace"), text(&found.object, "name"));
    match namespace {
        "" => format!("{}/{name}", found.path),
        namespace => {
            let (parent, plural) = found.path.rsplit_once('/').unwrap();
            format!("{parent}/namespaces/{namespace}/{plural}/{name}")
        }
    }
}

/// Lets go of everything that clients hold back.
pub(crate) async fn release_all(ground: &Ground) {
    ground.settle().await;
    // What no version shows cannot be released; clients would serve it for that.
    let list = ground.get(DEFINITIONS).await.unwrap();
    for definition in list["items"].as_array().unwrap() {
        let mut versions = definition["spec"]["versions"].clone();
        versions[0]["served"] = json!(true);
        let path = format!("{DEFINITIONS}/{}", text(definition, "name"));
        ground.patch(&path, &json!({"spec": {"versions": versions}})).await;
    }
    ground.settle().await;
    for found in everything(ground).await {
        release(ground, &place(&found)).await;
    }
    ground.settle().await;
}

async fn release(ground: &Ground, path: &str) {
    // Meanwhile the collector may have taken its own finalizer away, or all of the object.
    let Some(object) = ground.get(path).await else {
        return;
    };
    let finalizers = object["metadata"]["finalizers"].as_array().cloned().unwrap_or_default();
    let kept: Vec<&Value> = finalizers.iter().filter(|name| *name != "x.test/hold").collect();
    if kept.len() < finalizers.len() {
        ground.patch(path, &json!({"metadata": {"finalizers": kept}})).await;
    }
}

/// Checks everything.
pub(crate) async fn check(ground: &Ground) {
    let all = everything(ground).await;
    for found in &all {
        let object = &found.object;
        let uid = &object["metadata"]["uid"];
        let refers = |other: &&Found| {
            let owners = other.object["metadata"]["ownerReferences"].as_array();
            owners.into_iter().flatten().any(|owner| owner["uid"] == *uid)
        };
        let dependents: Vec<&Value> = all.iter().filter(refers).map(|other| &other.object).collect();
        let is_going = !object["metadata"]["deletionTimestamp"].is_null();
        assert!(
            !is_going,
            "it could go: {} {object:#}, with {dependents:#?}",
            place(found)
        );
    }
    check_namespaces(&all);
    check_owners(ground, &all).await;
    check_definitions(ground, &all).await;
}

fn check_namespaces(all: &[Found]) {
    let namespaces: BTreeSet<&str> = all
        .iter()
        .filter(|found| found.kind == "v1 Namespace")
        .map(|found| text(&found.object, "name"))
        .collect();
    let places: BTreeSet<String> = all.iter().map(place).collect();
    for found in all {
        let namespace = text(&found.object, "namespace");
        assert!(
            namespace.is_empty() || namespaces.contains(namespace),
            "its namespace is gone: {}",
            place(found)
        );
    }
    for namespace in namespaces {
        for path in ["serviceaccounts/default", "configmaps/kube-root-ca.crt"] {
            let path = format!("/api/v1/namespaces/{namespace}/{path}");
            assert!(places.contains(&path), "{path} is missing");
        }
    }
}

async fn check_owners(ground: &Ground, all: &[Found]) {
    let mut by_uid: BTreeMap<&str, &Found> = BTreeMap::new();
    for found in all {
        by_uid.insert(text(&found.object, "uid"), found);
    }
    for found in all {
        let owners = found.object["metadata"]["ownerReferences"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        let mut is_unknown = false;
        for owner in &owners {
            is_unknown |= !is_served(ground, owner).await;
        }
        let is_there = |owner: &Value| {
            by_uid.get(owner["uid"].as_str().unwrap()).is_some_and(|known| {
                let is_same = format!(
                    "{} {}",
                    owner["apiVersion"].as_str().unwrap(),
                    owner["kind"].as_str().unwrap()
                ) == known.kind
                    && owner["name"] == known.object["metadata"]["name"];
                is_same && text(&known.object, "namespace") == text(&found.object, "namespace")
            })
        };
        assert!(
            is_unknown || owners.iter().all(is_there),
            "an owner is gone: {} {:#}",
            place(found),
            found.object
        );
    }
}

/// Whether the kind of an owner is served.
async fn is_served(ground: &Ground, owner: &Value) -> bool {
    let version = owner["apiVersion"].as_str().unwrap();
    let path = if version.contains('/') {
        format!("/apis/{version}")
    } else {
        format!("/api/{version}")
    };
    let Some(list) = ground.get(&path).await else {
        return false;
    };
    list["resources"]
        .as_array()
        .unwrap()
        .iter()
        .any(|entry| entry["kind"] == owner["kind"])
}

async fn check_definitions(ground: &Ground, all: &[Found]) {
    let definitions = all.iter().filter(|found| found.path == DEFINITIONS);
    let mut kinds = BTreeSet::new();
    for found in definitions {
        let names = &found.object["spec"]["names"];
        let path = format!("/apis/x.test/v1/{}", names["plural"].as_str().unwrap());
        let is_established = condition(&found.object, "Established").starts_with("True");
        assert_eq!(
            ground.get(&path).await.is_some(),
            is_established,
            "{path} {:#}",
            found.object
        );
        let accepted = found.object["status"]["acceptedNames"]["kind"]
            .as_str()
            .unwrap_or_default()
            .to_owned();
        if !accepted.is_empty() {
            assert!(kinds.insert(accepted), "two definitions have one kind");
        }
        let is_accepted = condition(&found.object, "NamesAccepted").starts_with("True");
        assert_eq!(
            is_accepted,
            found.object["status"]["acceptedNames"] == *names,
            "{:#}",
            found.object
        );
        assert!(is_established || !is_accepted, "{:#}", found.object);
    }
}
