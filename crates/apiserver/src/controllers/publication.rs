//! What is served of a definition, and since when. Owns the way from a definition to the registry, and the record by
//! which a restarted server knows what it served before.

use std::sync::Arc;

use hyperplane_kinds::{Resource, custom};
use hyperplane_store::{Change, Expect, Key, Operation, Revision, Snapshot};
use serde_json::{Value, json};

use super::definitions::Definitions;
use crate::{core::Core, metadata, object::Object, registry::Served};

/// Where the server remembers, for itself, since when a definition is served as it is. No client sees it.
pub(super) const PUBLICATIONS: &str = "#publications";

/// What tells one state of a definition from another, as far as it is served.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Publication {
    uid: String,
    generation: i64,
    names: Value,
    is_terminating: bool,
}

impl Publication {
    fn of(definition: &Value) -> Self {
        Self {
            uid: metadata::text(definition, "uid").to_owned(),
            generation: metadata::generation(definition),
            names: definition["status"]["acceptedNames"].clone(),
            is_terminating: metadata::is_deleting(definition),
        }
    }

    /// Whether another one differs in nothing but the mark of a deletion, which counts as a generation.
    fn is_same_but_for_deletion(&self, other: &Self) -> bool {
        let marked = Self {
            generation: self.generation + 1,
            is_terminating: true,
            ..self.clone()
        };
        !self.is_terminating && marked == *other
    }

    /// How it is written down.
    fn record(&self) -> Value {
        json!([self.uid, self.generation, self.names])
    }
}

/// Serves a definition from now on, unless it is served already as it is.
pub(super) async fn publish(core: &Core, definitions: &Definitions, definition: &Value) {
    let publication = Publication::of(definition);
    let name = metadata::text(definition, "name");
    if definitions.state().published.get(name) == Some(&publication) {
        return;
    }
    let since = core.store.snapshot().revision();
    serve(core, definitions, definition, since);
    remember(core, name, &publication, since).await;
}

/// Serves a definition as before a restart.
pub(super) fn restore(core: &Core, definitions: &Definitions, snapshot: &Snapshot<Object>, definition: &Value) {
    let since = since(snapshot, definition).unwrap_or_else(|| snapshot.revision());
    serve(core, definitions, definition, since);
}

/// Lets nothing new be created of a definition that goes. Who watches sees how its objects go.
pub(super) async fn end(core: &Core, definitions: &Definitions, definition: &Value) {
    let (name, publication) = (metadata::text(definition, "name"), Publication::of(definition));
    let before = definitions.state().published.get(name).cloned();
    if before.is_some_and(|before| before.is_same_but_for_deletion(&publication)) {
        definitions.state().published.insert(name.into(), publication);
    } else {
        publish(core, definitions, definition).await;
    }
    for served in core.registry.get().of_definition(name) {
        served.terminating.cancel();
    }
}

fn serve(core: &Core, definitions: &Definitions, definition: &Value, since: Revision) {
    let name = metadata::text(definition, "name");
    let registry = core.registry.get();
    let collection = custom::collection(definition);
    if registry
        .all()
        .any(|served| !served.is_custom && served.resource.collection == collection)
    {
        // What is built in is served as it is, whatever a definition says.
        return;
    }
    let served: Vec<Arc<Served>> = match custom::resources(definition) {
        Ok(resources) if !resources.is_empty() => resources
            .into_iter()
            .map(|resource| Arc::new(Served::custom(resource, since)))
            .collect(),
        Ok(_) => hidden(definition, since),
        Err(errors) => {
            let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
            tracing::error!(
                definition = name,
                errors = errors.join("; "),
                "A definition cannot be served: replace it."
            );
            if !registry.of_definition(name).is_empty() {
                return;
            }
            hidden(definition, since)
        }
    };
    if metadata::is_deleting(definition) {
        for served in &served {
            served.terminating.cancel();
        }
    }
    core.registry.replace(|registry| registry.with_definition(name, served));
    definitions
        .state()
        .published
        .insert(name.into(), Publication::of(definition));
    definitions.tell();
}

/// The resource by which the server reaches the objects of a definition of which it serves no version.
fn hidden(definition: &Value, since: Revision) -> Vec<Arc<Served>> {
    let mut stored = definition.clone();
    if let Some(Value::Array(versions)) = stored.pointer_mut("/spec/versions") {
        versions.retain(|version| version["storage"] == true);
        for version in versions {
            version["served"] = json!(true);
        }
    }
    let resources = custom::resources(&stored).or_else(|_| custom::resources(&with_open_schema(stored)));
    let hidden = |resource: Arc<Resource>| Arc::new(Served::hidden(resource, since));
    resources.unwrap_or_default().into_iter().map(hidden).collect()
}

fn with_open_schema(mut definition: Value) -> Value {
    for version in definition["spec"]["versions"].as_array_mut().into_iter().flatten() {
        let open = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
        version["schema"] = json!({"openAPIV3Schema": open});
    }
    definition
}

fn since(snapshot: &Snapshot<Object>, definition: &Value) -> Option<Revision> {
    let entry = snapshot.get(&Key::new(PUBLICATIONS, "", metadata::text(definition, "name")))?;
    let record = entry.payload.value(entry.revision);
    let is_current = record["of"] == Publication::of(definition).record();
    is_current.then_some(Revision(record["since"].as_u64()?))
}

/// Remembers since when a definition is served, so that objects that were written later need no second look after a
/// restart. When this fails they get one.
async fn remember(core: &Core, name: &str, publication: &Publication, since: Revision) {
    let record = json!({
        "apiVersion": "", "kind": "", "metadata": {},
        "of": publication.record(), "since": since.0,
    });
    let operation = Operation {
        key: Key::new(PUBLICATIONS, "", name),
        expect: Expect::Any,
        change: Change::Put(Object::new(&record)),
    };
    if let Err(error) = core.commit(operation).await {
        tracing::debug!(%error, "The publication of a definition was not remembered.");
    }
}
