//! Cases that are asked of a real server and of this crate: what they are, and where they are kept.

#![allow(dead_code, reason = "each of the programs that share this uses a part of it")]

pub mod ours;
pub mod real;

use std::{collections::BTreeMap, fs, path::PathBuf, sync::Arc};

use anyhow::{Context as _, Result};
use hyperplane_kinds::{Resource, built_in};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The namespace of every case.
pub const NAMESPACE: &str = "kinds";

/// One question: is this object taken, and what becomes of it; or this change of it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// What is tried, unique in its file.
    #[serde(rename = "case")]
    pub name: String,
    /// The object as a client sends it.
    pub object: Value,
    /// A merge patch, tried on the object after it was created.
    pub change: Option<Value>,
    /// The subresource that the change goes to.
    pub target: Option<String>,
}

/// What a server answered.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// The HTTP status.
    pub code: u16,
    /// The message of a refusal that names no fields.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// Reason, field and message of each cause, sorted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<[String; 3]>,
    /// The object before the change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub old: Option<Value>,
    /// The object that the server would store.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub object: Option<Value>,
    /// Its row in a table.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cells: Vec<Value>,
}

/// The cases of every file, by the name of the file.
pub fn cases() -> Result<BTreeMap<String, Vec<Case>>> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(directory())? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "yaml") {
            let text = fs::read_to_string(&path)?;
            let cases = serde_saphyr::from_str(&text).with_context(|| path.display().to_string())?;
            let name = path.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
            all.insert(name.to_owned(), cases);
        }
    }
    Ok(all)
}

/// The recorded answers of a file, by case.
pub fn answers(file: &str) -> Result<BTreeMap<String, Answer>> {
    let text = fs::read_to_string(answers_path(file)).with_context(|| format!("no answers to {file} are recorded"))?;
    Ok(serde_json::from_str(&text)?)
}

/// Where the answers to a file are kept.
pub fn answers_path(file: &str) -> PathBuf {
    directory().join(format!("{file}.answers.json"))
}

fn directory() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/cases")
}

/// The resource of an object.
pub fn resource_of(object: &Value) -> Result<Arc<Resource>> {
    let (api_version, kind) = (&object["apiVersion"], &object["kind"]);
    built_in()
        .into_iter()
        .find(|resource| *api_version == resource.api_version() && *kind == resource.kind)
        .with_context(|| format!("{api_version} {kind} is not served"))
}

/// Fields that differ from run to run, or that other parts of a server fill in: kind, path, and why.
const IGNORED: [(&str, &str, &str); 17] = [
    ("", "metadata/creationTimestamp", "the clock"),
    ("", "metadata/generation", "counted by the server"),
    ("", "metadata/managedFields", "kept by the server"),
    ("", "metadata/resourceVersion", "counted by the server"),
    ("", "metadata/uid", "random"),
    ("CertificateSigningRequest", "spec/groups", "who asks"),
    ("CertificateSigningRequest", "spec/username", "who asks"),
    ("CertificateSigningRequest", "spec/extra", "who asks"),
    ("PersistentVolume", "status/lastPhaseTransitionTime", "the clock"),
    ("Pod", "status/conditions/0/lastTransitionTime", "the clock"),
    ("Service", "spec/clusterIP", "allocated by the server"),
    ("Service", "spec/clusterIPs", "allocated by the server"),
    ("Service", "spec/healthCheckNodePort", "allocated by the server"),
    ("Service", "spec/ipFamilies", "allocated by the server"),
    ("Service", "spec/ipFamilyPolicy", "allocated by the server"),
    ("Service", "spec/ports/0/nodePort", "allocated by the server"),
    ("Service", "spec/ports/1/nodePort", "allocated by the server"),
];

/// Takes out what is not compared.
pub fn comparable(mut object: Value) -> Value {
    let kind = object["kind"].as_str().unwrap_or_default().to_owned();
    for (of, path, _) in IGNORED {
        if of.is_empty() || of == kind {
            let (parent, field) = path.rsplit_once('/').unwrap_or(("", path));
            if let Some(Value::Object(map)) = object.pointer_mut(&format!("/{parent}")) {
                map.remove(field);
            }
        }
    }
    object
}
