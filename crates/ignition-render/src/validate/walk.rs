//! Going through a value while everything that is wrong is noted. Knows nothing of Ignition.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::problem::Problem;

/// The most that is told of one config: whoever has more mistakes begins with these.
const MOST_PROBLEMS: usize = 100;
/// Entries of one list.
const MOST_ENTRIES: usize = 10_000;

/// What was found on the way.
#[derive(Default)]
pub(super) struct Walk {
    pub(super) problems: Vec<Problem>,
    /// The place of the version in the list of those that are read; none where it is not one of them.
    pub(super) version: Option<usize>,
}

/// An object, and where it stands. A field of another type than is asked for is as if it were not there: that it is wrong
/// was noted before.
pub(super) struct Fields<'a> {
    path: String,
    fields: &'a Map<String, Value>,
}

impl<'a> Fields<'a> {
    /// A value that is an object.
    pub(super) fn of(path: String, value: &'a Value) -> Option<Self> {
        value.as_object().map(|fields| Self { path, fields })
    }

    /// Where it stands.
    pub(super) fn place(&self) -> &str {
        &self.path
    }

    /// The path of one of its fields.
    pub(super) fn path(&self, key: &str) -> String {
        if self.path.is_empty() {
            key.to_owned()
        } else {
            format!("{}.{key}", self.path)
        }
    }

    /// The names of its fields.
    pub(super) fn keys(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        self.fields.keys().map(String::as_str)
    }

    /// One of its fields.
    pub(super) fn get(&self, key: &str) -> Option<&'a Value> {
        self.fields.get(key)
    }

    /// A field that is text.
    pub(super) fn text(&self, key: &str) -> Option<&'a str> {
        self.get(key)?.as_str()
    }

    /// A field that is text, and not empty.
    pub(super) fn filled(&self, key: &str) -> Option<&'a str> {
        self.text(key).filter(|text| !text.is_empty())
    }

    /// A field that is a whole number.
    pub(super) fn number(&self, key: &str) -> Option<i64> {
        self.get(key)?.as_i64()
    }

    /// Whether a field is true.
    pub(super) fn is_true(&self, key: &str) -> bool {
        self.get(key) == Some(&Value::Bool(true))
    }

    /// A field that is an object.
    pub(super) fn object(&self, key: &str) -> Option<Self> {
        Self::of(self.path(key), self.get(key)?)
    }

    /// The entries of a field that is a list of objects.
    pub(super) fn objects(&self, key: &str) -> Vec<Self> {
        let items = self.items(key).into_iter();
        items.filter_map(|(path, item)| Self::of(path, item)).collect()
    }

    /// The entries of a field that is a list of texts, each with its path.
    pub(super) fn texts(&self, key: &str) -> Vec<(String, String)> {
        let items = self.items(key).into_iter();
        items
            .filter_map(|(path, item)| Some((item.as_str()?.to_owned(), path)))
            .collect()
    }

    fn items(&self, key: &str) -> Vec<(String, &'a Value)> {
        let items = self.get(key).and_then(Value::as_array);
        numbered(&self.path(key), items.map_or(&[], Vec::as_slice))
    }
}

impl Walk {
    /// Notes a problem.
    pub(super) fn wrong(&mut self, path: &str, problem: impl Into<String>) {
        if self.problems.len() < MOST_PROBLEMS {
            self.problems.push(Problem::new("", path, problem));
        }
    }

    /// The entries of a list, each with its path.
    pub(super) fn items<'a>(&mut self, path: &str, list: &'a Value) -> Vec<(String, &'a Value)> {
        let Some(items) = list.as_array() else {
            self.wrong(path, "must be a list");
            return Vec::new();
        };
        if items.len() > MOST_ENTRIES {
            self.wrong(path, format!("must have at most {MOST_ENTRIES} entries"));
        }
        numbered(path, items)
    }

    /// Notes every name, given with its path, that was there before.
    pub(super) fn unique(&mut self, names: Vec<(String, String)>, problem: &str) {
        let mut seen = BTreeSet::new();
        for (name, path) in names {
            if !seen.insert(name) {
                self.wrong(&path, problem);
            }
        }
    }
}

/// Entries with their paths, as many as are looked at.
fn numbered<'a>(path: &str, items: &'a [Value]) -> Vec<(String, &'a Value)> {
    let items = items.iter().take(MOST_ENTRIES).enumerate();
    items.map(|(index, item)| (format!("{path}[{index}]"), item)).collect()
}
