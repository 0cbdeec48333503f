//! Takes JSON apart and remembers everything that is wrong with it, each with its path.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use thiserror::Error;

use crate::version::{Scheme, Version};

/// The most entries in a list of a state file: more than any cluster has, few enough to be judged at once.
const MOST_ENTRIES: usize = 20_000;

/// What is wrong with a state file.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{path}: {problem}")]
pub struct StateError {
    /// Where.
    pub path: String,
    /// What, and what to write instead.
    pub problem: String,
}

/// What was found so far.
#[derive(Debug)]
pub(super) struct Reader {
    /// How versions are read unless the file says otherwise.
    pub(super) scheme: Scheme,
    pub(super) errors: Vec<StateError>,
    /// Fields that nobody reads.
    pub(super) unread: Vec<String>,
}

/// The fields of an object, taken one by one; what is left at the end was not expected.
pub(super) struct Fields {
    path: String,
    fields: Map<String, Value>,
}

impl Reader {
    pub(super) fn new(scheme: Scheme) -> Self {
        Self {
            scheme,
            errors: Vec::new(),
            unread: Vec::new(),
        }
    }

    pub(super) fn wrong(&mut self, path: &str, problem: impl Into<String>) {
        let (path, problem) = (path.to_owned(), problem.into());
        self.errors.push(StateError { path, problem });
    }

    /// The fields of an object; none if it is not one.
    pub(super) fn object(&mut self, path: &str, value: &Value) -> Option<Fields> {
        match value {
            Value::Object(fields) => Some(Fields {
                path: path.to_owned(),
                fields: fields.clone(),
            }),
            Value::Null => None,
            _ => {
                self.wrong(path, "must be a map of fields");
                None
            }
        }
    }

    /// Remembers what was not read.
    pub(super) fn finish(&mut self, fields: Fields) {
        let Fields { path, fields } = fields;
        self.unread
            .extend(fields.into_iter().map(|(name, _)| join(&path, &name)));
    }

    /// The entries of a list. A single value counts as a list of one.
    pub(super) fn list(&mut self, path: &str, value: &Value) -> Vec<(String, Value)> {
        let entries = match value {
            Value::Null => return Vec::new(),
            Value::Array(entries) => entries.clone(),
            other => return vec![(path.to_owned(), other.clone())],
        };
        if entries.len() > MOST_ENTRIES {
            self.wrong(path, format!("has {} entries: at most {MOST_ENTRIES}", entries.len()));
            return Vec::new();
        }
        let entries = entries.into_iter().enumerate();
        entries
            .map(|(index, entry)| (format!("{path}[{index}]"), entry))
            .collect()
    }

    /// A version.
    pub(super) fn version(&mut self, scheme: Scheme, path: &str, value: &Value) -> Option<Version> {
        let text = match value {
            Value::String(text) => text.clone(),
            Value::Number(number) if keeps_its_digits(&number.to_string()) => number.to_string(),
            Value::Number(number) => {
                let advice = "is a number, and YAML reads 1.30 as 1.3: write versions in quotes, such as \"1.30\"";
                self.wrong(path, format!("{number} {advice}"));
                return None;
            }
            _ => {
                self.wrong(path, "must be a version, such as \"v1.36.4\"");
                return None;
            }
        };
        match Version::parse(scheme, &text) {
            Ok(version) => Some(version),
            Err(error) => {
                self.wrong(path, error.to_string());
                None
            }
        }
    }

    /// A list of versions.
    pub(super) fn versions(&mut self, scheme: Scheme, path: &str, value: &Value) -> Vec<Version> {
        let entries = self.list(path, value);
        let versions = entries.iter().map(|(path, entry)| self.version(scheme, path, entry));
        versions.collect::<Vec<_>>().into_iter().flatten().collect()
    }

    /// A word. Numbers and truths are words too: people write them without quotes.
    pub(super) fn text(&mut self, path: &str, value: &Value) -> Option<String> {
        match value {
            Value::Null => None,
            Value::String(text) => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            Value::Bool(truth) => Some(truth.to_string()),
            _ => {
                self.wrong(path, "must be a word");
                None
            }
        }
    }

    /// A truth. Conditions of Kubernetes say it as a word.
    pub(super) fn truth(&mut self, path: &str, value: &Value) -> Option<bool> {
        let word = match value {
            Value::Null => return None,
            Value::Bool(truth) => return Some(*truth),
            Value::String(word) => word.to_ascii_lowercase(),
            _ => String::new(),
        };
        match &*word {
            "true" | "yes" | "ok" | "healthy" | "ready" | "success" => Some(true),
            "false" | "no" | "unhealthy" | "degraded" | "notready" | "failed" => Some(false),
            "unknown" => None,
            _ => {
                self.wrong(path, "must be true or false");
                None
            }
        }
    }

    /// A count.
    pub(super) fn count(&mut self, path: &str, value: &Value) -> Option<u64> {
        let count = match value {
            Value::String(text) => text.trim_start_matches('v').parse().ok(),
            other => other.as_u64(),
        };
        if count.is_none() && !value.is_null() {
            self.wrong(path, "must be a whole number from 0 on");
        }
        count
    }

    /// A map from names to values.
    pub(super) fn map(&mut self, path: &str, value: &Value) -> BTreeMap<String, Value> {
        let fields = self.object(path, value).map(|fields| fields.fields);
        fields.unwrap_or_default().into_iter().collect()
    }
}

impl Fields {
    /// Takes a field: its path and its value, which is null where it is absent.
    pub(super) fn take(&mut self, name: &str) -> (String, Value) {
        let value = self.fields.remove(name).unwrap_or(Value::Null);
        (join(&self.path, name), value)
    }
}

/// A number with two digits behind its point has lost none: 1.36 was never 1.360.
fn keeps_its_digits(number: &str) -> bool {
    number.split_once('.').is_some_and(|(_, minor)| minor.len() == 2)
}

fn join(path: &str, name: &str) -> String {
    if path.is_empty() {
        name.to_owned()
    } else {
        format!("{path}.{name}")
    }
}
