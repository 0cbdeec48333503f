//! Files with releases: YAML or JSON, one document or many, each a whole object, a bare spec or a list of these. Every
//! document is held against the schema of the kind, as an API server would, and then read as a release.

use std::sync::LazyLock;

use hyperplane_api::{
    crd,
    hyperplane::distribution_release::{DistributionRelease, DistributionReleaseSpec},
    resource::Defined as _,
    schema::FeatureSet,
};
use hyperplane_schema::{FieldErrorKind, ROOT_PATH, Schema};
use serde_json::{Map, Value, json};

use super::{Release, ReleaseError};

/// The longest text that is read: some thousand releases with long lists of edges.
const MOST_BYTES: usize = 64 << 20;

/// The most releases that one file holds, counted over all its documents.
const MOST_RELEASES: usize = 10_000;

/// What is wrong with a file of releases.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FileError {
    /// The text as a whole cannot be taken.
    #[error("{problem}")]
    Text {
        /// What is wrong with it.
        problem: String,
    },
    /// A field of a document is wrong.
    #[error("document {document}: {path}: {problem}")]
    Field {
        /// Which document, counted from 1.
        document: usize,
        /// Where in it, such as `items[2].spec.version`.
        path: String,
        /// What is wrong, and what to write instead.
        problem: String,
    },
}

/// Reads all releases of a text. Everything that is wrong is named, all at once.
pub fn read(text: &str) -> Result<Vec<DistributionRelease>, Vec<FileError>> {
    let documents = documents(text).map_err(|problem| vec![FileError::Text { problem }])?;
    let mut releases = Vec::new();
    let mut errors = Vec::new();
    for (index, document) in documents.into_iter().enumerate() {
        let mut found = Vec::new();
        for (path, value) in unpack(document, &mut found) {
            releases.extend(release(&path, value, &mut found));
        }
        errors.extend(found.into_iter().map(|error| FileError::Field {
            document: index + 1,
            path: error.path,
            problem: error.problem,
        }));
    }
    if releases.len() > MOST_RELEASES {
        let problem = format!("has {} releases: at most {MOST_RELEASES}", releases.len());
        errors.push(FileError::Text { problem });
    }
    if errors.is_empty() { Ok(releases) } else { Err(errors) }
}

/// The name of the object for a spec that came without one: distribution and version, as far as names allow.
pub fn object_name(spec: &DistributionReleaseSpec) -> String {
    let name = format!("{}-{}", spec.distribution, spec.version).to_lowercase();
    name.replace(
        |character: char| !character.is_ascii_alphanumeric() && character != '.',
        "-",
    )
}

/// The documents of a text that say something.
fn documents(text: &str) -> Result<Vec<Value>, String> {
    if text.len() > MOST_BYTES {
        return Err(format!("has {} bytes: at most {MOST_BYTES}", text.len()));
    }
    // JSON may hold tabs where YAML does not allow them.
    let as_json: Result<Vec<Value>, _> = serde_json::Deserializer::from_str(text).into_iter().collect();
    let documents = match as_json {
        Ok(documents) => documents,
        Err(_) => serde_saphyr::from_multiple(text).map_err(|error| {
            // What follows the first line is a picture of the place.
            let error = error.to_string();
            let line = error.lines().next().unwrap_or_default();
            format!("is neither YAML nor JSON: {}", line.trim_start_matches("error: "))
        })?,
    };
    let documents: Vec<Value> = documents.into_iter().filter(|document| !document.is_null()).collect();
    if documents.is_empty() {
        return Err("holds no release".to_owned());
    }
    Ok(documents)
}

/// The single releases of a document, each with its path: what a list holds, or the document itself.
fn unpack(document: Value, errors: &mut Vec<ReleaseError>) -> Vec<(String, Value)> {
    let mut fields = match document {
        Value::Array(entries) => return each("", entries),
        Value::Object(fields) if is_list(&fields) => fields,
        other => return vec![(String::new(), other)],
    };
    if let Some(Value::Array(entries)) = fields.remove("items") {
        each("items", entries)
    } else {
        wrong(errors, "items", "must be a list of releases");
        Vec::new()
    }
}

fn each(path: &str, entries: Vec<Value>) -> Vec<(String, Value)> {
    let entries = entries.into_iter().enumerate();
    entries
        .map(|(index, entry)| (format!("{path}[{index}]"), entry))
        .collect()
}

fn is_list(fields: &Map<String, Value>) -> bool {
    let kind = fields.get("kind").and_then(Value::as_str);
    matches!(kind, Some("List" | "DistributionReleaseList"))
}

/// One release, if nothing is wrong with it.
fn release(path: &str, value: Value, errors: &mut Vec<ReleaseError>) -> Option<DistributionRelease> {
    let Value::Object(fields) = value else {
        wrong(errors, shown(path), "must be a DistributionRelease or its spec");
        return None;
    };
    // A bare spec has no envelope; its errors are named without one too.
    let is_bare = !fields.contains_key("kind") && !fields.contains_key("apiVersion") && !fields.contains_key("spec");
    let object = if is_bare {
        json!({"spec": fields})
    } else {
        Value::Object(fields)
    };
    let place = |inner: &str| {
        let inner = if is_bare {
            inner.strip_prefix("spec.").unwrap_or(inner)
        } else {
            inner
        };
        shown(&join(path, inner))
    };
    let refuse = |found: Vec<ReleaseError>| {
        errors.extend(found.into_iter().map(|error| ReleaseError {
            path: place(&error.path),
            ..error
        }));
    };
    judge(object, is_bare).map_err(refuse).ok()
}

/// Holds an object against everything that it must be.
fn judge(mut object: Value, is_bare: bool) -> Result<DistributionRelease, Vec<ReleaseError>> {
    let mut errors = Vec::new();
    if !is_bare {
        envelope(&object, &mut errors);
    }
    let schema = &*SCHEMA;
    quote_numbers(&schema.raw, &mut object, String::new(), &mut errors);
    if let Some(problem) = schema.checked.type_errors(&object) {
        wrong(&mut errors, "metadata", problem);
        return Err(errors);
    }
    for path in schema.checked.prune(&mut object) {
        wrong(&mut errors, path, "is not a field of a DistributionRelease");
    }
    schema.checked.default(&mut object);
    let refused = schema_errors(&schema.checked, &object);
    let (release, unread) = match hyperplane_objects::read::<DistributionRelease>(object) {
        Ok(release) => {
            let unread = Release::from_spec(&release.spec).err().unwrap_or_default();
            (Some(release), unread)
        }
        Err(_) => (None, Vec::new()),
    };
    // Of one field only one thing is said; what the release itself says is in plainer words than a pattern.
    for error in unread.into_iter().chain(refused) {
        if !errors.iter().any(|known| known.path == error.path) {
            errors.push(error);
        }
    }
    match release {
        Some(mut release) if errors.is_empty() => {
            let name = release.metadata.name.take();
            release.metadata.name = name.or_else(|| Some(object_name(&release.spec)));
            Ok(release)
        }
        _ => Err(errors),
    }
}

/// What an API server would say of an object.
fn schema_errors(schema: &Schema, object: &Value) -> Vec<ReleaseError> {
    let mut found = schema.validate(object, None);
    schema.rules_after(&mut found, object, None);
    // The root stands for rules that were not evaluated, because something else is wrong.
    let found = found.into_iter().filter(|error| error.field != ROOT_PATH);
    let in_our_words = found.map(|error| ReleaseError {
        problem: match error.kind {
            FieldErrorKind::Required => "is required".to_owned(),
            _ => error.body(),
        },
        path: error.field,
    });
    in_our_words.collect()
}

fn envelope(object: &Value, errors: &mut Vec<ReleaseError>) {
    let kind = DistributionRelease::definition();
    let api_version = format!("{}/{}", kind.group, kind.version);
    for (field, expected) in [("apiVersion", &*api_version), ("kind", kind.kind)] {
        if object.get(field).and_then(Value::as_str) != Some(expected) {
            wrong(errors, field, format!("must be {expected}"));
        }
    }
    if object.get("spec").is_none() {
        wrong(errors, "spec", "is required");
    }
}

/// The schema of the kind, as it is published and ready for use.
struct KindSchema {
    raw: Value,
    checked: Schema,
}

static SCHEMA: LazyLock<KindSchema> = LazyLock::new(|| {
    let definition = crd::definition(&DistributionRelease::definition(), FeatureSet::Default);
    let raw = definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"].clone();
    let checked = Schema::structural(&raw).expect("the schemas of our kinds are structural, and a test installs them");
    KindSchema { raw, checked }
});

/// Refuses numbers where a text belongs, and goes on as if they had been in quotes, so that what else is wrong is found.
fn quote_numbers(schema: &Value, value: &mut Value, path: String, errors: &mut Vec<ReleaseError>) {
    match value {
        Value::Number(number) if schema["type"] == "string" => {
            let problem = format!(
                "is the number {number}, and YAML reads 1.30 as 1.3: write versions in quotes, such as \"1.30\""
            );
            *value = Value::String(number.to_string());
            wrong(errors, path, problem);
        }
        Value::Array(entries) => {
            for (index, entry) in entries.iter_mut().enumerate() {
                quote_numbers(&schema["items"], entry, format!("{path}[{index}]"), errors);
            }
        }
        Value::Object(fields) => {
            for (name, field) in fields {
                let inner = match &schema["properties"][name] {
                    Value::Null => &schema["additionalProperties"],
                    inner => inner,
                };
                quote_numbers(inner, field, join(&path, name), errors);
            }
        }
        _ => {}
    }
}

fn wrong(errors: &mut Vec<ReleaseError>, path: impl Into<String>, problem: impl Into<String>) {
    errors.push(ReleaseError {
        path: path.into(),
        problem: problem.into(),
    });
}

fn join(path: &str, name: &str) -> String {
    match (path.is_empty(), name.is_empty()) {
        (true, _) => name.to_owned(),
        (_, true) => path.to_owned(),
        _ => format!("{path}.{name}"),
    }
}

/// The path of a document itself is empty, which would read as a mistake.
fn shown(path: &str) -> String {
    if path.is_empty() {
        "(root)".to_owned()
    } else {
        path.to_owned()
    }
}
