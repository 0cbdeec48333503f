//! One object as an API server gives it. It is looked at without trust: whatever is missing, or is not what it should be, is
//! not there.

use std::{collections::BTreeMap, fmt};

use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;

/// Which object something is about.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Reference {
    /// Its kind.
    pub kind: String,
    /// Its namespace; empty where it has none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    /// Its name.
    pub name: String,
}

impl Reference {
    /// An object that somebody named.
    pub fn new(kind: &str, namespace: &str, name: &str) -> Self {
        Self {
            kind: kind.to_owned(),
            namespace: namespace.to_owned(),
            name: name.to_owned(),
        }
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {}", self.kind, self.name)
    }
}

/// Whether something holds, as conditions say it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(crate) enum Truth {
    True,
    False,
    Unknown,
}

impl Truth {
    fn read(text: Option<&str>) -> Self {
        match text {
            Some("True") => Self::True,
            Some("False") => Self::False,
            _ => Self::Unknown,
        }
    }
}

impl fmt::Display for Truth {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::True => "True",
            Self::False => "False",
            Self::Unknown => "Unknown",
        })
    }
}

/// One condition of an object.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Condition<'a> {
    pub(crate) type_: &'a str,
    pub(crate) status: Truth,
    pub(crate) reason: &'a str,
    pub(crate) message: &'a str,
    pub(crate) since: Option<Timestamp>,
}

impl<'a> Condition<'a> {
    fn read(value: &'a Value) -> Option<Self> {
        let text = |key: &str| value.get(key).and_then(Value::as_str);
        Some(Self {
            type_: text("type")?,
            status: Truth::read(text("status")),
            reason: text("reason").unwrap_or_default(),
            message: text("message").unwrap_or_default(),
            since: time(text("lastTransitionTime")),
        })
    }

    /// What it says: its message, or else its reason.
    pub(crate) fn words(&self) -> &'a str {
        [self.message, self.reason]
            .into_iter()
            .find(|words| !words.trim().is_empty())
            .unwrap_or("it does not say why")
    }
}

/// One object.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Object(Value);

impl Object {
    /// An object as it was read.
    pub fn new(value: Value) -> Self {
        Self(value)
    }

    /// The part behind a JSON pointer.
    pub(crate) fn at(&self, pointer: &str) -> Option<&Value> {
        self.0.pointer(pointer).filter(|value| !value.is_null())
    }

    /// A text, where there is one that is not empty.
    pub(crate) fn text(&self, pointer: &str) -> Option<&str> {
        self.at(pointer)?.as_str().filter(|text| !text.is_empty())
    }

    /// A number.
    pub(crate) fn number(&self, pointer: &str) -> Option<i64> {
        self.at(pointer)?.as_i64()
    }

    /// A moment.
    pub(crate) fn time(&self, pointer: &str) -> Option<Timestamp> {
        time(self.text(pointer))
    }

    /// The members of a list.
    pub(crate) fn items(&self, pointer: &str) -> impl Iterator<Item = &Value> {
        self.at(pointer).and_then(Value::as_array).into_iter().flatten()
    }

    /// Texts by their keys, such as labels.
    pub(crate) fn texts(&self, pointer: &str) -> BTreeMap<&str, &str> {
        let all = self.at(pointer).and_then(Value::as_object).into_iter().flatten();
        all.filter_map(|(key, value)| Some((key.as_str(), value.as_str()?)))
            .collect()
    }

    pub(crate) fn kind(&self) -> &str {
        self.text("/kind").unwrap_or_default()
    }

    pub(crate) fn name(&self) -> &str {
        self.text("/metadata/name").unwrap_or_default()
    }

    pub(crate) fn namespace(&self) -> &str {
        self.text("/metadata/namespace").unwrap_or_default()
    }

    pub(crate) fn reference(&self) -> Reference {
        Reference::new(self.kind(), self.namespace(), self.name())
    }

    pub(crate) fn created(&self) -> Option<Timestamp> {
        self.time("/metadata/creationTimestamp")
    }

    /// Since when it is being deleted, if it is.
    pub(crate) fn deleted(&self) -> Option<Timestamp> {
        self.time("/metadata/deletionTimestamp")
    }

    pub(crate) fn is_leaving(&self) -> bool {
        self.at("/metadata/deletionTimestamp").is_some()
    }

    pub(crate) fn finalizers(&self) -> Vec<&str> {
        self.items("/metadata/finalizers").filter_map(Value::as_str).collect()
    }

    pub(crate) fn annotation(&self, key: &str) -> Option<&str> {
        let value = self.at("/metadata/annotations")?.get(key)?;
        value.as_str().filter(|text| !text.is_empty())
    }

    pub(crate) fn conditions(&self) -> impl Iterator<Item = Condition<'_>> {
        self.items("/status/conditions").filter_map(Condition::read)
    }

    pub(crate) fn condition(&self, type_: &str) -> Option<Condition<'_>> {
        self.conditions().find(|condition| condition.type_ == type_)
    }

    /// Whether a condition says so. One that is not there says nothing.
    pub(crate) fn says(&self, type_: &str, status: Truth) -> bool {
        self.condition(type_)
            .is_some_and(|condition| condition.status == status)
    }

    /// Whether it belongs to an object of a kind and name.
    pub(crate) fn is_owned_by(&self, kind: &str, name: &str) -> bool {
        self.items("/metadata/ownerReferences")
            .any(|owner| owner.get("kind").and_then(Value::as_str) == Some(kind) && owner["name"] == name)
    }
}

/// A moment, as API servers write it.
pub(crate) fn time(text: Option<&str>) -> Option<Timestamp> {
    text?.parse().ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_not_what_it_should_be_is_not_there() {
        let object = Object::new(json!({
            "metadata": {"name": 7, "finalizers": [1, "a"], "deletionTimestamp": "soon", "labels": {"a": 1, "b": "c"}},
            "status": {"conditions": [{"type": "Ready", "status": 1}, {"status": "True"}, 5]},
        }));
        assert_eq!(object.name(), "");
        assert_eq!(object.finalizers(), ["a"]);
        assert_eq!(object.deleted(), None);
        assert!(object.is_leaving());
        assert_eq!(object.texts("/metadata/labels"), BTreeMap::from([("b", "c")]));
        let conditions: Vec<(&str, Truth)> = object.conditions().map(|found| (found.type_, found.status)).collect();
        assert_eq!(conditions, [("Ready", Truth::Unknown)]);
        assert_eq!(Object::new(json!([])).conditions().count(), 0);
    }
}
