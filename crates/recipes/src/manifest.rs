//! Objects that a recipe came to, in the order in which they are made.

use serde::Serialize;
use serde_json::{Value, json};

/// One object.
#[derive(Clone, Debug, PartialEq)]
pub struct Manifest {
    /// The object as it goes over the wire.
    pub object: Value,
    /// Whether it holds what only its owner should read.
    pub is_sensitive: bool,
}

impl Manifest {
    /// An object that everybody may read.
    pub(crate) fn open(object: &impl Serialize) -> Self {
        Self {
            object: serde_json::to_value(object).expect("objects have only text keys and finite numbers"),
            is_sensitive: false,
        }
    }

    /// A Secret with a text under each key.
    pub(crate) fn secret(namespace: &str, name: &str, kind: &str, texts: &[(&str, &str)]) -> Self {
        let data: Value = texts
            .iter()
            .map(|(key, text)| ((*key).to_owned(), json!(text)))
            .collect();
        Self {
            object: json!({
                "apiVersion": "v1",
                "kind": "Secret",
                "metadata": {"name": name, "namespace": namespace},
                "type": kind,
                "stringData": data,
            }),
            is_sensitive: true,
        }
    }

    /// The same object with labels besides.
    pub(crate) fn labelled(mut self, labels: &Value) -> Self {
        self.object["metadata"]["labels"] = labels.clone();
        self
    }

    /// Its kind.
    pub fn kind(&self) -> &str {
        self.text("/kind")
    }

    /// Its API group and version.
    pub fn api_version(&self) -> &str {
        self.text("/apiVersion")
    }

    /// Its name.
    pub fn name(&self) -> &str {
        self.text("/metadata/name")
    }

    /// Its namespace, where it lives in one.
    pub fn namespace(&self) -> Option<&str> {
        self.object.pointer("/metadata/namespace").and_then(Value::as_str)
    }

    /// How messages name it.
    pub fn title(&self) -> String {
        format!("{} {}", self.kind(), self.name())
    }

    fn document(&self) -> String {
        let text = serde_saphyr::to_string(&self.object);
        format!("---\n{}", text.expect("objects have only text keys and finite numbers"))
    }

    fn text(&self, path: &str) -> &str {
        self.object.pointer(path).and_then(Value::as_str).unwrap_or_default()
    }
}

/// All objects of a recipe.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Manifests {
    /// The objects, in the order in which they are made.
    pub objects: Vec<Manifest>,
    /// What users should know.
    pub notes: Vec<String>,
}

impl Manifests {
    /// One YAML document per object. What is sensitive is left out unless it is asked for.
    pub fn yaml(&self, with_sensitive: bool) -> String {
        let documents: Vec<String> = self.shown(with_sensitive).map(Manifest::document).collect();
        documents.concat()
    }

    /// The objects as one list of Kubernetes. What is sensitive is left out unless it is asked for.
    pub fn list(&self, with_sensitive: bool) -> Value {
        let items: Vec<&Value> = self.shown(with_sensitive).map(|manifest| &manifest.object).collect();
        json!({"apiVersion": "v1", "kind": "List", "items": items})
    }

    /// What is left out unless it is asked for.
    pub fn sensitive(&self) -> impl Iterator<Item = &Manifest> {
        self.objects.iter().filter(|manifest| manifest.is_sensitive)
    }

    fn shown(&self, with_sensitive: bool) -> impl Iterator<Item = &Manifest> {
        let is_shown = move |manifest: &&Manifest| with_sensitive || !manifest.is_sensitive;
        self.objects.iter().filter(is_shown)
    }
}
