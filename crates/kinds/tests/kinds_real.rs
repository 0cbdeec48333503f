//! What this crate says of the built-in kinds, against a real server: its answers, its discovery, its tables and its
//! OpenAPI definitions.

mod support;

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context as _, Result};
use hyperplane_kinds::{Resource, built_in, definition};
use kube::Client;
use serde_json::{Value, json};
use support::{Answer, comparable, real};

const DISCOVERY: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
const TABLE: &str = "application/json;as=Table;g=meta.k8s.io;v=v1";

#[tokio::test]
#[ignore = "needs a real control plane: cargo xtask test"]
async fn recorded_answers_are_those_of_the_real_server() -> Result<()> {
    let (_control_plane, client) = real::start().await?;
    for (file, cases) in support::cases()? {
        let recorded = support::answers(&file)?;
        for case in cases {
            let answer = real::ask(&client, &case).await?;
            let recorded = recorded
                .get(&case.name)
                .with_context(|| format!("{file}: {}: record it", case.name))?;
            assert_eq!(essence(&answer), essence(recorded), "{file}: {}", case.name);
        }
    }
    Ok(())
}

/// Status, message, causes and fields: what does not differ from run to run. Messages of causes may quote random names.
type Essence = (u16, String, BTreeSet<(String, String)>, Option<BTreeSet<String>>);

fn essence(answer: &Answer) -> Essence {
    let causes = answer
        .causes
        .iter()
        .map(|[reason, field, _]| (reason.clone(), field.clone()))
        .collect();
    let fields = answer.object.clone().map(|object| {
        let mut paths = BTreeSet::new();
        collect_paths(&comparable(object), String::new(), &mut paths);
        paths
    });
    (answer.code, answer.message.clone(), causes, fields)
}

fn collect_paths(value: &Value, path: String, paths: &mut BTreeSet<String>) {
    match value {
        Value::Object(map) => {
            for (name, value) in map {
                collect_paths(value, format!("{path}.{name}"), paths);
            }
        }
        Value::Array(list) => {
            for (index, value) in list.iter().enumerate() {
                collect_paths(value, format!("{path}[{index}]"), paths);
            }
        }
        _ => {}
    }
    paths.insert(path);
}

#[tokio::test]
#[ignore = "needs a real control plane: cargo xtask test"]
async fn discovery_is_that_of_the_real_server() -> Result<()> {
    let (_control_plane, client) = real::start().await?;
    let mut theirs = BTreeMap::new();
    for root in ["/api", "/apis"] {
        let (_, groups) = real::send(&client, "GET", root, "application/json", DISCOVERY, None).await?;
        for group in groups["items"].as_array().context("no groups")? {
            let name = group["metadata"]["name"].as_str().unwrap_or_default();
            for version in group["versions"].as_array().into_iter().flatten() {
                for resource in version["resources"].as_array().into_iter().flatten() {
                    let key = format!("{name}/{}/{}", version["version"], resource["resource"]);
                    theirs.insert(key, resource.clone());
                }
            }
        }
    }
    let ours: BTreeMap<String, Value> = built_in().iter().map(|resource| discovered(resource)).collect();
    for (key, resource) in &theirs {
        assert_eq!(ours.get(key), Some(resource), "{key}");
    }
    assert_eq!(ours.keys().collect::<Vec<_>>(), theirs.keys().collect::<Vec<_>>());
    Ok(())
}

/// A resource in the form of aggregated discovery.
fn discovered(resource: &Resource) -> (String, Value) {
    let key = format!("{}/{:?}/{:?}", resource.group, resource.version, resource.plural);
    let words = |verbs: &BTreeSet<hyperplane_kinds::Verb>| verbs.iter().map(|verb| verb.word()).collect::<Vec<_>>();
    let mut document = json!({
        "resource": resource.plural,
        "responseKind": { "group": "", "version": "", "kind": resource.kind },
        "scope": if resource.is_namespaced() { "Namespaced" } else { "Cluster" },
        "singularResource": resource.singular,
        "verbs": words(&resource.verbs),
    });
    for (field, list) in [
        ("shortNames", &resource.short_names),
        ("categories", &resource.categories),
    ] {
        if !list.is_empty() {
            document[field] = json!(list);
        }
    }
    let subresources: Vec<Value> = resource
        .subresources
        .iter()
        .map(|subresource| {
            let is_own = subresource.group == resource.group && subresource.version == resource.version;
            let (group, version) = if is_own {
                ("", "")
            } else {
                (subresource.group.as_str(), subresource.version.as_str())
            };
            json!({
                "subresource": subresource.name,
                "responseKind": { "group": group, "version": version, "kind": subresource.kind },
                "verbs": words(&subresource.verbs),
            })
        })
        .collect();
    if !subresources.is_empty() {
        document["subresources"] = json!(subresources);
    }
    (key, document)
}

#[tokio::test]
#[ignore = "needs a real control plane: cargo xtask test"]
async fn columns_and_selectable_fields_are_those_of_the_real_server() -> Result<()> {
    let (_control_plane, client) = real::start().await?;
    let mut refused = Vec::new();
    for resource in built_in() {
        if !resource.verbs.contains(&hyperplane_kinds::Verb::List) {
            continue;
        }
        let prefix = if resource.group.is_empty() { "/api" } else { "/apis" };
        let path = format!("{prefix}/{}/{}", resource.api_version(), resource.plural);
        check_columns(&client, &resource, &path).await?;
        for field in &resource.selectable_fields {
            let path = format!("{path}?limit=1&fieldSelector={}%3Dx", field.label);
            let (code, body) = real::send(&client, "GET", &path, "application/json", "application/json", None).await?;
            if code != 200 {
                refused.push(format!(
                    "{}: {}: {}",
                    resource.qualified(),
                    field.label,
                    body["message"]
                ));
            }
        }
        let path = format!("{path}?limit=1&fieldSelector=spec.nowhere%3Dx");
        let (code, _) = real::send(&client, "GET", &path, "application/json", "application/json", None).await?;
        let is_strict = code == 400;
        assert!(
            is_strict || resource.plural == "componentstatuses",
            "{} takes any selector",
            resource.qualified()
        );
    }
    Ok(())
}

async fn check_columns(client: &Client, resource: &Resource, path: &str) -> Result<()> {
    let (_, table) = real::send(client, "GET", path, "application/json", TABLE, None).await?;
    let theirs: Vec<[Value; 4]> = table["columnDefinitions"]
        .as_array()
        .with_context(|| format!("{path}: {table}"))?
        .iter()
        .map(|column| ["name", "type", "format", "priority"].map(|field| column[field].clone()))
        .collect();
    let ours: Vec<[Value; 4]> = resource
        .columns
        .iter()
        .map(|column| {
            [
                json!(column.name),
                json!(column.kind),
                json!(column.format),
                json!(column.priority),
            ]
        })
        .collect();
    assert_eq!(ours, theirs, "{}", resource.qualified());
    Ok(())
}

#[tokio::test]
#[ignore = "needs a real control plane: cargo xtask test"]
async fn definitions_are_those_of_the_real_server() -> Result<()> {
    let (control_plane, _client) = real::start().await?;
    let raw = async |path: &str| -> Result<Value> {
        let answer = control_plane.kubectl(&["get", "--raw", path]).await?;
        Ok(serde_json::from_str(&answer.stdout)?)
    };
    let index = raw("/openapi/v3").await?;
    let (mut compared, mut different) = (0, BTreeSet::new());
    for path in index["paths"].as_object().context("no paths")?.keys() {
        if !path.ends_with("/v1") && !path.ends_with("/v2") {
            continue;
        }
        let document = raw(&format!("/openapi/v3/{path}")).await?;
        for (name, theirs) in document["components"]["schemas"].as_object().into_iter().flatten() {
            let ours = definition(name).with_context(|| format!("{name} is not in the table"))?;
            // Which groups take part in these differs from document to document.
            if matches!(name.rsplit('.').next(), Some("DeleteOptions" | "WatchEvent")) {
                continue;
            }
            if facts(&ours) != facts(theirs) {
                different.insert(format!("{name}\n  ours {}\n  real {}", facts(&ours), facts(theirs)));
            }
            compared += 1;
        }
    }
    assert!(
        different.is_empty(),
        "{}",
        different.into_iter().collect::<Vec<_>>().join("\n")
    );
    assert!(compared > 500, "only {compared} definitions were compared");
    Ok(())
}

/// A definition without descriptions. A reference stands in
/// `allOf` only for the sake of a description beside it.
fn facts(schema: &Value) -> Value {
    match schema {
        Value::Object(map)
            if map.keys().all(|name| name == "allOf" || name == "description") && map.contains_key("allOf") =>
        {
            facts(&map["allOf"][0])
        }
        Value::Object(map) => map
            .iter()
            .filter(|(name, value)| !(name.as_str() == "description" && value.is_string()))
            .map(|(name, value)| (name.clone(), facts(value)))
            .collect::<serde_json::Map<_, _>>()
            .into(),
        Value::Array(list) => list.iter().map(facts).collect(),
        other => other.clone(),
    }
}
