//! What the objects look like: every part of one says the same number, so that half an object shows.

use http::Request;
use kube::{Client, Error};
use serde_json::{Value, json};

use crate::apiserver::soon;

/// The namespace of everything.
pub const NAMESPACE: &str = "durability";
/// Every so many writes one is large, so that the log is swept again and again.
const LARGE_EVERY: u64 = 4;
const LARGE_BYTES: usize = 128 << 10;
const SMALL_BYTES: usize = 256;

/// A kind that is written and watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Built-in, plain.
    ConfigMap,
    /// Built-in, with values that are base64.
    Secret,
    /// By a definition that has to survive as well.
    Widget,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::ConfigMap, Self::Secret, Self::Widget];

    fn api_version(self) -> &'static str {
        match self {
            Self::ConfigMap | Self::Secret => "v1",
            Self::Widget => "durability.example/v1",
        }
    }

    /// The path of the collection.
    pub fn path(self) -> String {
        let (root, plural) = match self {
            Self::ConfigMap => ("/api/v1", "configmaps"),
            Self::Secret => ("/api/v1", "secrets"),
            Self::Widget => ("/apis/durability.example/v1", "widgets"),
        };
        format!("{root}/namespaces/{NAMESPACE}/{plural}")
    }

    /// The object that says a number.
    pub fn object(self, name: &str, number: u64) -> Value {
        let parity = if number.is_multiple_of(2) { "even" } else { "odd" };
        // Digits and letters in groups of four are base64, as a Secret wants it.
        let text = format!("{number:08}");
        json!({
            "apiVersion": self.api_version(),
            "kind": format!("{self:?}"),
            "metadata": {
                "name": name,
                "labels": {"parity": parity},
                "annotations": {"number": text},
            },
            "data": {"number": text, "filler": "A".repeat(filler_bytes(number))},
        })
    }
}

fn filler_bytes(number: u64) -> usize {
    if number.is_multiple_of(LARGE_EVERY) {
        LARGE_BYTES
    } else {
        SMALL_BYTES
    }
}

/// The number that an object says, if all its parts agree on it.
pub fn number(kind: Kind, object: &Value) -> Option<u64> {
    let number = object["data"]["number"].as_str()?.parse().ok()?;
    let whole = kind.object(name(object), number);
    let is_whole = object["data"] == whole["data"]
        && object["metadata"]["labels"] == whole["metadata"]["labels"]
        && object["metadata"]["annotations"] == whole["metadata"]["annotations"];
    is_whole.then_some(number)
}

/// The name of an object.
pub fn name(object: &Value) -> &str {
    object["metadata"]["name"].as_str().unwrap()
}

/// The revision of an object or a list.
pub fn revision(object: &Value) -> u64 {
    let text = object["metadata"]["resourceVersion"].as_str();
    text.unwrap_or_else(|| panic!("no resourceVersion: {object}"))
        .parse()
        .unwrap()
}

/// Sends a request with an object, or with nothing.
pub async fn send(client: &Client, method: &str, path: &str, body: &Value) -> Result<Value, Error> {
    let media = match method {
        "PATCH" => "application/apply-patch+yaml",
        _ => "application/json",
    };
    let body = if body.is_null() {
        Vec::new()
    } else {
        serde_json::to_vec(body).unwrap()
    };
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header("content-type", media);
    let answer = client.request(request.body(body).unwrap());
    soon(&format!("an answer to {method} {path}"), answer).await
}

/// The definition of widgets.
pub fn definition() -> Value {
    let strings = json!({"type": "object", "additionalProperties": {"type": "string"}});
    let schema = json!({"type": "object", "properties": {"data": strings}});
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.durability.example"},
        "spec": {
            "group": "durability.example",
            "scope": "Namespaced",
            "names": {"plural": "widgets", "kind": "Widget"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}}],
        },
    })
}
