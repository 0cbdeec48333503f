//! CustomResourceDefinitions, made from the declarations of the kinds.

use serde_json::{Map, Value, json};

use crate::{
    KINDS, PROVIDER_KINDS,
    resource::{Column, KindDefinition, Scope},
    schema::FeatureSet,
};

/// Every CustomResourceDefinition of a feature set, in a stable order, as JSON ready to apply.
pub fn definitions(features: FeatureSet) -> Vec<Value> {
    definitions_of(KINDS, features)
}

/// CustomResourceDefinitions for the kinds of infrastructure providers, for where the providers' own are absent.
pub fn provider_definitions(features: FeatureSet) -> Vec<Value> {
    definitions_of(PROVIDER_KINDS, features)
}

fn definitions_of(kinds: &[fn() -> KindDefinition], features: FeatureSet) -> Vec<Value> {
    kinds
        .iter()
        .map(|definition| definition())
        .filter(|kind| kind.gate.is_none_or(|gate| features.has(gate)))
        .map(|kind| definition(&kind, features))
        .collect()
}

/// The CustomResourceDefinition of one kind.
pub fn definition(kind: &KindDefinition, features: FeatureSet) -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": metadata(kind),
        "spec": {
            "group": kind.group,
            "names": names(kind),
            "scope": match kind.scope {
                Scope::Namespaced => "Namespaced",
                Scope::Cluster => "Cluster",
            },
            "versions": [version(kind, features)],
        },
    })
}

fn metadata(kind: &KindDefinition) -> Value {
    let mut metadata = json!({"name": kind.name()});
    if !kind.labels.is_empty() {
        let labels: Map<String, Value> = kind
            .labels
            .iter()
            .map(|(key, value)| ((*key).to_owned(), (*value).into()))
            .collect();
        metadata["labels"] = labels.into();
    }
    metadata
}

fn names(kind: &KindDefinition) -> Value {
    let mut names = json!({
        "kind": kind.kind,
        "listKind": format!("{}List", kind.kind),
        "plural": kind.plural,
        "singular": kind.kind.to_lowercase(),
    });
    for (key, words) in [("shortNames", kind.short_names), ("categories", kind.categories)] {
        if !words.is_empty() {
            names[key] = json!(words);
        }
    }
    names
}

fn version(kind: &KindDefinition, features: FeatureSet) -> Value {
    let mut version = json!({
        "name": kind.version,
        "served": true,
        "storage": true,
        "schema": {"openAPIV3Schema": root_schema(kind, features)},
    });
    if !kind.columns.is_empty() {
        version["additionalPrinterColumns"] = kind.columns.iter().map(printer_column).collect();
    }
    if kind.has_status && kind.status_subresource {
        version["subresources"] = subresources(kind);
    }
    version
}

fn printer_column(column: &Column) -> Value {
    let mut printed = json!({
        "name": column.name,
        "type": column.kind,
        "jsonPath": column.path,
        "description": column.description,
    });
    if column.priority > 0 {
        printed["priority"] = column.priority.into();
    }
    printed
}

fn subresources(kind: &KindDefinition) -> Value {
    let mut subresources = json!({"status": {}});
    if let Some(scale) = kind.scale {
        let mut paths = json!({"specReplicasPath": scale.spec, "statusReplicasPath": scale.status});
        if let Some(selector) = scale.selector {
            paths["labelSelectorPath"] = selector.into();
        }
        subresources["scale"] = paths;
    }
    subresources
}

fn root_schema(kind: &KindDefinition, features: FeatureSet) -> Value {
    let mut properties = json!({
        "apiVersion": {
            "type": "string",
            "description": "The group and version of the schema that this object follows.",
        },
        "kind": {"type": "string", "description": "The kind of this object."},
        "metadata": {"type": "object"},
    });
    for (part, schema) in kind.structural_schemas(features) {
        properties[part] = schema;
    }
    let mut root = json!({
        "type": "object",
        "description": kind.description.trim(),
        "properties": properties,
    });
    if kind.spec_required {
        root["required"] = json!(["spec"]);
    }
    let rules: Vec<Value> = (kind.rules)().iter().map(crate::schema::Rule::to_value).collect();
    if !rules.is_empty() {
        root["x-kubernetes-validations"] = rules.into();
    }
    root
}
