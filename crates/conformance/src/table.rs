//! The table of cases as it is written in `cases/*.yaml`. It knows the shape of a case and reads files; it sends nothing.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use serde::Deserialize;
use serde_json::Value;
use thiserror::Error;

use crate::body::Body;

/// All cases of a directory, and the custom resource definitions that they share.
#[derive(Debug)]
pub struct Table {
    /// The files, by name without ending.
    pub files: BTreeMap<String, Vec<Case>>,
    /// Objects that exist before the first case runs, with the path that each is posted to.
    pub definitions: Vec<Definition>,
}

/// An object that all cases share.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Definition {
    /// The collection that it is posted to.
    pub path: String,
    /// The object.
    pub object: Value,
}

impl Definition {
    /// The collections that a custom resource definition serves; they answer a moment after it is established.
    pub fn collections(&self) -> impl Iterator<Item = String> {
        let spec = &self.object["spec"];
        let group = spec["group"].as_str().unwrap_or_default();
        let plural = spec["names"]["plural"].as_str().unwrap_or_default();
        let versions = spec["versions"].as_array().into_iter().flatten();
        versions
            .filter(|version| version["served"] == true)
            .filter_map(move |version| Some(format!("/apis/{group}/{}/{plural}", version["name"].as_str()?)))
    }
}

/// One rule on trial.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// A name that occurs once; it is also the name of the namespace that the case runs in.
    pub id: String,
    /// The rule in `rules.yaml` that it shows.
    pub rule: String,
    /// Whether the controllers of the control plane may run beside it. Those of workloads write to what the case
    /// reads, and an embedded server has none, so such cases go without.
    #[serde(default = "yes")]
    pub controllers: bool,
    /// Steps that must succeed and are otherwise not compared.
    #[serde(default)]
    pub setup: Vec<Step>,
    /// Steps that are compared.
    pub steps: Vec<Step>,
    /// Steps that take away what other cases would see. They run in any case and may fail.
    #[serde(default)]
    pub cleanup: Vec<Step>,
}

/// A request and what shall come back, or the reading of a stream that an earlier step opened.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Step {
    /// Method and path with query, as in `GET /api/v1/namespaces/${ns}/configmaps`.
    #[serde(rename = "do")]
    pub request: String,
    /// Who asks; the administrator unless it is said.
    #[serde(rename = "as")]
    pub caller: Option<CallerTable>,
    /// Headers of the request.
    pub headers: BTreeMap<String, String>,
    /// The media type of the body; JSON unless it is said, none if there is no body.
    #[serde(rename = "type")]
    pub media_type: Option<String>,
    /// What the caller accepts; JSON unless it is said.
    pub accept: Option<String>,
    /// A body that is sent as JSON.
    pub body: Option<Value>,
    /// A body that is sent as it is.
    pub text: Option<String>,
    /// A body in hexadecimal digits, for bytes that are no text.
    pub hex: Option<String>,
    /// A body that is put together from repeated texts, for bodies that are too long to be written down.
    pub parts: Vec<Part>,
    /// The status that shall come back.
    pub status: Option<u16>,
    /// Headers that shall come back, as patterns.
    pub answer: BTreeMap<String, Value>,
    /// The body that shall come back, as a pattern.
    pub expect: Option<Value>,
    /// The events that shall come, as patterns, in this order.
    pub events: Option<Vec<Value>>,
    /// Whether the stream shall end after these events.
    pub end: bool,
    /// Keeps the stream of this answer open under this name.
    pub open: Option<String>,
    /// Reads from the stream of this name instead of making a request.
    pub on: Option<String>,
    /// Asks again until the answer is the expected one, where controllers take their time.
    pub eventually: bool,
    /// Why the body is compared with `expect` alone and not with the recording.
    pub loose: Option<String>,
}

/// Who makes a request.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, untagged)]
pub enum CallerTable {
    /// `anonymous`: without credentials.
    Word(String),
    /// With a bearer token.
    Token {
        /// The token.
        token: String,
    },
    /// As a user without certificate.
    User {
        /// The name.
        user: String,
        /// The groups.
        #[serde(default)]
        groups: Vec<String>,
    },
}

/// A text and how often it is repeated.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// The text.
    pub text: String,
    /// How often.
    #[serde(default = "once")]
    pub times: usize,
}

/// Why a table cannot be read.
#[derive(Debug, Error)]
pub enum Error {
    /// A file or a directory cannot be read.
    #[error("reading {path}")]
    Read {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A file is no table.
    #[error("{path} is no table of cases: {message}")]
    Parse {
        /// Which.
        path: PathBuf,
        /// Where and why.
        message: String,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    cases: Vec<Case>,
}

impl Table {
    /// Reads `definitions.yaml` and all other files of a directory.
    pub fn read(directory: &Path) -> Result<Self, Error> {
        let mut files = BTreeMap::new();
        let mut definitions = Vec::new();
        for (name, path) in yaml_files(directory)? {
            if name == "definitions" {
                definitions = read_yaml(&path)?;
            } else {
                files.insert(name, read_yaml::<File>(&path)?.cases);
            }
        }
        Ok(Self { files, definitions })
    }

    /// All cases, in the order of files.
    pub fn cases(&self) -> impl Iterator<Item = &Case> {
        self.files.values().flatten()
    }
}

impl Case {
    /// Whether any step speaks of the namespace of the case, which is made only then.
    pub fn needs_namespace(&self) -> bool {
        let steps = self.setup.iter().chain(&self.steps).chain(&self.cleanup);
        steps
            .flat_map(Step::texts)
            .any(|text| text.contains(crate::variables::NAMESPACE_HOLE))
    }
}

impl Step {
    /// The body that is sent.
    pub fn body(&self) -> Body<'_> {
        if let Some(value) = &self.body {
            Body::Json(value)
        } else if let Some(text) = &self.text {
            Body::Text(text)
        } else if let Some(digits) = &self.hex {
            Body::Hexadecimal(digits)
        } else if self.parts.is_empty() {
            Body::Empty
        } else {
            Body::Parts(&self.parts)
        }
    }

    /// What a reader of a report sees of this step.
    pub fn title(&self) -> &str {
        self.on.as_deref().unwrap_or(&self.request)
    }

    fn texts(&self) -> impl Iterator<Item = String> {
        let body = self.body.as_ref().map(ToString::to_string);
        [Some(self.request.clone()), body, self.text.clone()]
            .into_iter()
            .flatten()
    }
}

/// The YAML files of a directory by name without ending.
pub(crate) fn yaml_files(directory: &Path) -> Result<BTreeMap<String, PathBuf>, Error> {
    let failed = |source| Error::Read {
        path: directory.to_owned(),
        source,
    };
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(directory).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.extension().is_some_and(|ending| ending == "yaml")
            && let Some(name) = path.file_stem()
        {
            files.insert(name.to_string_lossy().into_owned(), path.clone());
        }
    }
    Ok(files)
}

/// Reads a YAML file.
pub(crate) fn read_yaml<T: serde::de::DeserializeOwned>(path: &Path) -> Result<T, Error> {
    let text = fs::read_to_string(path).map_err(|source| Error::Read {
        path: path.to_owned(),
        source,
    })?;
    serde_saphyr::from_str(&text).map_err(|error| Error::Parse {
        path: path.to_owned(),
        message: error.to_string(),
    })
}

fn yes() -> bool {
    true
}

fn once() -> usize {
    1
}
