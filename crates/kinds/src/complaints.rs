//! Collects complaints about an object. Paths are chains on the stack, so that an object without faults costs no text.

use std::fmt;

use hyperplane_schema::{BadValue, FieldError, FieldErrorKind};
use serde_json::{Map, Value};

use crate::value::is_set;

/// Where in an object a rule looks.
#[derive(Clone, Copy)]
pub(crate) struct Path<'a> {
    parent: Option<&'a Path<'a>>,
    step: Step<'a>,
}

#[derive(Clone, Copy)]
enum Step<'a> {
    Name(&'a str),
    Index(usize),
    Key(&'a str),
}

impl<'a> Path<'a> {
    /// The first step, such as `spec`.
    pub(crate) const fn new(name: &'a str) -> Self {
        Self {
            parent: None,
            step: Step::Name(name),
        }
    }

    /// A field, or several with dots between them.
    pub(crate) const fn child(&'a self, name: &'a str) -> Self {
        Self {
            parent: Some(self),
            step: Step::Name(name),
        }
    }

    /// An entry of a list.
    pub(crate) const fn index(&'a self, index: usize) -> Self {
        Self {
            parent: Some(self),
            step: Step::Index(index),
        }
    }

    /// An entry of a map.
    pub(crate) const fn key(&'a self, key: &'a str) -> Self {
        Self {
            parent: Some(self),
            step: Step::Key(key),
        }
    }
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(parent) = self.parent {
            parent.fmt(formatter)?;
        }
        match (self.step, self.parent) {
            (Step::Name(name), None) => formatter.write_str(name),
            (Step::Name(name), Some(_)) => write!(formatter, ".{name}"),
            (Step::Index(index), _) => write!(formatter, "[{index}]"),
            (Step::Key(key), _) => write!(formatter, "[{key}]"),
        }
    }
}

/// What is wrong with an object, in the order in which it was found.
#[derive(Debug, Default)]
pub(crate) struct Complaints(pub Vec<FieldError>);

impl Complaints {
    pub(crate) fn add(&mut self, error: FieldError) {
        self.0.push(error);
    }

    pub(crate) fn required(&mut self, path: &Path<'_>, detail: &str) {
        self.add(FieldError::required(path.to_string(), detail));
    }

    pub(crate) fn invalid(&mut self, path: &Path<'_>, value: impl Into<BadValue>, detail: impl Into<String>) {
        self.add(FieldError::invalid(path.to_string(), value, detail));
    }

    pub(crate) fn forbidden(&mut self, path: &Path<'_>, detail: impl Into<String>) {
        self.add(FieldError::forbidden(path.to_string(), detail));
    }

    pub(crate) fn duplicate(&mut self, path: &Path<'_>, value: impl Into<BadValue>) {
        self.add(FieldError::duplicate(path.to_string(), value));
    }

    pub(crate) fn too_long(&mut self, path: &Path<'_>, limit: i64) {
        self.add(FieldError::too_long(path.to_string(), limit));
    }

    /// One complaint per message of a rule about text.
    pub(crate) fn each(&mut self, path: &Path<'_>, value: &str, messages: Vec<String>) {
        for message in messages {
            self.invalid(path, value, message);
        }
    }

    /// The value must be one of `known`, which are printed in this order.
    pub(crate) fn one_of(&mut self, path: &Path<'_>, value: &str, known: &[&str]) {
        if !known.contains(&value) {
            self.add(FieldError::not_supported(
                path.to_string(),
                value,
                known.iter().copied(),
            ));
        }
    }

    /// The value must be given and be one of `known`.
    pub(crate) fn required_one_of(&mut self, path: &Path<'_>, value: &str, known: &[&str]) {
        if value.is_empty() {
            self.required(path, "");
        } else {
            self.one_of(path, value, known);
        }
    }

    /// One complaint per message of a rule about a number.
    pub(crate) fn each_number(&mut self, path: &Path<'_>, value: i64, messages: Vec<String>) {
        for message in messages {
            self.invalid(path, value, message);
        }
    }

    /// A reference that leads nowhere.
    pub(crate) fn not_found(&mut self, path: &Path<'_>, value: &str) {
        self.add(FieldError::new(FieldErrorKind::NotFound, path.to_string(), value, ""));
    }

    /// The number, if it is set, must not be negative.
    pub(crate) fn not_negative(&mut self, path: &Path<'_>, value: Option<&Value>) {
        if let Some(number) = value.and_then(Value::as_i64)
            && number < 0
        {
            self.invalid(path, number, NOT_NEGATIVE);
        }
    }

    /// The field must be what it was.
    pub(crate) fn unchanged(&mut self, path: &Path<'_>, new: Option<&Value>, old: Option<&Value>) {
        if is_different(new, old) {
            let shown = new.cloned().unwrap_or(Value::Null);
            self.invalid(path, shown, "field is immutable");
        }
    }
}

/// Upstream's words for a number below zero.
pub(crate) const NOT_NEGATIVE: &str = "must be greater than or equal to 0";

/// Whether two values differ, where nothing, null and empty are alike.
pub(crate) fn is_different(new: Option<&Value>, old: Option<&Value>) -> bool {
    new != old && (is_set(new) || is_set(old))
}

/// The entries of a map of texts.
pub(crate) fn texts(map: &Map<String, Value>) -> impl Iterator<Item = (&String, &str)> {
    map.iter().map(|(key, value)| (key, value.as_str().unwrap_or_default()))
}
