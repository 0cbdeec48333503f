//! The documents that users give for their nodes: reading them from the YAML of ConfigMaps, their one encoding and their
//! one order. What they ask for is looked at elsewhere.

#[cfg(test)]
mod tests;

use std::fmt;

use serde_json::{Map, Value, json};
use serde_saphyr::{Options, options::DuplicateKeyPolicy};

use crate::{canonical, ignition, problem::Problem};

/// Bytes of one text: ten ConfigMaps and what we add to them fit, in the Secret of a token all together.
const MOST_BYTES: usize = 16 << 20;
/// Documents of one text.
const MOST_DOCUMENTS: usize = 1_000;
/// How deeply a document may nest; the deepest that anybody writes has a fifth of it.
const MOST_DEPTH: usize = 64;
/// Aliases and anchors of one text; each may stand for a lot.
const MOST_ALIASES: usize = 1_000;
/// What aliases may grow to, counted in parts of the documents.
const MOST_REPLAYED_EVENTS: usize = 100_000;

/// What stands between two documents.
const SEPARATOR: &str = "\n---\n";

/// The label by which a MachineConfig is for workers: all nodes of a hosted cluster are.
const ROLE: &str = "machineconfiguration.openshift.io/role";
/// The label by which the other kinds are for all nodes.
const BUILT_IN: &str = "machineconfiguration.openshift.io/mco-built-in";

/// The kinds that a document may have, in the order of their names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Which signatures images must have.
    ClusterImagePolicy,
    /// Settings of the container runtime.
    ContainerRuntimeConfig,
    /// Mirrors of images, in the older form.
    ImageContentSourcePolicy,
    /// Mirrors of images.
    ImageDigestMirrorSet,
    /// Settings of the kubelet.
    KubeletConfig,
    /// Files, units and users.
    MachineConfig,
}

/// Every kind, and the versions in which it is read; the first is the one that it is kept in.
const KINDS: &[(Kind, &[&str])] = &[
    (
        Kind::ClusterImagePolicy,
        &["config.openshift.io/v1", "config.openshift.io/v1alpha1"],
    ),
    (Kind::ContainerRuntimeConfig, &["machineconfiguration.openshift.io/v1"]),
    (Kind::ImageContentSourcePolicy, &["operator.openshift.io/v1alpha1"]),
    (Kind::ImageDigestMirrorSet, &["config.openshift.io/v1"]),
    (Kind::KubeletConfig, &["machineconfiguration.openshift.io/v1"]),
    (Kind::MachineConfig, &["machineconfiguration.openshift.io/v1"]),
];

impl Kind {
    /// The word on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ClusterImagePolicy => "ClusterImagePolicy",
            Self::ContainerRuntimeConfig => "ContainerRuntimeConfig",
            Self::ImageContentSourcePolicy => "ImageContentSourcePolicy",
            Self::ImageDigestMirrorSet => "ImageDigestMirrorSet",
            Self::KubeletConfig => "KubeletConfig",
            Self::MachineConfig => "MachineConfig",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

/// One document, in its one form.
#[derive(Clone, PartialEq)]
pub struct Document {
    /// The ConfigMap that it is from.
    pub source: String,
    /// Which one of it, counted from 1 without those that are empty.
    pub number: usize,
    /// Its kind.
    pub kind: Kind,
    /// Its name.
    pub name: String,
    /// All of it.
    pub value: Value,
    /// The same as text: what hashes are made from.
    pub text: String,
}

impl Document {
    /// Kind and name, such as `KubeletConfig/big-pods`.
    pub fn title(&self) -> String {
        format!("{}/{}", self.kind, self.name)
    }

    /// Where a problem with it is.
    pub(crate) fn place(&self) -> String {
        format!("{}, {} {}", place(&self.source, self.number), self.kind, self.name)
    }

    /// What it asks for.
    pub(crate) fn spec(&self) -> &Value {
        &self.value["spec"]
    }
}

/// Names only: files of users may hold secrets.
impl fmt::Debug for Document {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Document({})", self.place())
    }
}

/// Reads the documents of texts, each with the name of the ConfigMap that it is from. They come back in the order of
/// their kinds and names, or everything that is wrong does.
pub fn read<N: AsRef<str>, T: AsRef<str>>(sources: &[(N, T)]) -> Result<Vec<Document>, Vec<Problem>> {
    let mut documents = Vec::new();
    let mut problems = Vec::new();
    for (source, text) in sources {
        let source = source.as_ref();
        match values(text.as_ref()) {
            Err(problem) => problems.push(Problem::new(format!("ConfigMap {source}"), "", problem)),
            Ok(values) => {
                for (index, value) in values.into_iter().enumerate() {
                    match document(source, index + 1, value) {
                        Ok(document) => documents.push(document),
                        Err(found) => problems.extend(found),
                    }
                }
            }
        }
    }
    documents.sort_by(|left, right| (left.kind, &left.name).cmp(&(right.kind, &right.name)));
    problems.extend(documents.windows(2).filter_map(twins));
    if problems.is_empty() {
        Ok(documents)
    } else {
        Err(problems)
    }
}

/// Documents as one text, which [`read`] gives back as they are.
pub fn write(documents: &[Document]) -> String {
    let texts: Vec<&str> = documents.iter().map(|document| document.text.as_str()).collect();
    texts.join(SEPARATOR)
}

/// Which of two documents with one name would win is nobody's guess.
fn twins(pair: &[Document]) -> Option<Problem> {
    let [first, second] = pair else {
        return None;
    };
    let is_same = first.kind == second.kind && first.name == second.name;
    is_same.then(|| {
        let other = place(&first.source, first.number);
        let problem = format!("has the name of {other}: give each {} a name of its own", second.kind);
        Problem::new(second.place(), "metadata.name", problem)
    })
}

fn place(source: &str, number: usize) -> String {
    format!("ConfigMap {source}, document {number}")
}

/// The documents of a text that say something.
fn values(text: &str) -> Result<Vec<Value>, String> {
    if text.len() > MOST_BYTES {
        return Err(format!("has {} bytes: at most {MOST_BYTES}", text.len()));
    }
    // What we wrote ourselves is JSON, which its own parser reads much faster and with tabs.
    let as_json: Result<Vec<Value>, _> = text.split(SEPARATOR).map(serde_json::from_str).collect();
    let values = match as_json {
        Ok(values) => values,
        Err(_) => serde_saphyr::from_multiple_with_options(text, limits()).map_err(|error| {
            let line = error.without_snippet().location().map_or(0, |location| location.line());
            format!("is not YAML, or too deep or too large: look at line {line}")
        })?,
    };
    let values: Vec<Value> = values.into_iter().filter(|value| !value.is_null()).collect();
    match values.len() {
        0 => Err("holds no document: give one, or take the ConfigMap out of spec.config".to_owned()),
        1..=MOST_DOCUMENTS => Ok(values),
        count => Err(format!("holds {count} documents: at most {MOST_DOCUMENTS}")),
    }
}

/// As upstream reads YAML: `mode: 0644` is octal, `yes` is true, and a key that is given twice is a mistake.
fn limits() -> Options {
    serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_depth: MOST_DEPTH,
            flow_nesting_limit: MOST_DEPTH,
            max_aliases: MOST_ALIASES,
            max_anchors: MOST_ALIASES,
            max_documents: MOST_DOCUMENTS,
        },
        alias_limits: serde_saphyr::alias_limits! {
            max_total_replayed_events: MOST_REPLAYED_EVENTS,
        },
        duplicate_keys: DuplicateKeyPolicy::Error,
        legacy_octal_numbers: true,
        with_snippet: false,
    }
}

fn document(source: &str, number: usize, value: Value) -> Result<Document, Vec<Problem>> {
    let place = place(source, number);
    let wrong = |path: &str, problem: String| vec![Problem::new(place.clone(), path, problem)];
    let Value::Object(mut fields) = value else {
        return Err(wrong(
            "",
            "must be an object with apiVersion, kind, metadata and spec".to_owned(),
        ));
    };
    let kind = kind(&fields).map_err(|(path, problem)| wrong(path, problem))?;
    let name = fields.get("metadata").and_then(|metadata| metadata["name"].as_str());
    let name = name.unwrap_or_default().to_owned();
    if !is_name(&name) {
        let problem = "must be a name of lower-case letters, digits, dashes and dots".to_owned();
        return Err(wrong("metadata.name", problem));
    }
    if !matches!(fields.get("spec"), Some(Value::Object(_))) {
        return Err(wrong("spec", format!("must be the settings of a {kind}")));
    }
    normalise(kind, &mut fields).map_err(|path| wrong(path, "must be an object".to_owned()))?;
    let value = Value::Object(fields);
    let document = Document {
        source: source.to_owned(),
        number,
        kind,
        name,
        text: canonical::text(&value),
        value,
    };
    if kind == Kind::MachineConfig
        && let Some(config) = document.spec().get("config").filter(|config| !config.is_null())
        && let Err(problems) = ignition::read(config)
    {
        let place = document.place();
        let problems = problems.into_iter().map(|one| one.within(&place, "spec.config"));
        return Err(problems.collect());
    }
    Ok(document)
}

/// The kind of a document, if its version is one that is read.
fn kind(fields: &Map<String, Value>) -> Result<Kind, (&'static str, String)> {
    let text = |key: &str| fields.get(key).and_then(Value::as_str).unwrap_or_default();
    let Some((kind, versions)) = KINDS.iter().find(|(kind, _)| kind.as_str() == text("kind")) else {
        let known: Vec<&str> = KINDS.iter().map(|(kind, _)| kind.as_str()).collect();
        let given = shown(text("kind"));
        return Err((
            "kind",
            format!("{given} cannot be given to nodes: choose {}", known.join(", ")),
        ));
    };
    if versions.contains(&text("apiVersion")) {
        Ok(*kind)
    } else {
        Err(("apiVersion", format!("of a {kind} must be {}", versions.join(" or "))))
    }
}

/// A word of a user, as far as it can be one.
fn shown(word: &str) -> String {
    let is_word = !word.is_empty() && word.len() <= 63 && word.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if is_word { word.to_owned() } else { "this".to_owned() }
}

fn is_name(name: &str) -> bool {
    let is_inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'.');
    let is_edge = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    let bytes = name.as_bytes();
    bytes.len() <= 253 && bytes.iter().copied().all(is_inner) && is_edge(bytes.first()) && is_edge(bytes.last())
}

/// Brings a document into its one form: for whom it is, in one version, and without what servers add to it.
fn normalise(kind: Kind, fields: &mut Map<String, Value>) -> Result<(), &'static str> {
    fields.remove("status");
    let version = KINDS.iter().find(|(known, _)| *known == kind);
    if let Some((_, [version, ..])) = version {
        fields.insert("apiVersion".to_owned(), (*version).into());
    }
    let metadata = fields
        .get_mut("metadata")
        .and_then(Value::as_object_mut)
        .ok_or("metadata")?;
    for key in [
        "creationTimestamp",
        "generation",
        "managedFields",
        "resourceVersion",
        "uid",
    ] {
        metadata.remove(key);
    }
    match kind {
        Kind::MachineConfig => {
            let labels = metadata.entry("labels").or_insert_with(|| json!({}));
            if labels.is_null() {
                *labels = json!({});
            }
            let labels = labels.as_object_mut().ok_or("metadata.labels")?;
            labels.insert(ROLE.to_owned(), "worker".into());
        }
        Kind::KubeletConfig | Kind::ContainerRuntimeConfig => {
            let spec = fields.get_mut("spec").and_then(Value::as_object_mut).ok_or("spec")?;
            let selector = json!({"matchLabels": {BUILT_IN: ""}});
            spec.insert("machineConfigPoolSelector".to_owned(), selector);
        }
        Kind::ClusterImagePolicy | Kind::ImageContentSourcePolicy | Kind::ImageDigestMirrorSet => {}
    }
    Ok(())
}
