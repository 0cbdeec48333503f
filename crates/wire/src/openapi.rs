//! OpenAPI v3: the index, and a document for each group and version with the operations that kubectl's apply, diff,
//! explain and field validation look for. Definitions of built-in kinds are handed in by name; those of custom resources
//! are made from their schemas. Documents are built when they are asked for; the caller keeps them.
//!
//! Built-in kinds do not offer strategic merge here although the server takes it: a client that finds it missing
//! falls back to the merge keys that it was compiled with, which are the right ones.

mod definitions;
mod operations;

use std::collections::{BTreeMap, BTreeSet};

use hyperplane_kinds::Resource;
use serde_json::{Map, Value, json};

pub use definitions::{built_in_name, custom_name};

use crate::Origin;

/// How deeply definitions may refer to others before we stop; upstream's need 20 or so.
const MAXIMUM_ROUNDS: usize = 64;

/// Where definitions come from.
pub struct Source<'a> {
    /// The definition of a built-in type by its name, such as `io.k8s.api.core.v1.ConfigMap`.
    pub definition: &'a dyn Fn(&str) -> Option<Value>,
    /// The schema of a custom resource, as its CustomResourceDefinition has it.
    pub custom_schema: &'a dyn Fn(&Resource) -> Option<Value>,
}

/// The part of the path below `/openapi/v3/` under which a group and version is described.
pub fn document_path(group: &str, version: &str) -> String {
    if group.is_empty() {
        format!("api/{version}")
    } else {
        format!("apis/{group}/{version}")
    }
}

/// The document of `/openapi/v3`, from document paths and content hashes.
pub fn index<'a>(documents: impl IntoIterator<Item = (String, &'a str)>) -> Value {
    let paths: Map<String, Value> = documents
        .into_iter()
        .map(|(path, hash)| {
            let url = format!("/openapi/v3/{path}?hash={hash}");
            (path, json!({ "serverRelativeURL": url }))
        })
        .collect();
    json!({ "paths": paths })
}

/// The document of one group and version; all resources must be of it.
pub fn document<'a>(resources: impl IntoIterator<Item = (&'a Resource, Origin)>, source: &Source<'_>) -> Value {
    let mut paths = BTreeMap::new();
    let mut components = BTreeMap::new();
    for (resource, origin) in resources {
        operations::add_paths(&mut paths, resource, origin);
        if origin == Origin::Custom {
            let schema = (source.custom_schema)(resource);
            components.extend(definitions::custom(resource, schema));
        }
    }
    let paths = json!(paths);
    complete(&mut components, &paths, source.definition);
    json!({
        "openapi": "3.0.0",
        "info": {"title": "Kubernetes", "version": "unversioned"},
        "paths": paths,
        "components": {"schemas": components},
    })
}

/// Adds every definition that is referred to and not there yet. One that nobody has is any object, so that no
/// reference leads nowhere.
fn complete(components: &mut BTreeMap<String, Value>, paths: &Value, definition: &dyn Fn(&str) -> Option<Value>) {
    let mut wanted = BTreeSet::new();
    collect_references(paths, &mut wanted);
    for component in components.values() {
        collect_references(component, &mut wanted);
    }
    for _ in 0..MAXIMUM_ROUNDS {
        let missing: Vec<String> = wanted
            .iter()
            .filter(|name| !components.contains_key(*name))
            .cloned()
            .collect();
        if missing.is_empty() {
            return;
        }
        wanted.clear();
        for name in missing {
            let found = definition(&name).unwrap_or_else(|| json!({"type": "object"}));
            collect_references(&found, &mut wanted);
            components.insert(name, found);
        }
    }
}

fn collect_references(value: &Value, names: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                match (key.as_str(), value) {
                    ("$ref", Value::String(reference)) => {
                        names.extend(reference.strip_prefix(definitions::PREFIX).map(str::to_owned));
                    }
                    _ => collect_references(value, names),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect_references(item, names)),
        _ => {}
    }
}

#[cfg(test)]
mod tests;
