//! Resources for tests: a custom one with everything, and a plain built-in one.

use std::{collections::BTreeSet, sync::Arc};

use hyperplane_kinds::{
    Behaviour, Column, Malformed, Propagation, Resource, Scope, SelectableField, Subresource, Target, Verb,
};
use hyperplane_schema::FieldError;
use jiff::Timestamp;
use serde_json::Value;

/// Shows the name and the text of an object, and does nothing else.
#[derive(Debug)]
struct Plain;

impl Behaviour for Plain {
    fn read(&self, _: &mut Value) -> Result<Vec<String>, Malformed> {
        Ok(Vec::new())
    }

    fn default(&self, _: &mut Value) {}

    fn prepare_create(&self, _: &mut Value) {}

    fn prepare_update(&self, _: &mut Value, _: &Value, _: Target<'_>) {}

    fn validate(&self, _: &Value, _: Option<&Value>, _: Target<'_>) -> Vec<FieldError> {
        Vec::new()
    }

    fn validate_name(&self, _: &str) -> Vec<String> {
        Vec::new()
    }

    fn generation_changed(&self, _: &Value, _: &Value) -> bool {
        false
    }

    fn warnings(&self, _: &Value, _: Option<&Value>) -> Vec<String> {
        Vec::new()
    }

    fn cells(&self, object: &Value, now: Timestamp) -> Vec<Value> {
        let created = object["metadata"]["creationTimestamp"].as_str();
        let age = created.and_then(|text| text.parse::<Timestamp>().ok()).map(|created| {
            let seconds = now.as_second() - created.as_second();
            Value::from(format!("{seconds}s"))
        });
        vec![object["metadata"]["name"].clone(), age.unwrap_or_default()]
    }
}

pub(crate) fn foo() -> Resource {
    Resource {
        group: "x.test".to_owned(),
        plural: "foos".to_owned(),
        singular: "foo".to_owned(),
        kind: "Foo".to_owned(),
        list_kind: "FooList".to_owned(),
        short_names: vec!["fo".to_owned()],
        categories: vec!["all".to_owned()],
        subresources: vec![
            subresource("scale", "autoscaling", "Scale"),
            subresource("status", "x.test", "Foo"),
        ],
        selectable_fields: vec![SelectableField {
            label: "spec.text".to_owned(),
            paths: vec![vec!["spec".to_owned(), "text".to_owned()]],
            default: String::new(),
        }],
        collection: "x.test/foos".into(),
        storage_version: "x.test/v1".to_owned(),
        ..config_map()
    }
}

pub(crate) fn config_map() -> Resource {
    Resource {
        group: String::new(),
        version: "v1".to_owned(),
        plural: "configmaps".to_owned(),
        singular: "configmap".to_owned(),
        kind: "ConfigMap".to_owned(),
        list_kind: "ConfigMapList".to_owned(),
        short_names: vec!["cm".to_owned()],
        categories: Vec::new(),
        scope: Scope::Namespaced,
        verbs: Verb::ALL.into(),
        subresources: Vec::new(),
        scale: None,
        columns: vec![column("Name", "string", "name"), column("Age", "date", "")],
        selectable_fields: Vec::new(),
        collection: "configmaps".into(),
        storage_version: "v1".to_owned(),
        has_generation: false,
        creates_on_update: false,
        allows_unconditional_update: true,
        default_propagation: Propagation::Background,
        returns_deleted: false,
        deprecation: None,
        behaviour: Arc::new(Plain),
    }
}

pub(crate) fn subresource(name: &str, group: &str, kind: &str) -> Subresource {
    Subresource {
        name: name.to_owned(),
        kind: kind.to_owned(),
        group: group.to_owned(),
        version: "v1".to_owned(),
        verbs: BTreeSet::from([Verb::Get, Verb::Patch, Verb::Update]),
    }
}

fn column(name: &str, kind: &str, format: &str) -> Column {
    Column {
        name: name.to_owned(),
        kind: kind.to_owned(),
        format: format.to_owned(),
        description: format!("The {name}."),
        priority: 0,
    }
}
