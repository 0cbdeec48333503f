//! Applies objects without storing them, and remembers what the server said about each.

use std::collections::{BTreeMap, BTreeSet};

use http::{HeaderMap, Request, header::WARNING};
use k8s_openapi::api::core::v1::Namespace;
use kube::{
    Api, Client, Resource as _,
    api::{DynamicObject, Patch, PatchParams, ValidationDirective},
    client::Body,
    core::{GroupVersionKind, request},
    discovery::{ApiResource, Scope, pinned_kind},
};
use serde_json::{Value, json};

/// A server that is asked what it thinks of objects.
pub struct DryRun {
    client: Client,
    kinds: BTreeMap<(String, String), (ApiResource, Scope)>,
    namespaces: BTreeSet<String>,
    taken: BTreeMap<String, usize>,
    complaints: Vec<String>,
}

impl DryRun {
    pub fn new(client: Client) -> Self {
        Self {
            client,
            kinds: BTreeMap::new(),
            namespaces: BTreeSet::new(),
            taken: BTreeMap::new(),
            complaints: Vec::new(),
        }
    }

    /// Applies an object as a dry run.
    pub async fn apply(&mut self, object: &Value) {
        let at = |path: &str| {
            object
                .pointer(path)
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned()
        };
        let (kind, namespace, name) = (at("/kind"), at("/metadata/namespace"), at("/metadata/name"));
        let (resource, scope) = self.kind(&at("/apiVersion"), &kind).await;
        let namespace = (scope == Scope::Namespaced).then_some(namespace);
        if let Some(namespace) = &namespace {
            self.ensure_namespace(namespace).await;
        }
        let path = DynamicObject::url_path(&resource, namespace.as_deref());
        let mut parameters = PatchParams::apply("hyperplane/dry-run").force().dry_run();
        parameters.field_validation = Some(ValidationDirective::Strict);
        let request = request::Request::new(path).patch(&name, &parameters, &Patch::Apply(object));
        match self.send(request.unwrap()).await {
            Ok(()) => *self.taken.entry(kind).or_default() += 1,
            Err(complaint) => self.complaints.push(format!("{kind} {name}: {complaint}")),
        }
    }

    /// That the server took everything without a word, these kinds among it.
    pub fn assert_all_taken(&self, kinds: &[&str]) {
        let complaints = self.complaints.join("\n");
        assert!(self.complaints.is_empty(), "taken: {:?}\n{complaints}", self.taken);
        for kind in kinds {
            assert!(self.taken.contains_key(*kind), "no {kind} among {:?}", self.taken);
        }
    }

    async fn send(&self, request: Request<Vec<u8>>) -> Result<(), String> {
        let response = self.client.send(request.map(Body::from)).await.unwrap();
        let (parts, body) = response.into_parts();
        let body = body.collect_bytes().await.unwrap();
        if !parts.status.is_success() {
            return Err(String::from_utf8_lossy(&body).into_owned());
        }
        warnings(&parts.headers)
    }

    /// The kind as the server serves it, asked for once.
    async fn kind(&mut self, api_version: &str, kind: &str) -> (ApiResource, Scope) {
        let key = (api_version.to_owned(), kind.to_owned());
        if let Some(known) = self.kinds.get(&key) {
            return known.clone();
        }
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        let found = pinned_kind(&self.client, &GroupVersionKind::gvk(group, version, kind)).await;
        let (resource, capabilities) = found.unwrap_or_else(|error| panic!("{api_version} {kind}: {error}"));
        self.kinds.entry(key).or_insert((resource, capabilities.scope)).clone()
    }

    /// A dry run does not create the namespace that it needs.
    async fn ensure_namespace(&mut self, name: &str) {
        if !self.namespaces.insert(name.to_owned()) {
            return;
        }
        let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}});
        let namespaces: Api<Namespace> = Api::all(self.client.clone());
        let parameters = PatchParams::apply("hyperplane/test");
        namespaces
            .patch(name, &parameters, &Patch::Apply(&namespace))
            .await
            .unwrap();
    }
}

fn warnings(headers: &HeaderMap) -> Result<(), String> {
    let warnings: Vec<String> = headers
        .get_all(WARNING)
        .iter()
        .map(|value| format!("{value:?}"))
        .collect();
    if warnings.is_empty() {
        Ok(())
    } else {
        Err(warnings.join(", "))
    }
}
