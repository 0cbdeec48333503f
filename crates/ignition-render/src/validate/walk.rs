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
}

/// An object, and where it stands.
pub(super) struct Fields<'a> {
    path: String,
    fields: &'a Map<String, Value>,
}

impl<'a> Fields<'a> {
    /// The path of one of its fields.
    pub(super) fn path(&self, key: &str) -> String {
        if self.path.is_empty() {
            key.to_owned()
        } else {
            format!("{}.{key}", self.path)
        }
    }

    /// One of its fields.
    pub(super) fn get(&self, key: &str) -> Option<&'a Value> {
        self.fields.get(key)
    }
}

impl Walk {
    /// Notes a problem.
    pub(super) fn wrong(&mut self, path: &str, problem: impl Into<String>) {
        if self.problems.len() < MOST_PROBLEMS {
            self.problems.push(Problem::new("", path, problem));
        }
    }

    /// The object that everything is in.
    pub(super) fn root<'a>(&mut self, value: &'a Value) -> Option<Fields<'a>> {
        self.fields(String::new(), value)
    }

    /// A field that must be there, and an object.
    pub(super) fn required<'a>(&mut self, fields: &Fields<'a>, key: &str) -> Option<Fields<'a>> {
        if fields.get(key).is_none() {
            self.wrong(&fields.path(key), "must be given");
        }
        self.object(fields, key)
    }

    /// A field that is an object, if it is there.
    pub(super) fn object<'a>(&mut self, fields: &Fields<'a>, key: &str) -> Option<Fields<'a>> {
        let value = fields.get(key)?;
        self.fields(fields.path(key), value)
    }

    /// The entries of a field that is a list.
    pub(super) fn items<'a>(&mut self, fields: &Fields<'a>, key: &str) -> Vec<(String, &'a Value)> {
        let path = fields.path(key);
        match fields.get(key) {
            None => Vec::new(),
            Some(Value::Array(items)) if items.len() <= MOST_ENTRIES => {
                let items = items.iter().enumerate();
                items.map(|(index, item)| (format!("{path}[{index}]"), item)).collect()
            }
            Some(Value::Array(_)) => {
                self.wrong(&path, format!("must have at most {MOST_ENTRIES} entries"));
                Vec::new()
            }
            Some(_) => {
                self.wrong(&path, "must be a list");
                Vec::new()
            }
        }
    }

    /// The entries of a field that is a list of objects.
    pub(super) fn objects<'a>(&mut self, fields: &Fields<'a>, key: &str) -> Vec<Fields<'a>> {
        let items = self.items(fields, key);
        items
            .into_iter()
            .filter_map(|(path, item)| self.fields(path, item))
            .collect()
    }

    /// A field that is text, if it is there.
    pub(super) fn text<'a>(&mut self, fields: &Fields<'a>, key: &str) -> Option<&'a str> {
        let value = fields.get(key)?;
        let text = value.as_str();
        if text.is_none() {
            self.wrong(&fields.path(key), "must be text");
        }
        text
    }

    /// A field that is true or false, if it is there.
    pub(super) fn flag(&mut self, fields: &Fields<'_>, key: &str) {
        if fields.get(key).is_some_and(|value| !value.is_boolean()) {
            self.wrong(&fields.path(key), "must be true or false");
        }
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

    fn fields<'a>(&mut self, path: String, value: &'a Value) -> Option<Fields<'a>> {
        let fields = value.as_object();
        if fields.is_none() {
            self.wrong(&path, "must be an object");
        }
        fields.map(|fields| Fields { path, fields })
    }
}
