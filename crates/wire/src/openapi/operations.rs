//! The paths of a resource and what can be asked of each: one operation for a verb, with the parameters and bodies that
//! clients look at.

use std::collections::BTreeMap;

use hyperplane_kinds::{Resource, Subresource, Verb};
use serde_json::{Map, Value, json};

use super::definitions::{built_in_name, custom_name, meta_reference, reference};
use crate::{Origin, openapi::document_path};

type Paths = BTreeMap<String, Map<String, Value>>;

const DRY_RUN: Parameter = (
    "dryRun",
    "string",
    "With the value All nothing is stored; all checks are made.",
);
const FIELD_MANAGER: Parameter = (
    "fieldManager",
    "string",
    "Who makes the change, in at most 128 printable characters.",
);
const FIELD_VALIDATION: Parameter = (
    "fieldValidation",
    "string",
    "What happens to fields that are unknown or given twice: Ignore, Warn or Strict.",
);
const FORCE: Parameter = (
    "force",
    "boolean",
    "Whether an apply takes over fields that others manage.",
);
const RESOURCE_VERSION: Parameter = (
    "resourceVersion",
    "string",
    "The revision that the answer must have reached.",
);

/// Name, type and description of a query parameter.
type Parameter = (&'static str, &'static str, &'static str);

const LIST_PARAMETERS: [Parameter; 10] = [
    (
        "allowWatchBookmarks",
        "boolean",
        "Whether the client understands bookmarks in a watch.",
    ),
    (
        "continue",
        "string",
        "The token of an earlier page, to get the next one.",
    ),
    ("fieldSelector", "string", "Which objects are meant, by their fields."),
    ("labelSelector", "string", "Which objects are meant, by their labels."),
    ("limit", "integer", "How many objects a page has at most."),
    RESOURCE_VERSION,
    (
        "resourceVersionMatch",
        "string",
        "How resourceVersion is meant: Exact or NotOlderThan.",
    ),
    (
        "sendInitialEvents",
        "boolean",
        "Whether a watch starts with the objects that exist.",
    ),
    ("timeoutSeconds", "integer", "When the answer ends at the latest."),
    ("watch", "boolean", "Whether changes are sent as they happen."),
];
const DELETE_PARAMETERS: [Parameter; 4] = [
    DRY_RUN,
    ("gracePeriodSeconds", "integer", "How long the object may take to end."),
    ("orphanDependents", "boolean", "The old form of propagationPolicy."),
    (
        "propagationPolicy",
        "string",
        "What happens to dependents: Orphan, Background or Foreground.",
    ),
];
const WRITE_PARAMETERS: [Parameter; 3] = [DRY_RUN, FIELD_MANAGER, FIELD_VALIDATION];
const PATCH_PARAMETERS: [Parameter; 4] = [DRY_RUN, FIELD_MANAGER, FIELD_VALIDATION, FORCE];

/// What an operation is about.
struct Subject<'a> {
    resource: &'a Resource,
    /// The kind that clients look the operation up by.
    kind: Value,
    /// The definition of an object.
    object: String,
    /// The definition of a list.
    list: String,
    /// The end of the operation's id.
    name: String,
}

/// Adds the paths of a resource and of what is below its objects.
pub(super) fn add_paths(paths: &mut Paths, resource: &Resource, origin: Origin) {
    let root = format!("/{}", document_path(&resource.group, &resource.version));
    let plural = &resource.plural;
    let collection = if resource.is_namespaced() {
        format!("{root}/namespaces/{{namespace}}/{plural}")
    } else {
        format!("{root}/{plural}")
    };
    let subject = subject(resource, origin);
    let has = |verb| resource.verbs.contains(&verb);
    let mut on_collection = Map::new();
    for (verb, method) in [
        (Verb::List, "get"),
        (Verb::Create, "post"),
        (Verb::DeleteCollection, "delete"),
    ] {
        add(&mut on_collection, has(verb), verb, method, &subject);
    }
    if resource.is_namespaced() && has(Verb::List) {
        let mut everywhere = Map::new();
        add(&mut everywhere, true, Verb::List, "get", &subject);
        insert(paths, format!("{root}/{plural}"), everywhere, &[]);
    }
    let mut on_object = Map::new();
    for (verb, method) in [
        (Verb::Get, "get"),
        (Verb::Update, "put"),
        (Verb::Patch, "patch"),
        (Verb::Delete, "delete"),
    ] {
        add(&mut on_object, has(verb), verb, method, &subject);
    }
    let mut parameters: Vec<&str> = Vec::new();
    if resource.is_namespaced() {
        parameters.push("namespace");
    }
    insert(paths, collection.clone(), on_collection, &parameters);
    parameters.push("name");
    insert(paths, format!("{collection}/{{name}}"), on_object, &parameters);
    for subresource in &resource.subresources {
        let path = format!("{collection}/{{name}}/{}", subresource.name);
        insert(
            paths,
            path,
            subresource_operations(resource, subresource, origin),
            &parameters,
        );
    }
}

fn subject(resource: &Resource, origin: Origin) -> Subject<'_> {
    let scope = if resource.is_namespaced() { "Namespaced" } else { "" };
    Subject {
        kind: group_version_kind(&resource.group, &resource.version, &resource.kind),
        object: definition_name(origin, &resource.group, &resource.version, &resource.kind),
        list: definition_name(origin, &resource.group, &resource.version, &resource.list_kind),
        name: format!("{}{scope}{}", camel_case(resource), resource.kind),
        resource,
    }
}

fn subresource_operations(resource: &Resource, subresource: &Subresource, origin: Origin) -> Map<String, Value> {
    let is_own = subresource.group == resource.group && subresource.version == resource.version;
    // What a custom resource borrows, such as Scale, is built in.
    let kind_origin = if is_own { origin } else { Origin::BuiltIn };
    let mut subject = subject(resource, origin);
    subject.object = definition_name(kind_origin, &subresource.group, &subresource.version, &subresource.kind);
    subject.name.push_str(&capitalised(&subresource.name));
    if origin == Origin::BuiltIn {
        subject.kind = group_version_kind(&subresource.group, &subresource.version, &subresource.kind);
    }
    let mut operations = Map::new();
    for (verb, method) in [
        (Verb::Get, "get"),
        (Verb::Create, "post"),
        (Verb::Update, "put"),
        (Verb::Patch, "patch"),
        (Verb::Delete, "delete"),
    ] {
        add(
            &mut operations,
            subresource.verbs.contains(&verb),
            verb,
            method,
            &subject,
        );
    }
    operations
}

fn insert(paths: &mut Paths, path: String, mut operations: Map<String, Value>, names: &[&str]) {
    if operations.is_empty() {
        return;
    }
    let mut parameters: Vec<Value> = names.iter().map(|name| path_parameter(name)).collect();
    parameters.push(query_parameter(&(
        "pretty",
        "string",
        "With the value true the answer is indented.",
    )));
    operations.insert("parameters".to_owned(), parameters.into());
    paths.insert(path, operations);
}

fn add(operations: &mut Map<String, Value>, is_offered: bool, verb: Verb, method: &str, subject: &Subject<'_>) {
    if is_offered {
        operations.insert(method.to_owned(), operation(verb, method, subject));
    }
}

fn operation(verb: Verb, method: &str, subject: &Subject<'_>) -> Value {
    let mut operation = json!({
        "tags": [tag(subject.resource)],
        "operationId": format!("{}{}", verb.word(), subject.name),
        "description": format!("{} {}", verb.word(), subject.resource.kind),
        "parameters": parameters(verb).iter().map(query_parameter).collect::<Vec<_>>(),
        "responses": responses(verb, subject),
        "x-kubernetes-action": action(verb, method),
        "x-kubernetes-group-version-kind": subject.kind,
    });
    if let Some(body) = request_body(verb, subject) {
        operation["requestBody"] = body;
    }
    operation
}

fn parameters(verb: Verb) -> Vec<Parameter> {
    match verb {
        Verb::Create | Verb::Update => WRITE_PARAMETERS.to_vec(),
        Verb::Patch => PATCH_PARAMETERS.to_vec(),
        Verb::Delete => DELETE_PARAMETERS.to_vec(),
        Verb::DeleteCollection => [DELETE_PARAMETERS.as_slice(), LIST_PARAMETERS.as_slice()].concat(),
        Verb::Get => vec![RESOURCE_VERSION],
        Verb::List | Verb::Watch => LIST_PARAMETERS.to_vec(),
    }
}

fn request_body(verb: Verb, subject: &Subject<'_>) -> Option<Value> {
    let (types, schema): (&[&str], Value) = match verb {
        Verb::Create | Verb::Update => (&["application/json", "application/yaml"], reference(&subject.object)),
        Verb::Patch => (
            &[
                "application/apply-patch+yaml",
                "application/json-patch+json",
                "application/merge-patch+json",
            ],
            meta_reference("Patch"),
        ),
        Verb::Delete | Verb::DeleteCollection => (
            &["application/json", "application/yaml"],
            meta_reference("DeleteOptions"),
        ),
        Verb::Get | Verb::List | Verb::Watch => return None,
    };
    let is_required = !matches!(verb, Verb::Delete | Verb::DeleteCollection);
    Some(json!({"content": content(types, &schema), "required": is_required}))
}

fn responses(verb: Verb, subject: &Subject<'_>) -> Value {
    let schema = match verb {
        Verb::List | Verb::Watch => reference(&subject.list),
        Verb::Delete | Verb::DeleteCollection => meta_reference("Status"),
        _ => reference(&subject.object),
    };
    let codes: &[(&str, &str)] = match verb {
        Verb::Create => &[("200", "OK"), ("201", "Created"), ("202", "Accepted")],
        Verb::Update | Verb::Patch => &[("200", "OK"), ("201", "Created")],
        Verb::Delete => &[("200", "OK"), ("202", "Accepted")],
        _ => &[("200", "OK")],
    };
    let content = content(&["application/json", "application/yaml"], &schema);
    let mut responses: Map<String, Value> = codes
        .iter()
        .map(|(code, words)| ((*code).to_owned(), json!({"description": words, "content": content})))
        .collect();
    responses.insert("401".to_owned(), json!({"description": "Unauthorized"}));
    Value::Object(responses)
}

fn content(types: &[&str], schema: &Value) -> Map<String, Value> {
    types
        .iter()
        .map(|name| ((*name).to_owned(), json!({ "schema": schema })))
        .collect()
}

fn query_parameter((name, kind, description): &Parameter) -> Value {
    json!({
        "name": name,
        "in": "query",
        "description": description,
        "schema": {"type": kind, "uniqueItems": true},
    })
}

fn path_parameter(name: &str) -> Value {
    json!({
        "name": name,
        "in": "path",
        "description": format!("The {name} of the object."),
        "required": true,
        "schema": {"type": "string", "uniqueItems": true},
    })
}

/// What generators of clients call the verb.
fn action(verb: Verb, method: &str) -> &str {
    match verb {
        Verb::List => "list",
        Verb::Watch => "watch",
        Verb::DeleteCollection => "deletecollection",
        _ => method,
    }
}

fn group_version_kind(group: &str, version: &str, kind: &str) -> Value {
    json!({"group": group, "version": version, "kind": kind})
}

fn definition_name(origin: Origin, group: &str, version: &str, kind: &str) -> String {
    match origin {
        Origin::BuiltIn => built_in_name(group, version, kind),
        Origin::Custom => custom_name(group, version, kind),
    }
}

/// The group and version as one word, such as `RbacAuthorizationV1`.
fn camel_case(resource: &Resource) -> String {
    let group = match resource.group.as_str() {
        "" => "core",
        group => group.strip_suffix(".k8s.io").unwrap_or(group),
    };
    let words = group.split(['.', '-']).chain([resource.version.as_str()]);
    words.map(capitalised).collect()
}

fn tag(resource: &Resource) -> String {
    let name = camel_case(resource);
    let group = name.strip_suffix(&capitalised(&resource.version)).unwrap_or(&name);
    let mut letters = group.chars();
    let first: String = letters.next().into_iter().flat_map(char::to_lowercase).collect();
    format!("{first}{}_{}", letters.as_str(), resource.version)
}

fn capitalised(word: &str) -> String {
    let mut letters = word.chars();
    let first: String = letters.next().into_iter().flat_map(char::to_uppercase).collect();
    format!("{first}{}", letters.as_str())
}
